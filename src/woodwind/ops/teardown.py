"""The teardown hook: runs in a worktree before it is parked; whatever it does, the removal goes on."""

import os

from woodwind.base.background import run_logged
from woodwind.base.files import make_private_dir
from woodwind.model.errors import TimedOut
from woodwind.model.worker import Worker
from woodwind.ops.approvals import allowed
from woodwind.ops.context import Context
from woodwind.ops.environment import log_file
from woodwind.ops.prepare import variables
from woodwind.store import workers


def text(ctx: Context, worker: Worker) -> str:
    """What is to run before this worker is parked, if it may run at all."""
    if not ctx.loaded_config.config.hooks.teardown:
        return ""
    return allowed(ctx, worker.project, names=("teardown",)).get("teardown", "")


def run(ctx: Context, worker_id: str, folder: str, hook: str) -> str:
    """Run the hook in the worktree, its output in the environment's log; return what went wrong, or ""."""
    worker = workers.find(ctx.store, worker_id)
    if worker is None or not os.path.isdir(folder):
        return ""
    path = log_file(worker_id)
    make_private_dir(os.path.dirname(path))
    env = variables(ctx, worker, ctx.repo.main_top)
    seconds = ctx.loaded_config.config.hooks.timeout
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(log, b"ww: the teardown hook\n")
        status = run_logged(["sh", "-c", hook], cwd=folder, env=env, log=log, timeout=seconds or None, own_group=True)
    except TimedOut:
        return f"the teardown hook of {worker.name} did not end within {seconds} seconds, see {path}"
    finally:
        os.close(log)
    return f"the teardown hook of {worker.name} ended with status {status}, see {path}" if status else ""
