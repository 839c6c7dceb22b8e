"""`ww pause`: interrupt an agent and leave it at its prompt; everything is kept."""

import time
from collections.abc import Sequence
from typing import Any

from woodwind.agents import registry as agents
from woodwind.base import spool
from woodwind.base.clock import now, to_ms
from woodwind.model.errors import Refused
from woodwind.model.reading import Tells
from woodwind.model.status import Phase, Status
from woodwind.model.turn import State
from woodwind.model.worker import SHELL, Worker
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.ops.deliver import sight_of
from woodwind.ops.journal import worker_lock
from woodwind.ops.keep_turn import keep_turn
from woodwind.ops.reaction import await_reaction, shows_work, write_reading
from woodwind.ops.terminal import is_ours, require_terminal
from woodwind.store import events, turns, workers

# Two Escapes in one breath are another key to a terminal.
_BETWEEN_KEYS = 0.3
# How long the agent may take after each time that they are pressed.
_PATIENCE = (6.0, 6.0)


def pause(ctx: Context, worker: Worker) -> dict[str, Any]:
    """Press the agent's interrupt keys, wait until it has stopped, and remember that it is paused."""
    with worker_lock(worker.id):
        mux, pane = require_terminal(ctx, worker, why="be interrupted and go on later")
        if pane.dead or not is_ours(ctx, worker.id, pane):
            raise Refused(f"{worker.name} does not run, so there is nothing to pause", code="exited")
        if worker.agent == SHELL:
            raise Refused(f"{worker.name} has a shell and no agent, so there is nothing to pause", code="not_the_agent")
        agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
        before = sight_of(ctx, worker).verdict.status
        stopped = True
        # At its prompt, an agent may take the same keys as a wish to leave.
        pressed = before is not Status.READY
        if pressed:
            at = spool.now()
            stopped = _stop(ctx, worker, mux, pane, agent.interrupt)
            if stopped:
                write_reading(ctx, worker, Tells.INTERRUPTED, at)
            elif before is not Status.UNKNOWN:
                ctx.notes.append(f"nothing shows yet that {worker.name} has stopped: see `ww ls`")
        with ctx.store.transaction() as db:
            workers.set_phase(db, worker.id, Phase.PAUSED)
            events.append(db, project=worker.project, worker=worker.id, kind="worker.paused", data={})
            for turn in turns.of_worker(db, worker.id) if stopped else []:
                if turn.state is State.RUNNING:
                    ended = turn._replace(state=State.INTERRUPTED, ended_at=to_ms(now()), why="ww pause", inferred=True)
                    keep_turn(db, worker.project, worker.id, ended)
    phase = Phase.PAUSED.value
    return {"name": worker.name, "id": worker.id, "phase": phase, "pressed": pressed, "stopped": stopped}


def _stop(ctx: Context, worker: Worker, mux: Mux, pane: Pane, keys: Sequence[str]) -> bool:
    """Press the keys, and again while the terminal shows work: keys that come late together may be another key."""
    for patience in _PATIENCE:
        _press(mux, pane, keys)
        if await_reaction(ctx, worker, mux, pane, lambda status: status is Status.READY, patience):
            return True
        if not shows_work(ctx, worker, mux, pane):
            break
    return await_reaction(ctx, worker, mux, pane, lambda status: status is Status.READY)


def _press(mux: Mux, pane: Pane, keys: Sequence[str]) -> None:
    for number, key in enumerate(keys):
        if number:
            time.sleep(_BETWEEN_KEYS)
        mux.press(pane, key)
