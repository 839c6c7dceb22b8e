"""[hooks.on]: the user's commands for events, each run once for each event, whoever is killed meanwhile.

Each firing has a folder. The command's own shell claims it, so that of two that were started only one runs, and
leaves its exit status there, so that the next daemon finds how it ended.
"""

import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Mapping
from typing import Any

from woodwind.base import paths
from woodwind.base.clock import from_ms
from woodwind.base.failpoints import failpoint
from woodwind.base.files import make_private_dir
from woodwind.base.run import spawn
from woodwind.config.load import PROJECT_FILE
from woodwind.model.errors import WoodwindError
from woodwind.model.text import clean
from woodwind.ops.approvals import lifecycle
from woodwind.ops.context import Context
from woodwind.store import events, projects, runs, workers
from woodwind.store.events import EventRow

# The claim is a folder, which only one can make; the pid is for whoever has to end it.
_SHELL = (
    'mkdir "$1/begun" 2>/dev/null || exit 0; echo $$ >"$1/pid"; '
    'sh -c "$2" <"$1/event.json" >"$1/output" 2>&1; echo $? >"$1/ended"; mv "$1/ended" "$1/status"'
)
_LOOK_EVERY = 0.02
_MOST_OUTPUT = 4000
_BATCH = 200


Found = tuple[Mapping[str, str], float, str, int]


class Hooks:
    """The commands of each project, read once for a round of events.

    `silent` outlives a round: the files of projects that declare none, which need not be read again while they are as
    they were.
    """

    def __init__(self, ctx: Context, silent: dict[str, tuple[object, ...]]) -> None:
        self.ctx = ctx
        self._silent = silent
        self._found: dict[str, Found] = {}

    def of(self, project: str) -> Found:
        """(commands by kind, when the files that declare them last changed, the project's folder, the timeout)."""
        if project not in self._found:
            folder = self._folder(project)
            files = tuple(map(_stamp, (paths.config_file(), os.path.join(folder, PROJECT_FILE))))
            if self._silent.get(project) == files:
                return {}, 0.0, folder, 0
            self._found[project] = found = self._read(project, folder)
            if not found[0] and not self._declared:
                self._silent[project] = files
        return self._found[project]

    def _folder(self, project: str) -> str:
        known = projects.find(self.ctx.store, project)
        if known and os.path.isdir(known[0]):
            return os.path.dirname(known[0]) if os.path.basename(known[0]) == ".git" else known[0]
        return "/"

    def _read(self, project: str, folder: str) -> Found:
        there = Context(folder, self.ctx.environ)
        there.store = self.ctx.store
        loaded = there.loaded_config
        self._declared = bool(loaded.config.hooks.on)  # perhaps not approved yet
        commands = lifecycle(there, project)
        changed = max((os.path.getmtime(file) for file in loaded.files), default=0.0) if commands else 0.0
        return commands, changed, folder, loaded.config.hooks.timeout


def _stamp(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def fire(ctx: Context, since: int, silent: dict[str, tuple[object, ...]]) -> int:
    """Run the commands for the events after `since`, in order; how far it came."""
    seq = max(since, runs.hook_cursor(ctx.store))
    hooks = Hooks(ctx, silent)
    for event in events.since(ctx.store, seq, limit=_BATCH):
        try:
            commands, changed, folder, timeout = hooks.of(event.project)
        except WoodwindError:
            commands, changed, folder, timeout = {}, 0.0, "/", 0  # a configuration that cannot be read declares none
        # What happened before a hook was written down is not news to it.
        if event.kind in commands and event.at >= changed * 1000:
            _fire(ctx, event, commands[event.kind], folder, timeout or 300)
            runs.set_hook_cursor(ctx.store, event.seq)
            failpoint("hooks.after_cursor")
            shutil.rmtree(_place(event.seq), ignore_errors=True)
        seq = event.seq
    return seq


def _place(seq: int) -> str:
    return os.path.join(paths.state_dir(), "hooks", str(seq))


def _fire(ctx: Context, event: EventRow, command: str, folder: str, timeout: int) -> None:
    place = _place(event.seq)
    make_private_dir(place)
    worker = workers.find(ctx.store, event.worker) if event.worker else None
    with open(os.path.join(place, "event.json"), "w", encoding="utf-8") as file:
        json.dump(_payload(ctx, event, worker.name if worker else ""), file)
    failpoint("hooks.before_start")
    if worker and os.path.isdir(worker.worktree.path):
        folder = worker.worktree.path
    pid = 0
    if not os.path.exists(os.path.join(place, "begun")):
        pid = _start(ctx, place, command, folder, event.kind)
    failpoint("hooks.after_start")
    status = _await(place, timeout)
    if pid:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0 if status else os.WNOHANG)
    failpoint("hooks.after_end")
    if status != "0":
        _tell_failure(ctx, event, command, status, place)


def _payload(ctx: Context, event: EventRow, name: str) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "at": from_ms(event.at).isoformat(),
        "kind": event.kind,
        "project": event.project,
        "project_name": projects.names(ctx.store).get(event.project, ""),
        "worker": event.worker,
        "worker_name": name,
        "data": event.data,
    }


def _start(ctx: Context, place: str, command: str, folder: str, kind: str) -> int:
    env = {k: v for k, v in ctx.environ.items() if k not in ("WOODWIND_WORKER", "WOODWIND_FAILPOINT")}
    null = os.open(os.devnull, os.O_RDWR)
    try:
        words = ["sh", "-c", _SHELL, "sh", place, command]
        env["WOODWIND_EVENT"] = kind
        return spawn(words, cwd=folder, env=env, stdin=null, stdout=null, stderr=null, new_session=True)
    finally:
        os.close(null)


def _await(place: str, timeout: int) -> str:
    """How a firing ended: its exit status, or "" when it had to be ended or was killed."""
    began = os.path.getmtime(place)
    seen_dead = 0
    while True:
        with contextlib.suppress(OSError), open(os.path.join(place, "status"), encoding="ascii") as file:
            return file.read().strip()
        group = _group(place)
        if group and time.time() - began > timeout:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
            return ""
        if group and not _runs(group):
            seen_dead += 1
            if seen_dead > 2:  # its last words may have come between our two looks
                return ""
        if not group and time.time() - began > timeout:
            return ""
        time.sleep(_LOOK_EVERY)


def _group(place: str) -> int:
    try:
        with open(os.path.join(place, "pid"), encoding="ascii") as file:
            text = file.read().strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0


def _runs(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _tell_failure(ctx: Context, event: EventRow, command: str, status: str, place: str) -> None:
    output = ""
    with contextlib.suppress(OSError), open(os.path.join(place, "output"), "rb") as file:
        output = clean(file.read()[-_MOST_OUTPUT:].decode("utf-8", "replace"))
    how = f"status {status}" if status else "it was ended, or took too long"
    data = {"event": event.kind, "seq": event.seq, "command": command, "how": how, "output": output}
    with ctx.store.transaction() as db:
        events.append(db, project=event.project, worker=event.worker, kind="hook.failed", data=data)
