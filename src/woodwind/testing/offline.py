"""Runs a command where only 127.0.0.1 can be reached: `python -m woodwind.testing.offline COMMAND …`.

In a network namespace of its own that has nothing but loopback. Where the system does not allow one, it says so and
runs the command all the same: then only its environment keeps it from the network.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_GET_FLAGS, _SET_FLAGS = 0x8913, 0x8914
_UP = 1


def enter() -> str:
    """Leave the network behind; why that is not possible, or ""."""
    if not sys.platform.startswith("linux"):
        return "this system has no network namespaces"
    # By a child first: some systems make the namespace and then refuse what it needs, and there is no way back.
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(tell, _unshare().encode())
        os._exit(0)
    os.close(tell)
    with open(told, encoding="utf-8") as answer:
        problem = answer.read()
    ended = os.waitpid(child, 0)[1]
    if not problem and ended:
        problem = "the trial of a network namespace failed"
    return problem or _unshare()


def _unshare() -> str:
    """Go into a new network namespace, with loopback alone; what failed, or ""."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    flags = _NEW_NET if user == 0 else _NEW_NET | _NEW_USER
    if libc.unshare(flags) != 0:
        return f"a network namespace is not allowed here ({os.strerror(ctypes.get_errno())})"
    try:
        if user != 0:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)
        _raise_loopback()
    except OSError as error:
        return f"a new network namespace cannot be used here ({error})"
    return ""


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _GET_FLAGS, asked))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def main() -> None:
    """Become the command, without a network."""
    if len(sys.argv) < 2:
        raise SystemExit("offline: which command?")
    problem = enter()
    print(f"offline: {problem or 'only 127.0.0.1 can be reached'}", file=sys.stderr, flush=True)
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
