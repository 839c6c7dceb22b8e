"""The tables of a TOML file, remembered until the file changes.

tomllib with what it imports, and a file full of comments, take 4 ms, which every `ww new` would pay.
"""

import contextlib
import json
import os
import time

from woodwind.base import paths
from woodwind.model.typed import Any

# A file that was changed this lately is not remembered: its next change may have the same time.
_SETTLED = 2_000_000_000


def tables_of(path: str) -> dict[str, Any]:
    """What the file holds, unchecked; ValueError where it is not TOML, OSError where it cannot be read."""
    with open(path, "rb") as file:
        state = os.fstat(file.fileno())
        stamp = [state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns]
        known = _remembered(path, stamp)
        if known is not None:
            return known
        import tomllib  # 3 ms

        tables = tomllib.load(file)
    if time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns) > _SETTLED:
        _remember(path, stamp, tables)
    return tables


def _place(path: str) -> str:
    return os.path.join(paths.parsed_dir(), os.path.abspath(path).replace("%", "%25").replace("/", "%2F"))


def _remembered(path: str, stamp: list[int]) -> dict[str, Any] | None:
    try:
        with open(_place(path), "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return None
    if isinstance(found, dict) and found.get("stamp") == stamp and isinstance(found.get("tables"), dict):
        return dict(found["tables"])
    return None


def _remember(path: str, stamp: list[int], tables: dict[str, Any]) -> None:
    """Best effort: dates are no JSON, a long path has no room in a file's name, and the folder may not be writable."""
    with contextlib.suppress(OSError, TypeError, ValueError):
        data = json.dumps({"stamp": stamp, "tables": tables}).encode()
        place = _place(path)
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.dirname(place), 0o700)  # where there is no state yet, this is not the one to begin it
        temporary = f"{place}.{os.getpid()}.tmp"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
            os.replace(temporary, place)
        except BaseException:
            os.unlink(temporary)
            raise
