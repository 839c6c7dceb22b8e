"""`ww undo`: a landing is taken back out of its target, a removal is undone; of a ship, both."""

import sqlite3
from collections.abc import Mapping
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
from woodwind.ops.begin_landing import begin_undo, carry_through
from woodwind.ops.context import Context
from woodwind.ops.history import history
from woodwind.ops.journal import Step, worker_lock
from woodwind.ops.landing_steps import Conflict, Land, tell
from woodwind.ops.restore import find_removed, restore
from woodwind.ops.run_state import check_may_command, heed_undone
from woodwind.ops.verify import lane_of, may_go_unverified
from woodwind.store import landing_queues, landings, removals, runs, workers


def undo(ctx: Context, project: str, name: str, *, verify: bool = True) -> dict[str, Any]:
    """Take back what was done last, or last to a worker, or what has this id; return what is as before again."""
    entry = _what(ctx, project, name)
    if entry["run"]:
        return {"landing": _take_run_back(ctx, entry, verify=verify), "restored": None}
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
    landing = _undoable(landing, entry)
    taken_back = take_back(ctx, landing, verify=verify)
    restored = None
    removal = removals.current(ctx.store, worker.id)
    if landing.removal and removal and removal.id == landing.removal:
        restored = _restore(ctx, project, worker)
    return {"landing": taken_back, "restored": restored}


def _undoable(landing: landings.Landing | None, entry: Mapping[str, Any]) -> landings.Landing:
    if landing is None or landing.state != "done" or landing.kind != "land":
        again = f"`ww run resume {entry['run']}`" if entry["run"] else "`ww ship`"
        raise Refused(
            f"{entry['id']} cannot be undone: {_why_not(entry)}",
            code="not_undoable",
            hint=f"`ww history` shows what can be. What an undo took back lands again by {again}.",
        )
    return landing


def _take_run_back(ctx: Context, entry: Mapping[str, Any], *, verify: bool) -> dict[str, Any]:
    """Take the landing of a run's own branch back; the run then knows that it has that before it again."""
    row, _ = runs.load(ctx.store, entry["run"])
    check_may_command(ctx, row)
    taken_back = take_back(ctx, _undoable(landings.find(ctx.store, entry["id"]), entry), verify=verify)
    heed_undone(ctx.store, row.id)
    ctx.notes.append(f"{entry['name']} itself is as it was. To land it again: ww run resume {row.id}")
    return taken_back


def _why_not(entry: Mapping[str, Any]) -> str:
    if entry["kind"] == "undo":
        return "it is an undo itself"
    if entry["kind"] == "pr":
        return "it is a pull request, which is closed where it was opened"
    return "it was undone before" if entry["state"] == "undone" else "nothing of it has landed"


def _what(ctx: Context, project: str, name: str) -> dict[str, Any]:
    for entry in history(ctx, project):
        if entry["state"] != "done" or entry["kind"] in ("undo", "pr"):
            if name == entry["id"]:
                return entry  # it is told why it cannot be undone
            continue
        ids = (entry["id"], entry["worker"], entry["run"])
        if not name or name in ids or naming.key(name) == naming.key(entry["name"]):
            return entry
    if name:  # by its branch, as removed workers may be named
        try:
            worker, removal = find_removed(ctx, project, name)
        except NotFound as error:
            if error.code != "no_worker":
                raise
            raise NotFound(
                f"nothing of {name!r} was landed or removed in this project, or all of it is undone",
                code="no_worker",
                hint="`ww history` lists what was done.",
            ) from None
        found = {"id": removal.id, "kind": "remove", "state": "done", "name": worker.name, "worker": worker.id}
        return {**found, "run": ""}
    hint = "`ww history` lists what was done."
    raise NotFound("there is nothing to undo in this project", code="no_worker", hint=hint)


def _restore(ctx: Context, project: str, worker: Worker) -> dict[str, Any]:
    return restore(ctx, *find_removed(ctx, project, worker.id))


def take_back(ctx: Context, landing: landings.Landing, *, verify: bool) -> dict[str, Any]:
    """Take a landing out of its target: moved back where nothing came after it, else by a commit that reverts it."""
    request = LandRequest(verify=verify)
    with worker_lock(landing.worker):
        in_batch = landing_queues.of_landing(ctx.store, landing.id) is not None
        if in_batch or landing.via != "local" or branch_tip(ctx.repo.common, landing.target) != landing.new:
            may_go_unverified(ctx, landing.project, request)
        with lane_of(ctx, landing.project, landing.new) as lane:
            done = carry_through(ctx, begin_undo(ctx, TakeBack, landing, request), lane)
    return {
        "id": done.id,
        "undoes": landing.id,
        "name": done.name,
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
        tell(db, landing, "landing.undone", data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        if self.moved:
            self.commit(db)
            return
        landings.change(db, self.args["landing"], state="failed", why="it was cut short")
