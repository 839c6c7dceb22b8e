"""The built-in rehearsal agent: it plays a scripted agent, for `ww demo` and for tests."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.agents.base import Agent, Start
from woodwind.model.reading import Reading, Tells
from woodwind.model.status import Status

_TITLES = {"●": Status.WORKING, "?": Status.ASKING, "✓": Status.READY, "✗": Status.READY, "⊘": Status.READY}
# What each event tells, and which of its facts is the text that belongs to it.
_EVENTS = {
    "SessionStart": (Tells.STARTED, ""),
    "UserPromptSubmit": (Tells.SUBMITTED, "prompt"),
    "PreToolUse": (Tells.WORKING, ""),
    "PostToolUse": (Tells.WORKING, ""),
    "PermissionRequest": (Tells.ASKING, "question"),
    "Stop": (Tells.DONE, "last_assistant_message"),
    "StopFailure": (Tells.FAILED, "error"),
    "SessionEnd": (Tells.ENDED, "reason"),
}


class Rehearsal(Agent):
    """Needs no account and no network."""

    name = "rehearsal"
    command = sys.executable
    args = ("-P", "-m", "woodwind.testing.rehearsal")
    pass_env = ("PYTHONPATH", "REHEARSAL_HOOK")
    checked = "1.0"
    detected = False
    headless_args = ()
    headless_flag = "--print"
    plan_args = ("--plan",)
    model_flag = "--model"
    permissions: Mapping[str, Sequence[str]] = {"ask": ("--ask-edits",), "auto": (), "bypass": ()}
    session_args = ("--session-id", "{session}")
    resume_args: Sequence[str] | None = ("--resume", "{session}")
    interrupt = ("C-c",)
    tells_submits = True
    tells_ends = True
    answers: Mapping[str, Sequence[str]] = {"allow": ("y", "Enter"), "always": ("a", "Enter"), "deny": ("n", "Enter")}

    def event_args(self, start: Start) -> Sequence[str]:
        return ("--hook", start.hook)

    def allow_args(self, start: Start) -> Sequence[str]:
        return [word for tool in start.allowed for word in ("--allow", tool)]

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        tells, key = _EVENTS.get(str(payload.get("hook_event_name")), (None, ""))
        if tells is None:
            return None
        return Reading(
            tells,
            at,
            "hook",
            prompt_id=str(payload.get("prompt_id") or ""),
            session=str(payload.get("session_id") or ""),
            text=str(payload.get(key) or "") if key else "",
            tool=str(payload.get("tool_name") or ""),
        )

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        mark, _, words = title.partition(" ")
        status = _TITLES.get(mark)
        return (status, words.removeprefix("asking: ")) if status else None
