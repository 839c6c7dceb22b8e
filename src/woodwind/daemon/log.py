"""The daemon's log: one JSON object a line, in a file that is turned over before it grows large."""

import json
import os
import threading
import time
from collections.abc import Iterator
from typing import Any, TextIO

from woodwind.base.clock import now
from woodwind.base.files import make_private_dir

MOST_BYTES = 1 << 20
_LOOK = 0.25


class Log:
    """Lines in a file; the one before it stays beside it as FILE.1. What cannot be written is dropped."""

    def __init__(self, path: str, most: int = MOST_BYTES) -> None:
        self.path = path
        self._most = most
        self._lock = threading.Lock()
        make_private_dir(os.path.dirname(path))

    def write(self, level: str, message: str, **facts: Any) -> None:
        """Record what happened; `level` is info or error."""
        entry = {"time": now().isoformat(), "level": level, "message": message, **facts}
        line = json.dumps(entry, ensure_ascii=True, default=str).encode() + b"\n"
        with self._lock:
            try:
                self._append(line)
            except OSError:
                return  # a full disk must not end the daemon

    def _append(self, line: bytes) -> None:
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if os.fstat(fd).st_size + len(line) > self._most:
                os.replace(self.path, f"{self.path}.1")
                os.close(fd)
                fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            os.write(fd, line)
        finally:
            os.close(fd)


def last_lines(path: str, count: int) -> list[str]:
    """The last lines of the log, those of the file before it included."""
    found: list[str] = []
    for name in (f"{path}.1", path):
        try:
            with open(name, encoding="utf-8", errors="replace") as file:
                found += file.read(2 * MOST_BYTES).splitlines()
        except FileNotFoundError:
            continue
    return found[-count:]


def follow(path: str, before: list[str]) -> Iterator[str]:
    """The lines `before`, then each further one as it is written; never ends."""
    yield from before
    file = _opened(path, end=True)
    while True:
        line = file.readline() if file else ""
        if line:
            yield line.rstrip("\n")
            continue
        time.sleep(_LOOK)
        if not file or _was_turned_over(path, file):
            if file:
                yield from file.read().splitlines()
                file.close()
            file = _opened(path, end=False)


def _opened(path: str, *, end: bool) -> TextIO | None:
    try:
        file = open(path, encoding="utf-8", errors="replace")  # noqa: SIM115 - the reader closes it
    except FileNotFoundError:
        return None
    if end:
        file.seek(0, os.SEEK_END)
    return file


def _was_turned_over(path: str, file: TextIO) -> bool:
    try:
        return os.stat(path).st_ino != os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return True
