"""`ww promote`: a worker's window becomes a session of its own; its program runs on."""

from typing import Any

from woodwind.model.errors import Refused
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.launch import session_name
from woodwind.ops.terminal import require_terminal
from woodwind.store import workers


def promote(ctx: Context, worker: Worker) -> dict[str, Any]:
    """Move the worker's pane into its own session; return where it is now."""
    with worker_lock(worker.id):
        current = workers.find(ctx.store, worker.id)
        if current is None or current.launch == "session":
            raise Refused(f"{worker.name} has a session of its own already", code="already_session")
        mux, pane = require_terminal(ctx, worker, why="become a session")
        moved = mux.own_session(pane, name=session_name(ctx, worker))
        workers.set_launch(ctx.store, worker.id, "session")
    return {"name": worker.name, "id": worker.id, "launch": "session", "session": moved.session}
