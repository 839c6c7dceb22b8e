"""`ww queue --ship`: ready workers land in batches; a red batch is narrowed down until the guilty one is out.

The target moves only to commits that were verified as they are: to the tip of a batch, in one move.
"""

import contextlib
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from woodwind.base import paths
from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked, held_locks, lent, locked
from woodwind.git import lanes as lane_folders, targets
from woodwind.git.lanes import Lane
from woodwind.git.targets import TargetMoved
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.landing import MOST_TRIES, LandRequest, Verification
from woodwind.model.landing_order import narrowed, probes
from woodwind.model.worker import Worker
from woodwind.ops import landing_batch
from woodwind.ops.begin_queue import begin_queues
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.landable import tip_of_target
from woodwind.ops.landing_batch import QueuedLand, give_up, why_of
from woodwind.ops.ship import put_away, ship
from woodwind.ops.tell_dropped import tell_dropped
from woodwind.ops.verify import landing_config, lanes_beside, last_lines, may_go_unverified, verify
from woodwind.store import landing_queues, landings, workers
from woodwind.store.landing_queues import DROPPED, LANDED, WAITING, Entry, Queue

# How many seconds a queue waits for other commands that are at work on its workers.
_PATIENCE = 20.0


def ship_queue(
    ctx: Context, project: str, chosen: Sequence[Worker], request: LandRequest, *, lanes: int = 1, go_on: bool = True
) -> dict[str, Any]:
    """Land these workers in this order, and with `go_on` whoever waits in a queue that was cut short.

    Return what became of each.
    """
    if landing_config(ctx).land.via == "pr":
        return _ask_for_each(ctx, chosen, request)
    may_go_unverified(ctx, project, request)
    try:
        with locked(paths.lock_file(f"landing-queue-{project}"), wait=False):
            queues = begin_queues(ctx, project, chosen, request, go_on=go_on)
            for queue in queues:
                _Run(ctx, queue, lanes).run()
    except Locked:
        raise Refused(
            "another queue of this project is being landed",
            code="busy",
            hint="Wait for it to end: `ww queue` shows how far it is.",
        ) from None
    return _report(ctx, queues)


def _ask_for_each(ctx: Context, chosen: Sequence[Worker], request: LandRequest) -> dict[str, Any]:
    """Where work lands by pull requests: one for each, because what lands together is not for us to say."""
    asked, dropped = [], []
    for worker in chosen:
        try:
            asked.append({**ship(ctx, worker, request._replace(commit_dirty=True)), "worker": worker.id, "queue": ""})
        except WoodwindError as error:
            why = {"code": error.code, "why": error.message, "output": "", "told": False}
            dropped.append({"name": worker.name, "id": worker.id, "queue": "", **why})
    return {"queues": [], "landed": asked, "dropped": dropped, "verifications": 0}


class _Run:
    """The landing of one queue."""

    def __init__(self, ctx: Context, queue: Queue, lanes: int) -> None:
        self.ctx = ctx
        self.queue = queue
        self.request = LandRequest(*queue.request)._replace(commit_dirty=True)
        self.lanes: list[Lane] = []
        self.most_lanes = max(1, lanes)
        self.waited = False  # for another landing, while agents may have gone on
        self.batch: list[QueuedLand] = []
        self.later: list[QueuedLand] = []  # who does not go with somebody of the batch; tried when that has landed

    def run(self) -> None:
        try:
            self._put_away()  # who had landed when the queue was cut short
            self._check_remote()
            while waiting := self._entries(WAITING):
                self._round(waiting)
                self._put_away()
            self._put_away(last_try=True)
        except WoodwindError:
            self._end("stopped")
            raise
        self._end("done")
        tell_dropped(self.ctx, self.queue.project)

    def _check_remote(self) -> None:
        """An error where the remote's target cannot be landed on, which is nobody's fault in the queue."""
        land = landing_config(self.ctx).land
        if land.via != "local" and self.queue.target and self._entries(WAITING):
            tip_of_target(self.ctx, land.via, land.remote, self.queue.target.removeprefix(f"{land.remote}/"))

    def _entries(self, state: str) -> list[Entry]:
        return [e for e in landing_queues.entries(self.ctx.store, self.queue.id) if e.state == state]

    def _end(self, state: str) -> None:
        with self.ctx.store.transaction() as db:
            landing_queues.end(db, self.queue.id, state)

    def _put_away(self, *, last_try: bool = False) -> None:
        """Park every worker of the queue that has landed; one that somebody is at work in is tried again at the end."""
        for entry in self._entries(LANDED):
            worker = workers.find(self.ctx.store, entry.worker)
            landing = landings.find(self.ctx.store, entry.landing)
            if worker is None or landing is None or landing.removal or worker.phase.value != "landed":
                continue
            failpoint("queue.before_put_away")
            said = len(self.ctx.notes)
            try:
                put_away(self.ctx, worker, entry.landing)
            except WoodwindError as error:
                self.ctx.notes.append(f"{worker.name} landed and was kept: {error.message}")
            if not last_try:
                del self.ctx.notes[said:]

    def _round(self, waiting: Sequence[Entry]) -> None:
        """Land what can be landed of those that wait; every one of them has landed or fallen out afterwards."""
        with contextlib.ExitStack() as held:
            operations = self._take(held, waiting)
            self.batch, self.later = operations, []
            if not operations:
                return
            tip = operations[0].landing.tip
            beside, common, project = lanes_beside(self.ctx), self.ctx.repo.common, self.queue.project
            wanted = min(self.most_lanes, len(operations))
            numbers = range(1, wanted + 1)
            self.waited = any(lane_folders.in_use(project, n) for n in numbers)
            if self.waited:
                self.ctx.say("waiting for another landing to end")
            self.lanes = [
                held.enter_context(lane_folders.taken(common, project, beside, tip, number=n)) for n in numbers
            ]
            try:
                self._land_all()
            except BaseException as error:
                why = why_of(error) if isinstance(error, WoodwindError | OSError) else ""
                for operation in self.batch + self.later:
                    operation._look_whether_it_moved()
                    give_up(self.ctx, operation, why, dropped=False)
                raise

    def _take(self, held: contextlib.ExitStack, waiting: Sequence[Entry]) -> list[QueuedLand]:
        """Hold the lock of each worker and journal its landing; who cannot land falls out."""
        operations = []
        patience = time.monotonic() + _PATIENCE
        for entry in sorted(waiting, key=lambda e: e.worker):
            while not _held(held, entry.worker):
                if time.monotonic() > patience:
                    self._drop(entry, "busy", "another command is at work on it")
                    break
                time.sleep(0.1)
        for entry in self._entries(WAITING):
            worker = workers.find(self.ctx.store, entry.worker)
            try:
                if worker is None:
                    raise Refused("it is not there any more")
                operation = landing_batch.begin(self.ctx, worker, self.queue.id, self.request)
            except WoodwindError as error:
                if not (error.code == "already_landed" and self._landed_before(entry)):
                    self._drop(entry, error.code, error.message)
                continue
            operations.append(operation)
        return operations

    def _landed_before(self, entry: Entry) -> bool:
        """Whether it had landed by `ww merge`, so that what is left is to put it away."""
        last = next((one for one in landings.of_worker(self.ctx.store, entry.worker) if one.state == "done"), None)
        if last is None or last.kind != "land":
            return False
        with self.ctx.store.transaction() as db:
            landing_queues.change(db, self.queue.id, entry.worker, state=LANDED, landing=last.id)
        return True

    def _drop(self, entry: Entry, code: str, why: str) -> None:
        worker = workers.find(self.ctx.store, entry.worker)
        with self.ctx.store.transaction() as db:
            if worker:
                landing_batch.drop(db, self.queue.id, worker, self.queue.project, why, code=code)
            else:
                landing_queues.change(db, self.queue.id, entry.worker, state=DROPPED, code=code, why=why)

    def _land_all(self) -> None:
        """Batch after batch, until every worker has landed or fallen out."""
        for operation in self.batch.copy():
            try:
                operation.prepare(self.lanes[0], waited=self.waited)
            except WoodwindError as error:
                self._let_go(operation, error)
        tries = MOST_TRIES
        while self.batch or self.later:
            if not self.batch:
                self.batch, self.later = self.later, []
            landing = self.batch[0].landing
            onto = tip_of_target(self.ctx, landing.via, landing.remote, landing.target)
            self._chain(onto)
            if not self.batch:
                continue
            good, failed = self._verified(onto)
            guilty = self.batch[good] if failed else None
            try:
                if good:
                    landed = self.batch[:good]
                    landing_batch.move(self.ctx, landed, onto, landed[-1].landing.new)
                    self.batch = self.batch[good:]
            except TargetMoved:
                tries -= 1
                if not tries:
                    raise Refused(
                        f"{landing.target} moved {MOST_TRIES} times while the queue was being verified",
                        code="target_moved",
                        hint="Try again when it is quieter.",
                    ) from None
                self.ctx.say(f"{landing.target} has moved: merging and verifying again")
                continue
            if guilty and failed:
                self._fall_out(guilty, failed)

    def _let_go(self, operation: QueuedLand, error: WoodwindError) -> None:
        """One worker cannot land: it falls out, and the others go on."""
        self.batch.remove(operation)
        give_up(self.ctx, operation, error.message, code=error.code)

    def _chain(self, onto: str) -> None:
        """Merge the workers one onto the other; who conflicts with the target itself falls out.

        Who does not go with one before it waits for that one's end: it may fall out itself.
        """
        tip = onto
        for operation in self.batch.copy():
            self.ctx.say(f"merging {operation.landing.name}")
            try:
                tip = operation.merge_onto(tip)
            except WoodwindError as error:
                if tip != onto and error.code in ("conflict", "already_landed"):
                    self.batch.remove(operation)
                    self.later.append(operation)
                else:
                    self._let_go(operation, error)

    def _verified(self, onto: str) -> tuple[int, Verification | None]:
        """(how many of the chain passed together, how the next one failed); all of it, in the best case, at once."""
        last = self.batch[-1].landing
        if last.via == "local":  # known now, it need not be found out after a long verification
            targets.check_way(self.ctx.repo.common, last.target, onto, last.new)
        if not self.request.verify or not landing_config(self.ctx).verify.command:
            may_go_unverified(self.ctx, last.project, self.request)  # a batch that landed may have taken it out
            self._note(self.batch, "skipped" if not self.request.verify else "none")
            return len(self.batch), None
        count = len(self.batch)
        low, high = 0, count + 1
        outcomes: dict[int, Verification] = {}
        points = [*probes(0, count, len(self.lanes) - 1), count] if len(self.lanes) > 1 else [count]
        while points:
            outcomes |= self._verify_some(points)
            if outcomes[count].passed:
                break  # whatever a part of it lacks, all of it together is good
            low, high = narrowed(low, high, {n: v.passed for n, v in outcomes.items()})
            points = probes(low, high, len(self.lanes)) if high - low > 1 else []
        if outcomes[count].passed:
            self._note(self.batch, "", outcomes[count])
            return count, None
        if low == 0:
            self._check_target(onto)
        else:
            self._note(self.batch[:low], "", outcomes[low])
        return low, outcomes[high]

    def _verify_some(self, points: Sequence[int]) -> dict[int, Verification]:
        """Verify some beginnings of the chain, each in a lane of its own."""
        commits = [self.batch[n - 1].landing.new for n in points]
        landing_batch.intend(self.ctx, self.batch, "verify")
        if len(points) == 1:
            found = [verify(self.ctx, self.queue.project, commits[0], lane=self.lanes[0])]
        else:
            found = self._verify_beside(commits)
        failpoint("queue.after_verify")
        for verification in found:
            if not verification.reused:
                landing_queues.count_verification(self.ctx.store, self.queue.id)
        return dict(zip(points, found, strict=True))

    def _verify_beside(self, commits: Sequence[str]) -> list[Verification]:
        locks = held_locks()

        def one(commit: str, lane: Lane) -> Verification:
            there = Context(self.ctx.cwd, self.ctx.environ)  # a store belongs to its thread
            try:
                with lent(locks):
                    return verify(there, self.queue.project, commit, lane=lane)
            finally:
                there.close()

        self.ctx.say(f"verifying {len(commits)} combinations")
        with ThreadPoolExecutor(len(commits)) as threads:
            running = [threads.submit(one, c, lane) for c, lane in zip(commits, self.lanes, strict=False)]
            try:
                return [future.result() for future in running]
            except BaseException:
                # What runs in them would be waited for, also what another thread is only about to start.
                while wait(running, timeout=0.2).not_done:
                    for lane in self.lanes:
                        with contextlib.suppress(FileNotFoundError):
                            lane.end_leftover_job()
                raise

    def _check_target(self, onto: str) -> None:
        """Where already the first worker fails: make sure that it is not the target that is broken."""
        verification = verify(self.ctx, self.queue.project, onto, lane=self.lanes[0])
        if not verification.reused:
            landing_queues.count_verification(self.ctx.store, self.queue.id)
        if not verification.passed:
            raise WoodwindError(
                f"{self.queue.target} itself does not pass `{verification.command}`: {verification.why}"
                f"\n{last_lines(verification.output_path)}",
                code="target_red",
                hint=f"Nobody is to blame in the queue. Mend {self.queue.target} first. "
                f"All of the output: {verification.output_path}",
            )

    def _note(self, operations: Sequence[QueuedLand], verified: str, verification: Verification | None = None) -> None:
        """Write down how these were verified."""
        values = {"verified": verified}
        if verification:
            how = "reused" if verification.reused else "passed"
            values["verified"] = how if verification.passed else ""
            values |= {"command": verification.command, "output": verification.output_path}
        with self.ctx.store.transaction() as db:
            for operation in operations:
                landings.change(db, operation.args["landing"], **values)

    def _fall_out(self, guilty: QueuedLand, failed: Verification) -> None:
        self.batch.remove(guilty)
        self._note([guilty], "", failed)
        why = f"`{failed.command}` failed with it merged: {failed.why}"
        give_up(self.ctx, guilty, why, failed.output_path, code="not_verified")


def _held(stack: contextlib.ExitStack, worker: str) -> bool:
    """Take a worker's lock for as long as `stack` lasts; False when somebody else has it."""
    try:
        stack.enter_context(worker_lock(worker, wait=False))
    except Locked:
        return False
    return True


def _report(ctx: Context, queues: Sequence[Queue]) -> dict[str, Any]:
    landed: list[dict[str, Any]] = []
    dropped = []
    verifications = 0
    for queue in queues:
        now = landing_queues.find(ctx.store, queue.id)
        verifications += now.verifications if now else 0
        for entry in landing_queues.entries(ctx.store, queue.id):
            worker = workers.find(ctx.store, entry.worker)
            name = worker.name if worker else entry.worker
            landing = landings.find(ctx.store, entry.landing)
            if entry.state == LANDED and landing and landing.id not in {one["id"] for one in landed}:
                landed.append(_landed(landing, entry, name))
            elif entry.state == DROPPED:
                told = {"code": entry.code, "why": entry.why, "output": entry.output, "told": entry.told}
                dropped.append({"name": name, "id": entry.worker, "queue": queue.id, **told})
    ids = [queue.id for queue in queues]
    return {"queues": ids, "landed": landed, "dropped": dropped, "verifications": verifications}


def _landed(landing: landings.Landing, entry: Entry, name: str) -> dict[str, Any]:
    return {
        "id": landing.id,
        "name": name,
        "worker": landing.worker,
        "queue": entry.queue,
        "target": landing.target,
        "via": landing.via,
        "method": landing.method,
        "from": landing.old,
        "to": landing.new,
        "batch": {"from": entry.batch_old, "to": entry.batch_new},
        "commits": landing.commits,
        "verified": landing.verified,
        "command": landing.command,
        "output": landing.output,
        "committed": landing.committed,
        "removed": bool(landing.removal),
        "url": "",
    }
