"""An agent of a run, interrupted: at its terminal, or ended where it has none and goes on when it is told to."""

import time

from woodwind.base.processes import is_running, start_time
from woodwind.model.status import Phase
from woodwind.model.worker import HEADLESS, Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.pause import pause
from woodwind.ops.terminal import find_pane, keep_text
from woodwind.store import events, workers

_PATIENCE = 5.0  # seconds in which a program whose terminal was closed can tell its hooks, and end


def interrupt(ctx: Context, worker: Worker) -> str:
    """Stop an agent in the middle of its work, of which all is kept; how that was done."""
    if worker.launch != HEADLESS:
        pause(ctx, worker)
        return "paused"
    with worker_lock(worker.id):
        end_program(ctx, worker)
        with ctx.store.transaction() as db:
            workers.set_phase(db, worker.id, Phase.PAUSED)
            events.append(db, project=worker.project, worker=worker.id, kind="worker.paused", data={"how": "ended"})
    return "ended: it runs without a terminal, where nobody could interrupt it"


def end_program(ctx: Context, worker: Worker) -> None:
    """Close a worker's terminal, of which the text is kept for `ww log`, and give its program a moment to end."""
    found = find_pane(ctx, worker.id)
    if not found:
        return
    mux, pane = found
    begun = start_time(pane.pid)
    keep_text(worker.id, mux, pane)
    mux.kill(pane)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and is_running(pane.pid, begun):
        time.sleep(0.01)  # until then it counts as at work in its folder
