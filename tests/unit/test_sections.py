"""Which section a worker is in, why, and what can be done with it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from woodwind.model.notices import KINDS, notice_of
from woodwind.model.sections import Notice, Row, Section, Verb, counts, matching, rows, seconds
from woodwind.model.status import Phase, Status
from woodwind.store.events import EventRow

NOW = 1_800_000_000.0


def at(ago: float) -> str:
    return datetime.fromtimestamp(NOW - ago, UTC).isoformat()


def worker(name: str = "one", **facts: Any) -> dict[str, Any]:
    plain = {
        "id": f"w-{name}",
        "name": name,
        "status": "working",
        "detail": "",
        "phase": "running",
        "agent": "claude",
        "launch": "session",
        "title": "Do it",
        "since": at(10),
        "created_at": at(100),
        "turn": None,
        "question": None,
    }
    return {**plain, **facts}


def only(**facts: Any) -> Row:
    [row] = rows([worker(**facts)], [], now=NOW)
    return row


DONE = {"state": "done", "last_words": "All done."}
WORK = {"commits": 2, "added": 30, "removed": 4, "dirty": 0}

NEEDS = [
    ({"status": "asking", "question": {"id": "q1", "text": "May I?", "tool": ""}}, "May I?"),
    ({"status": "asking", "detail": "a dialog is open"}, "a dialog is open"),
    ({"status": "asking"}, "it asks something"),
    ({"status": "ready", "turn": {"state": "failed", "last_words": "API error 500"}}, "its turn failed: API error 500"),
    ({"status": "ready", "turn": {"state": "failed", "why": "limit reached"}}, "its turn failed: limit reached"),
    ({"status": "exited", "turn": {"state": "failed"}, "detail": "with status 7"}, "in the middle of its turn, with"),
    ({"status": "exited", "turn": {"state": "running"}, "detail": "with status 0"}, "in the middle of its turn"),
    ({"status": "exited", "detail": "with status 7", "turn": DONE}, "it exited: with status 7"),
    ({"status": "exited", "detail": "its terminal is gone"}, "it exited: its terminal is gone"),
    (
        {"status": "ready", "turn": DONE, "work": WORK, "conflict": "conflicts in a.py"},
        "it did not land: conflicts in a.py",
    ),
    ({"status": "ready", "turn": DONE, "work": WORK, "dropped": "tests fail"}, "red in the queue: tests fail"),
    ({"status": "unknown", "detail": "no sign", "since": at(600)}, "nothing is known of it: no sign"),
    ({"status": "exited", "detail": "with status 1", "phase": "landed"}, "it exited: with status 1"),
]


@pytest.mark.parametrize("facts, why", NEEDS)
def test_who_needs_a_person_and_why(facts: dict[str, Any], why: str) -> None:
    row = only(**facts)
    assert row.section is Section.NEEDS_YOU
    assert why in row.detail


READY: list[dict[str, Any]] = [
    {"status": "ready", "turn": DONE, "work": WORK},
    {"status": "ready", "turn": DONE, "work": {"commits": 0, "dirty": 3}},
    {"status": "exited", "detail": "with status 0", "turn": DONE, "work": WORK},
    {"status": "ready", "phase": "paused", "turn": {"state": "interrupted"}, "work": WORK},
    {"status": "unknown", "agent": "shell", "work": WORK},
]


@pytest.mark.parametrize("facts", READY)
def test_who_is_ready_to_ship(facts: dict[str, Any]) -> None:
    row = only(**facts)
    assert row.section is Section.READY_TO_SHIP
    assert row.verbs[0] is Verb.SHIP


FLIGHT: list[dict[str, Any]] = [
    {"status": "working", "turn": {"state": "running"}},
    {"status": "working", "turn": {"state": "running"}, "work": WORK},
    {"status": "ready", "turn": DONE},
    {"status": "ready", "turn": DONE, "work": {"commits": 0, "dirty": 0}},
    {"status": "ready", "turn": {"state": "running"}, "work": WORK},
    {"status": "starting", "phase": "queued"},
    {"status": "starting", "phase": "creating"},
    {"status": "exited", "phase": "paused", "detail": "not started since it came back"},
    {"status": "unknown", "since": at(5)},
    {"status": "unknown", "agent": "shell", "since": at(5000)},
    {"status": "ready", "phase": "landing", "turn": DONE, "work": WORK},
    {"status": "working", "turn": {"state": "failed"}},
]


@pytest.mark.parametrize("facts", FLIGHT)
def test_who_is_in_flight(facts: dict[str, Any]) -> None:
    assert only(**facts).section is Section.IN_FLIGHT


VERBS = [
    ({"status": "asking"}, [Verb.ANSWER, Verb.ATTACH, Verb.EXPLAIN, Verb.REMOVE]),
    ({"status": "working"}, [Verb.ATTACH, Verb.SEND, Verb.PAUSE, Verb.EXPLAIN, Verb.REMOVE]),
    ({"status": "working", "launch": "headless"}, [Verb.EXPLAIN, Verb.REMOVE]),
    ({"status": "exited", "detail": "with status 1"}, [Verb.RESUME, Verb.EXPLAIN, Verb.REMOVE]),
    ({"status": "ready", "phase": "paused"}, [Verb.RESUME, Verb.ATTACH, Verb.SEND, Verb.EXPLAIN, Verb.REMOVE]),
    ({"status": "starting", "phase": "creating"}, [Verb.EXPLAIN]),
    ({"status": "starting", "phase": "queued"}, [Verb.EXPLAIN, Verb.REMOVE]),
    ({"status": "unknown", "agent": "shell"}, [Verb.ATTACH, Verb.EXPLAIN, Verb.REMOVE]),
    ({"status": "ready", "turn": DONE, "work": WORK, "dropped": "red"},
     [Verb.FIX, Verb.ATTACH, Verb.SEND, Verb.REVIEW, Verb.EXPLAIN, Verb.REMOVE]),
]  # fmt: skip


@pytest.mark.parametrize("facts, verbs", VERBS)
def test_what_can_be_done_with_a_worker(facts: dict[str, Any], verbs: list[Verb]) -> None:
    assert list(only(**facts).verbs) == verbs


def test_ready_ones_come_in_the_order_in_which_they_had_best_land() -> None:
    three = [worker(n, status="ready", turn=DONE, work=WORK) for n in ("a", "b", "c")]
    shown = rows(three, [], now=NOW, order=["w-c", "w-a"])
    assert [row.name for row in shown] == ["c", "a", "b"]


def test_those_at_rest_come_after_those_at_work_and_before_those_that_wait() -> None:
    found = rows(
        [
            worker("held", phase="paused"),
            worker("later", phase="queued", status="starting"),
            worker("done", status="ready", turn=DONE),
            worker("fresh", status="ready"),
            worker("busy", status="working"),
        ],
        [],
        now=NOW,
    )
    assert [row.name for row in found] == ["busy", "fresh", "done", "later", "held"]


def test_whoever_has_waited_longest_comes_first() -> None:
    two = [worker("late", status="asking", since=at(5)), worker("early", status="asking", since=at(500))]
    assert [row.name for row in rows(two, [], now=NOW)] == ["early", "late"]


def test_what_was_made_is_told() -> None:
    facts = {"work": {**WORK, "dirty": 1}, "forecast": ["two"], "verified": "verified"}
    row = only(status="ready", turn=DONE, **facts)
    assert row.detail == "2 commits · +30 -4 · 1 uncommitted · collides with two · verified — Do it"


def test_notices_are_in_the_background_newest_first_and_enter_takes_nothing_back() -> None:
    two = [Notice("event 1", NOW - 50, "one landed", "", "l1"), Notice("event 2", NOW - 5, "two failed", "why")]
    shown = rows([], two, now=NOW)
    assert [(row.key, row.verbs) for row in shown] == [
        ("event 2", (Verb.DISMISS,)),
        ("event 1", (Verb.DISMISS, Verb.UNDO)),
    ]
    assert counts(shown) == {Section.BACKGROUND: 2}


@pytest.mark.parametrize(
    "words, found", [("", "abc"), ("LOGIN", "a"), ("log fix", "a"), ("nothing", ""), ("asking", "b"), ("do it", "ac")]
)
def test_a_filter_wants_every_word_somewhere(words: str, found: str) -> None:
    three = [worker("a", title="Fix login, do it"), worker("b", status="asking"), worker("c")]
    shown = matching(rows(three, [], now=NOW), words)
    assert sorted(row.name for row in shown) == sorted(found)


def test_a_time_that_is_none_is_zero() -> None:
    assert seconds("") == seconds("yesterday") == 0.0
    assert seconds(at(0)) == NOW


DATA: dict[str, Any] = {"target": "main", "commits": 1, "landing": "l1", "verified": True, "removal": "r1"}
DATA |= {"state": "failed", "tasks": {"landed": 3, "timed_out": 1}, "run": "R1"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_that_is_looked_for_is_told(kind: str) -> None:
    notice = notice_of(EventRow(7, "p", "w1", 5000, kind, DATA), "one")
    assert notice
    assert notice.key == "event 7"
    assert notice.at == 5.0
    assert notice.undo == {"landing.done": "l1", "worker.removed": "r1"}.get(kind, "")


def test_other_events_are_no_news() -> None:
    assert notice_of(EventRow(7, "p", "w1", 5000, "environment.prepared", {"state": "done"}), "one") is None
    assert notice_of(EventRow(7, "p", "w1", 5000, "status.changed", {}), "one") is None


def test_a_run_that_ended_is_told_with_its_tasks() -> None:
    notice = notice_of(EventRow(7, "p", "", 5000, "run.finished", DATA), "")
    assert notice
    assert (notice.words, notice.detail) == ("run R1 finished", "3 landed, 1 timed out")


def test_one_at_work_is_timed_from_its_turn_and_tells_what_it_uses() -> None:
    row = only(doing="uses Bash", turn={"state": "running", "begun_at": at(300)}, environment={"state": "failed"})
    assert row.since == NOW - 300
    assert row.detail == "its environment is not ready · uses Bash — Do it"


TURNS = st.sampled_from([None, *({"state": s, "last_words": ""} for s in ("running", "done", "failed", "interrupted"))])
ENTRY = st.fixed_dictionaries(
    {
        "status": st.sampled_from([s.value for s in Status]),
        "phase": st.sampled_from([p.value for p in Phase if p is not Phase.REMOVED]),
        "agent": st.sampled_from(["claude", "shell"]),
        "launch": st.sampled_from(["session", "window", "headless"]),
        "detail": st.sampled_from(["", "with status 0", "with status 3"]),
        "turn": TURNS,
        "work": st.sampled_from([None, WORK, {"commits": 0, "dirty": 0}]),
        "since": st.sampled_from([at(1), at(9999), ""]),
    }
)


@given(st.lists(ENTRY, max_size=8))
def test_every_worker_is_in_exactly_one_row_and_has_a_verb(entries: list[dict[str, Any]]) -> None:
    everyone = [worker(str(n), **facts) for n, facts in enumerate(entries)]
    shown = rows(everyone, [], now=NOW)
    assert sorted(row.key for row in shown) == sorted(w["id"] for w in everyone)
    assert all(row.verbs and len(set(row.verbs)) == len(row.verbs) for row in shown)
    places = [list(Section).index(row.section) for row in shown]
    assert places == sorted(places)
