"""`ww trash`: what was removed, and deleting parked folders for good after their work was saved under a ref."""

import os
import sqlite3
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from woodwind.base.clock import now
from woodwind.base.files import delete_tree, locked
from woodwind.config.sizes import parse_size
from woodwind.git import branches, snapshots, worktrees
from woodwind.git.identity import lock_of
from woodwind.git.saved import bring_back_branch
from woodwind.git.tree import Tree
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.launch import drop_run_files
from woodwind.ops.rebuild import TRASH_FOLDER
from woodwind.store import events, operations, removals, workers


def folder_size(path: str) -> int:
    """The bytes that a folder takes on disk."""
    total = 0
    for here, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(here, name)).st_blocks * 512
            except OSError:
                continue  # it went away while we counted
    return total


def list_trash(ctx: Context, project: str) -> Outcome:
    """The removed workers of a project, newest first."""
    days = ctx.loaded_config.config.trash.days
    entries = []
    for removal in removals.of_project(ctx.store, project):
        worker = workers.find(ctx.store, removal.worker)
        if not worker:
            continue
        entries.append(
            {
                "name": worker.name,
                "id": worker.id,
                "removal": removal.id,
                "title": worker.title,
                "branch": worker.worktree.branch,
                "removed_at": removal.removed_at.isoformat(),
                "prunable_from": (removal.removed_at + timedelta(days=days)).isoformat(),
                "trash": removal.trash,
                "size": folder_size(removal.trash) if removal.trash and not removal.purged else 0,
                "pruned": removal.purged,
            }
        )
    return Outcome(entries, notes=ctx.notes)


def prunable(ctx: Context, project: str, *, everything: bool) -> list[tuple[Worker, removals.Removal]]:
    """What `ww trash prune` would delete: past its days, then the oldest until the rest fits."""
    config = ctx.loaded_config.config.trash
    kept = [r for r in removals.of_project(ctx.store, project) if not r.purged]
    limit = now() - timedelta(days=config.days)
    chosen = [r for r in kept if everything or r.removed_at < limit]
    room = parse_size(config.max_size) or 0
    for removal in kept:  # newest first: the newest ones are kept as long as they fit
        if removal not in chosen:
            room -= folder_size(removal.trash) if removal.trash else 0
            if room < 0:
                chosen.append(removal)
    found = [(workers.find(ctx.store, r.worker), r) for r in chosen]
    return [(w, r) for w, r in found if w]


def purge(ctx: Context, worker: Worker, removal: removals.Removal) -> dict[str, Any]:
    """Delete a parked folder after saving what git can keep of it; return what was freed."""
    with worker_lock(worker.id):
        current = removals.current(ctx.store, worker.id)
        if current is None or current.id != removal.id or current.purged:
            raise Refused(f"{worker.name} is not in the trash any more", code="not_in_trash")
        size = folder_size(removal.trash) if removal.trash else 0
        args = {"worker": worker.id, "project": worker.project, "common": ctx.repo.common, "removal": removal.id,
                "trash": removal.trash, "branch": worker.worktree.branch, "base_branch": worker.worktree.base_branch,
                "base_commit": worker.worktree.base_commit}  # fmt: skip
        with ctx.store.transaction() as db:
            row = operations.begin(db, project=worker.project, worker=worker.id, kind=Purge.kind, args=args)
        carry_out(ctx, Purge(ctx, args), row)
    return {"name": worker.name, "id": worker.id, "freed": size, "saved": snapshots.ref_of(worker.id)}


class Purge:
    """The journalled operation behind `ww trash prune`. Once it deletes, it is finished, even after a crash."""

    kind = "purge"
    finish_from = "delete"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args

    def steps(self) -> list[Step]:
        return [
            Step("save", self._save, self._unlock),
            Step("delete", self._delete, final=True),
            Step("branch", self._branch),
        ]

    def _admin(self) -> str:
        return worktrees.admin_of_worker(self.args["common"], self.args["worker"])

    def _save(self) -> None:
        self.ctx.say("saving its files under a ref")
        admin = self._admin()
        if snapshots.is_saved(self.args["common"], self.args["worker"]):
            bring_back_branch(self.args["common"], self.args["branch"], self.args["worker"])
        if admin and self.args["trash"] and os.path.isdir(self.args["trash"]):
            tree = Tree(self.args["trash"], admin)
            snapshots.save(tree, self.args["common"], self.args["worker"], everything=True)
        if not snapshots.is_saved(self.args["common"], self.args["worker"]):
            raise WoodwindError(f"nothing is saved of {self.args['worker']}, so it was not deleted", code="not_saved")

    def _unlock(self) -> None:
        """A lock that git left on the saved ref when it was killed is taken away."""
        branches.unlock_ref(self.args["common"], snapshots.ref_of(self.args["worker"]))

    def _delete(self) -> None:
        trash = self.args["trash"]
        with locked(lock_of(self.args["common"])):
            if trash:
                if os.path.basename(os.path.dirname(trash)) != TRASH_FOLDER:
                    raise WoodwindError(f"{trash} is not in a trash folder", code="unsafe_path")
                delete_tree(trash, by_way_of=f"{trash}.deleting")
            admin = self._admin()
            if admin:
                worktrees.forget(self.args["common"], admin)
            worktrees.clear_forgotten(self.args["common"])
        drop_run_files(self.args["worker"])

    def _branch(self) -> None:
        """A branch whose commits are all in its base goes too; any other stays."""
        common, branch = self.args["common"], self.args["branch"]
        tip = branches.branch_tip(common, branch)
        if tip and not branches.unmerged_commits(common, [tip], self.args["base_branch"], self.args["base_commit"]):
            with locked(lock_of(common)):
                branches.drop_branch(common, branch, tip)

    def commit(self, db: sqlite3.Connection) -> None:
        removals.set_purged(db, self.args["removal"])
        workers.set_purged(db, self.args["worker"], purged=True)
        data = {"removal": self.args["removal"], "saved": snapshots.ref_of(self.args["worker"])}
        events.append(db, project=self.args["project"], worker=self.args["worker"], kind="worker.purged", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        pass
