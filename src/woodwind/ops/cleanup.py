"""`ww cleanup`: remove workers that nobody has touched for a long time; live and unsaved ones stay."""

import os
from datetime import datetime
from typing import Any

from woodwind.base.clock import days_ago, from_ms, now
from woodwind.git.worktrees import admin_of_worker
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.worker import Worker
from woodwind.ops.address import check_may_touch
from woodwind.ops.context import Context
from woodwind.ops.remove import remove
from woodwind.ops.terminal import find_pane
from woodwind.store import workers


def last_touched(ctx: Context, worker: Worker) -> datetime:
    """When something last happened to a worker: made, committed, staged, switched, or printed to its terminal."""
    times = [worker.created_at]
    admin = admin_of_worker(ctx.repo.common, worker.id)
    for name in ("HEAD", "index", "logs/HEAD"):
        try:
            times.append(from_ms(int(os.stat(os.path.join(admin, name)).st_mtime * 1000)))
        except OSError:
            continue  # not every worktree has all of them
    found = find_pane(ctx, worker.id)
    if found:
        times.append(from_ms(found[1].last_output * 1000))
    return max(times)


def idle_workers(ctx: Context, project: str, days: int) -> list[tuple[Worker, int]]:
    """The workers without a running agent that were touched longest ago, each with its idle days."""
    limit = days_ago(days)
    found = []
    for worker in workers.of_project(ctx.store, project):
        touched = last_touched(ctx, worker)
        if touched <= limit and not _runs(ctx, worker):
            found.append((worker, (now() - touched).days))
    return found


def _runs(ctx: Context, worker: Worker) -> bool:
    pane = find_pane(ctx, worker.id)
    return pane is not None and not pane[1].dead


def cleanup(ctx: Context, idle: list[tuple[Worker, int]], *, force: bool) -> dict[str, Any]:
    """Park each of them that may go; the others are named with the reason."""
    removed: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for worker, days in idle:
        try:
            check_may_touch(ctx, worker)
            if _runs(ctx, worker):  # a person may have thought about the question for long
                raise Refused("its agent runs again", code="running")
            removed.append({**remove(ctx, worker, force=force), "idle_days": days})
        except (WoodwindError, OSError) as error:
            kept.append({"name": worker.name, "idle_days": days, "why": str(error)})
    return {"removed": removed, "kept": kept}
