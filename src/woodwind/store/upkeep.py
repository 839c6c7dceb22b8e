"""Looking after the store's file: its health, its size, and copies of it."""

import contextlib
import os
import sqlite3
from datetime import datetime

from woodwind.base.clock import to_ms
from woodwind.store.db import Store

_TABLES = ("project", "worker", "terminal", "operation", "removal", "event")


def counts(store: Store) -> dict[str, int]:
    """How many rows each table has."""
    return {t: int(store.db.execute(f"SELECT count(*) FROM {t}").fetchone()[0]) for t in _TABLES}


def problems(store: Store, *, thorough: bool) -> list[str]:
    """What SQLite's own check finds wrong; nothing when it is whole."""
    pragma = "integrity_check" if thorough else "quick_check"
    return [row[0] for row in store.db.execute(f"PRAGMA {pragma}") if row[0] != "ok"]


def size(store: Store) -> int:
    """The bytes of the store's file, and of what was written last and is not in it yet."""
    log = f"{store.path}-wal"
    return os.path.getsize(store.path) + (os.path.getsize(log) if os.path.exists(log) else 0)


def vacuum(store: Store) -> tuple[int, int]:
    """Give unused room back to the file system; the sizes before and after."""
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what was written last is not in the file yet
    before = os.path.getsize(store.path)
    store.db.execute("VACUUM")
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return before, os.path.getsize(store.path)


def purge(store: Store, before: datetime) -> dict[str, int]:
    """Delete events and ended operations from before a time; workers, removals and projects stay."""
    with store.transaction() as db:
        events = db.execute("DELETE FROM event WHERE at < ?", (to_ms(before),)).rowcount
        ended = "DELETE FROM operation WHERE state <> 'running' AND updated_at < ?"
        return {"events": events, "operations": db.execute(ended, (to_ms(before),)).rowcount}


def backup(store: Store, path: str) -> None:
    """Copy the store as it is now, whole, to a file that is not there yet."""
    temporary = f"{path}.{os.getpid()}.tmp"
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(temporary)) as target:
            store.db.backup(target)
        os.link(temporary, path)  # unlike a rename, it never replaces a file
    finally:
        os.unlink(temporary)
