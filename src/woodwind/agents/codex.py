"""Codex."""

import json
from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent, Start
from woodwind.model.choice import ModelChoice
from woodwind.model.status import Status


class Codex(Agent):
    """OpenAI's terminal agent."""

    name = "codex"
    command = "codex"
    pass_env = (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "CODEX_API_KEY",
        "CODEX_ACCESS_TOKEN",
        "CODEX_HOME",
        "CODEX_SQLITE_HOME",
    )
    paths = ("~/.local/bin/codex", "~/.npm-global/bin/codex")
    install = "Install it: npm install -g @openai/codex"
    checked = "0.166.0"
    # Otherwise it leaves a daemon that outlives the terminal. `codex exec` has none, and does not know the flag.
    terminal_args = ("--no-daemon",)
    headless_args = ("exec",)
    model_flag = "--model"
    thinking: Mapping[str, Sequence[str]] = {
        level: ("-c", f'model_reasoning_effort="{level.replace("off", "none")}"')
        for level in ("off", "none", "minimal", "low", "medium", "high", "xhigh", "max")  # read, not tried
    }
    permissions: Mapping[str, Sequence[str]] = {
        "ask": ("--sandbox", "read-only", "--ask-for-approval", "on-request"),
        "auto": ("--sandbox", "workspace-write", "--ask-for-approval", "on-request"),
        "bypass": ("--dangerously-bypass-approvals-and-sandbox",),
    }
    # Its sandbox makes the git folder of a linked worktree read-only.
    commits: Mapping[str, bool] = {"ask": False, "auto": False, "bypass": True}
    resume_args = ("resume", "--last")  # the last one in this folder: it takes no id from us
    exit = "/quit"

    def trust_args(self, start: Start) -> Sequence[str]:
        if not start.repository:
            return ()
        return ("-c", f'projects={{{json.dumps(start.repository, ensure_ascii=False)}={{trust_level="trusted"}}}}')

    def turn_args(self, start: Start) -> Sequence[str]:
        return (
            ("-c", f"notify={json.dumps(list(start.turn_command), ensure_ascii=False)}") if start.turn_command else ()
        )

    def model_args(self, choice: ModelChoice) -> Sequence[str]:
        other = choice.provider not in ("", "openai")
        provider = ("-c", f"model_provider={json.dumps(choice.provider)}") if other else ()
        return (*provider, self.model_flag, choice.model)

    def permission_args(self, start: Start) -> Sequence[str]:
        words = list(super().permission_args(start))
        if start.headless and "--ask-for-approval" in words:  # `codex exec` never asks, and has no such flag
            at = words.index("--ask-for-approval")
            del words[at : at + 2]
        return words

    def resume_words(self, start: Start) -> Sequence[str]:
        return ()  # a subcommand that must follow the flags, some of which it does not know itself

    def prompt_words(self, start: Start) -> list[str]:
        words = super().prompt_words(start)
        return [*super().resume_words(start), *words] if start.resume else words

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        if title.startswith("[") and "Action Required" in title:
            return Status.ASKING, "its title says so"
        # The name alone stands for idle, but it is there from the start, too: it proves nothing.
        return (Status.WORKING, "its title says so") if "\u2801" <= title[:1] <= "\u28ff" else None
