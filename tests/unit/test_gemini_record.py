"""What Gemini's own record of its conversations tells: lines of the kinds that 0.61.0 writes, shortened."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from woodwind.agents.gemini import Gemini
from woodwind.model.reading import Recorded

SESSION = "c48327f4-98f7-456f-bbc2-fa363e154293"
BRIEF = "Read .woodwind/brief.md and do the task that it describes."
CONTEXT = "<session_context>\nThis is the Gemini CLI.\n</session_context>"


def stamp(second: int) -> str:
    return f"2026-11-16T18:10:{second:02}.500Z"


def at(second: int) -> int:
    return int(datetime(2026, 11, 16, 18, 10, second, tzinfo=UTC).timestamp() * 1000)


def user(key: str, second: int, *texts: str) -> dict[str, Any]:
    return {"id": key, "timestamp": stamp(second), "type": "user", "content": [{"text": text} for text in texts]}


def result(key: str, second: int) -> dict[str, Any]:
    part = {"functionResponse": {"name": "run_shell_command", "response": {"output": "model: say Never."}}}
    return {"id": key, "timestamp": stamp(second), "type": "user", "content": [part]}


def gemini(key: str, second: int, content: object, *calls: str) -> dict[str, Any]:
    line = {"id": key, "timestamp": stamp(second), "type": "gemini", "content": content}
    return {**line, "toolCalls": [{"name": name} for name in calls]} if calls else line


def note(kind: str, second: int, text: str) -> dict[str, Any]:
    return {"id": f"{kind}{second}", "timestamp": stamp(second), "type": kind, "content": text}


HEAD = {"sessionId": SESSION, "startTime": stamp(1), "kind": "main"}
START = {"$set": {"messages": [user("context", 1, CONTEXT)]}}
TOOL = [user("p1", 2, BRIEF), gemini("a1", 3, ""), gemini("a1", 3, "", "run_shell_command"), result("r1", 4)]
DONE = [*TOOL, gemini("a2", 5, "One.")]
DENIED = [user("p2", 10, "second"), gemini("a3", 11, "", "run_shell_command"), note("info", 12, "Request cancelled.")]
# All of the conversation once more, as new lines of this moment.
AGAIN = [
    user("p1x", 12, CONTEXT, BRIEF),
    gemini("a1x", 12, [{"functionCall": {"name": "run_shell_command"}}]),
    result("r1x", 12),
    gemini("a2x", 12, [{"text": "One."}]),
    {"$set": {"messages": [user("p1x", 12, CONTEXT, BRIEF)]}},
]
FAILED = [user("p3", 20, "third"), note("error", 21, "[API Error: 400]"), note("info", 21, "This request failed.")]


def told(folder: Path, since: int, *files: list[dict[str, Any]]) -> Recorded | None:
    home, tree = folder / "home", folder / "tree"
    chats = home / ".gemini" / "tmp" / "life" / "chats"
    chats.mkdir(parents=True)
    (home / ".gemini" / "projects.json").write_text(json.dumps({"projects": {str(tree): "life"}}))
    for number, lines in enumerate(files):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (chats / f"session-{number}.jsonl").write_text(text + '{"id": "half a li')
    return Gemini().recorded({"HOME": "/nowhere", "GEMINI_CLI_HOME": str(home)}, str(tree), since)


@pytest.mark.parametrize(
    "lines, since, prompts, end",
    [
        ([], 1, (), None),
        ([user("p1", 2, BRIEF)], 1, (BRIEF,), None),
        (TOOL[:2], 1, (BRIEF,), None),
        (TOOL[:3], 1, (BRIEF,), None),
        (TOOL, 1, (BRIEF,), None),
        (DONE, 1, (BRIEF,), ("done", "One.")),
        (DONE, 9, (), None),
        ([*DONE, *DENIED], 9, ("second",), ("interrupted", "")),
        ([*DONE, *DENIED, *AGAIN], 9, ("second",), ("interrupted", "")),
        ([*DONE, *DENIED, *AGAIN, *FAILED], 9, ("second", "third"), ("failed", "[API Error: 400]")),
        ([*DONE, *DENIED, *AGAIN, *FAILED], 15, ("third",), ("failed", "[API Error: 400]")),
        ([*DONE, {"id": 7, "type": []}, {"$set": 3}, {"id": "x", "timestamp": "soon"}], 1, (BRIEF,), ("done", "One.")),
    ],
)
def test_what_a_record_tells(
    tmp_path: Path, lines: list[dict[str, Any]], since: int, prompts: tuple[str, ...], end: tuple[str, str] | None
) -> None:
    found = told(tmp_path, at(since), [HEAD, START, *lines])
    assert found
    assert found.prompts == prompts
    assert (found.end and (found.end.tells.value, found.end.text)) == end
    assert found.session == (SESSION if prompts else "")


def test_conversations_of_its_own_agents_do_not_count(tmp_path: Path) -> None:
    found = told(tmp_path, at(1), [HEAD, *DONE], [{**HEAD, "sessionId": "s", "kind": "subagent"}, *DONE, *FAILED])
    assert found
    assert found.prompts == (BRIEF,)


def test_no_record_is_no_word(tmp_path: Path) -> None:
    assert Gemini().recorded({"HOME": str(tmp_path)}, str(tmp_path), 0) is None
    told(tmp_path, 0)
    names = tmp_path / "home" / ".gemini" / "projects.json"
    for text in ("{", "[]", '{"projects": []}', json.dumps({"projects": {str(tmp_path / "tree"): "../../tree"}})):
        names.write_text(text)
        assert Gemini().recorded({"HOME": str(tmp_path / "home")}, str(tmp_path / "tree"), 0) is None
