"""What a new worktree gets besides its files: planned and begun by `ww new`, prepared in the background."""

import json
import os
import signal
import sys
from collections.abc import Mapping

from woodwind.base import paths
from woodwind.base.files import is_inside, make_private_dir
from woodwind.base.processes import is_running
from woodwind.base.run import spawn
from woodwind.config.sizes import parse_size
from woodwind.git.tree import Tree
from woodwind.model.project_type import detect
from woodwind.model.typed import Any, NamedTuple
from woodwind.ops.context import Context
from woodwind.ops.env_files import copy_env_files
from woodwind.ops.environment_state import told
from woodwind.store import environments


class Wishes(NamedTuple):
    """What may be prepared: dependencies found by themselves, commands instead, a setup hook; and who waits for it."""

    detect: bool
    commands: str
    setup: str
    caches: bool
    wait: bool


def wishes(ctx: Context, project: str, *, install: bool) -> Wishes:
    """What may be prepared for a new worker; a person is asked about hooks of the project that are new to them."""
    loaded = ctx.loaded_config
    config = loaded.config.environment
    texts: dict[str, str] = {}
    if config.commands or loaded.config.hooks.setup or loaded.config.hooks.teardown:
        from woodwind.ops.approvals import allowed  # 0.4 ms, for projects with such texts

        texts = allowed(ctx, project, ask=True)
    wanted = install and config.install == "auto"
    return Wishes(
        detect=wanted and not config.commands,
        commands=texts.get("install", "") if wanted else "",
        setup=texts.get("setup", "") if install else "",
        caches=wanted,
        wait=config.wait,
    )


def log_file(worker: str) -> str:
    """Where the output of a worker's preparation is."""
    return os.path.join(paths.worker_dir(worker), "environment.log")


def equip(ctx: Context, tree: Tree, wanted: Wishes, *, untrusted: bool) -> dict[str, Any]:
    """Copy the environment files, and return the plan for what takes longer: empty when there is nothing.

    A stranger's code gets nothing at all: an installation would run it, and it would read the secrets.
    """
    if untrusted:
        wanted = Wishes(detect=False, commands="", setup="", caches=False, wait=wanted.wait)
    config = ctx.loaded_config.config.environment
    main = ctx.repo.main_top
    folders = ["", *(folder for folder in map(os.path.normpath, config.folders) if _is_below(tree.path, folder))]
    if main and config.env_files and not untrusted:
        ctx.notes += copy_env_files(main, tree, folders)
    installs: list[dict[str, Any]] = []
    if wanted.commands:
        installs.append({"tool": "", "folder": "", "commands": [["sh", "-e", "-c", wanted.commands]]})
    for folder in folders if wanted.detect else ():
        for install in detect(os.listdir(os.path.join(tree.path, folder))):
            cache = os.path.join(folder, install.cache) if install.cache else ""
            installs.append(
                {"tool": install.tool, "folder": folder, "commands": install.commands}
                | {"cache": cache, "locks": [os.path.join(folder, lock) for lock in install.locks]}
            )
    caches = [os.path.join(folder, name) for folder in folders for name in config.caches] if wanted.caches else []
    caches = [path for path in caches if _is_cache(main, tree.path, path)]
    if not (installs or caches or wanted.setup or wanted.wait):
        return {}
    return {
        "main": main,
        "installs": installs,
        "caches": caches,
        "copy_caches": parse_size(config.copy_caches) or 0,
        "setup": wanted.setup,
        "timeout": config.timeout,
        "hook_timeout": ctx.loaded_config.config.hooks.timeout,
        "wait": wanted.wait,
    }


def section(plan: Mapping[str, Any], worker: str) -> list[tuple[str, str]]:
    """What the brief tells about a preparation that is under way, as (heading, text)."""
    if plan.get("wait") or not (plan.get("installs") or plan.get("setup")):
        return []
    text = (
        "Dependencies are being installed in the background while you begin. Do not install them yourself; before you "
        f"run tests, look at the end of `{log_file(worker)}`: `ww: ready` means that all is there. "
        "After `ww: failed` or `ww: timed out` see there why, and install what you need yourself."
    )
    return [("Environment", text)]


def _is_below(top: str, folder: str) -> bool:
    full = os.path.join(top, folder)
    return os.path.isdir(full) and is_inside(os.path.realpath(full), os.path.realpath(top))


def _is_cache(main: str, top: str, path: str) -> bool:
    """Whether the main checkout has this folder and the worktree not; a virtual environment works in one place only."""
    source = os.path.join(main, path)
    if not main or os.path.islink(source) or not os.path.isdir(source) or os.path.lexists(os.path.join(top, path)):
        return False
    return not os.path.exists(os.path.join(source, "pyvenv.cfg"))


def start(worker: str, environ: Mapping[str, str]) -> None:
    """Prepare a worker's environment in the background; where somebody does already, the new process leaves at once."""
    make_private_dir(paths.worker_dir(worker))
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    log = os.open(log_file(worker), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        words = [sys.executable, "-P", "-m", "woodwind.daemon.preparer", worker]
        spawn(words, cwd="/", env=environ, stdin=null, stdout=log, stderr=log, new_session=True)
    finally:
        os.close(null)
        os.close(log)


def plan_of(ctx: Context, worker: str) -> dict[str, Any]:
    """What was planned for a worker; empty where nothing was, or it cannot be read."""
    try:
        plan = json.loads(environments.plan_of(ctx.store, worker))
    except ValueError:
        return {}
    return plan if isinstance(plan, dict) else {}


def holds_back(ctx: Context, worker: str) -> bool:
    """Whether a worker that has not started yet waits for its environment, which is then on its way."""
    found = environments.find(ctx.store, worker)
    if found is None or told(found)[0] not in ("pending", "running"):
        return False
    if found.state == "pending":  # whoever was to prepare it may have died before
        start(worker, ctx.environ)
    return bool(plan_of(ctx, worker).get("wait"))


def environment_of(ctx: Context, worker: str) -> dict[str, Any]:
    """All that is known about a worker's environment."""
    found = environments.find(ctx.store, worker)
    state, detail = told(found) if found else ("none", "")
    first, count = (found.port, found.ports) if found else (0, 0)
    return {"state": state, "detail": detail, "port": first, "ports": count, "log": log_file(worker)}


def process_of(ctx: Context, worker: str) -> int:
    """The process that prepares a worker's environment now, 0 for none."""
    found = environments.find(ctx.store, worker)
    return found.pid if found and is_running(found.pid, found.pid_start) else 0


def stop(ctx: Context, worker: str) -> None:
    """End a preparation that is under way, with all that it started."""
    found = environments.find(ctx.store, worker)
    if found is None or found.state not in ("pending", "running"):
        return
    with ctx.store.transaction() as db:
        environments.settle(db, worker, "stopped", "the worker was removed")
    if is_running(found.pid, found.pid_start):
        os.killpg(found.pid, signal.SIGKILL)
