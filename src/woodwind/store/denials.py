"""How often the critic said no, per worker and per project."""

import sqlite3

from woodwind.base.clock import now, to_ms
from woodwind.store.db import Store

PROJECT = ""  # the row of the whole project


def count(store: Store, project: str, worker: str = PROJECT) -> tuple[int, int]:
    """(in a row, in all) for a worker, or for the project."""
    sql = "SELECT in_a_row, in_all FROM denial WHERE project = ? AND worker = ?"
    row = store.db.execute(sql, (project, worker)).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def add(db: sqlite3.Connection, project: str, worker: str) -> None:
    """Count one more, for the worker and the project, inside a transaction."""
    for who in (worker, PROJECT):
        db.execute(
            "INSERT INTO denial VALUES (?, ?, 1, 1, ?) ON CONFLICT (project, worker) "
            "DO UPDATE SET in_a_row = in_a_row + 1, in_all = in_all + 1, at = excluded.at",
            (project, who, to_ms(now())),
        )


def end_row(db: sqlite3.Connection, project: str, worker: str) -> None:
    """The critic had nothing against it: the rows end, inside a transaction."""
    db.execute("UPDATE denial SET in_a_row = 0 WHERE project = ? AND worker IN (?, '')", (project, worker))


def forgive(db: sqlite3.Connection, project: str, worker: str) -> None:
    """A person has looked at it: counting begins anew for the worker and the project, inside a transaction."""
    db.execute("DELETE FROM denial WHERE project = ? AND worker IN (?, '')", (project, worker))
