"""Readings from hook payloads in the form that Claude Code began and others took over: one object per event. Pure."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from woodwind.model.reading import Reading, Tells

# What each event tells, and the fields that may hold its words. Those that tell nothing certain are missing:
# a notification of a question, for one, comes seconds late, when it may have been answered.
_EVENTS: Mapping[str, tuple[Tells, tuple[str, ...]]] = {
    "SessionStart": (Tells.STARTED, ()),
    "UserPromptSubmit": (Tells.SUBMITTED, ("prompt",)),
    "PreToolUse": (Tells.WORKING, ()),
    "PostToolUse": (Tells.WORKING, ()),
    "PostToolUseFailure": (Tells.WORKING, ()),
    "PermissionRequest": (Tells.ASKING, ()),
    "Stop": (Tells.DONE, ("last_assistant_message",)),
    "StopFailure": (Tells.FAILED, ("last_assistant_message", "error")),
    "Interrupt": (Tells.INTERRUPTED, ()),
    "SubagentStop": (Tells.WORKING, ()),
    "SessionEnd": (Tells.ENDED, ("reason",)),
}
# It goes on with a session of another id, in the same program.
_GOES_ON = ("clear", "resume", "compact")
_ARGUMENTS = ("command", "file_path", "path", "url", "pattern", "description")


def reading_of(payload: Mapping[str, Any], at: int, *, prompt_key: str = "prompt_id") -> Reading | None:
    """What the event tells; None where it tells nothing about the agent's status."""
    event = payload.get("hook_event_name")
    tells, keys = _EVENTS.get(event if isinstance(event, str) else "", (None, ()))
    if tells is None or (tells is Tells.ENDED and payload.get("reason") in _GOES_ON):
        return None
    if tells is Tells.STARTED and payload.get("source") == "compact":
        return None  # in the middle of a turn
    prompt = _text(payload.get(prompt_key))
    asking = tells is Tells.ASKING
    return Reading(
        tells,
        at,
        "hook",
        prompt_id=prompt,
        session=_text(payload.get("session_id")),
        text=question_text(payload) if asking else next(filter(None, (_text(payload.get(key)) for key in keys)), ""),
        question=question_id(payload, prompt) if asking else "",
        tool=_text(payload.get("tool_name")),
        of_subagent=event == "SubagentStop" or bool(payload.get("agent_id")),
    )


def question_text(payload: Mapping[str, Any]) -> str:
    """What a person is asked, in one line: the tool with its main argument, or the question itself."""
    given = payload.get("tool_input")
    arguments = given if isinstance(given, Mapping) else {}
    questions = arguments.get("questions")
    if isinstance(questions, list) and questions and isinstance(questions[0], Mapping):
        words = _text(questions[0].get("question"))
        options = questions[0].get("options")
        labels = [_text(o.get("label")) for o in options if isinstance(o, Mapping)] if isinstance(options, list) else []
        return f"{words} ({', '.join(filter(None, labels))})" if any(labels) else words
    tool = _text(payload.get("tool_name")) or "a tool"
    subject = next(filter(None, (_text(arguments.get(key)) for key in _ARGUMENTS)), "")
    return f"{tool}: {subject}" if subject else tool


def question_id(payload: Mapping[str, Any], prompt: str) -> str:
    """An id of the question: the same whenever the same is asked in the same turn."""
    asked = json.dumps([prompt, payload.get("tool_name"), payload.get("tool_input")], sort_keys=True, default=str)
    return hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:12]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
