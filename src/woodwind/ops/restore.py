"""`ww restore`: a removed worker comes back with its branch and files as they were."""

import os
import sqlite3
from collections.abc import Mapping
from typing import Any

from woodwind.base.failpoints import failpoint
from woodwind.base.files import delete_tree, locked
from woodwind.git import branches, checkouts, worktrees
from woodwind.git.identity import lock_of
from woodwind.git.saved import Saved, bring_back_branch
from woodwind.git.tree import Tree
from woodwind.model import naming
from woodwind.model.errors import NotFound, Refused
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops import ports
from woodwind.ops.context import Context
from woodwind.ops.in_place import check_checkout
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.rebuild import TRASH_FOLDER
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
        if worker.in_place:
            _check_same_checkout(ctx, worker)
        elif os.path.lexists(removal.path):
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
            "trash": removal.trash or os.path.join(os.path.dirname(removal.path), TRASH_FOLDER, worker.id),
            "whole": bool(removal.trash) and not removal.purged and os.path.isdir(removal.trash),
            "purged": removal.purged,
            "branch": worker.worktree.branch,
            "base_commit": worker.worktree.base_commit,
            "record": worker.record(),
        }
        way: type[Restore] = Restore
        if worker.in_place:
            args |= {"whole": True, "git_dir": ctx.repo.git_dir, "previous": check_checkout(ctx)}
            way = ComeBack
        with ctx.store.transaction() as db:
            row = operations.begin(db, project=worker.project, worker=worker.id, kind=way.kind, args=args)
        carry_out(ctx, way(ctx, args), row)
    return {
        "name": worker.name,
        "id": worker.id,
        "path": removal.path,
        "branch": worker.worktree.branch,
        "ignored_files": args["whole"],
    }


def _check_same_checkout(ctx: Context, worker: Worker) -> None:
    if not ctx.repo.top or os.path.realpath(ctx.repo.top) != os.path.realpath(worker.worktree.path):
        raise Refused(
            f"{worker.name} was in the checkout {worker.worktree.path}",
            code="elsewhere",
            hint=f"Call this from there: cd {worker.worktree.path}",
        )


class Restore:
    """The journalled operation behind `ww restore`; after a crash it is finished.

    A worktree whose folder is gone is first made again in the trash, so that it appears in its place whole.
    """

    kind = "restore"
    finish_from = "branch"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args

    def steps(self) -> list[Step]:
        return [
            Step("branch", self._branch),
            Step("files", self._files, self._discard_files),
            Step("place", self._place, self._put_back),
        ]

    def _branch(self) -> None:
        """The branch is kept at removal; when someone deleted it since, it comes back from the saved ref."""
        bring_back_branch(self.args["common"], self.args["branch"], self.args["worker"])

    def _files(self) -> None:
        if self.args["whole"]:
            return
        self.ctx.say("making its files again")
        common, trash, worker = self.args["common"], self.args["trash"], self.args["worker"]
        with locked(lock_of(common)), Saved(common, worker) as saved:
            admin = worktrees.admin_of_worker(common, worker)
            if admin and not self.args["purged"]:
                self._discard_folder()
                worktrees.attach(admin, trash)
                saved.write_files(Tree(trash, admin))
                return
            worktrees.discard_new(common, path=trash, worker=worker)
            start = saved.head or self.args["base_commit"]
            admin = worktrees.add(common, path=trash, branch=start, worker=worker, detach=True)
            admin = worktrees.rename_admin(admin, saved.admin)
            tree = Tree(trash, admin, untrusted=bool(self.args["record"].get("untrusted")))
            failpoint("restore.in_files")
            saved.write_git_dir(tree)
            self._check_out_branch(saved, admin)
            saved.write_files(tree)
            worktrees.write_record(admin, self.args["record"])

    def _check_out_branch(self, saved: Saved, admin: str) -> None:
        """The branch that was checked out is so again, unless it moved on or is in use somewhere else."""
        common, branch = self.args["common"], saved.branch
        if not branch:
            return
        if branches.branch_tip(common, branch) != saved.head or branches.is_checked_out(common, branch):
            self.ctx.notes.append(f"its branch {branch} has moved on meanwhile: HEAD is detached at {saved.head[:10]}")
            return
        worktrees.set_head(admin, branch)

    def _discard_folder(self) -> None:
        trash = self.args["trash"]
        delete_tree(trash, by_way_of=f"{trash}.deleting")

    def _discard_files(self) -> None:
        if self.args["whole"]:
            return
        with locked(lock_of(self.args["common"])):
            if self.args["purged"]:
                worktrees.discard_new(self.args["common"], path=self.args["trash"], worker=self.args["worker"])
            else:
                self._discard_folder()

    def _place(self) -> None:
        common, path, trash = self.args["common"], self.args["path"], self.args["trash"]
        with locked(lock_of(common)):
            worktrees.move(common, worktrees.admin_of_worker(common, self.args["worker"]), trash, path)

    def _put_back(self) -> None:
        common, path, trash = self.args["common"], self.args["path"], self.args["trash"]
        with locked(lock_of(common)):
            admin = worktrees.admin_of_worker(common, self.args["worker"])
            if admin and os.path.lexists(path) and not os.path.lexists(trash):
                worktrees.move(common, admin, path, trash)

    def commit(self, db: sqlite3.Connection) -> None:
        workers.set_phase(db, self.args["worker"], Phase.PAUSED)
        workers.set_purged(db, self.args["worker"], purged=False)
        ports.reclaim(self.ctx, db, self.args["worker"])
        removals.set_restored(db, self.args["removal"])
        data = {"removal": self.args["removal"], "path": self.args["path"]}
        events.append(db, project=self.args["project"], worker=self.args["worker"], kind="worker.restored", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        pass


class ComeBack(Restore):
    """The return of a worker to the user's checkout, which is switched to its branch; cut short, it is undone."""

    kind = "come_back"
    finish_from = ""

    def steps(self) -> list[Step]:
        return [Step("branch", self._branch), Step("switch", self._switch, self._switch_back)]

    def _switch(self) -> None:
        with locked(lock_of(self.args["common"])):
            checkouts.switch(self.args["path"], self.args["git_dir"], self.args["branch"])
            worktrees.write_record(self.args["git_dir"], self.args["record"])

    def _switch_back(self) -> None:
        with locked(lock_of(self.args["common"])):
            checkouts.drop_record(self.args["git_dir"], self.args["worker"])
            if checkouts.branch_at(self.args["git_dir"]) == self.args["branch"]:
                checkouts.switch(self.args["path"], self.args["git_dir"], self.args["previous"])
