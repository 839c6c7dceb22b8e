"""The scheduler by single cases: what follows from what."""

from __future__ import annotations

import pytest

from woodwind.model.decisions import due, next_time
from woodwind.model.run import Breaker, Decision, Group, Happened, Rule, Run, Settings, State, Task, Verb, What
from woodwind.model.schedule import step

MINUTE = 60_000


def at_work(*names: str, timeout: int = 0, retries: int = 0, now: int = 0, **settings: object) -> Run:
    """A run whose tasks are all being worked on."""
    how = Settings(**{"cap": 10, **settings})  # type: ignore[arg-type]
    run, _ = step(Run(how, {n: Task(n, timeout=timeout, retries=retries) for n in names}), [], now)
    return hear(run, *(Happened(What.STARTED, n, 1, worker=f"w-{n}", turn="t") for n in names), now=now)


def hear(run: Run, *events: Happened, now: int = 0) -> Run:
    return step(run, events, now)[0]


def states(run: Run) -> dict[str, str]:
    return {task.id: task.state.value for task in run.tasks.values()}


def test_as_many_begin_as_there_are_places_oldest_first() -> None:
    tasks = {n: Task(n, since=since) for n, since in (("late", 9), ("b", 1), ("a", 1))}
    run, decisions = step(Run(Settings(cap=2), tasks), [], 10)
    assert decisions == [Decision(Verb.START, "b", 1), Decision(Verb.START, "a", 1)]
    assert states(run)["late"] == "waiting"


def test_a_child_begins_when_all_parents_landed_and_not_before() -> None:
    run = at_work("a", "b")
    run = run._replace(tasks={**run.tasks, "c": Task("c", ("a", "b"))})
    run = hear(run, Happened(What.DONE, "a", 1), Happened(What.COLLECTED, "a", 1, commits=1))
    assert states(run) == {"a": "landing", "b": "working", "c": "waiting"}
    run = hear(run, Happened(What.LANDED, "a", 1, commit="x"), Happened(What.DONE, "b", 1))
    assert states(run)["c"] == "waiting"
    run = hear(run, Happened(What.COLLECTED, "b", 1, nothing=True))
    assert states(run) == {"a": "landed", "b": "nothing", "c": "starting"}


def test_a_failure_is_tried_again_with_what_was_seen_then_it_is_final() -> None:
    event = Happened(What.FAILED, "a", 1, text="an error", output="what was seen")
    run = hear(at_work("a", retries=1), event)
    task = run.tasks["a"]
    assert (task.state, task.tell, task.attempt, task.delivery) == (State.STARTING, "retry", 2, 2)
    assert (task.why, task.output) == ("an error", "what was seen")
    run = hear(run, event)  # about an earlier delivery: stale
    assert run.tasks["a"].state is State.STARTING
    run = hear(run, event._replace(delivery=2))
    assert (run.tasks["a"].state, run.state) == (State.FAILED, "finished")


def test_what_is_hopeless_is_not_tried_again() -> None:
    run = hear(at_work("a", retries=5), Happened(What.FAILED, "a", 1, text="removed", hopeless=True))
    assert states(run) == {"a": "failed"}


def test_a_turn_without_a_commit_is_a_failure_unless_there_was_nothing_to_do() -> None:
    run = hear(at_work("a"), Happened(What.DONE, "a", 1, text="words"), Happened(What.COLLECTED, "a", 1))
    assert run.tasks["a"].why == "it ended without a commit"
    assert run.tasks["a"].words == "words"
    run = hear(at_work("a"), Happened(What.DONE, "a", 1), Happened(What.COLLECTED, "a", 1, nothing=True))
    assert states(run) == {"a": "nothing"}


def test_a_task_out_of_time_is_paused_and_that_is_final() -> None:
    run = at_work("a", timeout=60, retries=3)
    assert next_time(run, 0) == MINUTE
    run, decisions = step(run, [], MINUTE)
    assert decisions == [Decision(Verb.PAUSE, "a", 1)]
    run = hear(run, Happened(What.FAILED, "a", 1, text="interrupted"), now=MINUTE)  # by the pause itself
    assert states(run) == {"a": "pausing"}
    run = hear(run, Happened(What.PAUSED, "a", 1), now=MINUTE)
    assert states(run) == {"a": "timed_out"}


@pytest.mark.parametrize(
    "begin, end",
    [
        (Happened(What.ATTACHED, "a"), Happened(What.DETACHED, "a")),
        (Happened(What.ASKING, "a", text="q"), Happened(What.SETTLED, "a")),
    ],
)
def test_the_clock_stands_still_while_a_person_is_needed_or_there(begin: Happened, end: Happened) -> None:
    run = hear(at_work("a", timeout=60), begin, now=MINUTE // 2)
    assert next_time(run, MINUTE // 2) == 0
    run = hear(run, now=9 * MINUTE)
    assert states(run) == {"a": "working"}
    run = hear(run, end, now=10 * MINUTE)
    assert run.tasks["a"].deadline == 10 * MINUTE + MINUTE // 2


def test_nothing_is_done_to_a_worker_while_a_person_is_there() -> None:
    run = hear(at_work("a"), Happened(What.DONE, "a", 1), Happened(What.ATTACHED, "a"))
    assert states(run) == {"a": "collecting"}
    assert due(run, 0) == []
    assert due(hear(run, Happened(What.DETACHED, "a")), 0) == [Decision(Verb.COLLECT, "a", 1)]


def test_somebody_who_came_at_the_last_moment_gets_time() -> None:
    run = hear(at_work("a", timeout=60), now=MINUTE)
    run = hear(run, Happened(What.ATTACHED, "a"), now=MINUTE)
    assert states(run) == {"a": "working"}
    run = hear(run, Happened(What.DETACHED, "a"), now=2 * MINUTE)
    assert run.tasks["a"].deadline == 7 * MINUTE


def test_a_question_is_answered_once_and_only_when_asked_to_decide() -> None:
    asked = Happened(What.ASKING, "a", text="q1")
    assert due(hear(at_work("a"), asked), 0) == []
    run = hear(at_work("a", on_question="decide"), asked)
    assert due(run, 0) == [Decision(Verb.ANSWER, "a", 1)]
    run = hear(run, Happened(What.ANSWERED, "a", 1, text="q1"))
    assert due(run, 0) == []
    assert due(hear(run, Happened(What.ASKING, "a", text="q2")), 0) == [Decision(Verb.ANSWER, "a", 1)]


def storm(name: str, kind: str, delivery: int = 1, until: int = 0) -> Happened:
    return Happened(What.FAILED, name, delivery, text="the service", storm=kind, until=until)


def test_an_answer_that_could_not_be_given_now_is_given_later_and_uses_no_retry_up() -> None:
    run = hear(at_work("a", on_question="decide"), Happened(What.ASKING, "a", text="1 Which?"))
    assert due(run, 0) == [Decision(Verb.ANSWER, "a", 1)]
    run = hear(run, Happened(What.LATER, "a", 1, text="something is being delivered"))
    assert due(run, 0) == []
    assert next_time(run, 0) == 1000
    assert due(run, 1000) == [Decision(Verb.ANSWER, "a", 1)]
    assert (run.tasks["a"].state, run.tasks["a"].attempt) == (State.WORKING, 1)


def test_a_usage_limit_opens_the_breaker_and_uses_no_retry_up() -> None:
    run = at_work("a", "b")
    run = run._replace(tasks={**run.tasks, "c": Task("c")}, settings=run.settings._replace(cap=2))
    run = hear(run, storm("a", "usage"), now=1)
    assert states(run) == {"a": "held", "b": "working", "c": "waiting"}
    assert run.breaker.open_until == MINUTE + 1
    assert run.tasks["a"].attempt == 1
    run = hear(run, storm("b", "usage"), now=2)
    assert states(run)["b"] == "held"
    assert run.breaker.open_until == 2 * MINUTE + 2  # longer with each
    assert due(run, 2 * MINUTE) == []
    run = hear(run, now=2 * MINUTE + 2)
    assert states(run) == {"a": "starting", "b": "held", "c": "waiting"}  # one tries the service
    assert run.tasks["a"].tell == "go_on"
    run = hear(run, Happened(What.STARTED, "a", 2, worker="w-a"), Happened(What.DONE, "a", 2), now=3 * MINUTE)
    assert run.breaker == Breaker()
    assert states(run)["b"] == "starting"


def test_the_breaker_waits_for_the_time_that_the_service_named() -> None:
    run = hear(at_work("a"), storm("a", "usage", until=99 * MINUTE))
    assert run.breaker.open_until == 99 * MINUTE


def test_single_errors_of_the_service_hold_one_task_and_three_hold_all() -> None:
    run = hear(at_work("a", "b", "c"), storm("a", "api"), storm("b", "api"))
    assert run.breaker.opened == 0
    run = hear(run, storm("c", "api"))
    assert run.breaker.opened == 1
    assert set(states(run).values()) == {"held"}


def test_a_terminal_that_went_away_is_no_storm_and_no_failure() -> None:
    run = at_work("a", "b", "c", "d")
    run = hear(run, *(storm(name, "gone") for name in "abcd"))
    assert run.breaker == Breaker()
    run = hear(run, now=2_000)
    assert set(states(run).values()) == {"starting"}
    assert {task.attempt for task in run.tasks.values()} == {1}


def test_storms_without_end_end_in_a_failure() -> None:
    run, now = at_work("a"), 0
    for n in range(1, 40):
        run = hear(run, storm("a", "usage", n), now=now)
        if run.state == "finished":
            break
        now = max(run.breaker.open_until, run.tasks["a"].not_before)
        run = hear(run, now=now)
        run = hear(run, Happened(What.STARTED, "a", n + 1, worker="w-a"), now=now)
    assert states(run) == {"a": "failed"}


def test_without_auto_ship_a_person_lands_and_the_children_wait_for_that() -> None:
    run = at_work("a", rule=Rule.PERSON)
    run = run._replace(tasks={**run.tasks, "b": Task("b", ("a",))})
    run = hear(run, Happened(What.DONE, "a", 1), Happened(What.COLLECTED, "a", 1, commits=2))
    assert (states(run), run.state) == ({"a": "ready", "b": "waiting"}, "running")
    assert states(hear(run, Happened(What.LANDED, "a", commit="x"))) == {"a": "landed", "b": "starting"}


def test_the_branch_is_shipped_last_and_only_when_all_landed() -> None:
    run = at_work("a", "b", close_run=True)
    for name in "ab":
        assert "ship the branch" not in run.tasks
        events = Happened(What.DONE, name, 1), Happened(What.COLLECTED, name, 1, commits=1)
        run = hear(run, *events, Happened(What.LANDED, name, 1, commit="x"))
    assert due(run, 0) == [Decision(Verb.LAND, "ship the branch")]
    assert run.state == "running"
    assert hear(run, Happened(What.LANDED, "ship the branch", commit="y")).state == "finished"


def test_what_cannot_be_done_now_is_put_off_longer_each_time_and_not_for_ever() -> None:
    run, now, waits = at_work("a"), 0, []
    run = hear(run, Happened(What.DONE, "a", 1))
    while run.tasks["a"].state is State.COLLECTING:
        run = hear(run, Happened(What.LATER, "a", 1, text="busy"), now=now)
        waits.append(run.tasks["a"].not_before - now)
        assert due(run, now) == []
        now = run.tasks["a"].not_before
    assert waits[:4] == [1000, 2000, 4000, 8000]
    assert max(waits) == 5 * MINUTE
    assert states(run) == {"a": "failed"}


def test_a_tracker_that_is_down_is_waited_for_as_long_as_it_takes() -> None:
    run = hear(at_work("a"), Happened(What.DONE, "a", 1))
    for n in range(100):
        run = hear(run, Happened(What.LATER, "a", 1, text="down", patient=True), now=n * 5 * MINUTE)
    assert states(run) == {"a": "collecting"}


def test_stop_decides_nothing_more_and_resume_goes_on_with_what_was_cut_short() -> None:
    run = at_work("a", "b", "c", retries=1)
    run = hear(run, Happened(What.FAILED, "b", 1, text="x", hopeless=True), Happened(What.DONE, "c", 1))
    run, decisions = step(run, [Happened(What.STOP, text="by me")], 0)
    assert (run.state, run.why, decisions) == ("stopped", "by me", [])
    run = hear(run, Happened(What.COLLECTED, "c", 1, commits=1))  # what was under way is still written down
    assert states(run)["c"] == "landing"
    assert due(run, 0) == []
    run = hear(run, Happened(What.RESUME))
    assert states(run) == {"a": "starting", "b": "starting", "c": "landing"}
    assert {run.tasks[name].tell for name in "ab"} == {"go_on"}


def test_what_was_being_told_when_the_run_was_stopped_is_told_anew() -> None:
    run = hear(at_work("a", "b", retries=1), Happened(What.FAILED, "a", 1, text="red"))
    new = run._replace(tasks={**run.tasks, "new": Task("new", state=State.STARTING, delivery=1, attempt=1)})
    run = hear(hear(new, Happened(What.STOP)), Happened(What.RESUME))
    told = {name: (task.state, task.tell, task.delivery, task.attempt) for name, task in run.tasks.items()}
    assert told["a"] == (State.STARTING, "retry", 3, 2)  # another mark: the interrupted turn is not its end
    assert told["new"] == (State.STARTING, "", 1, 1)  # whether its worker was made is found out by its id
    run = hear(hear(run, Happened(What.STOP)), Happened(What.RESUME, text="Do this"))
    assert (run.tasks["a"].tell, run.tasks["a"].delivery) == ("Do this", 4)


def test_what_a_person_has_landed_is_landed_wherever_the_run_was_with_it() -> None:
    run = hear(at_work("a", "b"), Happened(What.LANDED, "a", 1, commit="x"))
    run = hear(run, Happened(What.FAILED, "b", 1, text="x", hopeless=True))
    run = hear(hear(run, Happened(What.RESUME)), Happened(What.LANDED, "b", 2, commit="y"))
    assert (states(run), run.state) == ({"a": "landed", "b": "landed"}, "finished")
    assert [run.tasks[name].commit for name in "ab"] == ["x", "y"]


def test_resume_does_not_overfill_the_places() -> None:
    run = at_work("a", "b", "c")
    run = run._replace(settings=run.settings._replace(cap=1))
    run = hear(run, *(Happened(What.FAILED, name, 1, text="x", hopeless=True) for name in "abc"))
    assert run.state == "finished"
    run = hear(run, Happened(What.RESUME, text="Try this"))
    assert sorted(states(run).values()) == ["starting", "waiting", "waiting"]
    assert next(t.tell for t in run.tasks.values() if t.state is State.STARTING) == "Try this"


# Loops.


def looping(lanes: int = 1, **settings: object) -> Run:
    how = Settings(**{"cap": 10, "tracked": True, "rule": Rule.NEVER, **settings})  # type: ignore[arg-type]
    return Run(how, {}, {"E": Group("E", lanes)})


def fed(run: Run, *names: str) -> Run:
    return hear(run, Happened(What.ADDED, group="E", tasks=tuple(Task(n, group="E") for n in names)))


def test_a_loop_asks_its_tracker_only_while_a_worker_is_free() -> None:
    run = looping(lanes=2)
    assert due(run, 0) == [Decision(Verb.FEED, group="E")]
    run = fed(run, "1", "2")
    assert {task.lane for task in run.tasks.values()} == {"E#1", "E#2"}
    assert all(decision.verb is Verb.START for decision in due(run, 0))
    run = hear(run, Happened(What.DROPPED, "1", text="closed by someone else"))
    assert Decision(Verb.FEED, group="E") in due(run, 0)
    run = fed(run)
    assert Decision(Verb.FEED, group="E") not in due(run, 0)
    assert run.state == "running"


def done(run: Run, name: str, *, closed: bool = True, delivery: int = 1) -> Run:
    run = hear(run, Happened(What.STARTED, name, delivery, worker="w"), Happened(What.DONE, name, delivery))
    return hear(run, Happened(What.COLLECTED, name, delivery, commits=1, closed=closed))


def test_a_closed_ticket_may_have_made_others_ready() -> None:
    run = fed(looping(), "1")
    run = run._replace(groups={"E": run.groups["E"]._replace(dry=True)})
    run = done(run, "1")
    assert states(run) == {"1": "done"}
    assert due(run, 0) == [Decision(Verb.FEED, group="E")]
    assert fed(run).state == "finished"


def test_a_ticket_that_stays_open_gets_a_reminder_and_then_needs_a_person_who_keeps_its_worker() -> None:
    run = done(fed(looping(), "1"), "1", closed=False)
    assert (run.tasks["1"].state, run.tasks["1"].tell) == (State.STARTING, "remind")
    run = done(run, "1", closed=False, delivery=2)
    assert (states(run), run.state) == ({"1": "failed"}, "finished")
    run = hear(run, Happened(What.RESUME))
    assert (run.tasks["1"].state, run.tasks["1"].lane) == (State.STARTING, "E#1")


def test_a_tracker_that_does_not_answer_is_asked_again_later() -> None:
    run = hear(looping(), Happened(What.LATER, group="E", text="down"))
    assert due(run, 0) == []
    assert next_time(run, 0) == 1000
    assert due(run, 1000) == [Decision(Verb.FEED, group="E")]


def test_an_epic_lands_when_it_is_through() -> None:
    run = done(fed(looping(close_groups=True), "1"), "1")
    run = fed(run)
    closing = run.tasks["land E#1"]
    assert (closing.state, closing.worker, run.state) == (State.LANDING, "w", "running")
    assert hear(run, Happened(What.LANDED, "land E#1", commit="x")).state == "finished"


def test_a_finished_loop_takes_further_epics() -> None:
    run = fed(looping())
    assert run.state == "finished"
    run = hear(run, Happened(What.WIDENED, group="F", lanes=3))
    assert (run.state, run.settings.cap, run.groups["F"].lanes) == ("running", 10, 3)
    assert due(run, 0) == [Decision(Verb.FEED, group="F")]


def test_a_paused_loop_finishes_what_it_has_and_begins_nothing() -> None:
    run = fed(looping(), "1")
    run = hear(run, Happened(What.HOLD))
    assert due(run, 0) == [Decision(Verb.START, "1", 1)]
    run = done(run, "1")
    assert (due(run, 0), run.state) == ([], "paused")
    assert due(hear(run, Happened(What.RESUME)), 0) == [Decision(Verb.FEED, group="E")]


def test_five_hundred_tasks_come_to_their_end() -> None:
    tasks = {f"t{n}": Task(f"t{n}", (f"t{n // 2}",) if n else ()) for n in range(500)}
    run, decisions = step(Run(Settings(cap=20), tasks), [], 0)
    steps = 0
    while run.state == "running":
        steps += 1
        events = []
        for decision in decisions:
            what = {Verb.START: What.DONE, Verb.COLLECT: What.COLLECTED, Verb.LAND: What.LANDED}[decision.verb]
            events.append(Happened(what, decision.task, decision.delivery, commits=1, commit="x", worker="w"))
        run, decisions = step(run, events, steps)
    assert set(states(run).values()) == {"landed"}
