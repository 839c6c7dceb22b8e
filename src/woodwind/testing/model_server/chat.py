"""OpenAI's Chat Completions API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from woodwind.testing.model_server.conversation import Body, Conversation, Kind, Said, Tool, text_of
from woodwind.testing.model_server.replies import Call, Frame, Text, pieces

_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
_CREATED = 1_700_000_000


def read(body: Body) -> Conversation:
    """What the request says."""
    said: list[Said] = []
    system: list[str] = []
    for message in body.get("messages", []):
        text = text_of(message.get("content"))
        match message["role"]:
            case "system" | "developer":
                system.append(text)
            case "tool":
                said.append(Said(Kind.RESULT, text))
            case role:
                if text:
                    said.append(Said(Kind.MODEL if role == "assistant" else Kind.USER, text))
                said += [Said(Kind.CALL, call["function"]["name"]) for call in message.get("tool_calls") or []]
    functions = [tool["function"] for tool in body.get("tools") or [] if tool.get("type") == "function"]
    tools = {f["name"]: Tool(f["name"], f.get("parameters", {})) for f in functions}
    wanted = body.get("response_format") or {}
    schema = wanted["json_schema"].get("schema") if wanted.get("type") == "json_schema" else None
    return Conversation(tuple(said), "\n".join(system), tools, schema)


def whole(body: Body, reply: Text | Call, unique: str) -> dict[str, Any]:
    """The answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(reply, Call):
        message["tool_calls"] = [_call(reply, unique)]
    else:
        message["content"] = reply.text
    choice = {"index": 0, "message": message, "finish_reason": _reason(reply)}
    return {**_head(body, unique), "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def stream(body: Body, reply: Text | Call, unique: str) -> Iterator[Frame]:
    """The answer as a stream."""

    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**_head(body, unique), "object": "chat.completion.chunk", "choices": [choice], **more}

    yield Frame(chunk({"role": "assistant", "content": ""}))
    if isinstance(reply, Call):
        yield Frame(chunk({"tool_calls": [{"index": 0, **_call(reply, unique)}]}))
    else:
        for text, pause in pieces(reply):
            yield Frame(chunk({"content": text}), pause=pause)
    yield Frame(chunk({}, _reason(reply), usage=_USAGE))
    yield Frame("[DONE]")


def _head(body: Body, unique: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{unique}", "created": _CREATED, "model": body.get("model")}


def _call(reply: Call, unique: str) -> dict[str, Any]:
    function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
    return {"id": f"call_{unique}", "type": "function", "function": function}


def _reason(reply: Text | Call) -> str:
    return "tool_calls" if isinstance(reply, Call) else "stop"
