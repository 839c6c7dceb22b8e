"""`ww restore`: a removed worker comes back with its branch and files as they were."""

import os
import sqlite3
from collections.abc import Mapping
from typing import Any

from woodwind.base.files import locked
from woodwind.git import snapshots, worktrees
from woodwind.git.identity import lock_of
from woodwind.model import naming
from woodwind.model.errors import NotFound, Refused
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.store import events, operations, removals, workers


def find_removed(ctx: Context, project: str, name: str) -> tuple[Worker, removals.Removal]:
    """The removed worker that `name` means, purged ones included; "" means the one removed last."""
    found = []
    for removal in removals.of_project(ctx.store, project):
        worker = workers.find(ctx.store, removal.worker)
        if worker and (
            not name
            or naming.key(name) == naming.key(worker.name)
            or name in (worker.id, removal.id, worker.worktree.branch)
        ):
            found.append((worker, removal))
    if not found:
        raise NotFound(
            f"there is no removed worker {name!r} in this project" if name else "nothing was removed in this project",
            code="no_worker",
            hint="`ww trash ls` lists what was removed.",
        )
    return found[0]


def restore(ctx: Context, worker: Worker, removal: removals.Removal) -> dict[str, Any]:
    """Bring a removed worker back to where it was; return what came back."""
    with worker_lock(worker.id):
        current = removals.current(ctx.store, worker.id)
        if current is None or current.id != removal.id:
            raise Refused(f"{worker.name} was restored by somebody else meanwhile", code="already_restored")
        if os.path.lexists(removal.path):
            raise Refused(
                f"{worker.name} cannot come back: the folder {removal.path} is in use again",
                code="folder_exists",
                hint="Move that folder away, then try again. Nothing was changed.",
            )
        if removal.purged and naming.key(worker.name) in workers.taken_names(ctx.store, worker.project):
            raise Refused(f"{worker.name} cannot come back: another worker has its name now", code="name_exists")
        args = {
            "worker": worker.id,
            "project": worker.project,
            "common": ctx.repo.common,
            "removal": removal.id,
            "path": removal.path,
            "trash": "" if removal.purged else removal.trash,
            "branch": worker.worktree.branch,
            "record": worker.record(),
        }
        with ctx.store.transaction() as db:
            row = operations.begin(db, project=worker.project, worker=worker.id, kind=Restore.kind, args=args)
        carry_out(ctx, Restore(ctx, args), row)
    whole = bool(args["trash"])
    return {
        "name": worker.name,
        "id": worker.id,
        "path": removal.path,
        "branch": worker.worktree.branch,
        "ignored_files": whole,
    }


class Restore:
    """The journalled operation behind `ww restore`; after a crash it is finished."""

    kind = "restore"
    finish_from = "branch"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args

    def steps(self) -> list[Step]:
        return [Step("branch", self._branch), Step("place", self._place, self._put_back)]

    def _branch(self) -> None:
        """The branch is kept at removal; when someone deleted it since, it comes back from the saved ref."""
        common, branch = self.args["common"], self.args["branch"]
        if not worktrees.branch_tip(common, branch):
            with snapshots.Saved(common, self.args["worker"]) as saved:
                worktrees.make_branch(common, branch, saved.head, self.args["worker"])

    def _place(self) -> None:
        common, path, trash = self.args["common"], self.args["path"], self.args["trash"]
        with locked(lock_of(common)):
            admin = worktrees.admin_of_worker(common, self.args["worker"])
            if trash and admin:
                worktrees.move(common, admin, trash, path)
            else:
                self._rebuild(common, path)

    def _rebuild(self, common: str, path: str) -> None:
        """Make the worktree again from its saved ref; a half-made one of an earlier try goes first."""
        worktrees.discard_new(common, path=path, worker=self.args["worker"])
        with snapshots.Saved(common, self.args["worker"]) as saved:
            admin = worktrees.add(common, path=path, branch=self.args["branch"], worker=self.args["worker"])
            worktrees.write_record(admin, self.args["record"])
            worktrees.fill(path, admin)
            saved.write_into(worktrees.Tree(path, admin))

    def _put_back(self) -> None:
        common, path, trash = self.args["common"], self.args["path"], self.args["trash"]
        with locked(lock_of(common)):
            admin = worktrees.admin_of_worker(common, self.args["worker"])
            if trash and admin and os.path.lexists(path) and not os.path.lexists(trash):
                worktrees.move(common, admin, path, trash)
            elif not trash:
                worktrees.discard_new(common, path=path, worker=self.args["worker"])

    def commit(self, db: sqlite3.Connection) -> None:
        workers.set_phase(db, self.args["worker"], Phase.PAUSED)
        workers.set_purged(db, self.args["worker"], purged=False)
        removals.set_restored(db, self.args["removal"])
        data = {"removal": self.args["removal"], "path": self.args["path"]}
        events.append(db, project=self.args["project"], worker=self.args["worker"], kind="worker.restored", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        pass
