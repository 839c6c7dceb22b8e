"""No terminal at all: a worker's program runs by itself, its output goes to a file, and how it ended is kept.

One folder per worker: `pane.json` says whose it is and which processes were started, `log` has all output,
`status` how the program ended. A small shell is the program's parent, because somebody has to collect its status
after `ww` is gone; a shell knows a death by signal N only as the status 128 + N, so the two read the same.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from woodwind.base.files import make_private_dir, write_atomic
from woodwind.base.processes import group_runs, is_running, start_time
from woodwind.base.run import spawn
from woodwind.model.errors import Refused, WoodwindError
from woodwind.muxes.base import HEADLESS, SCRUBBED, Pane, Program

GRACE = 2.0
# More of a log than this is never read at once: a flood without line ends must not fill the memory.
_MOST_TAIL = 16 << 20
_START_PATIENCE = 10.0
# Between a program's end and its status on disk the parent needs a few milliseconds, on a machine that is overrun
# seconds; whoever does not wait for it would take a program that ended well for one that failed.
_STATUS_PATIENCE = 5.0

# Both get all that varies as arguments, so that nothing is ever put into the text of a script.
# The parent waits until it is written down that it exists; when whoever does that dies first, nothing is started.
# Signals to the whole group end the program, and the parent stays to tell how.
_PARENT = """
cd /
IFS= read -r go || exit 1
exec </dev/null
trap : HUP INT QUIT TERM
child=$1 place=$2
shift 2
/bin/sh -c "$child" sh "$@"
code=$?
if [ "$code" -gt 128 ] && [ "$code" -le 192 ]; then how="signal $((code - 128))"; else how="status $code"; fi
printf '%s\\n' "$how" >"$place/status.tmp" && command -p mv -f "$place/status.tmp" "$place/status"
"""
# Tells its own process id, which is then the program's.
_CHILD = 'cd -- "$1" || exit 126; shift; echo $$; exec >&2; exec "$@"'

_children: set[int] = set()


def _reap() -> None:
    """Collect the parents that this process started and that have ended; otherwise they stay as zombies."""
    for pid in list(_children):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        _children.discard(pid)  # another thread may have been faster


class Growth:
    """Somebody reads a log, and is told when it grows or its program ends."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._seen = self._look()

    def __enter__(self) -> "Growth":
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing to let go of."""

    def _look(self) -> tuple[int, bool]:
        try:
            size = os.stat(os.path.join(self._place, "log")).st_size
        except FileNotFoundError:
            size = 0
        return size, os.path.exists(os.path.join(self._place, "status"))

    def wait(self, timeout: float) -> bool:
        # One person reads one file: two calls of stat per look, rarer while nothing happens, cost less than a watch.
        deadline, pause = time.monotonic() + timeout, 0.02
        while (now := self._look()) == self._seen:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, 0.25)
        self._seen = now
        return True


class Headless:
    """All workers that run without a terminal, each with a folder of its own below this one."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.server = HEADLESS + folder

    def panes(self, worker: str = "") -> list[Pane]:
        _reap()
        try:
            names = [name for name in sorted(os.listdir(self.folder)) if worker in ("", name)]
        except FileNotFoundError:
            return []
        return [pane for pane in map(self._pane, names) if pane]

    def open_session(
        self, *, worker: str, project: str, name: str, folder: str, program: Program | None = None
    ) -> Pane:
        make_private_dir(self._place(worker))
        self._write(worker, {"worker": worker, "project": project, "folder": folder})
        pane = self._find(worker)
        return self.start(pane, program) if program else pane

    def open_window(
        self, *, worker: str, project: str, name: str, folder: str, session: str, program: Program | None = None
    ) -> Pane:
        _no_terminal(worker)

    def start(self, pane: Pane, program: Program) -> Pane:
        argv, env, unset = program
        facts = self._facts(pane.worker)
        if not facts:
            raise WoodwindError(f"the folder of the headless worker {pane.worker} went away before its start")
        whole = {k: v for k, v in os.environ.items() if _is_passed_on(k) and k not in unset} | dict(env)
        place = self._place(pane.worker)
        gate_out, gate = os.pipe()
        answer, answer_in = os.pipe()
        log = os.open(
            os.path.join(place, "log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        try:
            words = ["/bin/sh", "-c", _PARENT, "sh", _CHILD, place, facts["folder"], *argv]
            try:
                parent = spawn(words, env=whole, stdin=gate_out, stdout=answer_in, stderr=log, new_session=True)
            except OSError as error:
                raise WoodwindError(f"{argv[0]} cannot be started: {error.strerror}") from error
            finally:
                for fd in (gate_out, answer_in, log):
                    os.close(fd)
            _children.add(parent)
            facts |= {"parent": parent, "parent_start": start_time(parent), "pid": 0, "pid_start": ""}
            self._write(pane.worker, facts)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(place, "status"))  # of the run before this one
            os.write(gate, b"go\n")
            pid = _number(answer)
        finally:
            os.close(gate)
            os.close(answer)
        if not pid:
            last = self.text(pane, lines=1).strip()
            raise WoodwindError(f"{argv[0]} could not be started in {facts['folder']}{last and ': '}{last}")
        self._write(pane.worker, facts | {"pid": pid, "pid_start": start_time(pid)})
        return self._find(pane.worker)

    def own_session(self, pane: Pane, *, name: str) -> Pane:
        _no_terminal(pane.worker)

    def text(self, pane: Pane, *, lines: int) -> str:
        return _tail(os.path.join(self._place(pane.worker), "log"), lines)

    def texts(self, panes: Sequence[Pane], *, lines: int) -> dict[str, str]:
        return {pane.worker: self.text(pane, lines=lines) for pane in panes}

    def screen(self, pane: Pane) -> str:
        return self.text(pane, lines=100)

    def paste(self, pane: Pane, text: str) -> None:
        _no_terminal(pane.worker)

    def press(self, pane: Pane, *keys: str) -> None:
        _no_terminal(pane.worker)

    def watch(self, pane: Pane) -> Growth:
        return Growth(self._place(pane.worker))

    def tail(self, pane: Pane) -> None:
        return None

    def watched(self) -> set[str]:
        return set()

    def kill(self, pane: Pane) -> None:
        self.end(pane)
        place = self._place(pane.worker)
        with contextlib.suppress(FileNotFoundError):
            # What says whose it is goes last, so that a deletion that was cut short is found and repeated.
            for name in sorted(os.listdir(place), key="pane.json".__eq__):
                os.unlink(os.path.join(place, name))
            os.rmdir(place)

    def end(self, pane: Pane) -> None:
        """End the program with its whole process group; its log and how it ended stay."""
        facts = self._facts(pane.worker)
        if not facts or not _is_ours(facts):
            return
        group = facts["parent"]
        if os.getpgrp() == group:
            os.setpgid(0, 0)  # an agent removes its own worker: what it began has to be finished
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)
            if _is_gone(group, GRACE):
                break
        else:
            raise WoodwindError(
                f"the processes of worker {pane.worker} do not end, not even by SIGKILL (process group {group})",
                hint="They wait for a device or a network file system. Try again when it answers.",
            )
        if number == signal.SIGKILL and not self._status(pane.worker):  # it took the parent along
            write_atomic(os.path.join(self._place(pane.worker), "status"), b"signal 9\n")

    def attach_argv(self, pane: Pane, *, inside: bool) -> list[str]:
        _no_terminal(pane.worker)

    def _place(self, worker: str) -> str:
        return os.path.join(self.folder, worker)

    def _write(self, worker: str, facts: Mapping[str, Any]) -> None:
        import json  # 2 ms, and `ww ls` loads this module for every tmux too

        write_atomic(os.path.join(self._place(worker), "pane.json"), json.dumps(facts).encode())

    def _facts(self, worker: str) -> dict[str, Any] | None:
        """What is written down about a worker's processes; None when there is nothing, or it is damaged."""
        import json  # 2 ms, which `ww ls` pays only where something runs headless

        try:
            with open(os.path.join(self._place(worker), "pane.json"), "rb") as file:
                found = json.load(file)
            start = {"parent": 0, "parent_start": "", "pid": 0, "pid_start": ""}
            return {**start, **found} if found["worker"] == worker and found["folder"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _status(self, worker: str) -> str:
        try:
            with open(os.path.join(self._place(worker), "status"), encoding="ascii", errors="replace") as file:
                return file.read(40).strip()
        except FileNotFoundError:
            return ""

    def _find(self, worker: str) -> Pane:
        pane = self._pane(worker)
        if not pane:
            raise WoodwindError(f"the folder of the headless worker {worker} went away", code="headless_gone")
        return pane

    def _pane(self, worker: str) -> Pane | None:
        facts = self._facts(worker)
        if not facts:
            return None
        # In this order: a program that ends in between is found by the second look.
        running = is_running(facts["pid"], facts["pid_start"])
        status = self._status(worker)
        if facts["pid"] and not running and not status:
            status = self._awaited_status(worker, facts)
        if not facts["pid"]:
            running = is_running(facts["parent"], facts["parent_start"])  # it is just being started
        try:
            printed = os.stat(os.path.join(self._place(worker), "log")).st_mtime
        except FileNotFoundError:
            printed = 0
        return Pane(
            worker=worker,
            project=facts.get("project", ""),
            id=worker,
            pid=facts["pid"],
            dead=not running,
            exit_status="" if running else status,
            session="",
            window="",
            last_output=int(printed),
            title="",
        )

    def _awaited_status(self, worker: str, facts: Mapping[str, Any]) -> str:
        """The status of a program that has just ended; "" when its parent was killed and cannot tell it."""
        deadline = time.monotonic() + _STATUS_PATIENCE
        while is_running(facts["parent"], facts["parent_start"]) and time.monotonic() < deadline:
            if status := self._status(worker):
                return status
            time.sleep(0.002)
        return self._status(worker)


def _is_passed_on(variable: str) -> bool:
    """Whether a variable of the caller's is the program's too; git's settings are, where git is led to is not."""
    return not variable.startswith(SCRUBBED) or variable.startswith(("GIT_CONFIG", "GIT_SSH"))


def _is_ours(facts: Mapping[str, Any]) -> bool:
    """Whether the process group is still the one that was started: its leader or the program itself proves it."""
    if is_running(facts["parent"], facts["parent_start"]):
        return True
    try:
        return is_running(facts["pid"], facts["pid_start"]) and os.getpgid(facts["pid"]) == facts["parent"]
    except ProcessLookupError:
        return False


def _is_gone(group: int, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while group_runs(group):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    _reap()
    return True


def _number(fd: int) -> int:
    """The number in the line that comes from a descriptor; 0 when none comes."""
    line, deadline = b"", time.monotonic() + _START_PATIENCE
    while not line.endswith(b"\n"):
        if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return 0
        chunk = os.read(fd, 64)
        if not chunk:
            return 0
        line += chunk
    return int(line)


def _tail(path: str, lines: int) -> str:
    """The last lines of a file that may be huge: only its end is read."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; only the opening may fail like this
    except FileNotFoundError:
        return ""
    with file:
        start = end = file.seek(0, os.SEEK_END)
        data = b""
        while start > 0 and data.count(b"\n") <= lines and end - start < _MOST_TAIL:
            # Each step doubles what was read, so that the counting stays cheap.
            start = max(0, start - max(1 << 16, end - start))
            file.seek(start)
            data = file.read(end - start)
    text = data.decode("utf-8", "replace")
    found = text.removesuffix("\n").split("\n") if text else []
    return "".join(f"{line.removesuffix(chr(13))}\n" for line in found[-lines:])


def _no_terminal(worker: str) -> NoReturn:
    raise Refused(
        "it runs headless, so it has no terminal",
        code="headless",
        hint=f"Read its output: ww log {worker} --follow",
    )
