"""A user's own `--settings`, to which our hooks are added; and what aider and droid tell."""

import json
from pathlib import Path
from typing import Any

import pytest

from woodwind.agents.aider import Aider
from woodwind.agents.base import Agent, Start
from woodwind.agents.claude import Claude
from woodwind.agents.droid import Droid
from woodwind.model.errors import ConfigError
from woodwind.model.reading import Tells

OURS = {"hooks": [{"type": "command", "command": "tell me", "timeout": 10}]}
THEIRS = {"hooks": [{"type": "command", "command": "say done"}]}
START = Start(hook="tell me", run_dir="/run/dir", session="s", allowed=("Bash",))


def settings_of(agent: Agent, start: Start = START) -> dict[str, Any]:
    [text] = agent.event_files(start).values()
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("agent, name", [(Claude, "claude"), (Droid, "droid")])
def test_the_user_s_settings_stay_in_force(agent: type[Agent], name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"model": "x", "hooks": {"Stop": [THEIRS], "Mine": [THEIRS]}}))
    before = file.read_text()
    for given in (
        ["--settings", str(file)],
        [f"--settings={file}"],
        ["--settings", "mine.json"],
        ["--settings", before],
    ):
        it = agent()
        it.command = "/bin/true"
        it.args = ["--first", *given, "--last"]
        found = settings_of(it, START._replace(repository=str(tmp_path)))
        assert found["model"] == "x"
        assert found["hooks"]["Stop"] == [THEIRS, OURS]
        assert found["hooks"]["Mine"] == [THEIRS]
        assert found["hooks"]["SessionStart"] == [OURS]
        words = it.argv(START)
        assert words[1:3] == ["--first", "--last"]
        assert [words[at + 1] for at, word in enumerate(words) if word == "--settings"] == [f"/run/dir/{name}.json"]
        # Without our hooks, the words are the user's own.
        assert given[0] in it.argv(START._replace(hook=""))
    assert file.read_text() == before


def test_the_last_one_counts_and_rules_are_added() -> None:
    claude = Claude()
    claude.args = [
        "--settings",
        '{"a": 1}',
        "--settings",
        '{"permissions": {"allow": ["Read", "Bash"], "deny": ["X"]}}',
    ]
    found = settings_of(claude)
    assert "a" not in found
    assert found["permissions"] == {"allow": ["Read", "Bash"], "deny": ["X"]}


@pytest.mark.parametrize("given", ["/nowhere/at/all.json", "{not json", '{"hooks": 7}', "/dev/null"])
def test_settings_that_cannot_be_read(given: str) -> None:
    claude = Claude()
    claude.args = ["--settings", given]
    with pytest.raises(ConfigError, match=r"\[agents\.claude\]"):
        claude.event_files(START)


# As `droid exec` 0.215.0 gave them; it tells of no prompts.
SESSION = {"session_id": "e752e0d6", "cwd": "/home/user/project", "permission_mode": "auto-medium"}


@pytest.mark.parametrize(
    "payload, tells",
    [
        ({"hook_event_name": "SessionStart", "source": "startup"}, Tells.STARTED),
        ({"hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": "a"}}, Tells.WORKING),
        ({"hook_event_name": "PostToolUse", "tool_name": "Execute", "tool_response": "done"}, Tells.WORKING),
        ({"hook_event_name": "Stop", "message_id": "edde7f19", "stop_hook_active": False}, Tells.DONE),
        ({"hook_event_name": "SessionEnd", "reason": "other", "message_count": 9}, Tells.ENDED),
        ({"hook_event_name": "Notification", "message": "words"}, None),
    ],
)
def test_what_droid_tells(payload: dict[str, Any], tells: Tells | None) -> None:
    reading = Droid().reading({**SESSION, **payload}, 3)
    assert (reading and (reading.tells, reading.session, reading.at)) == (tells and (tells, "e752e0d6", 3))


def test_aider_tells_only_that_it_waits() -> None:
    flag, option, command = Aider().event_args(START)
    assert (flag, option) == ("--notifications", "--notifications-command")
    assert command == """echo '{"event": "waiting"}' | tell me"""
    reading = Aider().reading({"event": "waiting"}, 3)
    assert reading
    assert reading.tells is Tells.IDLE
    assert Aider().reading({"event": "other"}, 3) is None


@pytest.mark.parametrize("given", [["--notifications-command", "ring"], ["--notifications-command=ring"]])
def test_a_command_of_the_user_s_own_goes_first(given: list[str]) -> None:
    aider = Aider()
    aider.args = (*aider.args, *given)
    assert aider.event_args(START) == ()
