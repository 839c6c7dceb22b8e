"""One batch of a queue: workers merged one onto the other, verified together, and landed by one move of their target.

Each worker has a landing and a journalled operation of its own, so that whatever dies halfway is settled as for any
landing: either the target has what it was to get, or nothing has landed.
"""

import contextlib
from collections.abc import Sequence
from typing import Any

from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked
from woodwind.git import lanes
from woodwind.git.lanes import Lane
from woodwind.model.errors import WoodwindError
from woodwind.model.landing import LandRequest
from woodwind.model.worker import Worker
from woodwind.ops.begin_landing import begin_worker, free_to_land
from woodwind.ops.context import Context
from woodwind.ops.critic import judge, told
from woodwind.ops.landable import Landable, look
from woodwind.ops.landing_steps import Land
from woodwind.ops.verify import lanes_beside
from woodwind.store import events, landing_queues, landings, operations
from woodwind.store.landings import Landing


class QueuedLand(Land):
    """The landing of one worker in a batch. The target moves for all of the batch at once."""

    kind = "queue_land"
    onto = ""

    def _onto(self, landing: Landing) -> str:
        return self.onto or super()._onto(landing)

    def prepare(self, lane: Lane, *, waited: bool) -> None:
        """Commit what the worker has not; from here on its tip is fixed. After a wait it is looked at once more."""
        self.lane = lane
        if waited:
            _looked_at(self.ctx, self._worker(), self.request)
        self._intend("commit")
        self._commit()

    def merge_onto(self, onto: str) -> str:
        """Merge it onto a commit, and return the result; an error where that cannot be."""
        self.onto = onto
        self._intend("merge")
        self._merge()
        return self.landing.new

    def _intend(self, step: str) -> None:
        operations.intend(self.ctx.store, self.begun.id, step)
        self.begun.step = step
        failpoint(f"{self.kind}.before_{step}")

    def move_batch(self, old: str, new: str, names: str) -> None:
        """Move the target for the whole batch, whose last worker this is."""
        landing = self.landing._replace(old=old, new=new, name=names)
        self._move_once(landing)
        self._follow_remote(landing)

    def _whole_move(self, landing: Landing) -> tuple[str, str]:
        entry = landing_queues.of_landing(self.ctx.store, landing.id)
        return (entry.batch_old, entry.batch_new) if entry and entry.batch_new else super()._whole_move(landing)

    def _clear_lane(self) -> None:
        """What a crash left running or locked goes, in every lane that nobody else has by now."""
        if self.lane is None:
            common, project, beside = self.args["common"], self.args["project"], lanes_beside(self.ctx)
            for number in lanes.numbers(project, beside):
                with (
                    contextlib.suppress(Locked),
                    lanes.taken(common, project, beside, "HEAD", number=number, wait=False),
                ):
                    pass

    def commit(self, db: Any) -> None:
        super().commit(db)
        landing_queues.change(db, self.args["queue"], self.args["worker"], state=landing_queues.LANDED)


def begin(ctx: Context, worker: Worker, queue: str, request: LandRequest) -> QueuedLand:
    """Look at a worker, ask the critic, and journal its landing; the caller holds its lock."""
    current = free_to_land(ctx, worker)
    facts = _looked_at(ctx, current, request)

    def enter(db: Any, landing: Landing) -> None:
        landing_queues.change(db, queue, worker.id, landing=landing.id)

    operation = begin_worker(ctx, QueuedLand, current, facts, request, beside=enter, queue=queue)
    failpoint("queue.after_begin")
    return operation


def _looked_at(ctx: Context, worker: Worker, request: LandRequest) -> Landable:
    facts = look(ctx, worker, request)
    warnings = [f"{worker.name}: {told(finding)}" for finding in judge(ctx, worker, "ship", target=facts.target)]
    ctx.notes += [warning for warning in warnings if warning not in ctx.notes]
    return facts


def intend(ctx: Context, batch: Sequence[QueuedLand], step: str) -> None:
    """Write down, durably and at once, that all of a batch are about to be at a step."""
    with ctx.store.transaction() as db:
        for operation in batch:
            operations.intend_in(db, operation.begun.id, step)
            operation.begun.step = step


def move(ctx: Context, batch: Sequence[QueuedLand], old: str, new: str) -> None:
    """Move the target from `old` to `new` for all of the batch, and write down that they have landed."""
    with ctx.store.transaction() as db:
        for operation in batch:
            queue, worker = operation.args["queue"], operation.args["worker"]
            landing_queues.change(db, queue, worker, batch_old=old, batch_new=new)
            operations.intend_in(db, operation.begun.id, "move")
            operation.begun.step = "move"
    failpoint("queue.before_move")
    names = ", ".join(operation.landing.name for operation in batch)
    batch[-1].move_batch(old, new, names)
    failpoint("queue.after_move")
    with ctx.store.transaction() as db:
        for operation in batch:
            operation.commit(db)
            operations.finish(db, operation.begun.id, "done")
    failpoint("queue.after_commit")


def give_up(
    ctx: Context, operation: QueuedLand, why: str = "", output: str = "", *, code: str = "", dropped: bool = True
) -> None:
    """Undo the landing of one worker of which nothing has moved; `dropped` out of the queue, or left waiting in it."""
    landing, queue = operation.landing, operation.args["queue"]
    with ctx.store.transaction() as db:
        operation.abandoned(db)
        if operation.moved:  # it failed at something after its target had moved
            operations.finish(db, operation.begun.id, "done")
            return
        landings.change(db, landing.id, why=why or "the queue was stopped")
        operations.finish(db, operation.begun.id, "undone")
        if dropped:
            drop(db, queue, operation.subject or landing, landing.project, why, output, code=code)
        # One that fell out keeps its landing, which tells at which commit it was.
        kept = landing.id if dropped else ""
        landing_queues.change(db, queue, landing.worker, landing=kept, batch_old="", batch_new="")


def drop(db: Any, queue: str, worker: Worker | Landing, project: str, why: str, output: str = "", *, code: str) -> None:
    """Write down that a worker fell out of its queue, and why, inside a transaction."""
    id = worker.id if isinstance(worker, Worker) else worker.worker
    landing_queues.change(db, queue, id, state=landing_queues.DROPPED, code=code, why=why, output=output)
    events.append(
        db, project=project, worker=id, kind="queue.dropped", data={"queue": queue, "why": why, "output": output}
    )


def why_of(error: WoodwindError | OSError) -> str:
    """An error as a reason."""
    return error.message if isinstance(error, WoodwindError) else str(error)
