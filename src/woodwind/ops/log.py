"""`ww log`: what a worker's terminal shows and has shown."""

import contextlib
import os
import time
from collections.abc import Iterator

from woodwind.base import paths
from woodwind.model.errors import NotFound
from woodwind.model.worker import Worker
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.restore import find_removed
from woodwind.ops.terminal import find_pane, require_pane
from woodwind.store import landings


def log(ctx: Context, worker: Worker, *, lines: int) -> str:
    """The last lines of the terminal; of a closed one, those that were kept when it was removed."""
    found = find_pane(ctx, worker.id)
    if found:
        mux, pane = found
        return mux.text(pane, lines=lines)
    kept = os.path.join(paths.worker_dir(worker.id), "terminal.log")
    try:
        with open(kept, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-lines:])
    except FileNotFoundError:
        raise NotFound(
            f"{worker.name} has no terminal any more, and nothing of it was kept",
            code="no_terminal",
            hint=f"Its work is safe in {worker.worktree.path}.",
        ) from None


def follow(ctx: Context, worker: Worker, *, lines: int) -> Iterator[str]:
    """The last lines, then new ones as the terminal changes, until its program ends."""
    mux, pane = require_pane(ctx, worker)
    seen: list[str] = []
    with mux.watch(pane) as changed:
        while True:
            # Before its text is read, or the last words of a program that ends in between would be missed.
            current = find_pane(ctx, worker.id)
            now_shown = mux.text(current[1] if current else pane, lines=max(lines, 2000)).splitlines()
            fresh = _new_lines(seen, now_shown) if seen else now_shown[-lines:]
            seen = now_shown
            if fresh:
                yield "".join(f"{line}\n" for line in fresh)
            if not current or current[1].dead:
                return
            changed.wait(5.0)
            time.sleep(0.05)  # a burst of output is one change


def _new_lines(before: list[str], after: list[str]) -> list[str]:
    """What `after` has below the longest part that it shares with the end of `before`."""
    for start in range(len(before)):
        tail = before[start:]
        if after[: len(tail)] == tail:
            return after[len(tail) :]
    changed = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    return after[changed:]


def landing_log(ctx: Context, project: str, name: str, *, lines: int) -> tuple[str, str]:
    """The worker's name, and the last lines of what verified its last landing, whether that passed or not."""
    worker = _landed_or_not(ctx, project, name)
    output = next((one.output for one in landings.of_worker(ctx.store, worker.id) if one.output), "")
    try:
        with open(output, encoding="utf-8", errors="replace") as file:
            return worker.name, "".join(file.readlines()[-lines:])
    except FileNotFoundError:
        raise NotFound(
            f"nothing is kept of a landing of {worker.name}",
            code="nothing_saved",
            hint="`ww history --failed` shows what was tried.",
        ) from None


def _landed_or_not(ctx: Context, project: str, name: str) -> Worker:
    """The worker of this whole name, also one that was put away; otherwise the one whose name begins so."""
    with contextlib.suppress(NotFound):
        return find_worker(ctx, project, name, exact=True)
    with contextlib.suppress(NotFound):
        return find_removed(ctx, project, name)[0]
    return find_worker(ctx, project, name)
