"""`ww pause`: interrupt an agent and leave it at its prompt; everything is kept."""

from typing import Any

from woodwind.agents import registry as agents
from woodwind.model.errors import Refused
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.terminal import is_ours, require_pane
from woodwind.store import events, workers


def pause(ctx: Context, worker: Worker) -> dict[str, Any]:
    """Press the agent's interrupt keys and remember that it is paused."""
    with worker_lock(worker.id):
        mux, pane = require_pane(ctx, worker)
        if pane.dead or not is_ours(ctx, worker.id, pane):
            raise Refused(f"{worker.name} does not run, so there is nothing to pause", code="exited")
        agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
        mux.press(pane, *agent.interrupt)
        with ctx.store.transaction() as db:
            workers.set_phase(db, worker.id, Phase.PAUSED)
            events.append(db, project=worker.project, worker=worker.id, kind="worker.paused", data={})
    return {"name": worker.name, "id": worker.id, "phase": Phase.PAUSED.value}
