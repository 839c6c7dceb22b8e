"""The place that is measured in: a private home, a repository, and as many real workers as are asked for."""

import contextlib
import json
import os
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

from benchmarks.timing import CannotMeasure, Variant
from woodwind.base import spool
from woodwind.model.reading import Reading, Seen, Tells
from woodwind.store import readings
from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox

FILES = 20
MOST_AT_ONCE = 50  # what `ww new -n` takes
_CONFIG = """\
[new]
agent = "still"

[agents.still]
command = "{sleep}"
args = ["86400"]
prompt = "none"
"""


class Scene:
    """A sandbox with a repository. Its environment is a user's: bytecode is cached, nothing is on PYTHONPATH."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.env = {k: v for k, v in sandbox.env.items() if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
        self.ww = str(Path(sys.executable).with_name("ww"))
        self.python = sys.executable
        self.git = program("git")
        self.tmux = program("tmux")
        self.sleep = program("sleep")
        if not os.access(self.ww, os.X_OK):
            raise CannotMeasure(f"there is no {self.ww}: run `make setup` first")
        files = {f"src/part{n}.py": f"print({n})\n" for n in range(FILES)}
        self.repo = make_repo(sandbox.home / "project", files=files)
        (self.repo / "woodwind.toml").write_text(_CONFIG.format(sleep=self.sleep), encoding="utf-8")
        self._bare = 0

    def grow(self, workers: int) -> None:
        """Make the repository have this many workers."""
        missing = workers - len(self._json("ls"))
        while missing > 0:
            some = min(missing, MOST_AT_ONCE)
            self._json("new", "Stand in for a worker", "-n", str(some), timeout=600)
            missing -= some
        self._live_through_a_day()

    def statuses(self) -> set[str]:
        """What the workers are doing, as `ww ls` tells it."""
        return {worker["status"] for worker in self._json("ls")}

    def _live_through_a_day(self) -> None:
        """Give each worker that has none a history as long as any gets: the list has to be fast then too."""
        database = Path(self.env["XDG_STATE_HOME"], "woodwind", "woodwind.db")
        now = spool.now()
        told = (Tells.SUBMITTED, Tells.WORKING, Tells.ASKING, Tells.DONE)
        with contextlib.closing(sqlite3.connect(database)) as db, db:
            young = "SELECT worker, nonce FROM terminal WHERE worker NOT IN (SELECT worker FROM reading)"
            for worker, nonce in db.execute(young).fetchall():
                for n in range(readings.KEPT):
                    reading = Reading(told[n % 4], 0, "hook", f"p{n // 4}", text="words")
                    readings.insert(db, worker, Seen(reading, now.boot, now.up - 1000 + n, 0, nonce), f"file-{n}")

    def command_new(self) -> Variant:
        """`ww new`, undone after each time."""
        return Variant(lambda: [self.new_argv()], self.drop_new)

    def new_argv(self) -> list[str]:
        """The command that is timed."""
        return [self.ww, "new", "Add a greeting", "--name", "measured"]

    def drop_new(self) -> None:
        """Take the worker of `new_argv` away for good, so that the next one finds the same state."""
        self._json("rm", "measured", "--force", "--yes")
        self._json("trash", "prune", "measured", "--yes")

    def bare_new(self) -> Variant:
        """What git and tmux need for the same: a worktree on a new branch, and a session in it."""
        return Variant(self._bare_commands, self._drop_bare)

    def _bare_commands(self) -> list[list[str]]:
        self._bare += 1
        path = str(self.sandbox.home / "project.worktrees" / "bare")
        session = ["new-session", "-d", "-x", "200", "-y", "50", "-s", "bare", "-c", path]
        return [
            [self.git, "worktree", "add", "--quiet", "-b", f"bare-{self._bare}", path],
            [self.tmux, "-L", "woodwind", *session, self.sleep, "86400"],
        ]

    def _drop_bare(self) -> None:
        self.sandbox.tmux("kill-session", "-t", "=bare")
        path = self.sandbox.home / "project.worktrees" / "bare"
        self.sandbox.run(self.git, "worktree", "remove", "--force", str(path), cwd=self.repo, check=True)
        self.sandbox.run(self.git, "branch", "--quiet", "-D", f"bare-{self._bare}", cwd=self.repo, check=True)

    def _json(self, *words: str, timeout: float = 60) -> Any:
        done = self.sandbox.run(self.ww, "--json", *words, cwd=self.repo, timeout=timeout)
        if done.code:
            raise CannotMeasure(str(done))
        return json.loads(done.stdout)["data"]


def program(name: str) -> str:
    """The path of a program that is needed."""
    found = shutil.which(name)
    if not found:
        raise CannotMeasure(f"{name} was not found")
    return found
