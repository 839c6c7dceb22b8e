"""What opencode's stream of events tells. Seen with 1.18.33.

An end names the prompt that it belongs to, but not the agent's words; and the sessions of agents that the agent starts
itself speak in the same stream. So a `Listener`, which hears all of it, adds what the others lack under the key
`woodwind`, and leaves out what is of no interest. `reading_of` is pure.
"""

from collections.abc import Mapping
from typing import Any

from woodwind.model.reading import ENDS, Reading, Tells

_ADDED = "woodwind"
_ANSWERED = ("permission.replied", "question.replied", "question.rejected")
_ASKED = ("permission.asked", "question.asked")
_LONGEST = 20_000


class Listener:
    """One stream, listened to from its beginning: what goes into the spool of each event, None for nothing."""

    def __init__(self) -> None:
        self._children: set[str] = set()
        self._prompts: dict[str, str] = {}  # the prompt that a session works on, until its end was told
        self._words: dict[str, str] = {}  # by message

    def __call__(self, payload: dict[str, Any]) -> dict[str, Any] | None:
        """The event as it is to be taken in."""
        kind, properties = _kind(payload), _map(payload.get("properties"))
        session = _session(properties)
        info, part = _map(properties.get("info")), _map(properties.get("part"))
        if kind.startswith("session.") and _text(info.get("parentID")):
            self._children.add(_text(info.get("id")))
        if kind == "message.part.updated" and part.get("type") == "text" and part.get("time"):
            self._words[_text(part.get("messageID"))] = _text(part.get("text"))[:_LONGEST]
        if session in self._children and kind not in (*_ASKED, *_ANSWERED):
            return None
        added: dict[str, Any] = {"child": True} if session in self._children else {}
        if kind in ("session.error", "session.idle"):
            added |= {"prompt": self._prompts.get(session, "")}
        elif kind == "message.updated":
            added |= {"words": self._words.get(_text(info.get("id")), "")}
        told = {**payload, _ADDED: added}
        reading = reading_of(told, 0)
        if reading is None:
            return None
        self._follow(session, reading)
        return told

    def _follow(self, session: str, reading: Reading) -> None:
        if reading.tells is Tells.SUBMITTED:
            self._prompts[session] = reading.prompt_id
            self._words.clear()
        elif reading.tells in ENDS and self._prompts.get(session) == reading.prompt_id:
            del self._prompts[session]


def reading_of(payload: Mapping[str, Any], at: int) -> Reading | None:
    """What one event tells; None where it tells nothing about the agent's status."""
    kind, properties, added = _kind(payload), _map(payload.get("properties")), _map(payload.get(_ADDED))
    child = bool(added.get("child"))
    told = _told(kind, properties, added)
    if told is None:
        return None
    # What an agent of the agent asks is shown in the same terminal, but its conversation is not the one to go on with.
    return told._replace(at=at, session="" if child else _session(properties))


def _told(kind: str, properties: Mapping[str, Any], added: Mapping[str, Any]) -> Reading | None:
    info, part = _map(properties.get("info")), _map(properties.get("part"))
    if kind == "session.created":
        return _reading(Tells.STARTED) if not info.get("parentID") else None
    if kind == "message.part.updated":
        # Of all texts, only a prompt has no times; a synthetic one is the agent's own remark to its model.
        prompt = part.get("type") == "text" and not part.get("time") and not part.get("synthetic")
        return _reading(Tells.SUBMITTED, prompt=part.get("messageID"), text=part.get("text")) if prompt else None
    if kind == "message.updated":
        return _message(info, added)
    if kind == "session.status":
        return _status(_map(properties.get("status")))
    if kind == "session.error":
        return _error(_map(properties.get("error")), added.get("prompt"))
    if kind == "session.idle":
        # A turn that ended without an answer of its own: a question was answered with no.
        prompt = _text(added.get("prompt"))
        return _reading(Tells.INTERRUPTED if prompt else Tells.IDLE, prompt=prompt)
    if kind in _ASKED:
        return _asked(properties)
    return _reading(Tells.ANSWERED) if kind in _ANSWERED else None


def _message(info: Mapping[str, Any], added: Mapping[str, Any]) -> Reading | None:
    """The end of an answer, which is a turn's end unless tools are to be used, or it only sums up what was said."""
    over = info.get("role") == "assistant" and _map(info.get("time")).get("completed")
    if not over or info.get("summary"):
        return None
    if info.get("error"):
        return _error(_map(info.get("error")), info.get("parentID"))
    if _text(info.get("finish")) in ("", "tool-calls", "unknown"):
        return None
    return _reading(Tells.DONE, prompt=info.get("parentID"), text=added.get("words"))


def _status(status: Mapping[str, Any]) -> Reading | None:
    if status.get("type") == "retry":
        return _reading(Tells.WORKING, text=status.get("message"))
    # That it is idle again comes once more, as session.idle.
    return _reading(Tells.WORKING) if status.get("type") == "busy" else None


def _error(error: Mapping[str, Any], prompt: object) -> Reading:
    aborted = error.get("name") == "MessageAbortedError"
    text = _text(_map(error.get("data")).get("message")) or _text(error.get("name"))
    return _reading(Tells.INTERRUPTED if aborted else Tells.FAILED, prompt=prompt, text="" if aborted else text)


def _asked(properties: Mapping[str, Any]) -> Reading:
    questions = properties.get("questions")
    if isinstance(questions, list) and questions:
        first = _map(questions[0])
        options = first.get("options")
        labels = [_text(_map(option).get("label")) for option in options] if isinstance(options, list) else []
        words, tool = _text(first.get("question")), "question"
        text = f"{words} ({', '.join(filter(None, labels))})" if any(labels) else words
    else:
        tool = _text(properties.get("permission")) or "a tool"
        patterns = properties.get("patterns")
        subject = ", ".join(map(_text, patterns)) if isinstance(patterns, list) else ""
        text = f"{tool}: {subject}" if subject else tool
    return _reading(Tells.ASKING, text=text)._replace(question=_text(properties.get("id")), tool=tool)


def _reading(tells: Tells, prompt: object = "", text: object = "") -> Reading:
    return Reading(tells, 0, "stream", prompt_id=_text(prompt), text=_text(text))


def _kind(payload: Mapping[str, Any]) -> str:
    return _text(payload.get("type"))


def _session(properties: Mapping[str, Any]) -> str:
    return _text(properties.get("sessionID")) or _text(_map(properties.get("info")).get("sessionID"))


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
