"""The agents' own tools: by which names they are offered, and what they are to be given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.testing.model_server.conversation import Tool

SHELLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "Execute")
WRITERS = ("Write", "write", "write_file", "Create", "create_file")
ASKING = ("AskUserQuestion", "question", "ask_user", "AskUser", "request_user_input")
# Those that start an agent of the agent's own, with the kind of it that every installation has.
DELEGATES = {"Agent": "general-purpose", "Task": "general-purpose", "task": "general"}

_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "filePath", "path", "absolute_path")
_CONTENTS = ("content", "file_text")


def arguments(tool: Tool, *, command: str = "", path: str = "", content: str = "") -> dict[str, Any]:
    """The tool's arguments, by the names in its schema; what else it requires gets any value of its type."""
    properties: Mapping[str, Any] = tool.schema.get("properties", {})
    required = tool.schema.get("required", list(properties))
    filled: dict[str, Any] = {}
    for name, schema in properties.items():
        if name in _COMMANDS and command:
            filled[name] = ["bash", "-c", command] if _type(schema) == "array" else command
        elif name in _PATHS and path:
            filled[name] = path
        elif name in _CONTENTS and content:
            filled[name] = content
        elif name in required:
            filled[name] = sample(schema)
    return filled


def question(words: str, choices: Sequence[str]) -> dict[str, Any]:
    """The arguments of a tool that asks the user: all agents that have one agree on the outline."""
    options = [{"label": choice, "description": choice} for choice in choices]
    asked = {"id": "scripted", "header": "Scripted", "question": words, "type": "choice"}
    return {"questions": [{**asked, "multiSelect": False, "options": options}]}


def delegation(tool: Tool, words: str) -> dict[str, Any]:
    """The arguments of a tool that starts an agent of the agent's own."""
    return {"description": "Scripted", "prompt": words, "subagent_type": DELEGATES[tool.name]}


def sample(schema: Mapping[str, Any]) -> Any:
    """The plainest value that a JSON schema allows."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = _type(schema)
    if kind == "object":
        return {name: sample(inner) for name, inner in (schema.get("properties") or {}).items()}
    plain = {"string": "Scripted", "number": 10, "integer": 10, "boolean": False, "array": []}
    value = plain.get(kind)
    return schema.get("minimum", value) if kind in ("number", "integer") else value


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type") or ("object" if "properties" in schema else "string")
    # Some write a list of types, and Gemini writes them in capitals.
    return str(kind[0] if isinstance(kind, list) else kind).lower()
