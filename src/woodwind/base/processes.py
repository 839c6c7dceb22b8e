"""Facts about other processes: when they started, and who is in a folder."""

import os
import sys

from woodwind.base.files import is_inside
from woodwind.base.run import run


def start_time(pid: int) -> str:
    """A token that tells this process from any other that had or will have its pid; "" when it is gone."""
    if sys.platform == "linux":
        fields = _stat(pid)
        return fields[19].decode() if fields else ""
    done = run(["ps", "-o", "lstart=", "-p", str(pid)], ok=None)
    return " ".join(done.text.split())


def is_running(pid: int, start: str) -> bool:
    """Whether the process that `start_time` told this token of still runs; one that nobody collected does not."""
    if not pid or not start:
        return False
    if sys.platform == "linux":
        fields = _stat(pid)
        return bool(fields) and fields[0] not in (b"Z", b"X") and fields[19].decode() == start
    words = run(["ps", "-o", "state=,lstart=", "-p", str(pid)], ok=None).text.split()
    return bool(words) and not words[0].startswith("Z") and " ".join(words[1:]) == start


def environment_of(pid: int) -> dict[str, str]:
    """The environment that a process was started with; our own where the system does not tell."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = (entry.partition(b"=") for entry in file.read().split(b"\0"))
            return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name}
    except OSError:
        return dict(os.environ)


def group_runs(group: int) -> bool:
    """Whether a process of this group runs; those that have ended and that nobody collected do not count."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # there is one, under another user
    return bool(group_members(group))


def group_members(group: int) -> list[int]:
    """The processes of a group that run; those that have ended and that nobody collected do not count."""
    if sys.platform == "linux":
        stats = ((int(entry), _stat(int(entry))) for entry in os.listdir("/proc") if entry.isdigit())
        found = ((pid, fields[2].decode(), fields[0].decode()) for pid, fields in stats if fields)
    else:
        lines = run(["ps", "-A", "-o", "pid=,pgid=,state="]).text.splitlines()
        found = ((int(words[0]), words[1], words[2]) for words in map(str.split, lines) if len(words) == 3)
    return [pid for pid, of, state in found if of == str(group) and state[0] not in "ZX"]


def _stat(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat from the state on; none when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return []
    # The command's name may hold spaces and brackets: count fields after its closing bracket.
    return stat[stat.rindex(b")") + 2 :].split()


def ancestors(pid: int) -> set[int]:
    """`pid` and the processes that it descends from."""
    chain: set[int] = set()
    while pid > 1 and pid not in chain:
        chain.add(pid)
        fields = _stat(pid)
        pid = int(fields[1]) if fields else 0
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
