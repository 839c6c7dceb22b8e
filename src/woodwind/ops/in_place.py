"""Whether a worker may be put into the user's own checkout."""

from woodwind.git import checkouts
from woodwind.git.tree import Tree
from woodwind.git.worktrees import read_record
from woodwind.model.errors import Refused, UsageError
from woodwind.ops.context import Context


def check_checkout(ctx: Context) -> str:
    """The branch or commit that the checkout is on now; an error when a worker may not be put into it."""
    repo = ctx.repo
    if not repo.top:
        raise UsageError("a bare repository has no checkout to work in", hint="Use `ww new` without --in-place.")
    record = read_record(repo.git_dir)
    if record:
        raise Refused(
            f"the worker {record.get('name')!r} is in this checkout already",
            code="occupied",
            hint="Remove it first, or use `ww new` without --in-place: each worker then gets a worktree of its own.",
        )
    waiting = checkouts.under_way(repo.git_dir)
    if waiting:
        raise Refused(
            f"something is under way in this checkout ({waiting})", code="under_way", hint="Finish or abort it first."
        )
    changes = Tree(repo.top, repo.git_dir).changes()
    if changes:
        found = [*changes.tracked, *changes.untracked]
        shown = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        raise Refused(
            f"this checkout is not clean: {shown}",
            code="dirty",
            hint="Commit that first, or use `ww new` without --in-place, whose worktree needs no clean checkout.",
        )
    return checkouts.branch_at(repo.git_dir)
