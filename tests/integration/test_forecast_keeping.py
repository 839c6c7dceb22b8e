"""What the daemon does for forecasts: a few snapshots at a time, and only of workers to whom something happened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.ops.context import Context
from woodwind.ops.forecast import refresh, refresh_some
from woodwind.ops.projects import current
from woodwind.store import forecasts
from woodwind.testing.sandbox import Sandbox


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
    seen = []
    for _ in range(3):
        left = refresh_some(ctx, project, None, 1)
        seen.append((len(forecasts.snapshots(ctx.store, project)), left))
    assert seen == [(1, True), (2, True), (3, False)]


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
