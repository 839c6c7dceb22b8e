"""A turn written down together with the event that tells of it."""

import sqlite3

from woodwind.model.turn import State, Turn
from woodwind.model.typed import Any
from woodwind.store import events, turns

_KINDS = {State.DONE: "turn.done", State.FAILED: "turn.failed", State.INTERRUPTED: "turn.interrupted"}


def keep_turn(db: sqlite3.Connection, project: str, worker: str, turn: Turn) -> None:
    """Write a turn down, with the event that tells of it, inside a transaction."""
    before = turns.state_of(db, turn.id)
    turns.save(db, worker, turn)
    if turn.state is before:
        return
    data: dict[str, Any] = {"turn": turn.id}
    kind = _KINDS.get(turn.state, "")
    if turn.state is State.RUNNING:
        kind = "turn.submitted"
        data["text"] = turn.text[:500]
    elif turn.state is State.DONE:
        data["last_words"] = turn.last_words
    elif turn.state is State.FAILED:
        data["error"] = turn.why
    if kind:
        events.append(db, project=project, worker=worker, kind=kind, data=data)
