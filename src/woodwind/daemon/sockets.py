"""The daemon's place: the lock that makes it the only one, its folder, and its two sockets."""

import contextlib
import fcntl
import os
import socket
import stat
import time

from woodwind.base import paths
from woodwind.base.files import make_private_dir
from woodwind.base.news import news_socket
from woodwind.model.errors import WoodwindError


class Taken(Exception):
    """Another daemon is there."""


class Place:
    """The lock, held for as long as this process lives, and the sockets. Taken when another daemon holds it."""

    def __init__(self, *, patience: float = 0) -> None:
        self._file = paths.daemon_file()
        make_private_dir(os.path.dirname(os.path.abspath(self._file)))
        # Not base.files.locked: what ops start must not inherit this lock and keep the next daemon out.
        self._fd = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._lock(patience)
        self.folder = paths.runtime_dir()
        _make_own(self.folder)
        self.stream = _bound(socket.SOCK_STREAM, os.path.join(self.folder, "socket"))
        self.stream.listen(64)
        self.news = _bound(socket.SOCK_DGRAM, news_socket(self.folder))
        # Last: from now on others find us.
        os.truncate(self._fd, 0)
        os.pwrite(self._fd, os.fsencode(self.folder) + b"\n", 0)

    def _lock(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(self._fd)
                    raise Taken from None
                time.sleep(0.02)

    def is_ours(self) -> bool:
        """Whether the file of our lock is still there: whoever deletes the state has no use for us any more."""
        try:
            return os.path.samestat(os.stat(self._file), os.fstat(self._fd))
        except OSError:
            return False

    def leave(self) -> None:
        """Close and remove the sockets, then give the place up."""
        for kind, path in ((self.stream, os.path.join(self.folder, "socket")), (self.news, news_socket(self.folder))):
            kind.close()
            with contextlib.suppress(OSError):
                os.unlink(path)
        with contextlib.suppress(OSError):
            os.truncate(self._fd, 0)
        os.close(self._fd)


def _make_own(folder: str) -> None:
    """Make the folder, or make sure that it is ours alone: below /tmp somebody else may have made it first."""
    make_private_dir(folder)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise WoodwindError(
            f"the folder {folder} for the daemon's socket is not yours",
            code="not_writable",
            hint="Remove it, or set XDG_RUNTIME_DIR to a folder of your own.",
        )
    os.chmod(folder, 0o700)


def _bound(kind: int, path: str) -> socket.socket:
    """A socket at this path; one that a dead daemon left there is replaced, which the lock makes safe."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    made = socket.socket(socket.AF_UNIX, kind)
    made.setblocking(False)
    made.bind(path)
    os.chmod(path, 0o600)
    return made
