"""What opencode's stream tells, as the real program sent it: recorded with 1.18.33, scrubbed."""

import json
from pathlib import Path
from typing import Any

import pytest

from woodwind.agents.base import Start
from woodwind.agents.opencode import OpenCode
from woodwind.model.reading import ENDS, Tells

STREAM = Path(__file__).with_name("streams") / "opencode.jsonl"
SESSION = "ses_e1aca83c3ffelzCbQTCTQLG7cM"
PROMPT = "model: run touch asked.txt\nmodel: say Asked and done."


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STREAM.read_text().splitlines()]


def heard(payloads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    listen = OpenCode().listener()
    return [taken for payload in payloads if (taken := listen(payload))]


def told(payloads: list[dict[str, Any]]) -> list[tuple[str, str]]:
    readings = [OpenCode().reading(payload, 7) for payload in heard(payloads)]
    assert all(reading and reading.at == 7 and reading.source == "stream" for reading in readings)
    found = [(r.tells.value, r.text) for r in readings if r and r.tells not in (Tells.WORKING, Tells.IDLE)]
    return list(dict.fromkeys(found))


def event(kind: str, **properties: Any) -> dict[str, Any]:
    return {"id": "evt", "type": kind, "properties": properties}


def test_six_turns() -> None:
    assert told(recorded()) == [
        ("submitted", PROMPT),
        ("asking", "bash: touch asked.txt"),
        ("answered", ""),
        ("done", "Asked and done."),
        ("submitted", "model: stream 60 slow words that go on and on"),
        ("interrupted", ""),
        ("submitted", "model: fail 400"),
        ("failed", "scripted error 400"),
        ("submitted", "model: run touch b.txt\nmodel: say Denied."),
        ("asking", "bash: touch b.txt"),
        ("submitted", "model: ask Which colour? | Red | Green\nmodel: say Chosen."),
        ("asking", "Which colour? (Red, Green)"),
        ("done", "Chosen."),
        ("submitted", "model: run touch c.txt\nmodel: say Always."),
        ("asking", "bash: touch c.txt"),
        ("done", "Always."),
    ]


def test_every_turn_has_an_end_that_names_it() -> None:
    readings = [r for payload in heard(recorded()) if (r := OpenCode().reading(payload, 0))]
    begun = [r.prompt_id for r in readings if r.tells is Tells.SUBMITTED]
    assert list(dict.fromkeys(r.prompt_id for r in readings if r.tells in ENDS)) == begun
    assert {r.session for r in readings} == {SESSION}
    assert {r.question[:3] for r in readings if r.tells is Tells.ASKING} == {"per", "que"}


def test_the_last_reading_is_that_it_is_idle() -> None:
    last = OpenCode().reading(heard(recorded())[-1], 0)
    assert last
    assert last.tells is Tells.IDLE


def test_an_agent_of_the_agent_only_asks() -> None:
    child = json.loads(json.dumps(recorded()).replace(SESSION, "ses_child"))
    begun = event("session.created", sessionID="ses_child", info={"id": "ses_child", "parentID": SESSION})
    readings = [OpenCode().reading(payload, 0) for payload in heard([begun, *child])]
    assert {r.tells for r in readings if r} == {Tells.ASKING, Tells.ANSWERED}
    assert {r.session for r in readings if r} == {""}


@pytest.mark.parametrize(
    "payload, tells",
    [
        (event("server.connected"), None),
        (event("session.created", sessionID="s", info={"id": "s"}), Tells.STARTED),
        (event("session.created", sessionID="s", info={"id": "s", "parentID": "p"}), None),
        (event("session.status", sessionID="s", status={"type": "busy"}), Tells.WORKING),
        (event("session.status", sessionID="s", status={"type": "retry", "attempt": 2}), Tells.WORKING),
        (event("session.status", sessionID="s", status={"type": "idle"}), None),
        (event("session.idle", sessionID="s"), Tells.IDLE),
        (event("session.error", sessionID="s", error={"name": "ProviderAuthError"}), Tells.FAILED),
        (event("question.rejected", sessionID="s", requestID="q"), Tells.ANSWERED),
        (event("message.part.updated", part={"type": "text", "text": "a remark", "synthetic": True}), None),
        (event("message.updated", info={"role": "assistant", "time": {"completed": 1}, "finish": "tool-calls"}), None),
        (
            event("message.updated", info={"role": "assistant", "time": {"completed": 1}, "finish": "length"}),
            Tells.DONE,
        ),
        (event("message.updated", info={"role": "assistant", "time": {}, "finish": "stop"}), None),
        (
            event("message.updated", info={"role": "assistant", "time": {"completed": 1}, "summary": True}),
            None,
        ),
        (event("message.updated", info=7, part="x"), None),
        (event("permission.asked", patterns=[7, None], permission=3), Tells.ASKING),
        (event("question.asked", questions=[7]), Tells.ASKING),
    ],
)
def test_what_an_event_means(payload: dict[str, Any], tells: Tells | None) -> None:
    reading = OpenCode().reading(payload, 1)
    assert (reading.tells if reading else None) == tells
    assert (OpenCode().listener()(payload) is None) == (tells is None)


def test_how_it_is_started() -> None:
    start = Start(hook="tell me", port=4099)
    assert OpenCode().event_args(start) == ("--port", "4099")
    assert OpenCode().stream_url(start) == "http://127.0.0.1:4099/event"
    alone = start._replace(headless=True)
    assert (OpenCode().event_args(alone), OpenCode().stream_url(alone)) == ((), "")


@pytest.mark.parametrize(
    "session, words",
    [
        (SESSION, ["--session", SESSION]),
        ("6f1c7a52-91c5-4cb1-8ac0-0c8c1f0f1b11", ["--continue"]),
        ("", ["--continue"]),
    ],
)
def test_it_goes_on_with_its_own_id(session: str, words: list[str]) -> None:
    assert list(OpenCode().resume_words(Start(session=session, resume=True))) == words


@pytest.mark.parametrize(
    "screen, keys, words",
    [
        ("opencode-permission", ("Enter",), None),
        ("opencode-question", (), ("3",)),
        ("opencode-idle", (), None),
    ],
)
def test_what_a_question_takes(screen: str, keys: tuple[str, ...], words: tuple[str, ...] | None) -> None:
    text = (Path(__file__).with_name("screens") / f"{screen}.txt").read_text()
    assert OpenCode().answer_keys("allow", text) == keys
    assert OpenCode().answer_keys("always", text) == ()
    assert OpenCode().words_keys(text) == words
