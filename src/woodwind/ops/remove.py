"""`ww rm`: a worker's worktree is parked whole, its terminal closed; nothing of it is deleted."""

import os
import sqlite3
import time
from collections.abc import Mapping

from woodwind.base.clock import new_id, now
from woodwind.base.files import locked
from woodwind.base.processes import ancestors, occupants
from woodwind.git import branches, checkouts, snapshots, worktrees
from woodwind.git.identity import lock_of
from woodwind.git.tree import Tree
from woodwind.model.brief import FOLDER
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.status import Phase
from woodwind.model.typed import Any
from woodwind.model.worker import Worker
from woodwind.ops import environment, teardown
from woodwind.ops.context import Context
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.rebuild import TRASH_FOLDER
from woodwind.ops.terminal import find_pane, keep_text
from woodwind.store import events, operations, removals, workers

# No person: git that another `ww` started, and a tmux server that happened to be started here.
_PASSING = ("git", "tmux: server")


class Findings:
    """What would be put away with a worker, and why that may be unwanted."""

    def __init__(self, ctx: Context, worker: Worker) -> None:
        common, tree = ctx.repo.common, worker.worktree
        self.admin = worktrees.admin_of_worker(common, worker.id)
        self.folder = (worktrees.path_of(self.admin) if self.admin and not worker.in_place else "") or tree.path
        self.missing = not self.admin or not os.path.isdir(self.folder)
        self.reasons: list[str] = []
        tips = []
        if not self.missing:
            work = Tree(self.folder, self.admin)
            changes = work.changes()
            tips += [t for t in [work.head()] if t]
            for what, found in (("changed", changes.tracked), ("untracked", changes.untracked)):
                if found:
                    shown = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
                    self.reasons.append(f"{len(found)} {what} {'file' if len(found) == 1 else 'files'} ({shown})")
        tips += [t for t in [branches.branch_tip(common, tree.branch)] if t]
        if tips:
            ahead = branches.unmerged_commits(common, tips, tree.base_branch, tree.base_commit)
            if ahead:
                self.reasons.append(
                    f"{ahead} {'commit' if ahead == 1 else 'commits'} not in {tree.base_branch or 'its base'}"
                )
        if not self.missing and not worker.in_place:  # a person is at home in their own checkout
            self.reasons += self._others_in_it(ctx, worker)

    def _others_in_it(self, ctx: Context, worker: Worker) -> list[str]:
        """Programs of a person that work in the folder, such as a shell or an editor."""
        found = find_pane(ctx, worker.id)
        agent = found[1].pid if found else 0
        ours = ancestors(os.getpid())
        preparer = environment.process_of(ctx, worker.id)  # what runs below it ends with the removal

        def look() -> list[tuple[int, str]]:
            return [
                (pid, name)
                for pid, name in occupants(self.folder)
                if pid not in ours and not {agent, preparer} & ancestors(pid) and name not in _PASSING
            ]

        others = look()
        if others:  # one that is just ending, such as what kept the terminal open for the agent, is nobody
            time.sleep(0.2)
            still = look()
            others = [one for one in others if one in still]
        return [f"{name} (process {pid}) is at work in it" for pid, name in others[:3]]


def check_removable(ctx: Context, worker: Worker) -> Findings:
    """What a removal would put away; Refused when that is work which is nowhere else in sight."""
    findings = Findings(ctx, worker)
    if findings.reasons:
        raise Refused(
            f"{worker.name} was not removed: {'; '.join(findings.reasons)}",
            code="has_work",
            hint="Nothing was changed. --force removes it all the same; `ww restore` brings everything back.",
        )
    return findings


def remove(ctx: Context, worker: Worker, *, force: bool) -> dict[str, Any]:
    """Park a worker; return what became of it."""
    with worker_lock(worker.id):
        current = workers.find(ctx.store, worker.id)
        if current is None or current.phase == Phase.REMOVED:
            raise Refused(f"{worker.name} was removed by somebody else meanwhile", code="already_removed")
        findings = Findings(ctx, current) if force else check_removable(ctx, current)
        parked = not findings.missing and not current.in_place
        trash = os.path.join(os.path.dirname(findings.folder), TRASH_FOLDER, worker.id) if parked else ""
        if trash:
            _check_movable(findings.folder, trash)
        args = {
            "worker": worker.id,
            "project": worker.project,
            "common": ctx.repo.common,
            "admin": findings.admin,
            "path": findings.folder,
            "trash": trash,
            "removal": new_id("r"),
            "branch": worker.worktree.branch,
            "base_branch": worker.worktree.base_branch,
        }
        hook = "" if current.in_place or current.untrusted or findings.missing else teardown.text(ctx, current)
        args |= {"teardown": hook} if hook else {}
        way = Leave if current.in_place and findings.admin else Remove
        with ctx.store.transaction() as db:
            row = operations.begin(db, project=worker.project, worker=worker.id, kind=way.kind, args=args)
        carry_out(ctx, way(ctx, args), row)
    return {
        "name": worker.name,
        "id": worker.id,
        "branch": worker.worktree.branch,
        "trash": trash,
        "put_away": findings.reasons,
    }


def _check_movable(folder: str, trash: str) -> None:
    if os.path.lexists(trash):
        raise WoodwindError(f"{trash} is in the way of parking {folder}", hint="Look at what it is, and move it away.")
    parent = os.path.dirname(folder)
    if not os.access(parent, os.W_OK):
        raise Refused(f"{folder} cannot be parked: {parent} is not writable", hint="Make the folder writable.")
    if os.path.ismount(folder):
        raise Refused(f"{folder} cannot be parked: it is a mount point", hint="Unmount it first.")


class Remove:
    """The journalled operation behind `ww rm`. Once its terminal is closed it is finished, even after a crash."""

    kind = "remove"
    finish_from = "stop"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args
        self._stopped = False

    def steps(self) -> list[Step]:
        return [
            Step("save", self._save, self._unlock),
            Step("stop", self._stop, self._tell_stopped),
            *([Step("teardown", self._tear_down)] if "teardown" in self.args else []),
            Step("park", self._park, self._unpark),
        ]

    def _save(self) -> None:
        self.ctx.say("saving its work")
        admin, common, worker = self.args["admin"], self.args["common"], self.args["worker"]
        if self.args["trash"]:
            snapshots.save(Tree(self.args["path"], admin), common, worker)
        elif admin:
            snapshots.save_git_only(admin, common, worker)

    def _unlock(self) -> None:
        """What was saved does no harm; a lock that git left on it when it was killed is taken away."""
        branches.unlock_ref(self.args["common"], snapshots.ref_of(self.args["worker"]))

    def _tear_down(self) -> None:
        self.ctx.say("running its teardown hook")
        problem = teardown.run(self.ctx, self.args["worker"], self.args["path"], self.args["teardown"])
        if problem:
            self.ctx.notes.append(problem)

    def _stop(self) -> None:
        environment.stop(self.ctx, self.args["worker"])
        found = find_pane(self.ctx, self.args["worker"])
        if not found:
            return
        mux, pane = found
        keep_text(self.args["worker"], mux, pane)
        mux.kill(pane)
        self._stopped = True

    def _tell_stopped(self) -> None:
        """Its agent is not started again unasked: what stands in the way of parking may stand in its way, too."""
        worker = workers.find(self.ctx.store, self.args["worker"]) if self._stopped else None
        if worker:
            self.ctx.notes.append(f"{worker.name} was not removed, but its agent was stopped: ww resume {worker.name}")

    def _park(self) -> None:
        if not self.args["trash"]:
            return
        with locked(lock_of(self.args["common"])):
            worktrees.move(self.args["common"], self.args["admin"], self.args["path"], self.args["trash"])

    def _unpark(self) -> None:
        common, admin, path, trash = (self.args[k] for k in ("common", "admin", "path", "trash"))
        if trash and os.path.lexists(trash) and not os.path.lexists(path):
            with locked(lock_of(common)):
                worktrees.move(common, admin, trash, path)

    def commit(self, db: sqlite3.Connection) -> None:
        worker = self.args["worker"]
        workers.set_phase(db, worker, Phase.REMOVED)
        removals.add(
            db, id=self.args["removal"], worker=worker, path=self.args["path"], trash=self.args["trash"], at=now()
        )
        data = {"removal": self.args["removal"], "trash": self.args["trash"]}
        events.append(db, project=self.args["project"], worker=worker, kind="worker.removed", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        pass


class Leave(Remove):
    """The removal of a worker in place: the checkout stays where it is, and nothing in it is moved."""

    kind = "leave"

    def steps(self) -> list[Step]:
        return [
            Step("save", self._save, self._unlock),
            Step("stop", self._stop, self._tell_stopped),
            Step("switch", self._switch),
        ]

    def _save(self) -> None:
        snapshots.save(Tree(self.args["path"], self.args["admin"]), self.args["common"], self.args["worker"])

    def _switch(self) -> None:
        """Back to the base branch when the checkout is clean and still on the worker's; otherwise it stays."""
        path, git_dir, base = self.args["path"], self.args["admin"], self.args["base_branch"]
        with locked(lock_of(self.args["common"])):
            here = checkouts.branch_at(git_dir)
            dirty = bool(Tree(path, git_dir).changes()) or bool(checkouts.under_way(git_dir))
            if here == self.args["branch"] and base and not dirty:
                try:
                    checkouts.switch(path, git_dir, base)
                except Refused as refusal:
                    self.ctx.notes.append(f"your checkout stays on {here}: {refusal.message}")
            else:
                self.ctx.notes.append(f"your checkout stays on {here}" + (", with its changes" if dirty else ""))
            checkouts.drop_record(git_dir, self.args["worker"])
            checkouts.drop_folder(os.path.join(path, FOLDER))
