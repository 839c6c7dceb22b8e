"""Files written whole or not at all, and locks that die with their holder."""

import contextlib
import fcntl
import os
from collections.abc import Iterator

from woodwind.model.errors import WoodwindError


def make_private_dir(path: str) -> None:
    """Make the folder `path` with its parents, readable only by this user."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise WoodwindError(
            f"cannot make the folder {path}: {error.strerror}",
            code="not_writable",
            hint="Woodwind keeps its state there. Make it writable, or set XDG_STATE_HOME to a folder that is.",
        ) from error


def write_atomic(path: str, data: bytes, *, mode: int = 0o600) -> None:
    """Put `data` at `path`, durable, so that a reader sees the old file or the new one and never a part."""
    temporary = f"{path}.{os.getpid()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_dir(os.path.dirname(path))


def sync_dir(path: str) -> None:
    """Make the entries of the folder `path` durable."""
    fd = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Locked(Exception):
    """Somebody else holds the lock."""


@contextlib.contextmanager
def locked(path: str, *, wait: bool = True) -> Iterator[None]:
    """Hold the kernel lock on the file `path`; with `wait=False`, raise Locked where it is taken.

    The file stays: deleting a lock file lets two holders in.
    """
    make_private_dir(os.path.dirname(path))
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise WoodwindError(
            f"cannot open the lock {path}: {error.strerror}",
            code="not_writable",
            hint="The folder must be writable, on a local file system with space left.",
        ) from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked(path) from None
        yield
    finally:
        os.close(fd)


def is_inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it, both taken as they are spelt."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
