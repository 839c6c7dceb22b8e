"""Queues that are landed: which workers are in one, and what became of each."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from woodwind.base.clock import new_id, now, to_ms
from woodwind.store.db import Store

WAITING, LANDED, DROPPED, UNDONE = "waiting", "landed", "dropped", "undone"


class Queue(NamedTuple):
    """A queue. `state` is running, done or stopped; `request` is what was asked for, as a list of values."""

    id: str
    project: str
    target: str
    request: list[Any]
    state: str
    verifications: int


class Entry(NamedTuple):
    """A worker in a queue. For the batch that it landed with, the target moved from `batch_old` to `batch_new`."""

    queue: str
    worker: str
    position: int
    state: str
    code: str
    why: str
    output: str
    landing: str
    batch_old: str
    batch_new: str
    told: bool


_ENTRY = "queue, worker, position, state, code, why, output, landing, batch_old, batch_new, told_at IS NOT NULL"


def _entry(row: tuple[Any, ...]) -> Entry:
    return Entry._make((*row[:-1], bool(row[-1])))


def begin(db: sqlite3.Connection, project: str, target: str, request: Sequence[Any], workers: Sequence[str]) -> str:
    """Write down a queue before anything of it lands, inside a transaction; return its id."""
    queue, at = new_id("q"), to_ms(now())
    db.execute(
        "INSERT INTO landing_queue (id, project, target, request, state, created_at) VALUES (?, ?, ?, ?, 'running', ?)",
        (queue, project, target, json.dumps(list(request)), at),
    )
    add(db, queue, workers)
    return queue


def add(db: sqlite3.Connection, queue: str, workers: Sequence[str]) -> None:
    """Put workers at a queue's end, those that it has already left as they are, inside a transaction."""
    last = db.execute("SELECT coalesce(max(position), 0) FROM landing_queue_entry WHERE queue = ?", (queue,)).fetchone()
    db.executemany(
        "INSERT OR IGNORE INTO landing_queue_entry (queue, worker, position, state, at) VALUES (?, ?, ?, 'waiting', ?)",
        [(queue, worker, last[0] + n, to_ms(now())) for n, worker in enumerate(workers, 1)],
    )


def leave(db: sqlite3.Connection, queue: str, worker: str) -> None:
    """Take a worker that still waits out of a queue, inside a transaction."""
    sql = "DELETE FROM landing_queue_entry WHERE queue = ? AND worker = ? AND state = ?"
    db.execute(sql, (queue, worker, WAITING))


def find(store: Store, queue: str) -> Queue | None:
    """The queue with this id."""
    sql = "SELECT id, project, target, request, state, verifications FROM landing_queue WHERE id = ?"
    row = store.db.execute(sql, (queue,)).fetchone()
    return Queue(row[0], row[1], row[2], json.loads(row[3]), row[4], row[5]) if row else None


def unfinished(store: Store, project: str) -> list[Queue]:
    """The queues of a project that are being landed, or were when their process died."""
    sql = "SELECT id FROM landing_queue WHERE project = ? AND state = 'running' ORDER BY created_at, id"
    return [q for (id,) in store.db.execute(sql, (project,)).fetchall() if (q := find(store, id))]


def entries(store: Store, queue: str) -> list[Entry]:
    """The workers of a queue in their order."""
    sql = f"SELECT {_ENTRY} FROM landing_queue_entry WHERE queue = ? ORDER BY position"
    return [_entry(row) for row in store.db.execute(sql, (queue,))]


def of_landing(store: Store, landing: str) -> Entry | None:
    """The entry that a landing belongs to, if it was landed by a queue."""
    sql = f"SELECT {_ENTRY} FROM landing_queue_entry WHERE landing = ?"
    row = store.db.execute(sql, (landing,)).fetchone()
    return _entry(row) if row and landing else None


def dropped(store: Store, project: str) -> list[Entry]:
    """The live workers that fell out of the last queue they were in."""
    rows = store.db.execute(
        f"SELECT {_ENTRY} FROM landing_queue_entry e WHERE state = 'dropped' AND NOT EXISTS "
        "(SELECT 1 FROM landing_queue_entry l WHERE l.worker = e.worker AND l.at > e.at) AND worker IN "
        "(SELECT id FROM worker WHERE project = ? AND phase IN ('running', 'paused', 'queued')) ORDER BY at",
        (project,),
    )
    return [_entry(row) for row in rows]


def change(db: sqlite3.Connection, queue: str, worker: str, **values: str) -> None:
    """Write what became of a worker, inside a transaction."""
    unknown = set(values) - set(Entry._fields)
    if unknown:
        raise ValueError(f"an entry has no {unknown}")
    names = ", ".join(f"{name} = ?" for name in values)
    sql = f"UPDATE landing_queue_entry SET {names} WHERE queue = ? AND worker = ?"
    db.execute(sql, (*values.values(), queue, worker))


def forgive(store: Store, queue: str) -> None:
    """What the queue landed is taken back: who fell out of it may fit in again."""
    with store.transaction() as db:
        db.execute("UPDATE landing_queue_entry SET state = 'undone' WHERE queue = ? AND state = 'dropped'", (queue,))


def take_telling(db: sqlite3.Connection, queue: str, worker: str) -> bool:
    """Write down that a worker is told why it fell out, inside a transaction; False when others did so before."""
    sql = "UPDATE landing_queue_entry SET told_at = ? WHERE queue = ? AND worker = ? AND told_at IS NULL"
    return db.execute(sql, (to_ms(now()), queue, worker)).rowcount == 1


def set_untold(db: sqlite3.Connection, queue: str, worker: str) -> None:
    """The worker could not be told after all, inside a transaction."""
    db.execute("UPDATE landing_queue_entry SET told_at = NULL WHERE queue = ? AND worker = ?", (queue, worker))


def count_verification(store: Store, queue: str) -> None:
    """One more verification was really run."""
    with store.transaction() as db:
        db.execute("UPDATE landing_queue SET verifications = verifications + 1 WHERE id = ?", (queue,))


def end(db: sqlite3.Connection, queue: str, state: str) -> None:
    """The queue is done, or was stopped, inside a transaction."""
    db.execute("UPDATE landing_queue SET state = ?, ended_at = ? WHERE id = ?", (state, to_ms(now()), queue))
