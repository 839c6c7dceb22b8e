"""How a queue begins: newcomers find their place, and what was cut short goes on."""

from collections.abc import Sequence

from woodwind.base.failpoints import failpoint
from woodwind.model.landing import LandRequest
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.store import landing_queues
from woodwind.store.landing_queues import WAITING, Entry, Queue


def begin_queues(
    ctx: Context, project: str, chosen: Sequence[Worker], request: LandRequest, *, go_on: bool
) -> list[Queue]:
    """The queues to work on, one per target and way to land: what was cut short goes on, with newcomers at its end.

    Without `go_on` only the chosen ones land, whatever queue they were in. Whether anything is verified is for this
    command to say, not for one that was cut short.
    """
    cut_short = landing_queues.unfinished(ctx.store, project)
    known = {queue.id: landing_queues.entries(ctx.store, queue.id) for queue in cut_short}
    waiting = {e.worker: e.queue for entries in known.values() for e in entries if e.state == WAITING}
    by_target: dict[str, list[str]] = {}
    for worker in chosen:
        if not (go_on and worker.id in waiting):
            by_target.setdefault(request.target or worker.worktree.base_branch, []).append(worker.id)
    begun = set()
    with ctx.store.transaction() as db:
        for worker in chosen if not go_on else ():
            landing_queues.leave(db, waiting.get(worker.id, ""), worker.id)
        for target, ids in by_target.items():
            same = next((q for q in cut_short if go_on and q.target == target and _is_alike(q, request)), None)
            here = {e.worker for e in known[same.id]} if same else set()
            if same:
                landing_queues.add(db, same.id, [id for id in ids if id not in here])
            rest = [id for id in ids if not same or id in here]
            if rest:
                begun.add(landing_queues.begin(db, project, target, list(request), rest))
    failpoint("queue.after_reserve")
    queues = landing_queues.unfinished(ctx.store, project)
    if not go_on:  # one of which nobody waits any more only has to be ended
        queues = [q for q in queues if q.id in begun] + [
            q for q in queues if q.id not in begun and not _waiting(ctx, q)
        ]
    return [q._replace(request=list(LandRequest(*q.request)._replace(verify=request.verify))) for q in queues]


def _is_alike(queue: Queue, request: LandRequest) -> bool:
    """Whether a queue was to land its workers in the way that is asked for now."""
    asked = LandRequest(*queue.request)
    return asked == request._replace(verify=asked.verify, commit_dirty=asked.commit_dirty)


def _waiting(ctx: Context, queue: Queue) -> list[Entry]:
    return [entry for entry in landing_queues.entries(ctx.store, queue.id) if entry.state == WAITING]
