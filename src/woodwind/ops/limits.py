"""[limits]: how many agents run now over all projects, what they take, and whether there is room for one more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from woodwind.base import paths
from woodwind.base.files import locked
from woodwind.config.schema import Limits
from woodwind.config.sizes import parse_size, show_size
from woodwind.ops.context import Context
from woodwind.store import terminals, workers


def live_pids(ctx: Context) -> list[int]:
    """The process of every agent that runs, over all projects."""
    from woodwind.ops.panes import panes_of  # 3 ms, for those who set limits

    return [pane.pid for pane in panes_of(terminals.servers(ctx.store)).values() if not pane.dead]


@contextmanager
def room(ctx: Context) -> Iterator[str]:
    """Why another agent has to wait, or "" when there is room; nobody else can take the room meanwhile."""
    limits = ctx.loaded_config.config.limits
    if not limits.workers and not limits.memory:
        yield ""
        return
    with locked(paths.lock_file("capacity")):
        yield _lack(ctx, limits)


def _lack(ctx: Context, limits: Limits) -> str:
    most_memory = parse_size(limits.memory) if limits.memory else 0
    live = live_pids(ctx)
    starting = workers.count_creating(ctx.store)
    if limits.workers and len(live) + starting >= limits.workers:
        return f"{len(live) + starting} of {limits.workers} workers run ([limits] workers)"
    if most_memory and live:
        taken = memory_of(live)
        if taken >= most_memory:
            return f"the agents take {show_size(taken)} of {show_size(most_memory)} ([limits] memory)"
    return ""


def memory_of(roots: list[int]) -> int:
    """The resident memory of these processes and all that they started, in bytes."""
    parents: dict[int, int] = {}
    resident: dict[int, int] = {}
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        parents[int(entry)] = int(fields[1])
        resident[int(entry)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    ours = set(roots)
    return sum(size for pid, size in resident.items() if _descends(pid, ours, parents))


def _descends(pid: int, roots: set[int], parents: dict[int, int]) -> bool:
    seen = set()
    while pid > 1 and pid not in seen:
        if pid in roots:
            return True
        seen.add(pid)
        pid = parents.get(pid, 0)
    return False
