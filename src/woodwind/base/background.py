"""Commands whose output goes to a file, and whose time is limited with that of all that they start."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence

from woodwind.base.processes import group_members
from woodwind.base.run import spawn
from woodwind.model.errors import TimedOut

_PATIENCE = 3.0


def run_logged(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    log: int,
    timeout: float | None,
    own_group: bool = False,
) -> int:
    """Run to the end with all output in `log`, and return the exit status; TimedOut after ending what it started.

    It runs in a process group of its own, or in the caller's, which then ends with the caller's.
    """
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    others = set() if own_group else set(group_members(os.getpgrp()))
    try:
        pid = spawn(argv, cwd=cwd, env=env, stdin=null, stdout=log, stderr=log, new_session=own_group)
    finally:
        os.close(null)
    if not _ended(pid, timeout):
        _end_group(pid if own_group else os.getpgrp(), others)
        os.waitpid(pid, 0)
        raise TimedOut(f"{' '.join(argv[:3])} did not end within {timeout:g} seconds")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _ended(pid: int, timeout: float | None) -> bool:
    """Wait until a child has ended, without collecting it; False when the time is over."""
    try:
        fd = os.pidfd_open(pid)
    except (OSError, AttributeError):  # a system without pidfds
        deadline = None if timeout is None else time.monotonic() + timeout
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if deadline is not None and time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(None if timeout is None else timeout * 1000))
    finally:
        os.close(fd)


def _end_group(group: int, but: set[int]) -> None:
    """End the processes of a group but for some: asked first, killed when they do not go."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _PATIENCE
        while left := [pid for pid in group_members(group) if pid not in but]:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        else:
            return
