"""Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from woodwind.testing.model_server.conversation import Body, Conversation, Kind, Said, Tool, text_of
from woodwind.testing.model_server.replies import Call, Frame, Text, pieces

_USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


def read(body: Body) -> Conversation:
    """What the request says."""
    said: list[Said] = []
    for message in body.get("messages", []):
        content = message["content"]
        mine = Kind.MODEL if message["role"] == "assistant" else Kind.USER
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            match part.get("type"):
                case "text":
                    said.append(Said(mine, part["text"]))
                case "tool_use":
                    said.append(Said(Kind.CALL, part["name"]))
                case "tool_result":
                    said.append(Said(Kind.RESULT, text_of(part.get("content"))))
    tools = {t["name"]: Tool(t["name"], t.get("input_schema", {})) for t in body.get("tools", []) if "name" in t}
    wanted = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
    schema = wanted.get("schema") if wanted.get("type") == "json_schema" else None
    return Conversation(tuple(said), text_of(body.get("system")), tools, schema)


def whole(body: Body, reply: Text | Call, unique: str) -> dict[str, Any]:
    """The answer in one piece."""
    reason = "tool_use" if isinstance(reply, Call) else "end_turn"
    return {**_message(body, unique), "content": [_block(reply, unique)], "stop_reason": reason}


def stream(body: Body, reply: Text | Call, unique: str) -> Iterator[Frame]:
    """The answer as a stream."""
    yield _frame("message_start", message=_message(body, unique))
    empty: dict[str, Any] = {"text": ""} if isinstance(reply, Text) else {"input": {}}
    yield _frame("content_block_start", index=0, content_block={**_block(reply, unique), **empty})
    if isinstance(reply, Call):
        part = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
        yield _frame("content_block_delta", index=0, delta=part)
    else:
        for text, pause in pieces(reply):
            part = {"type": "text_delta", "text": text}
            yield Frame({"type": "content_block_delta", "index": 0, "delta": part}, "content_block_delta", pause)
    yield _frame("content_block_stop", index=0)
    reason = "tool_use" if isinstance(reply, Call) else "end_turn"
    yield _frame("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 20})
    yield _frame("message_stop")


def _frame(kind: str, **fields: Any) -> Frame:
    return Frame({"type": kind, **fields}, kind)


def _message(body: Body, unique: str) -> dict[str, Any]:
    fixed: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    return {"id": f"msg_{unique}", "model": body.get("model"), **fixed, "usage": _USAGE}


def _block(reply: Text | Call, unique: str) -> dict[str, Any]:
    if isinstance(reply, Text):
        return {"type": "text", "text": reply.text}
    return {"type": "tool_use", "id": f"toolu_{unique}", "name": reply.tool, "input": dict(reply.arguments)}
