"""Turns: rows <-> model."""

import sqlite3
from collections.abc import Sequence

from woodwind.model.turn import State, Turn
from woodwind.model.typed import Any
from woodwind.store.db import Store

_COLUMNS = "id, number, kind, text, state, prompt_id, nonce, begun_at, ended_at, last_words, why, inferred"
_WORDS = 4000


def save(db: sqlite3.Connection, worker: str, turn: Turn) -> None:
    """Add a turn, or write what has changed of it, inside a transaction."""
    values = turn._replace(text=turn.text[:_WORDS], last_words=turn.last_words[:_WORDS], why=turn.why[:_WORDS])
    marks = ", ".join("?" * (len(values) + 1))
    changes = ", ".join(f"{c} = excluded.{c}" for c in _COLUMNS.split(", ")[2:])
    sql = f"INSERT INTO turn (worker, {_COLUMNS}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {changes}"
    db.execute(sql, (worker, *values))


def delete(db: sqlite3.Connection, turn: str) -> None:
    """Forget a turn that was never delivered, inside a transaction."""
    db.execute("DELETE FROM turn WHERE id = ?", (turn,))


def of_worker(db: sqlite3.Connection, worker: str, limit: int = 50) -> list[Turn]:
    """The newest turns of a worker, oldest first."""
    sql = f"SELECT {_COLUMNS} FROM turn WHERE worker = ? ORDER BY number DESC LIMIT ?"
    return [_turn(row) for row in db.execute(sql, (worker, limit))][::-1]


def state_of(db: sqlite3.Connection, turn: str) -> State | None:
    """How far a turn is; None where it is new."""
    row = db.execute(f"SELECT {_COLUMNS} FROM turn WHERE id = ?", (turn,)).fetchone()
    return _turn(row).state if row else None


def find(store: Store, turn: str) -> Turn | None:
    """The turn with this id."""
    row = store.db.execute(f"SELECT {_COLUMNS} FROM turn WHERE id = ?", (turn,)).fetchone()
    return _turn(row) if row else None


def last_of_each(store: Store, workers: Sequence[str] = ()) -> dict[str, Turn]:
    """The newest turn of each worker that is not removed, or of these."""
    only = f" AND w.id IN ({', '.join('?' * len(workers))})" if workers else ""
    columns = ", ".join(f"t.{c}" for c in _COLUMNS.split(", "))
    rows = store.db.execute(
        f"SELECT w.id, {columns} FROM worker w JOIN turn t ON t.worker = w.id "
        f"AND t.number = (SELECT max(number) FROM turn WHERE worker = w.id) WHERE w.phase <> 'removed'{only}",
        workers,
    )
    return {row[0]: _turn(row[1:]) for row in rows}


def open_workers(store: Store) -> set[str]:
    """The workers with a turn that has not ended."""
    sql = "SELECT DISTINCT worker FROM turn WHERE state IN ('sending', 'running')"
    return {row[0] for row in store.db.execute(sql)}


def next_number(db: sqlite3.Connection, worker: str) -> int:
    """The number of a worker's next turn, inside a transaction."""
    row = db.execute("SELECT coalesce(max(number), 0) + 1 FROM turn WHERE worker = ?", (worker,)).fetchone()
    return int(row[0])


def _turn(row: tuple[Any, ...]) -> Turn:
    id, number, kind, text, state, prompt_id, nonce, begun_at, ended_at, last_words, why, inferred = row
    try:
        known = State(state)
    except ValueError:
        known = State.UNKNOWN  # written by a later version, or damaged
    return Turn(id, number, kind, text, known, prompt_id, nonce, begun_at, ended_at, last_words, why, bool(inferred))
