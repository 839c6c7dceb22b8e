"""The current project: recognised, remembered, and set right after a crash."""

import os

from woodwind.git import identity
from woodwind.model.errors import Refused
from woodwind.ops.context import Context
from woodwind.ops.journal import recover
from woodwind.ops.rebuild import adopt
from woodwind.store import projects


def current(ctx: Context) -> str:
    """The id of the project that `ctx` is in, ready for use: known to the store, nothing left half-done."""
    repo = ctx.repo
    project = identity.ensure_id(repo.common)
    known = projects.find(ctx.store, project)
    if known is None:
        projects.remember(ctx.store, project, repo.common, repo.name)
        adopt(ctx, ctx.store, project, repo.common)
    elif known[0] != repo.common:
        if os.path.isdir(known[0]) and identity.read_id(known[0]) == project:
            raise Refused(
                f"{repo.common} has the same project id as {known[0]}: one is a copy of the other",
                code="copied_project",
                hint=f"To make this one a project of its own, delete {identity.folder_of(repo.common)}/id",
            )
        projects.remember(ctx.store, project, repo.common, repo.name)
    recover(ctx, project)
    return project
