"""Whether a worker can land: where to, how, and what stands in the way before anything is begun."""

from collections.abc import Sequence
from typing import NamedTuple

from woodwind.git import merging
from woodwind.git.branches import branch_tip
from woodwind.git.checkouts import branch_at, under_way
from woodwind.git.remote import fetched
from woodwind.git.tree import Changes, Tree
from woodwind.model.errors import NotFound, Refused
from woodwind.model.landing import LandRequest, listed
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.diff import work_tree
from woodwind.ops.verify import landing_config
from woodwind.store import landings

# What git's own files say is not finished.
_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


class Landable(NamedTuple):
    """What is known before a landing begins."""

    tree: Tree
    tip: str
    changes: Changes
    target: str
    method: str
    via: str
    remote: str
    onto: str


def look(ctx: Context, worker: Worker, request: LandRequest, *, via: str = "") -> Landable:
    """What a landing would start from; an error when it cannot. `via` overrides [land]."""
    settings = landing_config(ctx).land
    via = via or request.via or settings.via
    target = target_of(ctx, worker, request, via, settings.remote)
    tree = work_tree(ctx, worker)
    changes = check_folder(worker, tree, request)
    tip = tree.head()
    onto = tip_of_target(ctx, via, settings.remote, target)
    _check_markers(ctx, worker, tree, changes, tip, onto)
    if not changes and taken_out(ctx, worker.id, onto) is None:
        _check_not_in(ctx, worker, tip, onto, target)
    method = request.method or settings.method
    return Landable(tree, tip, changes, target, method, via, settings.remote, onto)


def check_folder(worker: Worker, tree: Tree, request: LandRequest) -> Changes:
    """What is not committed in a worker's folder; refused where it is in no state to be landed."""
    branch = worker.worktree.branch
    on = branch_at(tree.admin)
    if on != branch:
        raise Refused(
            f"{worker.name} is not on its branch {branch} but on {on}",
            code="wrong_branch",
            hint=f"In its folder: git switch {branch}. Commits that are on no branch would not land.",
        )
    waiting = under_way(tree.admin)
    changes = tree.changes()
    if changes.unmerged or waiting:
        what = _UNFINISHED.get(waiting, "a merge or the like")
        files = f": conflicts in {listed(changes.unmerged)}" if changes.unmerged else ""
        raise Refused(
            f"{worker.name} has {what} under way{files}",
            code="unmerged",
            hint=f"Its agent, or you, must settle and commit it first, in {tree.path}",
        )
    if changes and not request.commit_dirty:
        raise Refused(
            f"{worker.name} has changes that are not committed: {listed([*changes.tracked, *changes.untracked])}",
            code="dirty",
            hint=f"Let its agent commit them, or `ww ship {worker.name}`, which does.",
        )
    return changes


def target_of(ctx: Context, worker: Worker, request: LandRequest, via: str, remote: str) -> str:
    """The branch to land in: the one that was asked for, or the one that the worker was cut from."""
    target = request.target or worker.worktree.base_branch
    if via != "local":
        target = target.removeprefix(f"{remote}/")
    if not target:
        raise Refused(
            f"{worker.name} was cut from a commit, not from a branch",
            code="no_target",
            hint="Say where it is to land: --into BRANCH",
        )
    if target == worker.worktree.branch:
        raise Refused(f"{worker.name} cannot land in its own branch", code="no_target")
    if via == "local" and not branch_tip(ctx.repo.common, target):
        raise NotFound(
            f"there is no branch {target!r} to land in",
            code="no_target",
            hint="Say another one: --into BRANCH. `git branch` lists them.",
        )
    return target


def tip_of_target(ctx: Context, via: str, remote: str, target: str) -> str:
    """The commit that work is merged onto: the branch's, or the remote's as it is right now."""
    common = ctx.repo.common
    local = branch_tip(common, target)
    if via == "local":
        if not local:
            raise Refused(f"the branch {target} is not there any more", code="no_target")
        return local
    ctx.say(f"asking {remote} for {target}")
    there = fetched(common, remote, target)
    if not there:
        raise NotFound(f"{remote} has no branch {target!r}", code="no_target", hint="Push it once: git push")
    if via == "push" and local and not merging.is_ancestor(common, local, there):
        apart = "have diverged" if not merging.is_ancestor(common, there, local) else "differ: yours is ahead"
        raise Refused(
            f"{target} ({local[:10]}) and {remote}/{target} ({there[:10]}) {apart}",
            code="diverged",
            hint="Nothing was changed. Bring them together first, with git pull or git push.",
        )
    return there


def taken_out(ctx: Context, whose: str, onto: str) -> landings.Landing | None:
    """The undo that took the last landing of a worker or run back by a commit which `onto` has, or None.

    Git counts commits that were reverted as merged: to land again, that commit has to be reverted first.
    """
    last = next((one for one in landings.of_worker(ctx.store, whose) if one.state in ("done", "undone")), None)
    if last is None or last.kind != "undo" or last.state != "done" or last.verified == "before":
        return None
    return last if merging.is_ancestor(ctx.repo.common, last.new, onto) else None


def _check_markers(ctx: Context, worker: Worker, tree: Tree, changes: Changes, tip: str, onto: str) -> None:
    base = merging.merge_base(ctx.repo.common, tip, onto) or worker.worktree.base_commit
    on_disk = merging.marked_on_disk(tree.path, [*changes.tracked, *changes.untracked])
    check_markers(ctx, worker, base, tip, on_disk)


def check_markers(ctx: Context, worker: Worker, base: str, tip: str, on_disk: Sequence[str] = ()) -> None:
    """Refuse conflict markers in what came between two commits, and those found `on_disk`."""
    found = [*on_disk, *(merging.marked_files(ctx.repo.common, base, tip) if tip != base else [])]
    if found:
        raise Refused(
            f"{worker.name} has conflict markers in {listed(sorted(set(found)))}",
            code="conflict_markers",
            hint="A conflict was left unsettled there. Where they are meant: git's attribute conflict-marker-size.",
        )


def _check_not_in(ctx: Context, worker: Worker, tip: str, onto: str, target: str) -> None:
    common, base = ctx.repo.common, worker.worktree.base_commit
    if tip == base or not merging.commits_between(common, base, tip, most=1):
        raise Refused(
            f"{worker.name} has no commits, so there is nothing to land",
            code="nothing_to_land",
            hint=f"ww diff {worker.name} shows what it did.",
        )
    if merging.is_ancestor(common, tip, onto):
        raise already_in(worker.name, target)


def already_in(name: str, target: str) -> Refused:
    """All that the worker did is in the target."""
    return Refused(
        f"all that {name} did is in {target} already",
        code="already_landed",
        hint=f"Nothing was changed. It can go: ww rm {name}",
    )


def nothing_left(name: str, target: str) -> Refused:
    """The target's side settles every place in which the worker changed something."""
    return Refused(
        f"with {target}'s side in every conflict, nothing of {name} is left to land",
        code="nothing_to_land",
        hint=f"Nothing was changed. --strategy theirs takes the worker's side; `ww diff {name}` shows it.",
    )
