"""The spool: how an agent's hook hands an event on, with nobody there to take it, and what its file's name tells."""

import os

from woodwind.model.typed import NamedTuple

VERSION = "1"
BAD = "bad"  # the folder inside a spool for what could not be used
_BOOT = "/proc/sys/kernel/random/boot_id"
_UPTIME = "/proc/uptime"


class Stamp(NamedTuple):
    """When an event was written, by the machine's own time since it started, and by which start of the agent."""

    boot: str
    up: int  # milliseconds
    pid: int
    nonce: str


def hook_command(folder: str, nonce: str) -> str:
    """One POSIX shell command that writes its standard input to a new file in `folder` and always succeeds.

    It is for one start of an agent, and so for this boot of the machine. One process besides the shell, which a shell
    that need not copy itself starts faster: hence the braces. The name is unique and tells the order; `set -C` never
    overwrites and never follows a link. The folder is made again where somebody deleted it, but not for a worker that
    is gone for good.
    """
    quoted = "'" + folder.replace("'", "'\\''") + "'"
    name = f"$d/{VERSION}_${{b}}_${{u}}_$$_{nonce}"
    return (
        f"{{ d={quoted};b={now().boot};PATH=/usr/bin:/bin:$PATH;umask 077;set -C;"
        f"read -r u r <{_UPTIME}||{{ b=0;u=$(date +%s);}};"
        f'[ -d "$d" ]||mkdir "$d";cat >"{name}";}} 2>/dev/null||:'
    )


def stamp_of(name: str) -> Stamp | None:
    """What the name of a spool file tells; None where it is not one of ours, or of a later version."""
    parts = name.split("_")
    if len(parts) != 5 or parts[0] != VERSION:
        return None
    try:
        return Stamp(parts[1], int(float(parts[2]) * 1000), int(parts[3]), parts[4])
    except (ValueError, OverflowError):
        return None


def now() -> Stamp:
    """The same clock, read by this process."""
    try:
        with open(_UPTIME, "rb") as file:
            up = int(float(file.read().split()[0]) * 1000)
        with open(_BOOT, "rb") as file:
            return Stamp(file.read().decode("ascii").strip(), up, os.getpid(), "")
    except (OSError, ValueError, IndexError):
        import time  # a system without /proc: its clock has to serve

        return Stamp("0", int(time.time()) * 1000, os.getpid(), "")


def waiting(folder: str) -> list[str]:
    """The names of what waits in a spool to be taken."""
    try:
        return [name for name in os.listdir(folder) if name != BAD]
    except (FileNotFoundError, NotADirectoryError):
        return []
