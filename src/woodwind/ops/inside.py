"""`ww shell` and `ww exec`: a command in a worker's folder, on the caller's own terminal."""

import os

from woodwind.git.worktrees import admin_of_worker, is_at
from woodwind.model.errors import NotFound
from woodwind.model.worker import Worker
from woodwind.ops import ports
from woodwind.ops.context import Context


def require_folder(ctx: Context, worker: Worker) -> str:
    """The worker's folder, proven to be its own worktree: in any other, git would work on another checkout."""
    folder = worker.worktree.path
    if not os.path.isdir(folder):
        raise NotFound(
            f"the folder of {worker.name} is gone: {folder}",
            code="no_folder",
            hint=f"Bring it back, or remove the worker: ww rm {worker.name} --force",
        )
    admin = admin_of_worker(ctx.repo.common, worker.id)
    if not admin or not is_at(admin, folder):
        raise NotFound(
            f"{folder} is not the worktree of {worker.name} any more",
            code="no_folder",
            hint="Move that folder away and bring the worktree back, or mend it: git worktree repair",
        )
    return folder


def folder_and_variables(ctx: Context, worker: Worker) -> tuple[str, dict[str, str]]:
    """The worker's folder, proven to be its own worktree, and the environment for a command in it."""
    folder = require_folder(ctx, worker)
    env = {k: v for k, v in ctx.environ.items() if not k.startswith("GIT_") or k.startswith(("GIT_CONFIG", "GIT_SSH"))}
    env.update(ports.variables(ctx, worker.id))
    env.update(WOODWIND_WORKER_NAME=worker.name, WOODWIND_PROJECT=worker.project)
    return folder, env
