"""OpenClaude."""

from collections.abc import Mapping, Sequence

from woodwind.agents.base import Start
from woodwind.agents.claude import Claude
from woodwind.agents.keys import PROVIDER_KEYS
from woodwind.model.status import Status


class OpenClaude(Claude):
    """A community's agent for many providers, with the words of Claude Code."""

    name = "openclaude"
    command = "openclaude"
    pass_env = (
        *dict.fromkeys([*Claude.pass_env, *PROVIDER_KEYS]),
        "CLAUDE_CODE_USE_OPENAI",
        "CLAUDE_CODE_USE_GEMINI",
        "CLAUDE_CODE_USE_MISTRAL",
        "CLAUDE_CODE_USE_GITHUB",
        "OPENAI_MODEL",
    )
    paths = ("~/.local/bin/openclaude", "~/.npm-global/bin/openclaude")
    install = "Install it: npm install -g @gitlawb/openclaude"
    checked = ""
    providers = ()
    provider_flag = "--provider"
    # Whether its hooks are still those of Claude Code was not checked, and a flag that it does not know would end it.
    tells_submits = False
    tells_ends = False
    queues = False
    thinking: Mapping[str, Sequence[str]] = {level: ("--effort", level) for level in ("low", "medium", "high", "max")}

    def event_files(self, start: Start) -> Mapping[str, str]:
        return {}

    def event_args(self, start: Start) -> Sequence[str]:
        return ()

    def own_args(self, start: Start) -> Sequence[str]:
        return self.args

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        return None
