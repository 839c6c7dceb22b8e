"""What a loop makes of tickets that others change meanwhile, against a real check-list."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.model.run import Decision, Happened, State, Verb, What
from woodwind.ops import loop_tasks
from woodwind.ops.context import Context
from woodwind.ops.loop import LoopWishes, begin
from woodwind.ops.projects import current
from woodwind.ops.run_state import Known, change, read
from woodwind.store import runs
from woodwind.testing.sandbox import Sandbox

LIST = "# Things\n\n- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma\n"


@pytest.fixture
def ctx(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    (repo / "TODO.md").write_text(LIST)
    made = Context(str(repo), dict(sandbox.env))
    yield made
    made.close()


def looping(ctx: Context, source: str = "markdown:TODO.md", lanes: int = 1) -> Known:
    wishes = LoopWishes(("things",), source, agent="rehearsal", permissions="auto", parallel=lanes, skip_preflight=True)
    return read(ctx.store, begin(ctx, current(ctx), wishes))


def feed(ctx: Context, known: Known) -> Known:
    heard, specs = loop_tasks.carry_out(ctx, known.row, known.run, Decision(Verb.FEED, group="things"))
    return change(ctx.store, known.row.id, heard, specs=specs)[0]


def start(ctx: Context, known: Known, task: str) -> Happened:
    delivery = known.run.tasks[task].delivery
    [happened], _ = loop_tasks.carry_out(ctx, known.row, known.run, Decision(Verb.START, task, delivery))
    return happened


def settle(ctx: Context, known: Known, task: str) -> Known:
    """As if the ticket had been done and closed."""
    delivery = known.run.tasks[task].delivery
    events = [
        Happened(What.STARTED, task, delivery, worker="w"),
        Happened(What.DONE, task, delivery),
        Happened(What.COLLECTED, task, delivery, closed=True),
    ]
    return change(ctx.store, known.row.id, events)[0]


def test_an_epic_is_fed_one_ticket_for_each_free_worker_in_the_trackers_order(ctx: Context) -> None:
    known = feed(ctx, looping(ctx, lanes=2))
    assert list(known.run.tasks) == ["alpha", "beta"]
    assert runs.spec(ctx.store, known.row.id, "beta")["title"] == "Beta"


@pytest.mark.parametrize(
    "change_to, why",
    [
        ("- [x] Alpha", "someone else closed the ticket"),
        ("- [/] Alpha", "someone else has claimed the ticket"),
        ("", "the ticket is not there any more"),
    ],
)
def test_a_ticket_that_others_took_closed_or_deleted_is_dropped(ctx: Context, change_to: str, why: str) -> None:
    known = feed(ctx, looping(ctx))
    file = Path(ctx.cwd, "TODO.md")
    file.write_text(LIST.replace("- [ ] Alpha", change_to))
    happened = start(ctx, known, "alpha")
    assert (happened.what, happened.text) == (What.DROPPED, why)
    known, _ = change(ctx.store, known.row.id, [happened])
    assert list(feed(ctx, known).run.tasks) == ["alpha", "beta"]


def test_a_claim_of_ours_that_nobody_wrote_down_is_found_again(ctx: Context) -> None:
    known = feed(ctx, looping(ctx))
    assert runs.claim(ctx.store, known.row.id, "alpha")  # and then it died
    Path(ctx.cwd, "TODO.md").write_text(LIST.replace("- [ ] Alpha", "- [/] Alpha"))
    assert start(ctx, known, "alpha").what is not What.DROPPED


def test_a_ticket_that_is_opened_again_is_taken_again_three_times_at_most(ctx: Context) -> None:
    Path(ctx.cwd, "TODO.md").write_text("# Things\n\n- [ ] Alpha\n")
    known = looping(ctx)
    for name in ("alpha", "alpha~2", "alpha~3"):
        known = feed(ctx, known)
        assert list(known.run.tasks)[-1] == name
        known = settle(ctx, known, name)
        assert known.run.tasks[name].state is State.NOTHING
    assert list(feed(ctx, known).run.tasks) == ["alpha", "alpha~2", "alpha~3"]


def test_a_tracker_that_is_down_is_asked_again_later(ctx: Context) -> None:
    known = looping(ctx)
    bare = Context(ctx.cwd, {**ctx.environ, "PATH": "/none"})  # where there is no program gh
    bare.store = ctx.store
    down = known.row._replace(spec={**known.row.spec, "source": "github"})
    [happened], specs = loop_tasks.carry_out(bare, down, known.run, Decision(Verb.FEED, group="things"))
    assert (happened.what, happened.group, specs) == (What.LATER, "things", {})
    known = feed(ctx, known)
    [happened], _ = loop_tasks.carry_out(bare, down, known.run, Decision(Verb.START, "alpha", 1))
    assert happened.what is What.LATER
    assert happened.patient


def test_what_is_only_seen_does_not_count_for_a_run_that_was_stopped(ctx: Context) -> None:
    known = feed(ctx, looping(ctx))
    known, _ = change(ctx.store, known.row.id, [Happened(What.STARTED, "alpha", 1, worker="w"), Happened(What.STOP)])
    interrupted = [Happened(What.FAILED, "alpha", 1, text="interrupted")]
    after, decisions = change(ctx.store, known.row.id, interrupted, known=known, seen=True)
    assert (after.run.tasks["alpha"].state, decisions) == (State.WORKING, [])


def test_what_a_loop_is_about_is_read_again_where_it_was_changed(ctx: Context) -> None:
    known = looping(ctx)
    assert read(ctx.store, known.row.id, known) is known
    runs.set_spec(ctx.store, known.row.id, {**known.row.spec, "names": {"more": "More"}})
    assert read(ctx.store, known.row.id, known).row.spec["names"] == {"more": "More"}
