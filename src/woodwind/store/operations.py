"""The journal: what was begun, how far it came, and how it ended."""

import sqlite3

from woodwind.base.clock import new_id, now, to_ms
from woodwind.model.typed import Any
from woodwind.store.db import Store


class OperationRow:
    """A journalled operation."""

    __slots__ = ("args", "id", "kind", "project", "step", "worker")

    def __init__(self, id: str, project: str, worker: str, kind: str, args: dict[str, Any], step: str) -> None:
        self.id = id
        self.project = project
        self.worker = worker
        self.kind = kind
        self.args = args
        self.step = step


def begin(
    db: sqlite3.Connection, *, project: str, worker: str, kind: str, args: dict[str, Any], step: str = ""
) -> OperationRow:
    """Journal the start of an operation, and the step up to which it may come at once, inside a transaction."""
    import json  # 2 ms; `ww ls` only asks whether something is running

    row = OperationRow(new_id("o"), project, worker, kind, args, step)
    at = to_ms(now())
    db.execute(
        "INSERT INTO operation (id, project, worker, kind, args, step, created_at, updated_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (row.id, project, worker, kind, json.dumps(args), step, at, at),
    )
    return row


def intend(store: Store, operation: str, step: str) -> None:
    """Write down, durably, that a step is about to be done."""
    with store.transaction() as db:
        db.execute("UPDATE operation SET step = ?, updated_at = ? WHERE id = ?", (step, to_ms(now()), operation))


def intend_in(db: sqlite3.Connection, operation: str, step: str) -> None:
    """The same for several operations at once, inside a transaction."""
    db.execute("UPDATE operation SET step = ?, updated_at = ? WHERE id = ?", (step, to_ms(now()), operation))


def finish(db: sqlite3.Connection, operation: str, state: str) -> None:
    """Write down how an operation ended (done or undone), inside a transaction."""
    db.execute("UPDATE operation SET state = ?, updated_at = ? WHERE id = ?", (state, to_ms(now()), operation))


def any_running(store: Store, project: str) -> bool:
    """Whether an operation of the project is under way, or was when its process died."""
    sql = "SELECT 1 FROM operation WHERE project = ? AND state = 'running' LIMIT 1"
    return store.db.execute(sql, (project,)).fetchone() is not None


def running(store: Store, project: str, worker: str = "") -> list[OperationRow]:
    """Operations that have begun and not ended, of the project or of one worker."""
    import json

    rows = store.db.execute(
        "SELECT id, project, worker, kind, args, step FROM operation "
        "WHERE state = 'running' AND project = ? AND (? = '' OR worker = ?) ORDER BY created_at",
        (project, worker, worker),
    )
    return [OperationRow(r[0], r[1], r[2], r[3], json.loads(r[4]), r[5]) for r in rows]
