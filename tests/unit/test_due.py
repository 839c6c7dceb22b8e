"""Whom the control plane looks at after which events."""

import pytest

from woodwind.model.event import KINDS
from woodwind.ops.overview import OF_ONE_WORKER
from woodwind.tui.due import Due

ONE, OTHER = ("status.changed", "w1"), ("turn.done", "w2")
SHOWN = [f"w{n}" for n in range(1, 51)]

EVENTS = [
    ([], set()),
    ([ONE], {"w1"}),
    ([ONE, ONE, OTHER], {"w1", "w2"}),
    ([("landing.done", "w1")], None),
    ([ONE, ("worker.removed", "w2")], None),
    ([("worker.created", "w3"), ONE], None),
    ([("run.started", "")], None),
    ([("status.changed", "")], None),
    ([("of.a_later_version", "w1")], None),
]


@pytest.mark.parametrize("events, whom", EVENTS)
def test_whom_a_look_is_about(events: list[tuple[str, str]], whom: set[str] | None) -> None:
    due = Due()
    for event in events:
        due.after(*event)
    assert due.take(1.0, SHOWN) == whom
    assert due.take(1.0, SHOWN) == set(), "what was taken is taken"


def test_after_a_look_at_some_comes_one_at_all_when_it_is_quiet() -> None:
    due = Due()
    assert due.patience is None
    due.after(*ONE)
    due.take(1.0, SHOWN)
    assert due.patience
    due.everything()
    assert due.take(5.0, SHOWN) is None
    assert due.patience is None


def test_where_it_is_never_quiet_the_others_are_looked_at_a_few_at_a_time() -> None:
    due, taken = Due(), []
    due.everything()
    due.take(0.0, SHOWN)
    for second in range(1, 100):
        due.after(*ONE)
        some = due.take(float(second), SHOWN)
        assert some is not None, "all of them at once would hold up what happens meanwhile"
        taken.append(some)
    times = {worker: sum(worker in some for some in taken) for worker in SHOWN if worker != "w1"}
    assert set(times.values()) <= {2, 3}, "somebody was forgotten, or looked at too often"
    assert max(map(len, taken)) <= 6
    assert sum(len(some) > 1 for some in taken) <= 30


def test_a_look_at_everything_is_also_one_at_those_who_were_still_to_come() -> None:
    due = Due()
    for second in (0.0, 40.0):
        due.after(*ONE)
        due.take(second, SHOWN)
    due.everything()
    assert due.take(41.0, SHOWN) is None
    due.after(*ONE)
    assert due.take(42.0, SHOWN) == {"w1"}


def test_what_a_look_remarked_on_is_looked_at_again_because_no_event_tells_of_its_end() -> None:
    due = Due()
    due.everything()
    due.take(1.0, SHOWN)
    due.has_remarks = True
    assert due.patience
    due.has_remarks = False
    assert due.patience is None


def test_the_kinds_of_one_worker_are_kinds_that_there_are() -> None:
    assert set(KINDS) >= OF_ONE_WORKER
