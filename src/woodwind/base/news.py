"""Telling a daemon, if there is one, that something was recorded."""

import os

from woodwind.base.paths import daemon_file


def news_socket(folder: str) -> str:
    """The datagram socket of the daemon whose sockets are in this folder."""
    return os.path.join(folder, "news")


def announce(store: str) -> None:
    """Say that an event was recorded; never waits and never fails, because a daemon is a comfort."""
    try:
        with open(daemon_file(store), "rb") as file:
            folder = os.fsdecode(file.read(4096).strip())
    except OSError:
        return  # there never was a daemon
    if not folder:
        return
    import _socket  # 0.4 ms where there is a daemon; the socket module costs 4

    try:
        sender = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    except OSError:
        return  # no descriptor left: the daemon looks by itself every few seconds
    try:
        sender.setblocking(False)
        sender.sendto(b"event", news_socket(folder))
    except OSError:
        pass  # it is not there any more, or has enough unread news to wake it
    finally:
        sender.close()
