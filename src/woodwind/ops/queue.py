"""Workers that wait for room: started in the order in which they were made, whoever's project they are of."""

from woodwind.agents import registry as agents
from woodwind.agents.base import Start
from woodwind.base.clock import new_uuid
from woodwind.model.brief import POINTER
from woodwind.model.choice import parse_model
from woodwind.model.errors import WoodwindError
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.environment import holds_back
from woodwind.ops.journal import worker_lock
from woodwind.ops.limits import room
from woodwind.ops.resume import start_program
from woodwind.store import events, turns, workers


def start_waiting(ctx: Context) -> list[str]:
    """Start queued workers while there is room; return the names of those that were started."""
    started: list[str] = []
    while True:
        with room(ctx) as lack:
            waiting = [worker for worker in workers.queued(ctx.store) if not holds_back(ctx, worker.id)]
            if not waiting or lack:
                return started
            first = waiting[0]
            there = Context(first.worktree.path, ctx.environ)
            try:
                _start(there, first)
                started.append(first.name)
            except WoodwindError as error:
                _give_up(ctx, first, error)
            finally:
                there.close()


def _start(ctx: Context, worker: Worker) -> None:
    """Start a queued worker's agent as `ww new` would have."""
    with worker_lock(worker.id):
        current = workers.find(ctx.store, worker.id)
        if current is None or current.phase != Phase.QUEUED:
            return
        agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
        start = Start(
            prompt=POINTER,
            # After a start that was undone the agent may have that conversation already, and refuse to begin it.
            session=new_uuid() if turns.of_worker(ctx.store.db, worker.id, 1) else worker.agent_session,
            plan=worker.plan,
            model=parse_model(worker.model),
            permissions=worker.permissions,
            repository=ctx.repo.home,
            headless=worker.launch == "headless",
            untrusted=worker.untrusted,
        )
        start_program(ctx, worker, agent, start, None)


def _give_up(ctx: Context, worker: Worker, error: WoodwindError) -> None:
    """One that cannot be started does not hold up the others: it stays, paused, with the reason on record."""
    with ctx.store.transaction() as db:
        workers.set_phase(db, worker.id, Phase.PAUSED)
        data = {"error": error.message, "hint": error.hint}
        events.append(db, project=worker.project, worker=worker.id, kind="worker.not_started", data=data)
