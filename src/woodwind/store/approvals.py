"""Approvals: the exact texts from a project's file that its user allowed to run, by their hash."""

import sqlite3

from woodwind.base.clock import now, to_ms
from woodwind.store.db import Store


def is_approved(store: Store, project: str, hook: str, digest: str) -> bool:
    """Whether the user approved this text for this hook."""
    sql = "SELECT 1 FROM approval WHERE project = ? AND hook = ? AND hash = ?"
    return store.db.execute(sql, (project, hook, digest)).fetchone() is not None


def approve(db: sqlite3.Connection, project: str, hook: str, digest: str) -> None:
    """Allow a text, inside a transaction; what was approved for the hook before is not any more."""
    revoke(db, project, hook)
    db.execute("INSERT INTO approval VALUES (?, ?, ?, ?)", (project, hook, digest, to_ms(now())))


def revoke(db: sqlite3.Connection, project: str, hook: str) -> int:
    """Take back what was approved for a hook, inside a transaction; return how many texts."""
    return db.execute("DELETE FROM approval WHERE project = ? AND hook = ?", (project, hook)).rowcount
