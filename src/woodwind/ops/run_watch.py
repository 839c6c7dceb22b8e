"""What a run's workers have done since: read from the store at every look, so that no lost event can stall it."""

from collections.abc import Iterable

from woodwind.base.files import Locked
from woodwind.model.run import FINAL, Happened, Run, State, Task, What
from woodwind.model.status import Phase
from woodwind.model.storms import back_at, storm_of
from woodwind.model.turn import START_UNDONE, State as TurnState, Turn
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.ops.presence import with_person
from woodwind.ops.run_tasks import landed_as, merged_elsewhere
from woodwind.store import told, turns, workers
from woodwind.store.runs import RunRow

# A hang-up, a kill, a termination: an agent seldom ends itself like this.
_FROM_OUTSIDE = (1, 9, 15)
# Its clock stands still: somebody paused it, or it waits for room under [limits].
_HELD = (Phase.PAUSED, Phase.QUEUED)


def look(ctx: Context, row: RunRow, run: Run) -> list[Happened]:
    """What happened to the tasks that wait for their agents or for a person."""
    heard: list[Happened] = []
    held = [task for task in run.tasks.values() if task.attached and task.state not in FINAL]
    if held:
        still = with_person(ctx, [task.worker for task in held])
        heard += [Happened(What.DETACHED, task.id) for task in held if not _held(ctx, task, still)]
    for task in run.tasks.values():
        if task.state is State.WORKING:
            heard += _working(ctx, row, task)
        elif task.state is State.READY:
            heard += _ready(ctx, row, task)
    return heard


def _held(ctx: Context, task: Task, people: Iterable[str]) -> bool:
    """Whether a task is still held: by a person at its terminal, by `ww pause`, or for want of room."""
    if task.worker in people:
        return True
    worker = workers.find(ctx.store, task.worker)
    return task.state is State.WORKING and worker is not None and worker.phase in _HELD


def _working(ctx: Context, row: RunRow, task: Task) -> list[Happened]:
    worker = workers.find(ctx.store, task.worker)
    if worker is None or worker.phase == Phase.REMOVED:
        commit = landed_as(ctx, worker, row.target) if worker else ""
        if commit:  # a person did not wait for its end
            return [Happened(What.LANDED, task.id, task.delivery, commit=commit)]
        why = "its worker was removed while it worked"
        return [Happened(What.FAILED, task.id, task.delivery, text=why, hopeless=True)]
    found = turns.of_worker(ctx.store.db, task.worker, 20)
    if worker.phase == Phase.PAUSED and all(turn.why == START_UNDONE for turn in found):
        # It waited for room, and its start failed: nobody paused it.
        return [Happened(What.FAILED, task.id, task.delivery, text="it could not be started", storm="gone")]
    if worker.phase in _HELD:
        return [] if task.attached else [Happened(What.ATTACHED, task.id)]
    heard = _question(ctx, task)
    last = newest_turn(found, task.turn)
    if last is None or last.is_open:
        return heard
    if last.state is not TurnState.DONE:
        if with_person(ctx, [task.worker]):
            return heard if task.attached else [*heard, Happened(What.ATTACHED, task.id)]
        if _is_changing(task.worker):
            return heard
    return heard + _outcome(task, last)


def _is_changing(worker: str) -> bool:
    """Whether a command is at work on a worker: `ww pause` writes down only at its end that it cut the turn short."""
    try:
        with worker_lock(worker, wait=False):
            return False
    except Locked:
        return True


def newest_turn(found: list[Turn], began: str) -> Turn | None:
    """The turn whose end is the task's: the newest since it began, whoever gave it; an open one comes first.

    A start that was undone is none: the agent never had it.
    """
    number = next((turn.number for turn in found if turn.id == began), 0)
    since = [turn for turn in found if turn.number >= number and turn.why != START_UNDONE]
    return next((turn for turn in since if turn.is_open), since[-1] if since else None)


def _outcome(task: Task, turn: Turn) -> list[Happened]:
    if turn.state is TurnState.DONE:
        return [Happened(What.DONE, task.id, task.delivery, text=turn.last_words)]
    why = turn.why or "its turn was interrupted"
    storm = storm_of(why) if turn.state is TurnState.FAILED else ""
    if "terminal was closed" in why or any(f"exited with signal {n} " in why for n in _FROM_OUTSIDE):
        storm = "gone"
    return [Happened(What.FAILED, task.id, task.delivery, text=why, storm=storm, until=back_at(why))]


def _question(ctx: Context, task: Task) -> list[Happened]:
    seen = told.find(ctx.store.db, task.worker)
    question = f"{seen.since} {seen.detail}" if seen and seen.status == "asking" else ""
    if question == task.question:
        return []
    return [Happened(What.ASKING, task.id, text=question) if question else Happened(What.SETTLED, task.id)]


def _ready(ctx: Context, row: RunRow, task: Task) -> list[Happened]:
    """A task that a person ships: whether they did."""
    worker = workers.find(ctx.store, task.worker)
    commit = (landed_as(ctx, worker, row.target) or merged_elsewhere(ctx, worker, row.target)) if worker else ""
    if commit:
        return [Happened(What.LANDED, task.id, commit=commit)]
    if worker is None or worker.phase == Phase.REMOVED:
        return [Happened(What.DROPPED, task.id, text="its worker was removed, and its work did not land")]
    return []
