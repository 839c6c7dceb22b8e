"""What a person allowed an agent for good, by project."""

import sqlite3

from woodwind.base.clock import now, to_ms
from woodwind.store.db import Store


def tools(store: Store, project: str, agent: str) -> list[str]:
    """The tools that this agent may use in this project without asking."""
    sql = "SELECT tool FROM allowed WHERE project = ? AND agent = ? ORDER BY tool"
    return [row[0] for row in store.db.execute(sql, (project, agent))]


def add(db: sqlite3.Connection, project: str, agent: str, tool: str) -> None:
    """Remember that a tool was allowed for good, inside a transaction."""
    db.execute("INSERT OR IGNORE INTO allowed VALUES (?, ?, ?, ?)", (project, agent, tool, to_ms(now())))
