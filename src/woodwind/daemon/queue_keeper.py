"""The keeper of the queue: one process per user, there only while workers wait for room.

It sleeps on the processes of the running agents, so that the end of one wakes it at once. Run as
`python -m woodwind.daemon.queue_keeper`.
"""

import os
import select
import sys
from collections.abc import Mapping

from woodwind.base import paths
from woodwind.base.files import Locked, locked
from woodwind.base.run import spawn
from woodwind.model.errors import WoodwindError
from woodwind.ops.context import Context
from woodwind.ops.limits import live_pids
from woodwind.ops.queue import start_waiting
from woodwind.store import workers

# Memory may become free, or a limit be raised, without any process ending.
_BACKSTOP_MS = 5000


def start_keeper(environ: Mapping[str, str]) -> None:
    """Start the keeper in the background; when one is there already, the new one leaves at once."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        words = [sys.executable, "-m", "woodwind.daemon.queue_keeper"]
        spawn(words, cwd="/", env=environ, stdin=null, stdout=null, stderr=null, new_session=True)
    finally:
        os.close(null)


def keep() -> None:
    """Start waiting workers as there is room for them, until none waits."""
    try:
        with locked(paths.lock_file("queue-keeper"), wait=False):
            while _one_round():
                pass
    except Locked:
        return


def _one_round() -> bool:
    """Start who can be started, then wait until something changed; False when nobody waits any more."""
    ctx = Context("/", os.environ)
    try:
        start_waiting(ctx)
        if not workers.queued(ctx.store):
            return False
        _wait_for_an_end(live_pids(ctx))
    except WoodwindError:
        _wait_for_an_end([])  # a locked store or a tmux that just went: try again after the backstop
    finally:
        ctx.close()
    return True


def _wait_for_an_end(pids: list[int]) -> None:
    """Return when one of the processes ends, or after the backstop."""
    poll = select.poll()
    watched = []
    for pid in pids:
        try:
            watched.append(os.pidfd_open(pid))
        except (OSError, AttributeError):
            continue  # gone already, or a system without pidfds: the backstop serves
        poll.register(watched[-1], select.POLLIN)
    try:
        poll.poll(_BACKSTOP_MS)
    finally:
        for fd in watched:
            os.close(fd)


if __name__ == "__main__":
    keep()
