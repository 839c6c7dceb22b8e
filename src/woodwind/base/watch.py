"""Being told by the kernel: of files that appear in folders, and of processes that end.

inotify and pidfds on Linux. The kqueue half, for macOS, is written from its manual and was never run.
"""

import ctypes
import os
import select
import struct
import sys
from typing import Any

_LINUX = sys.platform == "linux"
_CLOSE_WRITE, _MOVED_TO, _DELETE_SELF, _MOVE_SELF = 0x8, 0x80, 0x400, 0x800
_OVERFLOW, _IGNORED, _ONLYDIR, _DONT_FOLLOW = 0x4000, 0x8000, 0x01000000, 0x02000000
_MASK = _CLOSE_WRITE | _MOVED_TO | _DELETE_SELF | _MOVE_SELF | _ONLYDIR | _DONT_FOLLOW
_HEAD = struct.Struct("iIII")


class Folders:
    """Folders that are watched for files written to their end. `fileno` becomes readable when `read` has news."""

    def __init__(self) -> None:
        self._keys: dict[int, str] = {}
        self._handles: dict[str, int] = {}
        if _LINUX:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._fd = self._checked(self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK), "")
        else:
            self._queue: Any = select.kqueue()  # type: ignore[attr-defined,unused-ignore]

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._fd if _LINUX else int(self._queue.fileno())

    def add(self, key: str, path: str) -> bool:
        """Watch a folder under this key; False when it is not there."""
        if key in self._handles:
            return True
        try:
            handle = self._open(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        self._keys[handle] = key
        self._handles[key] = handle
        return True

    def watches(self, key: str) -> bool:
        """Whether a folder is watched under this key."""
        return key in self._handles

    def remove(self, key: str) -> None:
        """Watch a folder no longer."""
        handle = self._handles.pop(key, None)
        if handle is None:
            return
        self._keys.pop(handle, None)
        if _LINUX:
            self._libc.inotify_rm_watch(self._fd, handle)  # fails only where the folder is gone, and the watch with it
        else:
            os.close(handle)

    def read(self) -> tuple[set[str], bool]:
        """The keys of the folders in which something happened, and whether the kernel had to drop some news."""
        return self._read_inotify() if _LINUX else self._read_kqueue()

    def close(self) -> None:
        """Let all of them go."""
        if _LINUX:
            os.close(self._fd)
        else:
            for handle in self._keys:
                os.close(handle)
            self._queue.close()

    def _open(self, path: str) -> int:
        if _LINUX:
            return self._checked(self._libc.inotify_add_watch(self._fd, os.fsencode(path), _MASK), path)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        kq: Any = select
        flags, notes = kq.KQ_EV_ADD | kq.KQ_EV_CLEAR, kq.KQ_NOTE_WRITE | kq.KQ_NOTE_DELETE | kq.KQ_NOTE_RENAME
        self._queue.control([kq.kevent(fd, kq.KQ_FILTER_VNODE, flags, notes)], 0)
        return fd

    def _checked(self, result: int, path: str) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
        return result

    def _read_inotify(self) -> tuple[set[str], bool]:
        found: set[str] = set()
        dropped = False
        while True:
            try:
                data = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                return found, dropped
            at = 0
            while at < len(data):
                handle, mask, _, length = _HEAD.unpack_from(data, at)
                at += _HEAD.size + length
                dropped = dropped or bool(mask & _OVERFLOW)
                key = self._keys.get(handle)
                if key is not None:
                    found.add(key)
                    if mask & (_IGNORED | _MOVE_SELF):
                        self.remove(key)  # it may be made again, and is then added again

    def _read_kqueue(self) -> tuple[set[str], bool]:
        found: set[str] = set()
        kq: Any = select
        for event in self._queue.control(None, 1000, 0):
            key = self._keys.get(event.ident)
            if key is not None:
                found.add(key)
                if event.fflags & (kq.KQ_NOTE_DELETE | kq.KQ_NOTE_RENAME):
                    self.remove(key)
        return found, False


class End:
    """The end of a process: `fileno` becomes readable when it is there. ProcessLookupError when it ended before."""

    def __init__(self, pid: int) -> None:
        self._queue: Any = None
        if hasattr(os, "pidfd_open"):
            self._fd = os.pidfd_open(pid)
            return
        kq: Any = select
        self._queue = kq.kqueue()
        self._fd = int(self._queue.fileno())
        try:
            self._queue.control([kq.kevent(pid, kq.KQ_FILTER_PROC, kq.KQ_EV_ADD, kq.KQ_NOTE_EXIT)], 0)
        except BaseException:
            self._queue.close()
            raise

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._fd

    def close(self) -> None:
        """Wait for it no longer."""
        if self._queue is not None:
            self._queue.close()
        else:
            os.close(self._fd)
