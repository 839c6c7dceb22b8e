"""What each agent's own events tell: payloads as the real programs gave them, scrubbed, and hostile ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from woodwind.agents.base import Agent, Start
from woodwind.agents.codex import Codex, trusted_hash
from woodwind.agents.registry import BUILT_IN, built_in
from woodwind.model.reading import Reading, Tells

PAYLOADS = Path(__file__).with_name("payloads")
RECORDED = [
    pytest.param(path.stem, entry["payload"], entry["reading"], id=f"{path.stem}-{number}")
    for path in sorted(PAYLOADS.glob("*.json"))
    for number, entry in enumerate(json.loads(path.read_text()))
]
START = Start(session="s", hook="tell me", run_dir="/run/dir", permissions="bypass", repository="/repo")


def agent_of(name: str) -> Agent:
    agent = built_in(name)
    assert agent
    return agent


@pytest.mark.parametrize("name, payload, reading", RECORDED)
def test_a_recorded_event(name: str, payload: dict[str, Any], reading: dict[str, Any] | None) -> None:
    expected = None if reading is None else Reading(**{**reading, "tells": Tells(reading["tells"]), "at": 1000})
    assert agent_of(name).reading(payload, 1000) == expected


@pytest.mark.parametrize("name", sorted(path.stem for path in PAYLOADS.glob("*.json")))
def test_the_recorded_events_are_a_whole_turn(name: str) -> None:
    told = {
        entry["reading"]["tells"] for entry in json.loads((PAYLOADS / f"{name}.json").read_text()) if entry["reading"]
    }
    assert {"started", "submitted", "working", "done"} <= told


def test_nothing_personal_is_recorded() -> None:
    for path in PAYLOADS.glob("*.json"):
        text = path.read_text()
        assert not any(word in text for word in ("/tmp/", "/root", "/dev/shm", "sk-")), path


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": None},
        {"hook_event_name": ["Stop"]},
        {"hook_event_name": "Later"},
        {"event": 7},
        {"type": {"a": 1}},
        {"hook_event_name": "PermissionRequest", "tool_input": "text", "tool_name": 3},
        {"hook_event_name": "PermissionRequest", "tool_input": {"questions": [7]}},
        {"hook_event_name": "PermissionRequest", "tool_input": {"questions": [{"question": 1, "options": [2]}]}},
        {"hook_event_name": "Stop", "last_assistant_message": {"a": "b"}, "session_id": 9},
    ],
)
def test_a_hostile_event_does_no_harm(name: str, payload: dict[str, Any]) -> None:
    reading = agent_of(name).reading(payload, 5)
    assert reading is None or (reading.at == 5 and isinstance(reading.text, str))


NEWS = '<task-notification>\n<task-id>a1</task-id>\n<summary>Agent "Look" finished</summary>\n'


def stop_with(**task: str) -> dict[str, Any]:
    """Its last words, with something left in its background."""
    return {"hook_event_name": "Stop", "last_assistant_message": "Done.", "background_tasks": [{"id": "a1", **task}]}


@pytest.mark.parametrize(
    "payload, tells",
    [
        ({"hook_event_name": "SessionStart", "source": "compact"}, None),
        ({"hook_event_name": "SessionEnd", "reason": "clear"}, None),
        ({"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"}, Tells.ENDED),
        ({"hook_event_name": "Notification", "notification_type": "idle_prompt"}, Tells.IDLE),
        ({"hook_event_name": "Notification", "notification_type": "permission_prompt"}, None),
        ({"hook_event_name": "Stop"}, Tells.FAILED),
        (stop_with(type="subagent", status="running"), Tells.WAITS),
        (stop_with(type="subagent", status="completed"), Tells.DONE),
        (stop_with(type="shell", status="running"), Tells.DONE),
        ({"hook_event_name": "UserPromptSubmit", "prompt": f"{NEWS}</task-notification>"}, Tells.CONTINUED),
        ({"hook_event_name": "UserPromptSubmit", "prompt": f"What is {NEWS}?"}, Tells.SUBMITTED),
    ],
)
def test_what_claude_means(payload: dict[str, Any], tells: Tells | None) -> None:
    reading = agent_of("claude").reading(payload, 1)
    assert (reading.tells if reading else None) == tells


def test_an_agent_of_the_agent_is_told_apart() -> None:
    for payload in ({"hook_event_name": "SubagentStop"}, {"hook_event_name": "PreToolUse", "agent_id": "a1"}):
        reading = agent_of("claude").reading(payload, 1)
        assert reading
        assert reading.of_subagent


def test_the_same_question_has_the_same_id() -> None:
    asked = {
        "hook_event_name": "PermissionRequest",
        "prompt_id": "p",
        "tool_name": "Bash",
        "tool_input": {"command": "a"},
    }
    first, again = (agent_of("claude").reading(asked, at) for at in (1, 2))
    other = agent_of("claude").reading({**asked, "tool_input": {"command": "b"}}, 1)
    assert first
    assert again
    assert other
    assert first.question == again.question != other.question


def test_claude_gets_settings_on_top_of_the_user_s() -> None:
    agent = agent_of("claude")
    files = agent.event_files(START._replace(allowed=("Bash",)))
    assert agent.event_args(START) == ("--settings", "/run/dir/claude.json")
    settings = json.loads(files["claude.json"])
    assert settings["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "tell me", "timeout": 10}]}]
    assert settings["permissions"] == {"allow": ["Bash"]}
    assert settings["skipDangerousModePermissionPrompt"]
    assert (
        "skipDangerousModePermissionPrompt" not in agent.event_files(START._replace(permissions="ask"))["claude.json"]
    )


def test_codex_trusts_our_hooks_by_their_hash() -> None:
    # As Codex 0.166.0 wrote it into its own configuration when a person had reviewed this hook.
    known = "sha256:d92064d3448390a1cf8b02eda408c4883c4288ad6d720954d1580faa5e7e4dc5"
    assert trusted_hash("stop", "cat > /tmp/ag/d/spoolx/$(date +%s%N)-$$.json", 10) == known


def test_codex_commits_before_it_tells_of_the_end() -> None:
    words = " ".join(Codex().event_args(START._replace(turn_command=("python", "-m", "a b"))))
    assert words.index("python -m 'a b'") < words.rindex("tell me")
    alone = Codex().turn_args(START._replace(hook="", turn_command=("python", "-m", "x")))
    assert [word.split("=")[0] for word in alone if word != "-c"] == ["hooks.Stop", "hooks.state"]
    assert Codex().turn_args(START._replace(hook="")) == ()


@pytest.mark.parametrize(
    "session, words",
    [
        ("01a1e4f4-2a2a-7832-b169-bcc4117f32d0", ["resume", "01a1e4f4-2a2a-7832-b169-bcc4117f32d0"]),
        ("6f1c7a52-91c5-4cb1-8ac0-0c8c1f0f1b11", ["resume", "--last"]),
        ("", ["resume", "--last"]),
    ],
)
def test_codex_goes_on_with_its_own_id(session: str, words: list[str]) -> None:
    assert Codex().prompt_words(Start(session=session, resume=True)) == words


def test_pi_gets_the_extension_that_we_ship() -> None:
    agent = agent_of("pi")
    assert agent.variables(START) == {"WOODWIND_HOOK": "tell me"}
    assert agent.variables(START._replace(hook="")) == {}
    assert agent.event_args(START) == ("--extension", "/run/dir/pi_events.ts")
    assert "export default function" in agent.event_files(START)["pi_events.ts"]
