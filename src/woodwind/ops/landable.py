"""Whether a worker can land: where to, how, and what stands in the way before anything is begun."""

from typing import NamedTuple

from woodwind.git import merging
from woodwind.git.branches import branch_tip
from woodwind.git.checkouts import branch_at, under_way
from woodwind.git.tree import Changes, Tree
from woodwind.model.errors import NotFound, Refused
from woodwind.model.landing import LandRequest, listed
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.diff import work_tree
from woodwind.ops.verify import landing_config


class Landable(NamedTuple):
    """What is known before a landing begins."""

    tree: Tree
    tip: str
    changes: Changes
    target: str
    method: str
    via: str
    remote: str


def look(ctx: Context, worker: Worker, request: LandRequest) -> Landable:
    """What a landing would start from; an error when it cannot."""
    settings = landing_config(ctx).land
    target = target_of(ctx, worker, request)
    tree = work_tree(ctx, worker)
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
        what = listed(changes.unmerged) if changes.unmerged else waiting
        raise Refused(
            f"{worker.name} has a merge or the like under way: {what}",
            code="unmerged",
            hint="Its agent, or you, must finish it first.",
        )
    if changes and not request.commit_dirty:
        raise Refused(
            f"{worker.name} has changes that are not committed: {listed([*changes.tracked, *changes.untracked])}",
            code="dirty",
            hint=f"Let its agent commit them, or `ww ship {worker.name}`, which does.",
        )
    tip = tree.head()
    onto = branch_tip(ctx.repo.common, target)
    _check_markers(ctx, worker, tree, changes, tip, onto)
    if not changes:
        _check_not_in(ctx, worker, tip, onto, target)
    return Landable(tree, tip, changes, target, request.method or settings.method, settings.via, settings.remote)


def target_of(ctx: Context, worker: Worker, request: LandRequest) -> str:
    """The branch to land in: the one that was asked for, or the one that the worker was cut from."""
    target = request.target or worker.worktree.base_branch
    if not target:
        raise Refused(
            f"{worker.name} was cut from a commit, not from a branch",
            code="no_target",
            hint="Say where it is to land: --into BRANCH",
        )
    if target == worker.worktree.branch:
        raise Refused(f"{worker.name} cannot land in its own branch", code="no_target")
    if not branch_tip(ctx.repo.common, target):
        raise NotFound(
            f"there is no branch {target!r} to land in",
            code="no_target",
            hint="Say another one: --into BRANCH. `git branch` lists them.",
        )
    return target


def _check_markers(ctx: Context, worker: Worker, tree: Tree, changes: Changes, tip: str, onto: str) -> None:
    base = merging.merge_base(ctx.repo.common, tip, onto) or worker.worktree.base_commit
    found = merging.marked_files(ctx.repo.common, base, tip) if tip != base else []
    found += merging.marked_on_disk(tree.path, [*changes.tracked, *changes.untracked])
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
        raise already_in(worker, target)


def already_in(worker: Worker, target: str) -> Refused:
    """All that the worker did is in the target."""
    return Refused(
        f"all that {worker.name} did is in {target} already",
        code="already_landed",
        hint=f"Nothing was changed. It can go: ww rm {worker.name}",
    )
