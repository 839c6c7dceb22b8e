"""Who is at the other end of a Unix socket."""

import struct
import sys

from woodwind.model.typed import Any

_LINUX_CRED = struct.Struct("iII")


def peer_of(connection: Any) -> tuple[int, int]:
    """The process (0 where the system does not tell) and the user at the other end."""
    if sys.platform == "linux":
        import _socket  # as light as a client has to be

        found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _LINUX_CRED.size)
        pid, uid, _ = _LINUX_CRED.unpack(found)
        return pid, uid
    # struct xucred of macOS and the BSDs: version, user, … (LOCAL_PEERCRED at level 0). From the manual, never run.
    return 0, struct.unpack_from("II", connection.getsockopt(0, 1, 76))[1]
