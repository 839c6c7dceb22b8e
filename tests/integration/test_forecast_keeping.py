"""What the daemon does for forecasts: a few snapshots at a time, and only of workers to whom something happened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.ops import deliver, foretell
from woodwind.ops.context import Context
from woodwind.ops.forecast import refresh, refresh_some
from woodwind.ops.projects import current
from woodwind.ops.tell_dropped import tell_dropped
from woodwind.store import forecasts, landing_queues, turns, workers
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, rehearse


@pytest.fixture
def ctx(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    sandbox.ww("new", "Do work", "-n", "3", "--no-agent", cwd=repo, check=True)
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    ctx = Context(str(repo), sandbox.env)
    yield ctx
    ctx.close()


def test_many_new_workers_are_seen_a_few_at_a_time(ctx: Context) -> None:
    project = current(ctx)
    everybody = {worker.id for worker in workers.of_project(ctx.store, project)}
    whom: set[str] | None = None
    seen = []
    for _ in range(3):
        whom = refresh_some(ctx, project, whom, 1)
        snapshots = forecasts.snapshots(ctx.store, project).keys()
        assert whom == everybody - snapshots
        seen.append(len(snapshots))
    assert seen == [1, 2, 3]


def test_only_those_are_looked_at_to_whom_something_happened(ctx: Context, sandbox: Sandbox) -> None:
    project = current(ctx)
    refresh(ctx, project)
    entries = sandbox.ww("ls", "--json", cwd=Path(ctx.cwd), check=True).json["data"]
    for entry in entries[:2]:
        Path(entry["path"], "same.txt").write_text(f"{entry['name']}\n")
    assert not refresh_some(ctx, project, {entries[0]["id"]}, 8)
    assert forecasts.collisions(ctx.store, project) == []
    assert not refresh_some(ctx, project, {entries[1]["id"]}, 8)
    (collision,) = forecasts.collisions(ctx.store, project)
    assert (collision.worker, collision.other) == (entries[1]["id"], entries[0]["id"])


@pytest.fixture
def deaf(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Context, list[str]]]:
    """The ids of two workers whose programs show that they are ready, and take nothing."""
    program = sandbox.home / "deaf"
    program.write_text("#!/bin/sh\nprintf '\\033]2;✓ ready\\007'\nexec sleep 600\n")
    program.chmod(0o755)
    (repo / "woodwind.toml").write_text(f'[agents.rehearsal]\ncommand = "{program}"\n')
    ids = [rehearse(sandbox, repo, name=name)["id"] for name in ("older", "younger")]

    def is_idle() -> bool:
        return listed(sandbox, repo, "younger")["turn"]["state"] != "running"

    sandbox.wait_for(is_idle, what="the end of its first turn")
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(deliver, "TAKEN_PATIENCE", 1.0)
    ctx = Context(str(repo), sandbox.env)
    yield ctx, ids
    ctx.close()


def messages(ctx: Context, worker: str) -> list[str]:
    return [turn.state.value for turn in turns.of_worker(ctx.store.db, worker) if turn.kind == "message"]


def test_an_agent_that_takes_nothing_is_told_of_a_collision_once(deaf: tuple[Context, list[str]]) -> None:
    ctx, (older, younger) = deaf
    project = current(ctx)
    with ctx.store.transaction() as db:
        forecasts.put_collision(db, project, younger, older, "", [])
    for _ in range(3):
        assert foretell.tell(ctx, project) == []
    assert messages(ctx, younger) == ["unknown"]


def test_an_agent_that_takes_nothing_is_told_once_that_it_fell_out(deaf: tuple[Context, list[str]]) -> None:
    ctx, (_, worker) = deaf
    project = current(ctx)
    with ctx.store.transaction() as db:
        queue = landing_queues.begin(db, project, "main", [], [worker])
        landing_queues.change(db, queue, worker, state="dropped", why="tests fail")
    for _ in range(3):
        tell_dropped(ctx, project)
    assert messages(ctx, worker) == ["unknown"]
