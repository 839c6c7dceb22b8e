"""`ww next`: whoever has waited longest for a person."""

from woodwind.model.errors import NotFound
from woodwind.model.status import Status
from woodwind.model.worker import HEADLESS, Worker
from woodwind.ops.context import Context
from woodwind.ops.listing import panes_of, status_of
from woodwind.store import listing, workers

# A question holds an agent up; one that is ready or has exited only stands idle.
_URGENCY = {Status.ASKING: 0, Status.READY: 1, Status.EXITED: 2}


def next_worker(ctx: Context, project: str) -> Worker:
    """The worker to go to next: questions first, then the longest silent terminal."""
    rows = [r for r in listing.rows(ctx.store, project) if r.server and r.launch != HEADLESS]
    panes = panes_of({r.server for r in rows})
    waiting = []
    for row in rows:
        pane = panes.get(row.id)
        status, _ = status_of(row, pane)
        if pane and status in _URGENCY:
            waiting.append((_URGENCY[status], pane.last_output, row.id))
    if not waiting:
        raise NotFound("nobody is waiting for you", code="nobody_waits", hint="`ww ls` shows what they are doing.")
    worker = workers.find(ctx.store, min(waiting)[2])
    assert worker
    return worker
