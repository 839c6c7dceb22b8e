"""`ww shell` and `ww exec`: a command in a worker's folder, on the caller's own terminal."""

import os

from woodwind.git.worktrees import admin_of_worker, path_of
from woodwind.model.errors import NotFound
from woodwind.model.worker import Worker
from woodwind.ops.context import Context


def folder_and_variables(ctx: Context, worker: Worker) -> tuple[str, dict[str, str]]:
    """The worker's folder, proven to be its own worktree, and the environment for a command in it."""
    folder = worker.worktree.path
    admin = admin_of_worker(ctx.repo.common, worker.id)
    if not worker.in_place and (not admin or os.path.realpath(path_of(admin)) != os.path.realpath(folder)):
        raise NotFound(f"{folder} is not the worktree of {worker.name} any more", code="no_folder")
    if not os.path.isdir(folder):
        raise NotFound(f"the folder of {worker.name} is gone: {folder}", code="no_folder")
    env = {k: v for k, v in ctx.environ.items() if not k.startswith("GIT_") or k.startswith(("GIT_CONFIG", "GIT_SSH"))}
    env.update(WOODWIND_WORKER_NAME=worker.name, WOODWIND_PROJECT=worker.project)
    return folder, env
