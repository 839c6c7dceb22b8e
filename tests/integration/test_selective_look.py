"""The control plane looks only at those to whom something happened, and sees the same as if it looked at all."""

import random
import signal
from collections.abc import Callable, Iterator
from os import kill
from pathlib import Path

import pytest

from woodwind.base.clock import new_id, now, to_ms
from woodwind.model.status import Phase
from woodwind.model.turn import State, Turn
from woodwind.ops.context import Context
from woodwind.ops.observe import observe
from woodwind.ops.overview import Looker, Overview
from woodwind.ops.projects import current
from woodwind.store import environments, events, forecasts, landing_queues, landings, terminals, turns, workers
from woodwind.store.listing import rows
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox
from woodwind.tui.due import Due

STEPS = 40


@pytest.fixture
def ctx(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    sandbox.ww("new", "Do work", "-n", "4", "--no-agent", cwd=repo, check=True)
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    ctx = Context(str(repo), sandbox.env)
    yield ctx
    ctx.close()


class World:
    """Things that happen to workers, each with the event that tells of it."""

    def __init__(self, ctx: Context, sandbox: Sandbox, seed: int) -> None:
        self.ctx = ctx
        self.sandbox = sandbox
        self.project = current(ctx)
        self.chance = random.Random(seed)
        self.one = ""
        self.happenings: list[Callable[[], None]] = [
            self.pauses, self.resumes, self.gets_a_turn, self.ends_its_turn, self.commits, self.exits,
            self.does_not_land, self.lands, self.falls_out, self.collides, self.cannot_prepare, self.is_told_again,
        ]  # fmt: skip

    def happen(self) -> str:
        """Let something happen to somebody; what it was."""
        self.one = self.chance.choice([row.id for row in rows(self.ctx.store, self.project)])
        what = self.chance.choice(self.happenings)
        what()
        return what.__name__

    def _phase(self, phase: Phase, kind: str) -> None:
        with self.ctx.store.transaction() as db:
            workers.set_phase(db, self.one, phase)
            events.append(db, project=self.project, worker=self.one, kind=kind, data={})

    def pauses(self) -> None:
        self._phase(Phase.PAUSED, "worker.paused")

    def resumes(self) -> None:
        self._phase(Phase.RUNNING, "worker.resumed")

    def is_removed(self) -> None:
        self._phase(Phase.REMOVED, "worker.removed")

    def is_told_again(self) -> None:
        self._tell("status.changed")

    def _tell(self, kind: str) -> None:
        with self.ctx.store.transaction() as db:
            events.append(db, project=self.project, worker=self.one, kind=kind, data={})

    def gets_a_turn(self) -> None:
        with self.ctx.store.transaction() as db:
            number = turns.next_number(db, self.one)
            turn = Turn(new_id("t"), number, "message", "Go on", State.RUNNING, begun_at=to_ms(now()))
            turns.save(db, self.one, turn)
            events.append(db, project=self.project, worker=self.one, kind="turn.submitted", data={})

    def ends_its_turn(self) -> None:
        kinds = {State.DONE: "turn.done", State.FAILED: "turn.failed", State.INTERRUPTED: "turn.interrupted"}
        state = self.chance.choice(list(kinds))
        with self.ctx.store.transaction() as db:
            for turn in turns.of_worker(db, self.one)[-1:]:
                said = f"words {self.chance.random()}"
                turns.save(db, self.one, turn._replace(state=state, ended_at=to_ms(now()), last_words=said))
            events.append(db, project=self.project, worker=self.one, kind=kinds[state], data={})

    def commits(self) -> None:
        worker = workers.find(self.ctx.store, self.one)
        assert worker
        place = Path(worker.worktree.path)
        lines = self.chance.randrange(1, 50)
        (place / f"file-{self.chance.random()}").write_text("line\n" * lines)
        git(place, "add", "--all")
        git(place, "commit", "-q", "-m", "Some work")
        self._tell("turn.committed")

    def exits(self) -> None:
        terminal = terminals.find(self.ctx.store, self.one)
        assert terminal
        pane = f"#{{==:#{{@woodwind}},{self.one}}}"
        gone = ("list-panes", "-a", "-f", f"#{{&&:#{{pane_dead}},{pane}}}")
        if not self.sandbox.tmux(*gone):
            kill(terminal.pid, signal.SIGKILL)
            self.sandbox.wait_for(lambda: self.sandbox.tmux(*gone), what="the end of the shell")
        observe(self.ctx, [self.one])

    def _landing(self, **facts: str) -> None:
        name = workers.name_of(self.ctx.store, self.one)
        with self.ctx.store.transaction() as db:
            landings.add(db, landings.begun(self.one, project=self.project, name=name, target="main", **facts))
            data = {"target": "main", "commits": 1}
            events.append(db, project=self.project, worker=self.one, kind=f"landing.{facts['state']}", data=data)

    def does_not_land(self) -> None:
        self._landing(state="failed", why="conflicts in README.md")

    def lands(self) -> None:
        self._landing(state="done", verified="passed")

    def falls_out(self) -> None:
        with self.ctx.store.transaction() as db:
            queue = landing_queues.begin(db, self.project, "main", [], [self.one])
            landing_queues.change(db, queue, self.one, state="dropped", why="tests fail")
            events.append(db, project=self.project, worker=self.one, kind="queue.dropped", data={})

    def collides(self) -> None:
        others = [row.id for row in rows(self.ctx.store, self.project) if row.id != self.one]
        if others:
            with self.ctx.store.transaction() as db:
                forecasts.put_collision(db, self.project, self.one, self.chance.choice(others), "", [])
                events.append(db, project=self.project, worker=self.one, kind="forecast.appeared", data={})

    def cannot_prepare(self) -> None:
        with self.ctx.store.transaction() as db:
            environments.settle(db, self.one, "failed", "npm install")
            events.append(db, project=self.project, worker=self.one, kind="environment.prepared", data={})


class Watcher:
    """Somebody who looks as the control plane does: at those whom the new events are about."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.looker = Looker(everywhere=False)
        self.looker.look(ctx)
        self.seen = events.newest(ctx.store)
        self.looks_at_some = 0

    def look(self) -> Overview:
        due = Due()
        for event in events.since(self.ctx.store, self.seen):
            due.after(event.kind, event.worker)
            self.seen = event.seq
        whom = due.take(0.0, self.looker.shown)
        self.ctx.notes.clear()
        if whom is None:
            return self.looker.look(self.ctx)
        self.looks_at_some += 1
        return self.looker.look_at(self.ctx, whom)


def seen_afresh(ctx: Context) -> Overview:
    ctx.notes.clear()
    return Looker(everywhere=False).look(ctx)


def test_whatever_happens_a_look_at_some_sees_what_a_look_at_all_would(ctx: Context, sandbox: Sandbox) -> None:
    world, watcher, story = World(ctx, sandbox, seed=7), Watcher(ctx), []
    for _ in range(STEPS):
        story += [world.happen() for _ in range(world.chance.randrange(1, 3))]
        found = watcher.look()
        assert found == seen_afresh(ctx), story
    assert watcher.looks_at_some > STEPS // 4, "it looked at all of them nearly always"
    world.is_removed()
    assert watcher.look() == seen_afresh(ctx)


def test_a_look_at_some_asks_nothing_about_the_others(ctx: Context, sandbox: Sandbox) -> None:
    world, watcher = World(ctx, sandbox, seed=1), Watcher(ctx)
    before = {entry["id"]: entry for entry in watcher.looker.look(ctx).workers}
    world.one = next(iter(before))
    world.pauses()
    after = {entry["id"]: entry for entry in watcher.look().workers}
    assert [worker for worker in before if after[worker] is not before[worker]] == [world.one]
    assert after[world.one]["phase"] == Phase.PAUSED


def test_one_who_is_new_or_of_another_project_is_no_trouble(ctx: Context, sandbox: Sandbox) -> None:
    watcher = Watcher(ctx)
    assert watcher.looker.look_at(ctx, {"w-of-another-project"}) == seen_afresh(ctx)
    sandbox.ww("new", "More work", "--name", "late", "--no-agent", cwd=Path(ctx.cwd), check=True)
    late = next(row.id for row in rows(ctx.store) if row.name == "late")
    found = watcher.looker.look_at(ctx, {late})
    assert "late" in [entry["name"] for entry in found.workers]
    assert found == seen_afresh(ctx)
