"""`ww next`: whoever has waited longest for a person."""

from woodwind.model.errors import NotFound
from woodwind.model.status import Status
from woodwind.model.worker import HEADLESS, Worker
from woodwind.ops.context import Context
from woodwind.ops.observe import look
from woodwind.store import listing, workers

# A question holds an agent up; one that is ready or has exited only stands idle.
_URGENCY = {Status.ASKING: 0, Status.READY: 1, Status.EXITED: 2}


def next_worker(ctx: Context, project: str) -> Worker:
    """The worker to go to next: questions first, then who has been so for the longest."""
    rows = [r for r in listing.rows(ctx.store, project) if r.server and r.launch != HEADLESS]
    sights = look(ctx, rows).values()
    waiting = [
        (_URGENCY[s.verdict.status], s.since, s.row.id) for s in sights if s.pane and s.verdict.status in _URGENCY
    ]
    if not waiting:
        raise NotFound("nobody is waiting for you", code="nobody_waits", hint="`ww ls` shows what they are doing.")
    worker = workers.find(ctx.store, min(waiting)[2])
    assert worker
    return worker
