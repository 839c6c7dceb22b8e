"""Terminals: which process was started for a worker, and where."""

import json
import sqlite3

from woodwind.base.clock import now, to_ms
from woodwind.store.db import Store


class Terminal:
    """A started process: its server, pid and start time tell it from any other."""

    __slots__ = ("env_names", "nonce", "pid", "pid_start", "server", "stream")

    def __init__(
        self, server: str, pid: int, pid_start: str, env_names: list[str], nonce: str = "", stream: str = ""
    ) -> None:
        self.server = server
        self.pid = pid
        self.pid_start = pid_start
        self.env_names = env_names
        self.nonce = nonce  # tells the events of this start from those of any other
        self.stream = stream  # where it serves its events; "" where it hands them on by itself


def find(store: Store, worker: str) -> Terminal | None:
    """The worker's terminal as it was last started."""
    row = store.db.execute(
        "SELECT server, pid, pid_start, env_names, nonce, stream FROM terminal WHERE worker = ?", (worker,)
    ).fetchone()
    return Terminal(row[0], row[1], row[2], json.loads(row[3]), row[4], row[5]) if row else None


def save(db: sqlite3.Connection, worker: str, terminal: Terminal) -> None:
    """Record what was started, inside a transaction."""
    db.execute(
        "INSERT OR REPLACE INTO terminal (worker, server, pid, pid_start, env_names, started_at, nonce, stream) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            worker,
            terminal.server,
            terminal.pid,
            terminal.pid_start,
            json.dumps(terminal.env_names),
            to_ms(now()),
            terminal.nonce,
            terminal.stream,
        ),
    )


def servers(store: Store) -> set[str]:
    """Every tmux server that a terminal was started on and whose worker is not removed."""
    return {
        r[0]
        for r in store.db.execute(
            "SELECT DISTINCT t.server FROM terminal t JOIN worker w ON w.id = t.worker WHERE w.phase <> 'removed'"
        )
    }


def streams(store: Store) -> dict[str, tuple[str, str]]:
    """Where the agents of workers serve their events, and the nonce of that start, by worker."""
    rows = store.db.execute(
        "SELECT t.worker, t.stream, t.nonce FROM terminal t JOIN worker w ON w.id = t.worker "
        "WHERE t.stream <> '' AND w.phase <> 'removed'"
    )
    return {worker: (url, nonce) for worker, url, nonce in rows}
