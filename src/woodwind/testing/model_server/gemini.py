"""Google's Gemini API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from woodwind.testing.model_server.conversation import Body, Conversation, Kind, Said, Tool, text_of
from woodwind.testing.model_server.replies import Call, Frame, Text, pieces

_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def read(body: Body) -> Conversation:
    """What the request says."""
    said: list[Said] = []
    for message in body.get("contents", []):
        mine = Kind.MODEL if message.get("role") == "model" else Kind.USER
        for part in message.get("parts", []):
            if "text" in part:
                said.append(Said(mine, part["text"]))
            elif "functionCall" in part:
                said.append(Said(Kind.CALL, part["functionCall"]["name"]))
            elif "functionResponse" in part:
                said.append(Said(Kind.RESULT, text_of(part["functionResponse"].get("response"))))
    system = body.get("systemInstruction") or {}
    tools = {
        function["name"]: Tool(
            function["name"], function.get("parametersJsonSchema") or function.get("parameters") or {}
        )
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations", [])
    }
    config = body.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    words = system if isinstance(system, str) else text_of(system.get("parts"))
    return Conversation(tuple(said), words, tools, schema)


def whole(body: Body, reply: Text | Call, unique: str) -> dict[str, Any]:
    """The answer in one piece."""
    return _candidate(_part(reply, unique), "STOP")


def stream(body: Body, reply: Text | Call, unique: str) -> Iterator[Frame]:
    """The answer as a stream."""
    if isinstance(reply, Call):
        yield Frame(_candidate(_part(reply, unique), "STOP"))
        return
    for text, pause in pieces(reply):
        yield Frame(_candidate({"text": text}), pause=pause)
    yield Frame(_candidate({"text": ""}, "STOP"))


def _candidate(part: dict[str, Any], reason: str = "") -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": "scripted"}


def _part(reply: Text | Call, unique: str) -> dict[str, Any]:
    if isinstance(reply, Text):
        return {"text": reply.text}
    call = {"name": reply.tool, "args": dict(reply.arguments), "id": f"call_{unique}"}
    return {"functionCall": call, "thoughtSignature": "c2NyaXB0ZWQ="}
