"""Runs a command while the terminal stays alive: keys are still read, and the command can be stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

from woodwind.testing.rehearsal.terminal import Plain

_STOP_SECONDS = 1.0
# After its end, a command's output is read until it is quiet for this long: a child of it may hold the pipe.
_QUIET_SECONDS = 0.05


def run(
    screen: Plain,
    argv: Sequence[str],
    *,
    data: bytes = b"",
    output: Callable[[bytes], None] | None = None,
    limit: float | None = None,
    tick: Callable[[], None] = lambda: None,
) -> int | None:
    """The command's exit status (negative for a signal), or None if the limit ran out and it was stopped.

    `tick` is called whenever something happened; what it raises stops the command and is passed on.
    """
    child = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE if data else subprocess.DEVNULL,
        stdout=subprocess.PIPE if output else subprocess.DEVNULL,
        stderr=subprocess.STDOUT if output else subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    )
    try:
        return _watch(screen, child, data, output, None if limit is None else time.monotonic() + limit, tick)
    finally:
        if child.poll() is None:
            _stop(child)
        for pipe in (child.stdin, child.stdout):
            if pipe:
                pipe.close()


def _watch(
    screen: Plain,
    child: subprocess.Popen[bytes],
    data: bytes,
    output: Callable[[bytes], None] | None,
    end: float | None,
    tick: Callable[[], None],
) -> int | None:
    reader = child.stdout.fileno() if child.stdout else None
    left = memoryview(data)
    if child.stdin:
        os.set_blocking(child.stdin.fileno(), False)
    while True:
        tick()  # before the wait, too: a key may have come while another command was watched
        ended = child.poll() is not None
        if ended and reader is None:
            return child.returncode
        if end is not None and time.monotonic() >= end:
            return None
        timeout = _QUIET_SECONDS if ended else None if end is None else end - time.monotonic()
        writers = [child.stdin.fileno()] if child.stdin and not child.stdin.closed else []
        ready = screen.wait(timeout, [] if reader is None else [reader], writers)
        if child.stdin and ready.intersection(writers):
            left = _feed(child, left)
        if reader is not None and reader in ready:
            chunk = os.read(reader, 65536)
            if chunk and output:
                output(chunk)
            if not chunk:
                reader = None
        elif ended:
            return child.returncode


def _feed(child: subprocess.Popen[bytes], left: memoryview) -> memoryview:
    assert child.stdin
    try:
        left = left[os.write(child.stdin.fileno(), left) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        # The command does not want its input; that is its own business.
        left = left[:0]
    if not left:
        child.stdin.close()
    return left


def _stop(child: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            child.wait(_STOP_SECONDS)
            return
        except subprocess.TimeoutExpired:
            continue
