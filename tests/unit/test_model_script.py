"""The scripted model's language: which answer follows from which conversation, in every API's form."""

from typing import Any

import pytest

from woodwind.testing.model_server import anthropic, chat, gemini, responses
from woodwind.testing.model_server.conversation import Conversation, Kind, Said, Tool, text_of
from woodwind.testing.model_server.replies import Call, Drop, Failure, Reply, Text, pieces
from woodwind.testing.model_server.script import ScriptError, Step, reply_to, steps_in
from woodwind.testing.model_server.tools import arguments, sample

BASH = Tool("Bash", {"properties": {"command": {"type": "string"}, "why": {"type": "string"}}, "required": ["command"]})
WRITE = Tool("Write", {"properties": {"file_path": {"type": "string"}, "content": {"type": "string"}}})
ASK = Tool("AskUserQuestion")
ESCALATES = Tool("exec_command", {"properties": {"cmd": {"type": "string"}, "sandbox_permissions": {}}, "required": []})
PATCH = Tool("apply_patch", custom=True)
SCRIPT = "model: run make\nmodel: write a.txt some words\nmodel: say Done it."

WRITTEN = Call("Write", {"file_path": "a.txt", "content": "some words\n"})


def talk(*said: tuple[str, str], tools: tuple[Tool, ...] = (BASH, WRITE, ASK), **more: Any) -> Conversation:
    return Conversation(
        tuple(Said(Kind(kind), text) for kind, text in said), tools={tool.name: tool for tool in tools}, **more
    )


@pytest.mark.parametrize(
    "said, reply",
    [
        ([("user", SCRIPT)], Call("Bash", {"command": "make"})),
        ([("user", SCRIPT), ("call", "Bash"), ("result", "ok")], WRITTEN),
        ([("user", SCRIPT), ("result", "1"), ("result", "2")], Text("Done it.")),
        ([("user", SCRIPT), ("result", "1"), ("result", "2"), ("result", "3")], Text("That is all.")),
        ([("user", SCRIPT), ("result", "model: say no"), ("user", "model: say newer")], Text("newer")),
        ([("user", "model: stream 2 slow words")], Text("slow words", 2.0)),
        ([("user", "model: fail 429")], Failure(429)),
        ([("user", "model: fail")], Failure(500)),
        ([("user", "model: drop")], Drop()),
        ([("user", "> * model: say quoted")], Text("quoted")),
        ([("user", "model: say one"), ("model", "one"), ("user", "model: recall")], Text("I recall 2 scripts.")),
        ([("user", "hello")], Text("A short aside.")),
        ([("user", "Read .woodwind/brief.md and do it.")], Call("Bash", {"command": "cat .woodwind/brief.md"})),
        ([("user", "Read .woodwind/brief.md."), ("result", "# Task\nmodel: say Read.")], Text("Read.")),
        ([("user", "Read .woodwind/brief.md."), ("user", "A remark."), ("result", "model: say Read.")], Text("Read.")),
        ([("user", "Read .woodwind/brief.md."), ("result", "# Task\nNothing.")], Text("A short aside.")),
    ],
)  # fmt: skip
def test_the_answer_to_a_conversation(said: list[tuple[str, str]], reply: Reply) -> None:
    assert reply_to(talk(*said)) == reply


def test_asking_the_user() -> None:
    reply = reply_to(talk(("user", "model: ask Which? | Red | Blue")))
    assert isinstance(reply, Call)
    assert [o["label"] for o in reply.arguments["questions"][0]["options"]] == ["Red", "Blue"]
    assert reply_to(talk(("user", "model: ask Which?"), tools=(BASH,))) == Text("I cannot ask: Which?")


def test_leaving_a_sandbox_and_patching_without_a_tool_for_writing() -> None:
    reply = reply_to(talk(("user", "model: escalate git push"), tools=(ESCALATES,)))
    assert isinstance(reply, Call)
    assert reply.arguments["sandbox_permissions"] == "require_escalated"
    assert reply_to(talk(("user", "model: escalate ls"))) == Call("Bash", {"command": "ls"})
    patched = reply_to(talk(("user", "model: write a b c"), tools=(ESCALATES, PATCH)))
    assert patched == Call("apply_patch", input="*** Begin Patch\n*** Add File: a\n+b c\n*** End Patch")
    assert reply_to(talk(("user", "model: write a b c"), tools=(BASH,))) == Call(
        "Bash", {"command": "printf '%s\\n' 'b c' > a"}
    )


def test_an_agent_of_its_own() -> None:
    asked = talk(("user", "model: delegate say Below."), tools=(BASH, Tool("Task")))
    given = {"description": "Scripted", "prompt": "model: say Below.", "subagent_type": "general-purpose"}
    assert reply_to(asked) == Call("Task", given)
    assert reply_to(talk(("user", "model: delegate say Below."))) == Text("I have nobody to do it.")


def test_a_title_request_gets_what_its_schema_asks_for() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "n": {"type": ["integer", "null"]}}}
    assert reply_to(talk(("user", SCRIPT), schema=schema)) == Text('{"title": "Scripted", "n": 10}')


@pytest.mark.parametrize("line", ["model: dance", "model: fail often", "model: stream fast"])
def test_a_line_that_cannot_be_understood(line: str) -> None:
    with pytest.raises(ScriptError):
        reply_to(talk(("user", line)))


def test_steps_and_values() -> None:
    assert steps_in("a model: say x\n  - model: run a b \n") == [Step("run", "a b")]
    assert sample({"enum": ["b", "a"]}) == "b"
    assert sample({"type": "ARRAY"}) == []
    assert sample({"type": "integer", "minimum": 3}) == 3
    array = Tool("shell", {"properties": {"command": {"type": "array"}, "n": {"type": "number"}}, "required": ["n"]})
    assert arguments(array, command="ls") == {"command": ["bash", "-c", "ls"], "n": 10}
    assert text_of([{"type": "x", "text": "a"}, {"content": [{"text": "b"}]}, 7]) == "a\nb"
    slow = list(pieces(Text("a b", 2.0)))
    assert len(slow) == 8
    assert sum(pause for _, pause in slow) == pytest.approx(2.0)


SAID = (Said(Kind.USER, "do"), Said(Kind.CALL, "sh"), Said(Kind.RESULT, "out"), Said(Kind.MODEL, "done"))
CALLED = {"name": "sh", "arguments": "{}"}


@pytest.mark.parametrize(
    "api, body",
    [
        (
            anthropic,
            {
                "system": [{"type": "text", "text": "rules"}],
                "messages": [
                    {"role": "user", "content": "do"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "sh", "input": {}}]},
                    {
                        "role": "user",
                        "content": [{"type": "tool_result", "content": [{"type": "text", "text": "out"}]}],
                    },
                    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
                ],
                "tools": [{"name": "sh", "input_schema": {"a": 1}}],
            },
        ),
        (
            chat,
            {
                "messages": [
                    {"role": "system", "content": "rules"},
                    {"role": "user", "content": [{"type": "text", "text": "do"}]},
                    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": CALLED}]},
                    {"role": "tool", "content": "out"},
                    {"role": "assistant", "content": "done"},
                ],
                "tools": [{"type": "function", "function": {"name": "sh", "parameters": {"a": 1}}}],
            },
        ),
        (
            responses,
            {
                "instructions": "rules",
                "input": [
                    {"role": "user", "content": [{"type": "input_text", "text": "do"}]},
                    {"type": "function_call", **CALLED},
                    {"type": "function_call_output", "output": "out"},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
                ],
                "tools": [{"type": "function", "name": "sh", "parameters": {"a": 1}}],
            },
        ),
        (
            gemini,
            {
                "systemInstruction": {"parts": [{"text": "rules"}]},
                "contents": [
                    {"role": "user", "parts": [{"text": "do"}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "sh", "args": {}}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "sh", "response": {"output": "out"}}}]},
                    {"role": "model", "parts": [{"text": "done"}]},
                ],
                "tools": [{"functionDeclarations": [{"name": "sh", "parametersJsonSchema": {"a": 1}}]}],
            },
        ),
    ],
    ids=["anthropic", "chat", "responses", "gemini"],
)
def test_every_api_is_read_the_same(api: Any, body: dict[str, Any]) -> None:
    found = api.read(body)
    assert found == Conversation(SAID, "rules", {"sh": Tool("sh", {"a": 1})})
