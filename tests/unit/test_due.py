"""Whom the control plane looks at after which events."""

import pytest

from woodwind.model.event import KINDS
from woodwind.ops.overview import OF_ONE_WORKER
from woodwind.tui.due import Due

ONE, OTHER = ("status.changed", "w1"), ("turn.done", "w2")

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
    assert due.take(1.0) == whom
    assert due.take(1.0) == set(), "what was taken is taken"


def test_after_a_look_at_some_comes_one_at_all_when_it_is_quiet() -> None:
    due = Due()
    assert due.patience is None
    due.after(*ONE)
    due.take(1.0)
    assert due.patience
    due.everything()
    assert due.take(5.0) is None
    assert due.patience is None


def test_where_it_is_never_quiet_all_are_looked_at_now_and_then() -> None:
    due, taken = Due(), []
    due.everything()
    for second in range(100):
        due.after(*ONE)
        taken.append(due.take(float(second)))
    assert 3 <= taken.count(None) <= 5


def test_what_a_look_remarked_on_is_looked_at_again_because_no_event_tells_of_its_end() -> None:
    due = Due()
    due.everything()
    due.take(1.0)
    due.has_remarks = True
    assert due.patience
    due.has_remarks = False
    assert due.patience is None


def test_the_kinds_of_one_worker_are_kinds_that_there_are() -> None:
    assert set(KINDS) >= OF_ONE_WORKER
