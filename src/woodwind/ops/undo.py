"""`ww undo`: a landing is taken back out of its target, a removal is undone; of a ship, both."""

import sqlite3
from typing import Any

from woodwind.base.files import locked
from woodwind.git import merging, targets
from woodwind.git.branches import branch_tip
from woodwind.git.identity import lock_of
from woodwind.model import naming
from woodwind.model.errors import NotFound, Refused, WoodwindError
from woodwind.model.landing import LandRequest, listed
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.address import check_may_touch
from woodwind.ops.context import Context
from woodwind.ops.history import history
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.land import Conflict, Land, may_go_unverified, tell_failure
from woodwind.ops.restore import find_removed, restore
from woodwind.ops.verify import lane_of
from woodwind.store import events, landing_queues, landings, operations, removals, workers


def undo(ctx: Context, project: str, name: str, *, verify: bool = True) -> dict[str, Any]:
    """Take back what was done last, or last to a worker, or what has this id; return what is as before again."""
    entry = _what(ctx, project, name)
    worker = workers.find(ctx.store, entry["worker"])
    if worker is None:
        raise NotFound(f"the worker {entry['name']} is not in the store any more", code="no_worker")
    check_may_touch(ctx, worker)
    if entry["kind"] == "remove":
        landing = next((one for one in landings.of_worker(ctx.store, worker.id) if one.removal == entry["id"]), None)
        if landing is None or landing.state != "done" or name == entry["id"]:
            return {"landing": None, "restored": _restore(ctx, project, worker)}
    else:
        landing = landings.find(ctx.store, entry["id"])
    if landing is None or landing.state != "done" or landing.kind != "land":
        raise Refused(
            f"{entry['id']} cannot be undone: it is {entry['kind']}, {entry['state']}",
            code="not_undoable",
            hint="`ww history` shows what can be. What an undo took back lands again by `ww ship`.",
        )
    taken_back = take_back(ctx, worker, landing, verify=verify)
    restored = None
    removal = removals.current(ctx.store, worker.id)
    if landing.removal and removal and removal.id == landing.removal:
        restored = _restore(ctx, project, worker)
    return {"landing": taken_back, "restored": restored}


def _what(ctx: Context, project: str, name: str) -> dict[str, Any]:
    for entry in history(ctx, project):
        if entry["state"] != "done" or entry["kind"] in ("undo", "pr"):
            if name == entry["id"]:
                return entry  # it is told why it cannot be undone
            continue
        if not name or name in (entry["id"], entry["worker"]) or naming.key(name) == naming.key(entry["name"]):
            return entry
    if name:  # by its branch, as removed workers may be named
        worker, removal = find_removed(ctx, project, name)
        return {"id": removal.id, "kind": "remove", "state": "done", "name": worker.name, "worker": worker.id}
    raise NotFound("nothing was landed or removed in this project", code="no_worker", hint="`ww history` lists it.")


def _restore(ctx: Context, project: str, worker: Worker) -> dict[str, Any]:
    return restore(ctx, *find_removed(ctx, project, worker.id))


def take_back(ctx: Context, worker: Worker, landing: landings.Landing, *, verify: bool) -> dict[str, Any]:
    """Take a landing out of its target: moved back where nothing came after it, else by a commit that reverts it."""
    with worker_lock(worker.id):
        request = LandRequest(verify=verify)
        undoing = landings.begun(
            worker.id,
            project=worker.project,
            name=worker.name,
            target=landing.target,
            via=landing.via,
            remote=landing.remote,
            method=landing.method,
            kind="undo",
            undoes=landing.id,
            previous_phase=worker.phase,
        )
        args = {
            "landing": undoing.id,
            "undoes": landing.id,
            "worker": worker.id,
            "project": worker.project,
            "common": ctx.repo.common,
            "request": list(request),
        }
        in_batch = landing_queues.of_landing(ctx.store, landing.id) is not None
        if in_batch or landing.via != "local" or branch_tip(ctx.repo.common, landing.target) != landing.new:
            may_go_unverified(ctx, worker.project, request)
        with lane_of(ctx, worker.project, landing.new) as lane:
            with ctx.store.transaction() as db:
                landings.add(db, undoing)
                row = operations.begin(db, project=worker.project, worker=worker.id, kind=TakeBack.kind, args=args)
            operation = TakeBack(ctx, args)
            operation.lane, operation.subject = lane, worker
            try:
                carry_out(ctx, operation, row)
            except (WoodwindError, OSError) as error:
                tell_failure(ctx, undoing, error)
                raise
    done = landings.find(ctx.store, undoing.id)
    assert done
    return {
        "id": done.id,
        "undoes": landing.id,
        "name": worker.name,
        "target": done.target,
        "from": done.old,
        "to": done.new,
        "reverted": done.new != landing.old,
        "verified": done.verified,
    }


class TakeBack(Land):
    """The journalled operation that undoes a landing, by the same steps but for what is merged."""

    kind = "take_back"

    def steps(self) -> list[Step]:
        return [step for step in super().steps() if step.name != "commit"]

    @property
    def undone(self) -> landings.Landing:
        """The landing that is taken back."""
        found = landings.find(self.ctx.store, self.args["undoes"])
        if found is None:
            raise WoodwindError(f"the landing {self.args['undoes']} is not in the store")
        return found

    def _merge(self) -> None:
        landing, undone, common = self.landing, self.undone, self.args["common"]
        onto = self._onto(landing)
        if onto == undone.new and landing.via == "local":
            self._note(old=onto, new=undone.old)
            return
        if not merging.is_ancestor(common, undone.new, onto):
            raise Refused(
                f"{landing.target} does not have {undone.new[:10]} any more, so there is nothing to take back",
                code="not_undoable",
            )
        self.ctx.say(f"{landing.target} has moved on: making a commit that reverts it")
        message = f"Revert the landing of {undone.name}\n\nThis takes back {undone.old[:10]}..{undone.new[:10]}."
        reverted = merging.revert(self._live(), onto, undone.old, undone.new, message=message)
        if reverted.conflicts:
            raise Conflict(
                f"what came after {undone.name} builds on it, in {listed(reverted.conflicts)}",
                hint="Nothing has moved. Undo what came after it first, or revert by hand: "
                f"git revert {undone.old[:10]}..{undone.new[:10]}",
            )
        if reverted.empty:
            raise Refused(f"nothing of {undone.name} is in {landing.target} any more", code="not_undoable")
        self._note(old=onto, new=reverted.commit, commits=1)

    def _verify(self) -> None:
        entry = landing_queues.of_landing(self.ctx.store, self.undone.id)
        # Inside of a queue's batch, the commit before it is one that the target never was at.
        if self.landing.new == self.undone.old and (entry is None or entry.batch_old == self.undone.old):
            self._note(verified="before")  # where it was before the landing
            return
        super()._verify()

    def _move_once(self, landing: landings.Landing) -> None:
        if landing.new != self.undone.old:
            super()._move_once(landing)
            return
        with locked(lock_of(self.args["common"])):
            why = f"took back {landing.name}"
            targets.rewind(self.args["common"], landing.target, landing.old, landing.new, why=why)

    def _has_moved(self, landing: landings.Landing, tip: str) -> bool:
        if landing.new == self.undone.old:
            return not merging.is_ancestor(self.args["common"], landing.old, tip)
        return super()._has_moved(landing, tip)

    def commit(self, db: sqlite3.Connection) -> None:
        landing = self.landing
        landings.change(db, landing.id, state="done", why="")
        landings.change(db, self.args["undoes"], state="undone")
        worker = workers.find(self.ctx.store, landing.worker)
        if worker and worker.phase == Phase.LANDED:
            workers.set_phase(db, worker.id, Phase(self.undone.previous_phase or Phase.PAUSED))
        data = {"landing": self.args["undoes"], "target": landing.target, "from": landing.old, "to": landing.new}
        events.append(db, project=landing.project, worker=landing.worker, kind="landing.undone", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        if self.moved:
            self.commit(db)
            return
        landings.change(db, self.args["landing"], state="failed", why="it was cut short")
