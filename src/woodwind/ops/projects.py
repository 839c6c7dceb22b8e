"""The current project: recognised, remembered, and set right after a crash."""

import os

from woodwind.git import identity
from woodwind.git.worktrees import repair
from woodwind.model.errors import Refused
from woodwind.ops.agreement import agree
from woodwind.ops.context import Context
from woodwind.ops.journal import recover
from woodwind.store import projects


def current(ctx: Context) -> str:
    """The id of the project that `ctx` is in, ready for use: known to the store, nothing left half-done."""
    project = recognised(ctx)
    recover(ctx, project)
    if not agree(ctx.store, project, ctx.repo.common):
        from woodwind.ops.rebuild import reconcile  # 5 ms with what it imports, and hardly ever needed

        reconcile(ctx, ctx.store, project, ctx.repo.common)
    return project


def recognised(ctx: Context) -> str:
    """The id of the project that `ctx` is in, known to the store; what died halfway is left as it is."""
    repo, store = ctx.repo, ctx.store  # a store that cannot be used is told before anything is written
    _check_text(repo.common, ctx.cwd)
    project = identity.ensure_id(repo.common)
    known = projects.find(store, project)
    if known is None:
        projects.remember(store, project, repo.common, repo.name)
        from woodwind.ops.rebuild import adopt  # as in `current`

        adopt(ctx, store, project, repo.common)
    elif known[0] != repo.common:
        if os.path.isdir(known[0]) and identity.read_id(known[0]) == project:
            raise Refused(
                f"{repo.common} has the same project id as {known[0]}: one is a copy of the other",
                code="copied_project",
                hint=f"To make this one a project of its own, delete {identity.folder_of(repo.common)}/id",
            )
        repair(repo.common)
        projects.remember(store, project, repo.common, repo.name)
    return project


def _check_text(*folders: str) -> None:
    """The store, JSON and tmux hold text: a folder whose name is none cannot be written down there."""
    for folder in folders:
        try:
            folder.encode()
        except UnicodeEncodeError:
            shown = folder.encode("utf-8", "replace").decode()
            raise Refused(
                f"the folder {shown} has a name that is not UTF-8 text", code="not_text", hint="Rename the folder."
            ) from None
