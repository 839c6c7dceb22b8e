"""The preparation of a worktree, in a process of its own: caches, dependencies, then the setup hook."""

import contextlib
import os
import time
from collections.abc import Mapping

from woodwind.base.background import run_logged
from woodwind.base.processes import start_time
from woodwind.git.tree import Tree
from woodwind.git.worktrees import admin_of_worker
from woodwind.model.errors import TimedOut, WoodwindError
from woodwind.model.project_type import VARIABLES, VENV
from woodwind.model.typed import Any
from woodwind.model.worker import Worker
from woodwind.ops import ports
from woodwind.ops.caches import bring, follows
from woodwind.ops.context import Context
from woodwind.ops.environment import log_file, plan_of
from woodwind.store import environments, events, workers

# A virtual environment that the caller is in is not the worktree's: poetry would install into it.
_NOT_PASSED = ("VIRTUAL_ENV", "PYTHONHOME", "CONDA_PREFIX")


def prepare(environ: Mapping[str, str], worker_id: str) -> None:
    """Do what was planned for a worker, unless somebody else does or it is gone; the store says how it went."""
    outside = Context("/", environ)
    try:
        if not environments.claim(outside.store, worker_id, os.getpid(), start_time(os.getpid())):
            return
        worker = workers.find(outside.store, worker_id)
    finally:
        outside.close()
    if worker is None:
        return
    ctx = Context(worker.worktree.path, environ)
    log = os.open(log_file(worker_id), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        _Preparation(ctx, worker, log).carry_out()
    finally:
        os.close(log)
        ctx.close()


class _Preparation:
    def __init__(self, ctx: Context, worker: Worker, log: int) -> None:
        self.ctx = ctx
        self.worker = worker
        self.log = log
        self.top = worker.worktree.path
        self.plan = plan_of(ctx, worker.id)
        self.problems: list[str] = []
        self.timed_out = False
        self.env = variables(ctx, worker, self.plan.get("main", ""))

    def carry_out(self) -> None:
        state, detail = "failed", ""
        try:
            brought = self._caches()
            for install in self.plan["installs"]:
                self._install(install, brought)
            if self.plan["setup"] and not self.problems:
                self._run(["sh", "-c", self.plan["setup"]], "the setup hook", self.top, {}, self.plan["hook_timeout"])
            elif self.plan["setup"]:
                self._say("the setup hook is left out, because what comes before it failed")
            state = "timed_out" if self.timed_out else "failed" if self.problems else "done"
            detail = "; ".join(self.problems)
        except (WoodwindError, OSError) as error:
            detail = str(error)
            self._say(detail)
        finally:
            with self.ctx.store.transaction() as db:
                if environments.settle(db, self.worker.id, state, detail):
                    data = {"state": state, "detail": detail}
                    who = {"project": self.worker.project, "worker": self.worker.id}
                    events.append(db, **who, kind="environment.prepared", data=data)
        self._say({"done": "ready"}.get(state, f"{state.replace('_', ' ')}: {detail}"))

    def _say(self, text: str) -> None:
        os.write(self.log, f"ww: {text}\n".encode("utf-8", "replace"))

    def _caches(self) -> set[str]:
        """The caches that are there now; where the lock files differ, the installation would throw them away."""
        brought = set()
        admin = admin_of_worker(self.ctx.repo.common, self.worker.id)
        decided_by = {i["cache"]: i["locks"] for i in self.plan["installs"] if i.get("cache")}
        for path in self.plan["caches"]:
            locks = decided_by.get(path, [])
            if not all(self._same(lock) for lock in locks):
                self._say(f"{path} is not cloned: what it was made from differs here")
                continue
            if not all(follows(self.plan["main"], path, lock) for lock in locks):
                self._say(f"{path} is not cloned: the main checkout's is older than its lock file")
                continue
            self._progress(f"the clone of {path}")
            how = bring(self.plan["main"], Tree(self.top, admin), path, copy_below=self.plan["copy_caches"])
            self._say(f"{path} {how} from the main checkout" if how else f"{path} cannot be cloned here")
            if how:
                brought.add(path)
        return brought

    def _same(self, path: str) -> bool:
        try:
            with open(os.path.join(self.plan["main"], path), "rb") as a, open(os.path.join(self.top, path), "rb") as b:
                return a.read() == b.read()
        except OSError:
            return False

    def _install(self, install: dict[str, Any], brought: set[str]) -> None:
        if install.get("cache") in brought and install.get("locks"):
            self._say(f"{install['tool']} has nothing to install: its lock file is the main checkout's")
            return
        folder = os.path.join(self.top, install["folder"])
        for words in install["commands"]:
            name = "the installation" if words[0] == "sh" else " ".join(words)
            if words[-1] == VENV:
                _hide(os.path.join(folder, VENV))
            if not self._run(words, name, folder, VARIABLES.get(install["tool"], {}), self.plan["timeout"]):
                return

    def _run(self, words: list[str], name: str, folder: str, extra: Mapping[str, str], timeout: int) -> bool:
        self._progress(name)
        self._say(f"{name} …")
        began = time.monotonic()
        if "/" in words[0]:
            words = [os.path.join(folder, words[0]), *words[1:]]
        try:
            env = {**self.env, **extra}
            status = run_logged(words, cwd=folder, env=env, log=self.log, timeout=timeout or None)
            problem = f"{name} ended with status {status}" if status else ""
        except TimedOut:
            self.timed_out = True
            problem = f"{name} did not end within {timeout} seconds"
        except WoodwindError as error:
            problem = error.message
        self._say(f"{problem or f'{name} is done'}, after {time.monotonic() - began:.1f} s")
        if problem:
            self.problems.append(problem)
        return not problem

    def _progress(self, detail: str) -> None:
        environments.progress(self.ctx.store, self.worker.id, detail)


def _hide(venv: str) -> None:
    """Make a virtual environment ignore itself before it is made: who adds all files meanwhile would add half of it."""
    with contextlib.suppress(OSError):
        os.makedirs(venv, exist_ok=True)
        with open(os.path.join(venv, ".gitignore"), "x", encoding="utf-8") as file:
            file.write("*\n")


def variables(ctx: Context, worker: Worker, main: str) -> dict[str, str]:
    """The environment for what runs in a worker's worktree on its behalf."""
    env = {k: v for k, v in ctx.environ.items() if k not in _NOT_PASSED and _is_harmless(k)}
    env.update(ports.variables(ctx, worker.id))
    env.update(WOODWIND_WORKER_NAME=worker.name, WOODWIND_PROJECT=worker.project)
    env.update(WOODWIND_BRANCH=worker.worktree.branch, WOODWIND_MAIN=main)
    return env


def _is_harmless(name: str) -> bool:
    return not name.startswith("GIT_") or name.startswith(("GIT_CONFIG", "GIT_SSH"))
