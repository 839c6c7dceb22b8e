"""The outbox: what people are to be told, on which way, and whether they were."""

import json
import sqlite3
from typing import Any, NamedTuple

from woodwind.base.clock import new_id, now, to_ms
from woodwind.store import events
from woodwind.store.db import Store


class Letter(NamedTuple):
    """One thing to tell on one way."""

    id: str
    way: str
    worker: str
    at: int  # of the event, in milliseconds since 1970
    content: dict[str, Any]


def cursor(store: Store, reader: str) -> int:
    """The last event that a reader has taken; one who never read begins with what comes now."""
    row = store.db.execute("SELECT seq FROM reader WHERE name = ?", (reader,)).fetchone()
    if row:
        return int(row[0])
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO reader VALUES (?, ?)", (reader, events.newest(store)))
    return cursor(store, reader)


def set_cursor(db: sqlite3.Connection, reader: str, seq: int) -> None:
    """Record how far a reader has come, inside the transaction of what it made of the events."""
    db.execute("UPDATE reader SET seq = ? WHERE name = ?", (seq, reader))


def add(db: sqlite3.Connection, *, event: int, way: str, worker: str, at: int, content: dict[str, Any]) -> None:
    """Put a letter in, inside a transaction; the same event goes each way once."""
    db.execute(
        "INSERT OR IGNORE INTO outbox (id, event, way, worker, at, content) VALUES (?, ?, ?, ?, ?, ?)",
        (new_id("n"), event, way, worker, at, json.dumps(content)),
    )


def waiting(store: Store) -> list[Letter]:
    """What is still to be told, oldest first."""
    rows = store.db.execute(
        "SELECT id, way, worker, at, content FROM outbox WHERE state = 'waiting' ORDER BY event, way"
    )
    return [Letter(id, way, worker, at, json.loads(content)) for id, way, worker, at, content in rows]


def set_state(store: Store, letter: str, state: str) -> None:
    """Record what became of a letter: sent, failed, or dropped because nobody is to be told any more."""
    with store.transaction() as db:
        db.execute("UPDATE outbox SET state = ?, settled_at = ? WHERE id = ?", (state, to_ms(now()), letter))


def states(store: Store) -> dict[str, int]:
    """How many letters there are in each state."""
    return dict(store.db.execute("SELECT state, count(*) FROM outbox GROUP BY state"))


def forget(store: Store, before: int) -> None:
    """Delete letters that were settled before a time."""
    sql = "DELETE FROM outbox WHERE state <> 'waiting' AND settled_at < ?"
    if store.db.execute(sql.replace("DELETE", "SELECT 1", 1), (before,)).fetchone():
        with store.transaction() as db:
            db.execute(sql, (before,))
