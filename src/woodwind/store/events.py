"""The append-only log of what happened."""

import json
import sqlite3
from typing import Any

from woodwind.base.clock import now, to_ms


def append(db: sqlite3.Connection, *, project: str, worker: str, kind: str, data: dict[str, Any]) -> None:
    """Record an event inside the transaction of what it tells about."""
    db.execute(
        "INSERT INTO event (project, worker, at, kind, data) VALUES (?, ?, ?, ?, ?)",
        (project, worker, to_ms(now()), kind, json.dumps(data)),
    )
