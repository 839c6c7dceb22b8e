"""`ww sync`: a worker's base comes into its branch, merged aside first; its folder moves at once or not at all."""

import sqlite3
import tempfile
from collections.abc import Mapping
from typing import Any

from woodwind.base.files import locked
from woodwind.base.run import RunFailed
from woodwind.git import checkouts, merging, targets, worktrees
from woodwind.git.identity import lock_of
from woodwind.git.repo import commit_of
from woodwind.git.tree import Tree
from woodwind.model.errors import NotFound, Refused
from woodwind.model.landing import listed
from woodwind.model.status import Phase, Status
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.inside import require_folder
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.listing import list_workers
from woodwind.ops.verify import lane_of
from woodwind.store import events, operations, workers

_IN_A_TURN = (Status.WORKING, Status.ASKING)


def sync(ctx: Context, worker: Worker, *, method: str, force: bool = False) -> dict[str, Any]:
    """Bring the base into a worker by `merge` or `rebase`; return what moved. A conflict changes nothing."""
    with worker_lock(worker.id):
        current = workers.find(ctx.store, worker.id)
        if current is None or current.phase in (Phase.REMOVED, Phase.CREATING, Phase.LANDING):
            raise Refused(f"{worker.name} cannot be synced: it is {current.phase if current else 'gone'}", code="busy")
        tree = _check(ctx, current, force=force)
        base = _tip_of_base(ctx, current)
        old = tree.head()
        new, how = _merged(ctx, current, tree, old, base, method)
        args = {
            "worker": current.id,
            "project": current.project,
            "common": ctx.repo.common,
            "path": tree.path,
            "admin": tree.admin,
            "branch": current.worktree.branch,
            "old": old,
            "new": new,
            "base": base,
            "how": how,
        }
        if new != old or base != current.worktree.base_commit:
            with ctx.store.transaction() as db:
                row = operations.begin(db, project=worker.project, worker=worker.id, kind=Sync.kind, args=args)
            carry_out(ctx, Sync(ctx, args), row)
    return {
        "name": worker.name,
        "id": worker.id,
        "how": how,
        "base_branch": worker.worktree.base_branch,
        "base_commit": base,
        "from": old,
        "to": new,
        "commits": 0 if new == old else len(merging.commits_between(ctx.repo.common, old, base)),
    }


def _check(ctx: Context, worker: Worker, *, force: bool) -> Tree:
    """The worker's worktree; refused when it is not one that may change now."""
    name, branch = worker.name, worker.worktree.branch
    if worker.in_place:
        raise Refused(
            f"{name} is in your own checkout", code="in_place", hint=f"Bring its base in yourself: git merge {branch}"
        )
    if worker.untrusted:
        raise Refused(f"{name} looks at a stranger's code, which stays as it is", code="untrusted")
    folder = require_folder(ctx, worker)
    tree = Tree(folder, worktrees.admin_of_worker(ctx.repo.common, worker.id))
    if checkouts.branch_at(tree.admin) != branch:
        raise Refused(
            f"{name} is not on its branch {branch}", code="elsewhere", hint=f"ww exec {name} -- git switch {branch}"
        )
    waiting = checkouts.under_way(tree.admin)
    if waiting:
        raise Refused(
            f"something is under way in {name} ({waiting})", code="under_way", hint="Its agent has to finish it first."
        )
    changes = tree.changes()
    if changes:
        found = listed([*changes.tracked, *changes.untracked])
        raise Refused(f"{name} has uncommitted files: {found}", code="dirty", hint="Let its agent commit them first.")
    status = next((entry["status"] for entry in list_workers(ctx).data if entry["id"] == worker.id), "")
    if status in _IN_A_TURN and worker.phase != Phase.QUEUED and not force:
        raise Refused(
            f"the agent of {name} is {status}: its files would change under it",
            code="working",
            hint="Wait until it is ready, or say --force.",
        )
    return tree


def _tip_of_base(ctx: Context, worker: Worker) -> str:
    branch = worker.worktree.base_branch
    tip = branch and (commit_of(ctx.repo, f"refs/heads/{branch}") or commit_of(ctx.repo, f"refs/remotes/{branch}"))
    if not tip:
        found = f"its base branch {branch} is gone" if branch else "it was cut from a commit, and not from a branch"
        raise NotFound(f"there is nothing to sync {worker.name} with: {found}", code="no_base")
    return tip


def _merged(ctx: Context, worker: Worker, tree: Tree, old: str, base: str, method: str) -> tuple[str, str]:
    """(the commit that the branch would come to, how); made where nobody works, so that a conflict costs nothing."""
    common = ctx.repo.common
    if merging.is_ancestor(common, base, old):
        return old, "up_to_date"
    if merging.is_ancestor(common, old, base):
        return base, "fast_forward"
    branch, base_branch = worker.worktree.branch, worker.worktree.base_branch
    if method == "merge":
        with tempfile.TemporaryDirectory(prefix="ww-") as objects:
            conflicts = merging.preview(common, old, base, objects).conflicts
        if conflicts:
            raise _conflict(worker, conflicts)
    with lane_of(ctx, worker.project, old) as lane:
        ctx.say(f"bringing {base_branch} into {worker.name}")
        if method == "merge":
            done = merging.merge(lane, old, base, message=f"Merge branch '{base_branch}' into {branch}")
        else:
            done = merging.merge(lane, base, old, method="rebase")
    if done.conflicts:
        raise _conflict(worker, done.conflicts)
    return done.commit, method


def _conflict(worker: Worker, files: tuple[str, ...]) -> Refused:
    base = worker.worktree.base_branch
    return Refused(
        f"{worker.name} and {base} conflict in {listed(files)}",
        code="conflict",
        hint=f'Nothing was changed. Let its agent settle it: ww send {worker.name} "Merge {base} into your branch"',
    )


class Sync:
    """The journalled operation that moves a worker to the merged commit. After a crash it is finished."""

    kind = "sync"
    finish_from = "move"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args

    def steps(self) -> list[Step]:
        return [Step("move", self._move, self._move_back), Step("record", self._record, self._record_back)]

    def _move(self) -> None:
        self._go(self.args["old"], self.args["new"])

    def _move_back(self) -> None:
        self._go(self.args["new"], self.args["old"])

    def _go(self, old: str, new: str) -> None:
        """Move branch, index and files together in one git process, which refuses rather than overwrites anything."""
        tree = Tree(self.args["path"], self.args["admin"])
        with locked(lock_of(self.args["common"])):
            now = tree.head()
            if now != old or old == new:
                return  # moved already; or somebody has committed since, and that is not to be lost
            words = ("checkout", "--quiet", "--no-overwrite-ignore", "-B", self.args["branch"], new)
            try:
                tree.git(*words)
            except RunFailed as error:
                if tree.head() == new:
                    return
                complaint = error.done.stderr.decode("utf-8", "replace")
                raise targets.in_the_way(self.args["branch"], tree.path, complaint) from None

    def _record(self) -> None:
        self._write(self.args["base"])

    def _record_back(self) -> None:
        worker = workers.find(self.ctx.store, self.args["worker"])
        self._write(worker.worktree.base_commit if worker else "")

    def _write(self, base: str) -> None:
        record = worktrees.read_record(self.args["admin"])
        if record and base:
            worktrees.write_record(self.args["admin"], {**record, "base_commit": base})

    def commit(self, db: sqlite3.Connection) -> None:
        if Tree(self.args["path"], self.args["admin"]).head() != self.args["new"]:
            raise Refused("the worker's branch moved while it was synced", code="busy")
        workers.set_base_commit(db, self.args["worker"], self.args["base"])
        data = {key: self.args[key] for key in ("how", "base")} | {"from": self.args["old"], "to": self.args["new"]}
        events.append(db, project=self.args["project"], worker=self.args["worker"], kind="worker.synced", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        pass
