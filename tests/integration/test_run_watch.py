"""What a look at a run makes of turns that ended otherwise than by the agent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.model.run import Decision, Happened, Verb, What
from woodwind.model.turn import MESSAGE, START_UNDONE, State, Turn
from woodwind.ops import run_tasks
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.plan_file import load_plan
from woodwind.ops.projects import current
from woodwind.ops.run import Wishes, begin
from woodwind.ops.run_state import Known, change, read
from woodwind.ops.run_watch import look
from woodwind.store import turns
from woodwind.testing.plans import write_plan
from woodwind.testing.sandbox import Sandbox

CLOSED = "its terminal was closed in the middle of it"


@pytest.fixture
def ctx(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    made = Context(str(repo), dict(sandbox.env))
    yield made
    made.close()


@pytest.fixture
def at_work(ctx: Context, sandbox: Sandbox) -> Known:
    """A run whose only task is with its agent."""
    plan = load_plan(str(write_plan(sandbox.home / "plan.toml", {"one": ["think 600"]}, verify=False, retries=0)))
    wishes = Wishes(permissions="auto", skip_preflight=True)
    run = begin(ctx, current(ctx), plan, wishes, title="Play")
    known, [decision] = change(ctx.store, run, [])
    assert decision == Decision(Verb.START, "one", 1)
    return change(ctx.store, run, run_tasks.carry_out(ctx, known.row, known.run, decision))[0]


def ended(ctx: Context, known: Known, state: State, why: str) -> None:
    """Write down that the newest turn of the task's agent ended so."""
    worker = known.run.tasks["one"].worker
    last = turns.of_worker(ctx.store.db, worker)[-1]
    with ctx.store.transaction() as db:
        turns.save(db, worker, last._replace(state=state, why=why, ended_at=1))


def seen(ctx: Context, known: Known) -> list[Happened]:
    now = read(ctx.store, known.row.id)
    return look(ctx, now.row, now.run)


def test_a_turn_that_a_command_cuts_short_is_judged_when_the_command_is_through(ctx: Context, at_work: Known) -> None:
    assert seen(ctx, at_work) == []
    ended(ctx, at_work, State.INTERRUPTED, "it is back at its prompt, and did not tell of an end")
    with worker_lock(at_work.run.tasks["one"].worker):
        assert seen(ctx, at_work) == []
    assert [happened.what for happened in seen(ctx, at_work)] == [What.FAILED]


def test_a_start_that_was_undone_does_not_hide_how_the_agent_went_away(ctx: Context, at_work: Known) -> None:
    ended(ctx, at_work, State.INTERRUPTED, CLOSED)
    worker = at_work.run.tasks["one"].worker
    undone = Turn("t-undone", 2, MESSAGE, "Go on", State.INTERRUPTED, why=START_UNDONE, begun_at=1, ended_at=2)
    with ctx.store.transaction() as db:
        turns.save(db, worker, undone)
    [happened] = seen(ctx, at_work)
    assert (happened.what, happened.storm, happened.text) == (What.FAILED, "gone", CLOSED)
