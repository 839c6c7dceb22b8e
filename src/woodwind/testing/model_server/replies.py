"""What the model answers to one request, before it is put into the words of an API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Text:
    """Words, sent over that many seconds."""

    text: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to be used; `input` in place of arguments for a custom tool."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    input: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An HTTP error."""

    status: int


@dataclass(frozen=True, slots=True)
class Drop:
    """A connection that breaks in the middle of the answer."""


Reply = Text | Call | Failure | Drop


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event, and how long to wait after it."""

    data: Any
    name: str = ""
    pause: float = 0.0


def pieces(reply: Text) -> Iterator[tuple[str, float]]:
    """The text in pieces, each with the seconds that follow it; in one piece where it need not take time."""
    if not reply.seconds:
        yield reply.text, 0.0
        return
    words = reply.text.split(" ")
    # Several pieces a second, so that an agent sees that its model is alive.
    count = max(len(words), int(reply.seconds * 4))
    pause = reply.seconds / count
    for number in range(count):
        yield (f"{words[number]} " if number < len(words) else ". "), pause
