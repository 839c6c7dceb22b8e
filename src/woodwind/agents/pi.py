"""pi."""

from collections.abc import Mapping, Sequence

from woodwind.agents.base import Agent
from woodwind.agents.keys import PROVIDER_KEYS


class Pi(Agent):
    """The small agent that is extended in TypeScript."""

    name = "pi"
    command = "pi"
    pass_env = (
        *PROVIDER_KEYS,
        "ANTHROPIC_OAUTH_TOKEN",
        "AZURE_OPENAI_BASE_URL",
        "PI_CODING_AGENT_DIR",
        "PI_CODING_AGENT_SESSION_DIR",
        "PI_OFFLINE",
        "PI_TELEMETRY",
    )
    paths = ("~/.npm-global/bin/pi",)
    install = "Install it (it needs Node 22): npm install -g @earendil-works/pi-coding-agent"
    checked = "0.87.1"
    headless_args = ("--print",)
    model_flag = "--model"
    provider_flag = "--provider"
    thinking: Mapping[str, Sequence[str]] = {
        level: ("--thinking", level.replace("none", "off"))
        for level in ("off", "none", "minimal", "low", "medium", "high", "xhigh", "max")
    }
    permissions: Mapping[str, Sequence[str]] = {"bypass": ()}  # it never asks
    # The same words make a conversation and go on with it (read).
    session_args = ("--session-id", "{session}")
    resume_args = ("--session-id", "{session}")
    clear = "/new"
    exit = "/quit"
