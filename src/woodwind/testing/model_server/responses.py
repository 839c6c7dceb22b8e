"""OpenAI's Responses API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from woodwind.testing.model_server.conversation import Body, Conversation, Kind, Said, Tool, text_of
from woodwind.testing.model_server.replies import Call, Frame, Text, pieces

_CREATED = 1_700_000_000
_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 120,
}


def read(body: Body) -> Conversation:
    """What the request says."""
    said: list[Said] = []
    system = [body.get("instructions") or ""]
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind.endswith("_call"):
            said.append(Said(Kind.CALL, item.get("name", kind)))
        elif kind.endswith("_output"):
            said.append(Said(Kind.RESULT, text_of(item.get("output"))))
        elif kind == "message" and item["role"] in ("developer", "system"):
            system.append(text_of(item.get("content")))
        elif kind == "message":
            said.append(Said(Kind.MODEL if item["role"] == "assistant" else Kind.USER, text_of(item.get("content"))))
    wanted = (body.get("text") or {}).get("format") or {}
    schema = wanted.get("schema") if wanted.get("type") == "json_schema" else None
    return Conversation(tuple(said), "\n".join(system), _tools(body.get("tools") or []), schema)


def _tools(offered: list[Mapping[str, Any]]) -> dict[str, Tool]:
    tools = {}
    for tool in offered:
        if tool.get("type") == "function":
            tools[tool["name"]] = Tool(tool["name"], tool.get("parameters", {}))
        elif tool.get("type") == "custom":
            tools[tool["name"]] = Tool(tool["name"], custom=True)
    return tools


def whole(body: Body, reply: Text | Call, unique: str) -> dict[str, Any]:
    """The answer in one piece."""
    return _finished(body, _item(reply, unique), unique)


def stream(body: Body, reply: Text | Call, unique: str) -> Iterator[Frame]:
    """The answer as a stream."""
    item = _item(reply, unique)
    place = {"item_id": item["id"], "output_index": 0}
    yield _frame("response.created", response=_head(body, unique))
    empty: dict[str, Any] = {"content": [], "arguments": ""}
    begun = {**item, **{key: value for key, value in empty.items() if key in item}, "status": "in_progress"}
    yield _frame("response.output_item.added", output_index=0, item=begun)
    if isinstance(reply, Text):
        part = {"type": "output_text", "text": "", "annotations": []}
        yield _frame("response.content_part.added", **place, content_index=0, part=part)
        for text, pause in pieces(reply):
            yield _frame("response.output_text.delta", pause, **place, content_index=0, delta=text)
        yield _frame("response.output_text.done", **place, content_index=0, text=reply.text)
    elif reply.input is None:
        yield _frame("response.function_call_arguments.delta", **place, delta=item["arguments"])
        yield _frame("response.function_call_arguments.done", **place, arguments=item["arguments"])
    yield _frame("response.output_item.done", output_index=0, item=item)
    yield _frame("response.completed", response=_finished(body, item, unique))


def _frame(kind: str, pause: float = 0.0, /, **fields: Any) -> Frame:
    return Frame({"type": kind, **fields}, kind, pause)


def _head(body: Body, unique: str) -> dict[str, Any]:
    fixed = {"object": "response", "created_at": _CREATED, "status": "in_progress", "output": []}
    return {"id": f"resp_{unique}", "model": body.get("model"), **fixed}


def _finished(body: Body, item: Mapping[str, Any], unique: str) -> dict[str, Any]:
    return {**_head(body, unique), "status": "completed", "output": [item], "usage": _USAGE}


def _item(reply: Text | Call, unique: str) -> dict[str, Any]:
    done = {"status": "completed"}
    if isinstance(reply, Text):
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        return {"type": "message", "id": f"msg_{unique}", "role": "assistant", "content": content, **done}
    called = {"call_id": f"call_{unique}", "name": reply.tool, **done}
    if reply.input is not None:
        return {"type": "custom_tool_call", "id": f"ctc_{unique}", "input": reply.input, **called}
    return {"type": "function_call", "id": f"fc_{unique}", "arguments": json.dumps(reply.arguments), **called}
