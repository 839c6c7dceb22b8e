"""A command of somebody else's: in a process group of its own, its output streamed, and ended as a whole."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence

from woodwind.base.processes import group_runs
from woodwind.base.run import spawn

# It waits until its parent has written down that it exists, and ends when the parent died before that.
_GATE = 'read -r go || exit 125; exec "$@" </dev/null'
_PATIENCE = 2.0


class Ended:
    """How a job ended: its exit status, and whether it had to be ended because its time was up."""

    __slots__ = ("code", "timed_out")

    def __init__(self, code: int, *, timed_out: bool) -> None:
        self.code = code
        self.timed_out = timed_out


def run_job(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    sink: Callable[[bytes], None],
    started: Callable[[int], None] = lambda _: None,
    timeout: float | None = None,
) -> Ended:
    """Run to the end, both outputs going to `sink` as they come; nothing of its process group is left afterwards.

    `started` is told the group before the command begins, so that it can be found after a crash of ours.
    """
    out, out_write = os.pipe()
    gate_read, gate = os.pipe()
    try:
        words = ["sh", "-c", _GATE, "sh", *argv]
        pid = spawn(words, cwd=cwd, env=env, stdin=gate_read, stdout=out_write, stderr=out_write, new_session=True)
    except BaseException:
        os.close(out)
        os.close(gate)
        raise
    finally:
        os.close(out_write)
        os.close(gate_read)
    status: int | None = None
    try:
        try:
            started(pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(gate, b"\n")
        finally:
            os.close(gate)
        status, timed_out = _follow(pid, out, sink, timeout)
    finally:
        os.close(out)
        end_group(pid)
        if status is None:
            status = os.waitpid(pid, 0)[1]
    return Ended(os.waitstatus_to_exitcode(status), timed_out=timed_out)


def _follow(pid: int, out: int, sink: Callable[[bytes], None], timeout: float | None) -> tuple[int | None, bool]:
    """(wait status, whether its time was up) of the command; what it left in the background is not waited for."""
    deadline = None if timeout is None else time.monotonic() + timeout
    os.set_blocking(out, False)
    poll = select.poll()
    poll.register(out, select.POLLIN | select.POLLHUP)
    watch = _pidfd(pid)
    if watch >= 0:
        poll.register(watch, select.POLLIN)
    try:
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None, True
            # Without a pidfd (macOS) its end is looked for five times a second.
            pause = left if watch >= 0 else 0.2 if left is None else min(0.2, left)
            ready = {fd for fd, _ in poll.poll(None if pause is None else pause * 1000)}
            if out in ready and not _drain(out, sink):
                poll.unregister(out)
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                _drain(out, sink)
                return status, False
    finally:
        if watch >= 0:
            os.close(watch)


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _drain(out: int, sink: Callable[[bytes], None]) -> bool:
    """Pass on what is there; False at its end."""
    while True:
        try:
            chunk = os.read(out, 1 << 16)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        sink(chunk)


def end_group(group: int) -> None:
    """End every process of a group: asked first, made to two seconds later."""
    for sign, patience in ((signal.SIGTERM, _PATIENCE), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, sign)
        end = time.monotonic() + patience
        while group_runs(group):
            if time.monotonic() >= end:
                break
            time.sleep(0.02)
        else:
            return
