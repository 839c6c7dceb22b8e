"""Removals: where each removed worktree is parked, and what became of it."""

import sqlite3
from datetime import datetime

from woodwind.base.clock import from_ms, now, to_ms
from woodwind.store.db import Store


class Removal:
    """One removal of a worker. `trash` is "" when there was no folder to park."""

    __slots__ = ("id", "path", "purged", "removed_at", "trash", "worker")

    def __init__(self, id: str, worker: str, path: str, trash: str, removed_at: datetime, purged: bool) -> None:
        self.id = id
        self.worker = worker
        self.path = path
        self.trash = trash
        self.removed_at = removed_at
        self.purged = purged


_COLUMNS = "id, worker, path, trash, removed_at, purged_at IS NOT NULL"


def _removal(row: tuple[str, str, str, str, int, int]) -> Removal:
    return Removal(row[0], row[1], row[2], row[3], from_ms(row[4]), bool(row[5]))


def add(db: sqlite3.Connection, *, id: str, worker: str, path: str, trash: str, at: datetime) -> None:
    """Record a removal, inside a transaction; a second call with its id changes nothing."""
    db.execute(
        "INSERT OR IGNORE INTO removal (id, worker, path, trash, removed_at) VALUES (?, ?, ?, ?, ?)",
        (id, worker, path, trash, to_ms(at)),
    )


def current(store: Store, worker: str) -> Removal | None:
    """The removal that a worker is in now."""
    row = store.db.execute(
        f"SELECT {_COLUMNS} FROM removal WHERE worker = ? AND restored_at IS NULL ORDER BY removed_at DESC LIMIT 1",
        (worker,),
    ).fetchone()
    return _removal(row) if row else None


def of_project(store: Store, project: str) -> list[Removal]:
    """The removals of a project that were not undone, newest first; purged ones included."""
    rows = store.db.execute(
        f"SELECT {', '.join('r.' + c for c in _COLUMNS.split(', '))} FROM removal r JOIN worker w ON w.id = r.worker "
        "WHERE w.project = ? AND r.restored_at IS NULL ORDER BY r.removed_at DESC, r.id",
        (project,),
    )
    return [_removal(row) for row in rows]


def history(store: Store, project: str) -> list[tuple[Removal, str, bool]]:
    """Every removal of a project, newest first, with the worker's name and whether it was undone."""
    rows = store.db.execute(
        f"SELECT {', '.join('r.' + c for c in _COLUMNS.split(', '))}, w.name, r.restored_at IS NOT NULL "
        "FROM removal r JOIN worker w ON w.id = r.worker WHERE w.project = ? ORDER BY r.removed_at DESC, r.id",
        (project,),
    )
    return [(_removal(row[:6]), row[6], bool(row[7])) for row in rows]


def set_restored(db: sqlite3.Connection, removal: str) -> None:
    """Record that a removal was undone, inside a transaction."""
    db.execute("UPDATE removal SET restored_at = ? WHERE id = ?", (to_ms(now()), removal))


def set_purged(db: sqlite3.Connection, removal: str) -> None:
    """Record that the parked folder was deleted, inside a transaction."""
    db.execute("UPDATE removal SET purged_at = ? WHERE id = ?", (to_ms(now()), removal))
