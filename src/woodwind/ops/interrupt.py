"""An agent of a run, interrupted: at its terminal, or ended where it has none and goes on when it is told to."""

from woodwind.model.status import Phase
from woodwind.model.worker import HEADLESS, Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.pause import pause
from woodwind.ops.terminal import find_pane, keep_text
from woodwind.store import events, workers


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
    """Close a worker's terminal, of which the text is kept for `ww log`."""
    found = find_pane(ctx, worker.id)
    if found:
        keep_text(worker.id, *found)
        found[0].kill(found[1])
