"""Codex."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.agents import choices, hook_payloads
from woodwind.agents.base import Agent, Start
from woodwind.model.choice import ModelChoice
from woodwind.model.reading import Reading
from woodwind.model.status import Status

# Its events, by their names in its settings and in its list of trusted hooks, with the longest time it gives each.
_EVENTS = {
    "SessionStart": ("session_start", 10),
    "UserPromptSubmit": ("user_prompt_submit", 10),
    "PreToolUse": ("pre_tool_use", 10),
    "PostToolUse": ("post_tool_use", 10),
    "PermissionRequest": ("permission_request", 10),
    "SubagentStop": ("subagent_stop", 10),
    "Stop": ("stop", 60),
    "Interrupt": ("interrupt", 3),
    "SessionEnd": ("session_end", 3),
}


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
    resume_args = ("resume", "{session}")  # its own id, which its events tell
    exit = "/quit"
    tells_submits = True
    tells_ends = True
    answers: Mapping[str, Sequence[str]] = {"allow": ("y",), "deny": ("Escape",)}

    def trust_args(self, start: Start) -> Sequence[str]:
        if not start.repository:
            return ()
        return ("-c", f'projects={{{_quoted(start.repository)}={{trust_level="trusted"}}}}')

    def turn_args(self, start: Start) -> Sequence[str]:
        # Its `notify` program would be told of the turns in which it looks for a title, too, and replace the user's.
        return () if start.hook or not start.turn_command else self.event_args(start)

    def event_args(self, start: Start) -> Sequence[str]:
        """Hooks for this run, which come on top of the user's own; each is trusted by its hash, and no other is."""
        words: list[str] = []
        trusted = []
        for event, (label, seconds) in _EVENTS.items():
            command = _at_end(start) if event == "Stop" else start.hook
            if not command:
                continue
            words += [
                "-c",
                f'hooks.{event}=[{{hooks=[{{type="command",command={_quoted(command)},timeout={seconds}}}]}}]',
            ]
            place = _quoted(f"/<session-flags>/config.toml:{label}:0:0")
            trusted.append(f"{place}={{trusted_hash={_quoted(trusted_hash(label, command, seconds))}}}")
        return [*words, "-c", f"hooks.state={{{','.join(trusted)}}}"]

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        return hook_payloads.reading_of(payload, at, prompt_key="turn_id")

    def answer_keys(self, answer: str, screen: str) -> Sequence[str]:
        return choices.keys_for(answer, screen)

    def words_keys(self, screen: str) -> Sequence[str] | None:
        return None

    def model_args(self, choice: ModelChoice) -> Sequence[str]:
        other = choice.provider not in ("", "openai")
        provider = ("-c", f"model_provider={_quoted(choice.provider)}") if other else ()
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
        return [*self._resume(start), *words] if start.resume else words

    def _resume(self, start: Start) -> Sequence[str]:
        if self.resume_args == Codex.resume_args and not _is_its_own(start.session):
            return ("resume", "--last")  # it has told no id yet: the last one in this folder
        return super().resume_words(start)

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        if title.startswith("[") and "Action Required" in title:
            return Status.ASKING, "its title says so"
        # The name alone stands for idle, but it is there from the start, too: it proves nothing.
        return (Status.WORKING, "its title says so") if "\u2801" <= title[:1] <= "\u28ff" else None


def trusted_hash(label: str, command: str, seconds: int) -> str:
    """Codex's own fingerprint of a hook. Without it, it asks a person to review the hook, and skips it until then."""
    handler = {"async": False, "command": command, "timeout": seconds, "type": "command"}
    plain = json.dumps({"event_name": label, "hooks": [handler]}, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"


def _is_its_own(session: str) -> bool:
    """Whether an id is one of Codex's, which are UUIDs of version 7; those that we choose are of version 4."""
    return len(session) == 36 and session[14] == "7"


def _at_end(start: Start) -> str:
    """The command at a turn's end. The commit comes first: who is told of the end must find it."""
    if not start.turn_command:
        return start.hook
    commit = f"""printf '%s' "$event" | {shlex.join(start.turn_command)} >/dev/null 2>&1"""
    tell = f"""; printf '%s' "$event" | {start.hook}""" if start.hook else " || :"
    return f"event=$(cat); {commit}{tell}"


def _quoted(text: str) -> str:
    """A text as TOML, which takes JSON's own form."""
    return json.dumps(text, ensure_ascii=False)
