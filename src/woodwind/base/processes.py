"""Facts about other processes: when they started, and who is in a folder."""

import os
import sys

from woodwind.base.files import is_inside
from woodwind.base.run import run


def start_time(pid: int) -> str:
    """A token that tells this process from any other that had or will have its pid; "" when it is gone."""
    if sys.platform == "linux":
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                stat = file.read()
        except OSError:
            return ""
        # The command's name may hold spaces and brackets: count fields after its closing bracket.
        return stat[stat.rindex(b")") + 2 :].split()[19].decode()
    done = run(["ps", "-o", "lstart=", "-p", str(pid)], ok=None)
    return " ".join(done.text.split())


def ancestors(pid: int) -> set[int]:
    """`pid` and the processes that it descends from."""
    chain: set[int] = set()
    while pid > 1 and pid not in chain:
        chain.add(pid)
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                stat = file.read()
        except OSError:
            break
        pid = int(stat[stat.rindex(b")") + 2 :].split()[1])
    return chain


def occupants(folder: str) -> list[tuple[int, str]]:
    """(pid, command) of each visible process whose working directory is in `folder`."""
    found = []
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if not entry.isdigit():
            continue
        try:
            if not is_inside(os.readlink(f"/proc/{entry}/cwd"), folder):
                continue
            with open(f"/proc/{entry}/comm") as file:
                found.append((int(entry), file.read().strip()))
        except OSError:
            continue  # it ended meanwhile, or belongs to another user
    return found
