"""Whom one list of panes a second sends us to."""

from typing import Any

import pytest

from woodwind.daemon.glances import MANY, SLOWEST, TICK, WHILE_PRINTING, Glances, pace
from woodwind.muxes.base import Pane


def pane(worker: str = "w", **facts: Any) -> Pane:
    known = {"project": "p", "id": "%1", "pid": 7, "dead": False, "exit_status": "", "session": "$1", "window": "@1"}
    return Pane(worker=worker, **{**known, "last_output": 100, "title": "idle", **facts})


def glances(*, mute: bool = False) -> Glances:
    return Glances(lambda worker, title: title.lstrip("⠧⠇ "), lambda worker: mute)


def test_the_first_glance_sends_us_to_everybody() -> None:
    assert glances().changed([pane("a"), pane("b")], 0) == {"a", "b"}


@pytest.mark.parametrize("facts, told", [
    ({}, False),
    ({"last_output": 500}, False),  # its events tell
    ({"title": "⠧ idle"}, False),  # the title means the same
    ({"title": "working"}, True),
    ({"dead": True}, True),
    ({"pid": 8}, True),
    ({"exit_status": "status 1"}, True),
    ({"session": "$9", "window": "@9", "id": "%9"}, False),  # moved by the user
])  # fmt: skip
def test_what_sends_us_to_an_agent_with_events(facts: dict[str, Any], told: bool) -> None:
    them = glances()
    them.changed([pane()], 0)
    assert them.changed([pane(**facts)], 1) == ({"w"} if told else set())
    assert them.changed([pane(**facts)], 2) == set()


def test_a_pane_that_went_away_is_told_once() -> None:
    them = glances()
    them.changed([pane("a"), pane("b")], 0)
    assert them.changed([pane("a")], 1) == {"b"}
    assert them.changed([pane("a")], 2) == set()
    assert them.changed([pane("a"), pane("b")], 3) == {"b"}


def test_a_mute_agent_is_looked_at_now_and_then_while_it_prints_and_once_after() -> None:
    them = glances(mute=True)
    looked = [second for second in range(31) if them.changed([pane(last_output=min(second, 20))], second)]
    while_printing = [s for s in looked if s <= 20]
    assert len(while_printing) == pytest.approx(20 / WHILE_PRINTING, abs=2)
    assert [s for s in looked if s > 20] == [21]


def test_a_forgotten_worker_is_new() -> None:
    them = glances()
    them.changed([pane()], 0)
    them.forget("w")
    assert them.changed([pane()], 1) == {"w"}


def test_many_agents_that_tell_by_themselves_are_listed_less_often() -> None:
    assert pace(MANY - 1, mute=False) == pace(2 * MANY, mute=True) == TICK
    assert pace(MANY, mute=False) == 2 * TICK
    assert pace(2 * MANY, mute=False) == 3 * TICK
    assert pace(50 * MANY, mute=False) == SLOWEST


def test_a_title_means_something_again_once_its_worker_is_known() -> None:
    known: set[str] = set()
    them = Glances(lambda worker, title: title if worker in known else None, lambda worker: False)
    them.changed([pane()], 0)
    known.add("w")
    them.forget("w")
    assert them.changed([pane()], 1) == {"w"}
