"""The status that listeners were told last of each worker, so that what is new is news once."""

import sqlite3
from collections.abc import Sequence

from woodwind.model.typed import NamedTuple
from woodwind.store.db import Store


class Told(NamedTuple):
    """A status as it was announced, and since when it has been so (milliseconds since 1970)."""

    status: str
    detail: str
    since: int


def of_all(store: Store, workers: Sequence[str] = ()) -> dict[str, Told]:
    """What was told last, by worker; only of these, where some are named."""
    only = f" WHERE worker IN ({', '.join('?' * len(workers))})" if workers else ""
    rows = store.db.execute(f"SELECT worker, status, detail, since FROM told{only}", workers)
    return {row[0]: Told(*row[1:]) for row in rows}


def find(db: sqlite3.Connection, worker: str) -> Told | None:
    """What was told last of one worker."""
    row = db.execute("SELECT status, detail, since FROM told WHERE worker = ?", (worker,)).fetchone()
    return Told(*row) if row else None


def save(db: sqlite3.Connection, worker: str, told: Told) -> None:
    """Write down what is told now, inside a transaction."""
    db.execute("INSERT OR REPLACE INTO told VALUES (?, ?, ?, ?)", (worker, *told))
