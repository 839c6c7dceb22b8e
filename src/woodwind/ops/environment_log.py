"""`ww log --environment`: what the preparation of a worktree printed."""

import os
import time
from collections.abc import Iterator

from woodwind.model.errors import NotFound
from woodwind.model.project_type import UNLOCKED
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.environment import log_file
from woodwind.ops.environment_state import told
from woodwind.store import environments


def environment_log(worker: Worker, *, lines: int) -> str:
    """The last lines of it."""
    try:
        with open(log_file(worker.id), encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-lines:])
    except FileNotFoundError:
        raise NotFound(
            f"nothing was prepared for {worker.name}",
            code="no_log",
            hint=_why_not(worker),
        ) from None


def _why_not(worker: Worker) -> str:
    if worker.untrusted:
        return "It works on a fork's code, of which nothing is installed."
    if unlocked := [name for name in UNLOCKED if os.path.exists(os.path.join(worker.worktree.path, name))]:
        return (
            f"{unlocked[0]} is there, but no lock file that an installation could follow. Name your own commands: "
            '[environment] commands = ["…"]'
        )
    return "Its project has no file that tells of dependencies, or they were not wanted."


def follow_environment(ctx: Context, worker: Worker, *, lines: int) -> Iterator[str]:
    """The last lines, then new ones as they come, until the preparation has ended."""
    yield environment_log(worker, lines=lines)
    with open(log_file(worker.id), encoding="utf-8", errors="replace") as file:
        file.seek(0, os.SEEK_END)
        while True:
            found = environments.find(ctx.store, worker.id)  # before the text: its last words come before its end
            yield file.read()
            if found is None or told(found)[0] not in ("pending", "running"):
                return
            time.sleep(0.1)
