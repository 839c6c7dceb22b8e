"""`ww diff`: what a worker changed since it left its base, committed or not."""

import os
from typing import Any

from woodwind.git import worktrees
from woodwind.git.tree import Tree
from woodwind.model.errors import NotFound
from woodwind.model.worker import Worker
from woodwind.ops.context import Context


def work_tree(ctx: Context, worker: Worker) -> Tree:
    """The worker's worktree, addressed so that git cannot fall back to another one."""
    admin = worktrees.admin_of_worker(ctx.repo.common, worker.id)
    path = worker.worktree.path if worker.in_place else worktrees.path_of(admin) if admin else ""
    if not path or not os.path.isdir(path) or not worktrees.is_at(admin, path):
        again = f" To have it again: ww rm {worker.name} --force, then ww restore {worker.name}"
        raise NotFound(
            f"the folder of {worker.name} is gone: {worker.worktree.path}",
            code="no_folder",
            hint=f"Its commits are on {worker.worktree.branch}.{'' if worker.in_place else again}",
        )
    return Tree(path, admin)


def diff_words(worker: Worker, tree: Tree, *, stat: bool, committed: bool) -> list[str]:
    """The words for git: from the point where the worker left its base to its files, or to its last commit."""
    base = tree.merge_base(worker.worktree.base_commit)
    shape = ["--stat"] if stat else []
    return ["diff", "--no-ext-diff", "--no-textconv", *shape, base, *(["HEAD"] if committed else []), "--"]


def diff(ctx: Context, worker: Worker, *, stat: bool, committed: bool) -> dict[str, Any]:
    """The difference as text, and the untracked files that no difference shows."""
    tree = work_tree(ctx, worker)
    verb, *words = diff_words(worker, tree, stat=stat, committed=committed)
    text = tree.git(verb, "--no-color", *words)
    return {"name": worker.name, "diff": text, "untracked": [] if committed else tree.changes().untracked}
