"""pi."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.agents.base import Agent, Start
from woodwind.agents.keys import PROVIDER_KEYS
from woodwind.model.reading import Reading, Tells

EXTENSION = "pi_events.ts"
_EVENTS = {
    "session_start": Tells.STARTED,
    "input": Tells.SUBMITTED,
    "agent_start": Tells.WORKING,
    "tool_call": Tells.WORKING,
    "tool_result": Tells.WORKING,
    "ui_prompt_start": Tells.ASKING,
    "ui_prompt_end": Tells.ANSWERED,
    "agent_settled": Tells.DONE,
    "session_shutdown": Tells.ENDED,
}
_ENDS = {"aborted": Tells.INTERRUPTED, "error": Tells.FAILED}


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
    # The same words make a conversation and go on with it.
    session_args = ("--session-id", "{session}")
    resume_args = ("--session-id", "{session}")
    clear = "/new"
    exit = "/quit"
    tells_submits = True
    tells_ends = True

    def variables(self, start: Start) -> Mapping[str, str]:
        return {**self.env, "WOODWIND_HOOK": start.hook} if start.hook else self.env

    def event_files(self, start: Start) -> Mapping[str, str]:
        with open(os.path.join(os.path.dirname(__file__), EXTENSION), encoding="utf-8") as file:
            return {EXTENSION: file.read()}

    def event_args(self, start: Start) -> Sequence[str]:
        return ("--extension", os.path.join(start.run_dir, EXTENSION))

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        told = {key: value for key, value in payload.items() if isinstance(value, str)}
        tells = _EVENTS.get(told.get("event", ""))
        if tells is None or (tells is Tells.ENDED and told.get("reason") != "quit"):
            return None  # another conversation, or its extensions loaded again, in the same program
        text = told.get("text", "")
        if tells is Tells.DONE:
            tells = _ENDS.get(told.get("stop", ""), Tells.DONE)
            text = told.get("error", "") or text if tells is not Tells.DONE else text
        prompt = told.get("prompt_id", "")
        return Reading(
            tells,
            at,
            "hook",
            prompt_id=prompt,
            session=told.get("session", ""),
            text=text,
            question=f"{prompt}:{text}" if tells is Tells.ASKING else "",
            tool=told.get("tool", ""),
        )
