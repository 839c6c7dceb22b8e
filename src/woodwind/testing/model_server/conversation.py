"""A request in a form that is the same for every API: what was said, which tools are offered, what is wanted back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Body = Mapping[str, Any]


class Kind(StrEnum):
    """What one entry of a conversation is."""

    USER = "user"
    MODEL = "model"
    CALL = "call"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Said:
    """One entry of a conversation: a text, the name of a called tool, or a tool's output."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the agent offers. A custom one takes a plain text in place of arguments."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """All that a request says."""

    said: tuple[Said, ...] = ()
    system: str = ""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None  # of the JSON that is wanted back, as for a title


def text_of(content: object) -> str:
    """The words of a message's content, which is a text, a list of parts, or JSON of the agent's own."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        for key in ("text", "content", "output"):
            if key in content:
                return text_of(content[key])
        return "\n".join(filter(None, map(text_of, content.values())))
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    return ""
