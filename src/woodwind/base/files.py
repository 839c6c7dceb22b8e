"""Files written whole or not at all, and locks that die with their holder."""

import contextlib
import fcntl
import os
from _thread import get_ident
from collections.abc import Iterator, Sequence

from woodwind.base.failpoints import failpoint
from woodwind.model.errors import WoodwindError


def make_private_dir(path: str) -> None:
    """Make the folder `path` with its parents, readable only by this user."""
    try:
        _make_private(path)
    except OSError as error:
        raise WoodwindError(
            f"cannot make the folder {path}: {error.strerror}",
            code="not_writable",
            hint="Woodwind keeps its state there. Make it writable, or set XDG_STATE_HOME to a folder that is.",
        ) from error


def _make_private(path: str) -> None:
    """Like makedirs, which gives its mode only to the last folder; a umask would be that of all threads."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    except FileNotFoundError:
        _make_private(os.path.dirname(path))
        _make_private(path)


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


# By thread: another one may let its lock go, and its descriptor with it, at any moment.
_held: dict[int, set[int]] = {}


def held_locks() -> list[int]:
    """The descriptors of the locks that this thread holds, for a child that must not outlive them."""
    return sorted(_held.get(get_ident(), ()))


@contextlib.contextmanager
def lent(locks: Sequence[int]) -> Iterator[None]:
    """Let this thread's children keep the locks of another one, which holds them until this one is through."""
    thread = _note(locks)
    try:
        yield
    finally:
        _forget(thread, locks)


def _note(locks: Sequence[int]) -> int:
    """Write down that this thread has them; whoever lets them go says which thread that was."""
    thread = get_ident()
    _held.setdefault(thread, set()).update(locks)
    return thread


def _forget(thread: int, locks: Sequence[int]) -> None:
    mine = _held.get(thread, set())
    mine.difference_update(locks)
    if not mine:
        _held.pop(thread, None)


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
    holder = 0
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked(path) from None
        holder = _note([fd])
        yield
    finally:
        _forget(holder, [fd])
        os.close(fd)


def delete_tree(path: str, *, by_way_of: str) -> None:
    """Delete a folder that is renamed first: a deletion cut short leaves nothing at `path`, and can be repeated."""
    import shutil  # 3 ms, and every command imports this module

    for leftover in (by_way_of, path):
        if not os.path.lexists(leftover):
            continue
        if leftover == path:
            os.makedirs(os.path.dirname(by_way_of), mode=0o700, exist_ok=True)
            os.rename(path, by_way_of)
            failpoint("delete.after_rename")
        _make_deletable(by_way_of)
        shutil.rmtree(by_way_of)


def _make_deletable(folder: str) -> None:
    """Folders without write permission, as some package caches have them, cannot be emptied."""
    for here, folders, _ in os.walk(folder):
        for name in folders:
            full = os.path.join(here, name)
            if not os.path.islink(full) and not os.access(full, os.W_OK | os.X_OK | os.R_OK):
                os.chmod(full, 0o700)


def is_inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it, both taken as they are spelt."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
