"""What a person is told of an event, and whether at all."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from woodwind.model.text import one_line

KINDS = ("asking", "done", "failed", "exited")

# It ended as it should, or with its terminal.
_NO_ERROR = ("with status 0", "with signal 1", "with signal 15")


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
            return Notice(_how_bad(data.get("from"), detail), f"{name} has exited{_after(detail)}")
    elif kind == "turn.done":
        return Notice("done", f"{name} is done{_after(_line(data, 'last_words'))}")
    elif kind == "turn.failed":
        return Notice("failed", f"{name} failed{_after(_line(data, 'error'))}")
    elif kind == "landing.failed":
        return Notice("failed", f"{name} could not be landed{_after(_line(data, 'why'))}")
    elif kind == "queue.dropped":
        return Notice("failed", f"{name} left the landing queue{_after(_line(data, 'why'))}")
    elif kind == "worker.not_started":
        return Notice("failed", f"{name} could not be started{_after(_line(data, 'error'))}")
    elif kind == "run.finished":
        return Notice("done", f"a run has finished{_after(_line(data, 'title') or _line(data, 'run'))}")
    return None


def _how_bad(before: object, detail: str) -> str:
    """The kind of an exit: an error between two turns is a failure. In the middle of one, the turn's end tells it."""
    by_itself = detail.startswith("with ") and detail not in _NO_ERROR
    return "failed" if by_itself and before not in ("working", "asking") else "exited"


def _line(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return one_line(value) if isinstance(value, str) else ""


def _after(text: str) -> str:
    return f": {text}" if text else ""
