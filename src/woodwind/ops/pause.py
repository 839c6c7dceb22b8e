"""`ww pause`: interrupt an agent and leave it at its prompt; everything is kept."""

from typing import Any

from woodwind.agents import registry as agents
from woodwind.model.errors import Refused
from woodwind.model.status import Phase, Status
from woodwind.model.worker import SHELL, Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.terminal import is_ours, require_terminal
from woodwind.store import events, workers


def pause(ctx: Context, worker: Worker) -> dict[str, Any]:
    """Press the agent's interrupt keys and remember that it is paused."""
    with worker_lock(worker.id):
        mux, pane = require_terminal(ctx, worker, why="be interrupted and go on later")
        if pane.dead or not is_ours(ctx, worker.id, pane):
            raise Refused(f"{worker.name} does not run, so there is nothing to pause", code="exited")
        if worker.agent == SHELL:
            raise Refused(f"{worker.name} has a shell and no agent, so there is nothing to pause", code="not_the_agent")
        agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
        told = agent.status_from_title(pane.title)
        # At its prompt, an agent may take the same keys as a wish to leave.
        if not told or told[0] is not Status.READY:
            mux.press(pane, *agent.interrupt)
        with ctx.store.transaction() as db:
            workers.set_phase(db, worker.id, Phase.PAUSED)
            events.append(db, project=worker.project, worker=worker.id, kind="worker.paused", data={})
    return {"name": worker.name, "id": worker.id, "phase": Phase.PAUSED.value}
