"""What a person is told of an event, and whether at all."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from woodwind.model.text import one_line

KINDS = ("asking", "done", "failed", "exited")


class Notice(NamedTuple):
    """One thing worth a person's attention."""

    kind: str  # one of KINDS
    text: str


def notice_of(kind: str, data: Mapping[str, Any], name: str) -> Notice | None:
    """What an event means to a person who looks elsewhere; None for what can wait until they look."""
    if kind == "status.changed":
        detail = _line(data, "detail")
        if data.get("to") == "asking":
            return Notice("asking", f"{name} needs you{_after(detail)}")
        if data.get("to") == "exited":
            return Notice("exited", f"{name} has exited{_after(detail)}")
    elif kind == "turn.done":
        return Notice("done", f"{name} is done{_after(_line(data, 'last_words'))}")
    elif kind == "turn.failed":
        return Notice("failed", f"{name} failed{_after(_line(data, 'error'))}")
    elif kind == "landing.failed":
        return Notice("failed", f"{name} could not be landed{_after(_line(data, 'why'))}")
    elif kind == "queue.dropped":
        return Notice("failed", f"{name} left the landing queue{_after(_line(data, 'why'))}")
    elif kind == "run.finished":
        return Notice("done", f"a run has finished{_after(_line(data, 'name'))}")
    return None


def _line(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return one_line(value) if isinstance(value, str) else ""


def _after(text: str) -> str:
    return f": {text}" if text else ""
