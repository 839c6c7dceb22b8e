"""The append-only log of what happened."""

import json
import sqlite3
from collections.abc import Sequence

from woodwind.base.clock import now, to_ms
from woodwind.model.typed import Any, NamedTuple
from woodwind.store.db import Connection, Store


class EventRow(NamedTuple):
    """One event as recorded. `seq` grows for ever and is the cursor of whoever reads along."""

    seq: int
    project: str
    worker: str
    at: int  # milliseconds since 1970
    kind: str
    data: dict[str, Any]


def append(db: sqlite3.Connection, *, project: str, worker: str, kind: str, data: dict[str, Any]) -> None:
    """Record an event inside the transaction of what it tells about; listeners are told after the commit."""
    db.execute(
        "INSERT INTO event (project, worker, at, kind, data) VALUES (?, ?, ?, ?, ?)",
        (project, worker, to_ms(now()), kind, json.dumps(data)),
    )
    if isinstance(db, Connection):
        db.has_news = True


def since(store: Store, seq: int, *, project: str = "", limit: int = 1000) -> list[EventRow]:
    """The first events after `seq`, of a project or of all, in their order.

    A `seq` from beyond the newest event is of an earlier store, so that everything is told again.
    """
    if seq > newest(store):
        seq = 0
    rows = store.db.execute(
        "SELECT seq, project, worker, at, kind, data FROM event WHERE seq > ? AND (? = '' OR project = ?) "
        "ORDER BY seq LIMIT ?",
        (seq, project, project, limit),
    )
    return [EventRow(seq, project, worker, at, kind, _object(text)) for seq, project, worker, at, kind, text in rows]


def latest(
    store: Store, kinds: Sequence[str], *, project: str = "", after: int = 0, limit: int = 100
) -> list[EventRow]:
    """The last events of these kinds since a time in milliseconds, of a project or of all, newest first."""
    marks = ", ".join("?" for _ in kinds)
    rows = store.db.execute(
        f"SELECT seq, project, worker, at, kind, data FROM event WHERE kind IN ({marks}) AND at >= ? "
        "AND (? = '' OR project = ?) ORDER BY seq DESC LIMIT ?",
        (*kinds, after, project, project, limit),
    )
    return [EventRow(seq, project, worker, at, kind, _object(text)) for seq, project, worker, at, kind, text in rows]


def newest(store: Store) -> int:
    """The number of the last event; 0 when there was none."""
    return int(store.db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0])


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}  # one damaged row must not hide those after it
    return found if isinstance(found, dict) else {}
