"""`ww undo` after a queue: all that it landed is taken back, by one move where nothing came after it."""

import contextlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from woodwind.base.failpoints import failpoint
from woodwind.base.files import locked
from woodwind.git import targets
from woodwind.git.branches import branch_tip
from woodwind.git.identity import lock_of
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.landing import LandRequest
from woodwind.ops.address import check_may_touch
from woodwind.ops.begin_landing import begin_undo
from woodwind.ops.context import Context
from woodwind.ops.history import history
from woodwind.ops.journal import worker_lock
from woodwind.ops.restore import find_removed, restore
from woodwind.ops.undo import TakeBack, take_back, undo
from woodwind.store import landing_queues, landings, operations, removals, workers
from woodwind.store.landing_queues import LANDED, UNDONE, Entry
from woodwind.store.landings import Landing


class TakeBackQueue(TakeBack):
    """The taking back of one landing of a queue, whose target moves back for all of them at once."""

    kind = "take_back_queue"

    def _whole_move(self, landing: Landing) -> tuple[str, str]:
        return self.args["from"], self.args["to"]

    def commit(self, db: Any) -> None:
        super().commit(db)
        landing_queues.change(db, self.args["queue"], self.args["worker"], state=UNDONE)


def undo_last(ctx: Context, project: str, name: str, *, verify: bool = True) -> dict[str, Any]:
    """Take back what was done last, or what has this name or id: a landing, a removal, or all of a queue."""
    queue = _queue_of(ctx, project, name)
    if not queue:
        return {**undo(ctx, project, name, verify=verify), "queue": None}
    return {"landing": None, "restored": None, "queue": undo_queue(ctx, project, queue, verify=verify)}


def _queue_of(ctx: Context, project: str, name: str) -> str:
    """The queue that is meant: by its id, or because what was done last was done by it."""
    if name:
        found = landing_queues.find(ctx.store, name)
        return found.id if found and found.project == project else ""
    last = next((e for e in history(ctx, project) if e["state"] == "done" and e["kind"] != "undo"), None)
    if last is None:
        return ""
    landing = last["id"]
    if last["kind"] == "remove":
        landing = next((o.id for o in landings.of_worker(ctx.store, last["worker"]) if o.removal == last["id"]), "")
    entry = landing_queues.of_landing(ctx.store, landing)
    return entry.queue if entry and entry.state == LANDED else ""


def undo_queue(ctx: Context, project: str, queue: str, *, verify: bool = True) -> dict[str, Any]:
    """Take back all landings of a queue and bring its workers back; the last one first."""
    entries = [e for e in landing_queues.entries(ctx.store, queue) if e.state == LANDED]
    pairs = [(e, found) for e in entries if (found := landings.find(ctx.store, e.landing)) and found.state == "done"]
    if not pairs:
        raise Refused(f"nothing that {queue} landed is still there to be taken back", code="not_undoable")
    pairs.sort(key=lambda pair: landings.order(ctx.store, pair[1].id))
    for entry, _ in pairs:
        worker = workers.find(ctx.store, entry.worker)
        if worker:
            check_may_touch(ctx, worker)
    landing_queues.forgive(ctx.store, queue)
    first, last = pairs[0], pairs[-1]
    at_once = last[1].via == "local" and branch_tip(ctx.repo.common, last[1].target) == last[0].batch_new
    at_once = at_once and _unbroken([entry for entry, _ in pairs])
    if at_once:
        _rewind(ctx, queue, pairs, last[0].batch_new, first[0].batch_old)
    else:
        for entry, landing in reversed(pairs):
            _take_back_one(ctx, queue, entry, landing, verify=verify)
    return {
        "id": queue,
        "target": last[1].target,
        "from": last[0].batch_new,
        "to": branch_tip(ctx.repo.common, last[1].target),
        "reverted": not at_once,
        "taken_back": [landing.name for _, landing in pairs],
        "restored": _restore_all(ctx, project, pairs),
    }


def _unbroken(entries: Sequence[Entry]) -> bool:
    """Whether the queue's batches follow each other, so that nothing of anybody else's is between them."""
    batches = list(dict.fromkeys((e.batch_old, e.batch_new) for e in entries))
    return all(one[1] == other[0] for one, other in pairwise(batches))


def _rewind(ctx: Context, queue: str, pairs: Sequence[tuple[Entry, Landing]], tip: str, back: str) -> None:
    """Move the target back to where it was before the queue, in one move; to where it has been, as it was."""
    with contextlib.ExitStack() as held:
        for entry, _ in sorted(pairs, key=lambda pair: pair[0].worker):
            held.enter_context(worker_lock(entry.worker))
        begun = [_begin(ctx, queue, landing, tip, back) for _, landing in pairs]
        failpoint("queue.before_rewind")
        try:
            with locked(lock_of(ctx.repo.common)):
                targets.rewind(ctx.repo.common, pairs[-1][1].target, tip, back, why=f"took back {queue}")
        except BaseException:
            for operation in begun:
                operation._look_whether_it_moved()
                with ctx.store.transaction() as db:
                    operation.abandoned(db)
                    operations.finish(db, operation.begun.id, "done" if operation.moved else "undone")
            raise
        failpoint("queue.after_rewind")
        with ctx.store.transaction() as db:
            for operation in begun:
                operation.commit(db)
                operations.finish(db, operation.begun.id, "done")


def _begin(ctx: Context, queue: str, landing: Landing, tip: str, back: str) -> TakeBackQueue:
    known = {"old": landing.new, "new": landing.old, "verified": "before"}
    whole = {"queue": queue, "from": tip, "to": back}
    return begin_undo(ctx, TakeBackQueue, landing, LandRequest(), known=known, step="move", **whole)


def _take_back_one(ctx: Context, queue: str, entry: Entry, landing: Landing, *, verify: bool) -> None:
    take_back(ctx, landing, verify=verify)
    with ctx.store.transaction() as db:
        landing_queues.change(db, queue, entry.worker, state=UNDONE)


def _restore_all(ctx: Context, project: str, pairs: Sequence[tuple[Entry, Landing]]) -> list[dict[str, Any]]:
    """Bring back the workers that the queue had put away."""
    restored = []
    for entry, landing in pairs:
        removal = removals.current(ctx.store, entry.worker)
        if landing.removal and removal and removal.id == landing.removal:
            try:
                restored.append(restore(ctx, *find_removed(ctx, project, entry.worker)))
            except WoodwindError as error:
                ctx.notes.append(f"{landing.name} could not be brought back: {error.message}")
    return restored
