"""Landings and what was verified for them: rows <-> model."""

import sqlite3
from datetime import datetime
from typing import Any, NamedTuple

from woodwind.base.clock import from_ms, new_id, now, to_ms
from woodwind.store.db import Store


class Landing(NamedTuple):
    """One landing. `state` is running, done, failed or undone; `verified` is passed, reused, skipped or none.

    `kind` is land, or undo for one that takes another back, which `undoes` names; `why` says how it failed; `removal`
    is the one that `ww ship` made with it, and `committed` the commit that it made of what was not committed.
    """

    id: str
    project: str
    worker: str
    name: str
    target: str
    via: str
    remote: str
    method: str
    kind: str
    state: str
    tip: str
    old: str
    new: str
    commits: int
    verified: str
    command: str
    output: str
    why: str
    previous_phase: str
    removal: str
    undoes: str
    committed: str
    at: datetime

    @property
    def run(self) -> str:
        """The run whose own branch landed, in the place of a worker; "" for the landing of a worker."""
        return self.worker if self.worker.startswith("r") else ""


_COLUMNS = ", ".join(Landing._fields)


def _landing(row: tuple[Any, ...]) -> Landing:
    return Landing._make((*row[:-1], from_ms(row[-1])))


def add(db: sqlite3.Connection, landing: Landing) -> None:
    """Record a landing that begins, inside a transaction."""
    marks = ", ".join("?" for _ in Landing._fields)
    db.execute(f"INSERT INTO landing ({_COLUMNS}) VALUES ({marks})", (*landing[:-1], to_ms(landing.at)))


def change(db: sqlite3.Connection, landing: str, **values: str | int) -> None:
    """Write what became known of a landing, inside a transaction."""
    unknown = set(values) - set(Landing._fields)
    if unknown:
        raise ValueError(f"a landing has no {unknown}")
    db.execute(f"UPDATE landing SET {', '.join(f'{n} = ?' for n in values)} WHERE id = ?", (*values.values(), landing))


def find(store: Store, landing: str) -> Landing | None:
    """The landing with this id."""
    row = store.db.execute(f"SELECT {_COLUMNS} FROM landing WHERE id = ?", (landing,)).fetchone()
    return _landing(row) if row else None


def order(store: Store, landing: str) -> int:
    """A number that grows with each landing that is begun."""
    row = store.db.execute("SELECT rowid FROM landing WHERE id = ?", (landing,)).fetchone()
    return int(row[0]) if row else 0


def of_project(store: Store, project: str, *, most: int = 1000) -> list[Landing]:
    """The landings of a project, newest first."""
    sql = f"SELECT {_COLUMNS} FROM landing WHERE project = ? ORDER BY at DESC, rowid DESC LIMIT ?"
    return [_landing(row) for row in store.db.execute(sql, (project, most))]


def of_worker(store: Store, worker: str) -> list[Landing]:
    """The landings of a worker, newest first."""
    sql = f"SELECT {_COLUMNS} FROM landing WHERE worker = ? ORDER BY at DESC, rowid DESC"
    return [_landing(row) for row in store.db.execute(sql, (worker,))]


def begun(worker: str, **values: Any) -> Landing:
    """A landing that begins now, with what is known of it."""
    blank: dict[str, Any] = dict.fromkeys(Landing._fields, "")
    blank |= {"id": new_id("l"), "kind": "land", "state": "running", "commits": 0, "at": now(), "worker": worker}
    return Landing(**{**blank, **values})


def passed(store: Store, project: str, tree: str, command: str, environment: str) -> str | None:
    """Where the output of the verification is that this tree passed with this command and environment, or None."""
    sql = "SELECT output FROM verification WHERE project = ? AND tree = ? AND command = ? AND environment = ?"
    row = store.db.execute(sql, (project, tree, command, environment)).fetchone()
    return row[0] if row else None


def set_passed(store: Store, project: str, tree: str, command: str, environment: str, output: str) -> None:
    """Record that a tree passed."""
    with store.transaction() as db:
        db.execute(
            "INSERT OR REPLACE INTO verification VALUES (?, ?, ?, ?, ?, ?)",
            (project, tree, command, environment, output, to_ms(now())),
        )


def unverified_allowed(store: Store, project: str) -> bool | None:
    """What the user once said to landing without verification in this project, or None."""
    row = store.db.execute("SELECT allowed FROM unverified_landing WHERE project = ?", (project,)).fetchone()
    return bool(row[0]) if row else None


def allow_unverified(store: Store, project: str, *, allowed: bool) -> None:
    """Remember the user's answer for the project."""
    with store.transaction() as db:
        db.execute("INSERT OR REPLACE INTO unverified_landing VALUES (?, ?)", (project, allowed))
