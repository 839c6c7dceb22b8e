"""Which API a path belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from woodwind.testing.model_server import anthropic, chat, gemini, responses
from woodwind.testing.model_server.conversation import Body, Conversation
from woodwind.testing.model_server.replies import Call, Frame, Text


class Api(Protocol):
    """One API, in both directions: each of its modules is one."""

    def read(self, body: Body, /) -> Conversation:
        """What the request says."""

    def whole(self, body: Body, reply: Text | Call, unique: str, /) -> dict[str, Any]:
        """The answer in one piece."""

    def stream(self, body: Body, reply: Text | Call, unique: str, /) -> Iterator[Frame]:
        """The answer as a stream."""


_ENDS: dict[str, Api] = {
    "/messages": anthropic,
    "/chat/completions": chat,
    "/responses": responses,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}


def api_of(path: str) -> Api | None:
    """The API that a request's path belongs to; None for another path."""
    return next((api for end, api in _ENDS.items() if path.endswith(end)), None)


def wants_stream(path: str, body: Body) -> bool:
    """Whether the answer is wanted as a stream."""
    return path.endswith(":streamGenerateContent") or bool(body.get("stream"))


def aside(path: str) -> dict[str, Any] | None:
    """The answer to a path that counts tokens or lists models; None for another path."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": 100}
    if path.endswith(":countTokens"):
        return {"totalTokens": 100}
    if path.endswith("/models"):
        model = {"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted", "created": 1}
        return {"object": "list", "data": [{**model, "owned_by": "woodwind"}], "models": []}
    return None
