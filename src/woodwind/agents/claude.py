"""Claude Code."""

from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent
from woodwind.model.status import Status


class Claude(Agent):
    """Anthropic's terminal agent."""

    name = "claude"
    command = "claude"
    pass_env: Sequence[str] = (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    )
    paths = ("~/.claude/local/claude", "~/.local/bin/claude")
    install = "Install it: npm install -g @anthropic-ai/claude-code"
    checked = "2.1.325"
    headless_args = ("-p",)
    plan_args = ("--permission-mode", "plan")
    model_flag = "--model"
    providers: Sequence[str] = ("anthropic",)
    thinking: Mapping[str, Sequence[str]] = {
        level: ("--effort", level) for level in ("low", "medium", "high", "xhigh", "max")
    }
    permissions: Mapping[str, Sequence[str]] = {
        "ask": ("--permission-mode", "default"),  # its help says "manual" by now; older versions know only this
        "auto": ("--permission-mode", "acceptEdits"),
        "bypass": ("--permission-mode", "bypassPermissions"),
    }
    session_args = ("--session-id", "{session}")
    resume_args: Sequence[str] | None = ("--resume", "{session}")

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        # "✳" stands for idle and for a question alike, so it proves nothing.
        return (Status.WORKING, "its title says so") if title[:1] in ("◐", "◑") else None
