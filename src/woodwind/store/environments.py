"""Environments: a worker's block of ports, and the state of its preparation."""

import sqlite3

from woodwind.base.clock import now, to_ms
from woodwind.model.typed import NamedTuple
from woodwind.store.db import Store

_COLUMNS = "worker, port, ports, state, detail, pid, pid_start"


class Environment(NamedTuple):
    """As stored. `state` is none, pending, running, done, failed, timed_out or stopped."""

    worker: str
    port: int
    ports: int
    state: str
    detail: str
    pid: int
    pid_start: str


def find(store: Store, worker: str) -> Environment | None:
    """The worker's environment."""
    row = store.db.execute(f"SELECT {_COLUMNS} FROM environment WHERE worker = ?", (worker,)).fetchone()
    return Environment(*row) if row else None


def plan_of(store: Store, worker: str) -> str:
    """What was to be prepared, as it was written down."""
    row = store.db.execute("SELECT plan FROM environment WHERE worker = ?", (worker,)).fetchone()
    return str(row[0]) if row else ""


def unsettled(store: Store, project: str = "") -> list[Environment]:
    """The environments of live workers about which there is something to say: not ready, or failed."""
    found = store.db.execute(
        f"SELECT {_COLUMNS} FROM environment e JOIN worker w ON w.id = e.worker "
        "WHERE e.state NOT IN ('none', 'done') AND w.phase <> 'removed' AND (? = '' OR w.project = ?)",
        (project, project),
    )
    return [Environment(*row) for row in found]


def blocks(db: sqlite3.Connection, *, but: str = "") -> list[tuple[int, int]]:
    """The (first port, number of ports) of every worker that is there or in the trash, over all projects."""
    sql = (
        "SELECT e.port, e.ports FROM environment e JOIN worker w ON w.id = e.worker "
        "WHERE w.purged = 0 AND e.ports > 0 AND e.worker <> ?"
    )
    return db.execute(sql, (but,)).fetchall()


def insert(db: sqlite3.Connection, worker: str, *, port: int, ports: int) -> None:
    """Give a worker its block of ports (0: none), inside a transaction."""
    db.execute(
        "INSERT INTO environment (worker, port, ports, changed_at) VALUES (?, ?, ?, ?)",
        (worker, port, ports, to_ms(now())),
    )


def set_ports(db: sqlite3.Connection, worker: str, port: int, ports: int) -> None:
    """Give a worker another block, inside a transaction."""
    db.execute("UPDATE environment SET port = ?, ports = ? WHERE worker = ?", (port, ports, worker))


def set_plan(db: sqlite3.Connection, worker: str, plan: str) -> None:
    """Write down what is to be prepared, inside a transaction; it then waits for somebody to do it."""
    sql = "UPDATE environment SET plan = ?, state = 'pending', changed_at = ? WHERE worker = ?"
    db.execute(sql, (plan, to_ms(now()), worker))


def claim(store: Store, worker: str, pid: int, pid_start: str) -> bool:
    """Whether this process is the one that prepares the worker: only one ever is."""
    with store.transaction() as db:
        sql = (
            "UPDATE environment SET state = 'running', pid = ?, pid_start = ?, changed_at = ? "
            "WHERE worker = ? AND state = 'pending'"
        )
        return db.execute(sql, (pid, pid_start, to_ms(now()), worker)).rowcount == 1


def progress(store: Store, worker: str, detail: str) -> None:
    """Tell what is being done now."""
    with store.transaction() as db:
        sql = "UPDATE environment SET detail = ? WHERE worker = ? AND state = 'running'"
        db.execute(sql, (detail, worker))


def settle(db: sqlite3.Connection, worker: str, state: str, detail: str) -> bool:
    """Tell how a preparation ended that was under way, inside a transaction; False when it was not."""
    sql = (
        "UPDATE environment SET state = ?, detail = ?, changed_at = ? WHERE worker = ? "
        "AND state IN ('pending', 'running')"
    )
    return db.execute(sql, (state, detail, to_ms(now()), worker)).rowcount == 1
