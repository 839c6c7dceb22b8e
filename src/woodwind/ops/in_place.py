"""Workers in the user's own checkout: `ww branch`, `ww new --in-place`, and how they leave it and come back."""

import os
import sqlite3
from collections.abc import Mapping
from typing import Any

from woodwind.base.clock import new_id, now
from woodwind.base.files import locked
from woodwind.git import checkouts, snapshots, worktrees
from woodwind.git.identity import lock_of
from woodwind.model.brief import FOLDER
from woodwind.model.errors import Refused, UsageError
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import Step, carry_out
from woodwind.ops.terminal import find_pane, keep_text
from woodwind.store import events, operations, removals, workers


def check_checkout(ctx: Context) -> str:
    """The branch or commit that the checkout is on now; an error when a worker may not be put into it."""
    repo = ctx.repo
    if not repo.top:
        raise UsageError("a bare repository has no checkout to work in", hint="Leave --in-place out.")
    record = worktrees.read_record(repo.git_dir)
    if record:
        raise Refused(
            f"the worker {record.get('name')!r} is in this checkout already",
            code="occupied",
            hint="Remove it first, or leave --in-place out: each worker then gets a worktree of its own.",
        )
    waiting = checkouts.under_way(repo.git_dir)
    if waiting:
        raise Refused(
            f"something is under way in this checkout ({waiting})", code="under_way", hint="Finish or abort it first."
        )
    changes = worktrees.Tree(repo.top, repo.git_dir).changes()
    if changes:
        found = [*changes.tracked, *changes.untracked]
        shown = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        raise Refused(
            f"this checkout is not clean: {shown}",
            code="dirty",
            hint="Commit that first, or leave --in-place out: a worktree of its own needs no clean checkout.",
        )
    return checkouts.branch_at(repo.git_dir)


def leave(ctx: Context, worker: Worker, admin: str, reasons: list[str]) -> dict[str, Any]:
    """Take a worker out of the checkout; its branch, commits and files stay. The caller holds the worker's lock."""
    args = {
        "worker": worker.id,
        "project": worker.project,
        "common": ctx.repo.common,
        "git_dir": admin,
        "path": worker.worktree.path,
        "branch": worker.worktree.branch,
        "base_branch": worker.worktree.base_branch,
        "removal": new_id("r"),
    }
    with ctx.store.transaction() as db:
        row = operations.begin(db, project=worker.project, worker=worker.id, kind=Leave.kind, args=args)
    carry_out(ctx, Leave(ctx, args), row)
    return {
        "name": worker.name,
        "id": worker.id,
        "branch": worker.worktree.branch,
        "trash": "",
        "put_away": reasons,
    }


def come_back(ctx: Context, worker: Worker, removal: removals.Removal) -> dict[str, Any]:
    """Put a removed worker back into the checkout, which must be clean. The caller holds the worker's lock."""
    if not ctx.repo.top or os.path.realpath(ctx.repo.top) != os.path.realpath(worker.worktree.path):
        raise Refused(
            f"{worker.name} was in the checkout {worker.worktree.path}",
            code="elsewhere",
            hint=f"Call this from there: cd {worker.worktree.path}",
        )
    args = {
        "worker": worker.id,
        "project": worker.project,
        "common": ctx.repo.common,
        "git_dir": ctx.repo.git_dir,
        "path": ctx.repo.top,
        "branch": worker.worktree.branch,
        "removal": removal.id,
        "previous": check_checkout(ctx),
        "record": worker.record(),
    }
    with ctx.store.transaction() as db:
        row = operations.begin(db, project=worker.project, worker=worker.id, kind=ComeBack.kind, args=args)
    carry_out(ctx, ComeBack(ctx, args), row)
    return {
        "name": worker.name,
        "id": worker.id,
        "path": ctx.repo.top,
        "branch": worker.worktree.branch,
        "ignored_files": True,
    }


class Leave:
    """The journalled removal of a worker in place. Once its terminal is closed it is finished, even after a crash."""

    kind = "leave"
    finish_from = "stop"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args

    def steps(self) -> list[Step]:
        return [Step("save", self._save), Step("stop", self._stop), Step("switch", self._switch)]

    def _save(self) -> None:
        tree = worktrees.Tree(self.args["path"], self.args["git_dir"])
        snapshots.save(tree, self.args["common"], self.args["worker"])

    def _stop(self) -> None:
        found = find_pane(self.ctx, self.args["worker"])
        if found:
            keep_text(self.args["worker"], *found)
            found[0].kill(found[1])

    def _switch(self) -> None:
        """Back to the base branch when the checkout is clean and still on the worker's; otherwise it stays."""
        path, git_dir, base = self.args["path"], self.args["git_dir"], self.args["base_branch"]
        with locked(lock_of(self.args["common"])):
            here = checkouts.branch_at(git_dir)
            dirty = bool(worktrees.Tree(path, git_dir).changes()) or bool(checkouts.under_way(git_dir))
            if here == self.args["branch"] and base and not dirty:
                checkouts.switch(path, git_dir, base)
            else:
                self.ctx.notes.append(f"your checkout stays on {here}" + (", with its changes" if dirty else ""))
            checkouts.drop_record(git_dir, self.args["worker"])
            checkouts.drop_folder(os.path.join(path, FOLDER))

    def commit(self, db: sqlite3.Connection) -> None:
        worker, removal = self.args["worker"], self.args["removal"]
        workers.set_phase(db, worker, Phase.REMOVED)
        removals.add(db, id=removal, worker=worker, path=self.args["path"], trash="", at=now())
        data = {"removal": removal, "trash": ""}
        events.append(db, project=self.args["project"], worker=worker, kind="worker.removed", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        pass


class ComeBack:
    """The journalled return of a worker to the checkout; cut short, it is undone."""

    kind = "come_back"
    finish_from = ""

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args

    def steps(self) -> list[Step]:
        return [Step("branch", self._branch), Step("switch", self._switch, self._switch_back)]

    def _branch(self) -> None:
        snapshots.bring_back_branch(self.args["common"], self.args["branch"], self.args["worker"])

    def _switch(self) -> None:
        with locked(lock_of(self.args["common"])):
            checkouts.switch(self.args["path"], self.args["git_dir"], self.args["branch"])
            worktrees.write_record(self.args["git_dir"], self.args["record"])

    def _switch_back(self) -> None:
        with locked(lock_of(self.args["common"])):
            checkouts.drop_record(self.args["git_dir"], self.args["worker"])
            if checkouts.branch_at(self.args["git_dir"]) == self.args["branch"]:
                checkouts.switch(self.args["path"], self.args["git_dir"], self.args["previous"])

    def commit(self, db: sqlite3.Connection) -> None:
        workers.set_phase(db, self.args["worker"], Phase.PAUSED)
        workers.set_purged(db, self.args["worker"], purged=False)
        removals.set_restored(db, self.args["removal"])
        data = {"removal": self.args["removal"], "path": self.args["path"]}
        events.append(db, project=self.args["project"], worker=self.args["worker"], kind="worker.restored", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        pass
