"""Claude Code."""

from collections.abc import Sequence

from woodwind.agents.base import Agent
from woodwind.model.status import Status


class Claude(Agent):
    """Anthropic's terminal agent."""

    name = "claude"
    command = "claude"
    plan_args = ("--permission-mode", "plan")
    pass_env = (
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

    def session_args(self, session: str) -> Sequence[str]:
        return ("--session-id", session) if session else ()

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        # "✳" stands for idle and for a question alike, so it proves nothing.
        return (Status.WORKING, "its title says so") if title[:1] in ("◐", "◑") else None
