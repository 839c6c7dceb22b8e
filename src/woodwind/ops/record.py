"""What is new about agents, written down: their events, what became of their turns, and each status that changed."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from woodwind.agents.base import Agent
from woodwind.base import paths, spool
from woodwind.base.clock import new_id, now, to_ms
from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked, locked
from woodwind.base.processes import environment_of
from woodwind.model.reading import Reading, Seen
from woodwind.model.turn import MESSAGE, State, advance, at_exit, at_prompt, same_prompt
from woodwind.model.verdict import Verdict
from woodwind.muxes.base import Pane
from woodwind.ops.context import Context
from woodwind.ops.keep_turn import keep_turn
from woodwind.ops.spool import Item, collect
from woodwind.store import events, readings, told, turns, workers
from woodwind.store.listing import Listed

PORTION = readings.KEPT - 10
_TAKER_PATIENCE = 1.0

# How long a turn has to be under way, in milliseconds, before a terminal at its prompt can be the end of it.
_BEGUN = 4000
# A prompt that does not stand in the agent's own record after so long was lost.
_NEVER_TAKEN = 60_000


def take_spools(ctx: Context, rows: Sequence[Listed], agent_of: Callable[[str], Agent | None]) -> None:
    """Take the events of workers out of their spools into the store, one taker at a time."""
    with contextlib.suppress(Locked), _one_taker():
        clock = spool.now()
        known = {row.agent: agent_of(row.agent) for row in rows}
        found = [(row, collect(row.id, known[row.agent], clock)) for row in rows]
        queueing = {name for name, agent in known.items() if agent and agent.queues}
        # In portions of which the store remembers every name, should this process die before the files are gone.
        for start in range(0, max(len(items) for _, items in found), PORTION):
            _take(ctx, [(row, items[start : start + PORTION]) for row, items in found], queueing)


@contextlib.contextmanager
def _one_taker() -> Iterator[None]:
    """Be the only one who takes; Locked after a second: who holds it takes what there is, too."""
    deadline = time.monotonic() + _TAKER_PATIENCE
    while True:
        try:
            with locked(paths.lock_file("spools"), wait=False):
                yield
            return
        except Locked:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _take(ctx: Context, found: Sequence[tuple[Listed, list[Item]]], queueing: Collection[str]) -> None:
    """Take some events in, with what they mean for turns; then their files go."""
    with ctx.store.transaction() as db:
        for row, items in found:
            for item in items:
                if item.seen:
                    seen = readings.insert(db, row.id, item.seen, os.path.basename(item.path))
                    if seen:
                        _apply(db, row, seen, queues=row.agent in queueing)
            readings.prune(db, row.id)
        failpoint("observe.before_commit")
    failpoint("observe.after_commit")
    for _, items in found:
        for item in items:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(item.path)
                failpoint("observe.after_unlink")


def _apply(db: sqlite3.Connection, row: Listed, seen: Seen, *, queues: bool) -> None:
    for turn in advance(turns.of_worker(db, row.id), seen, new_id("t"), queues=queues):
        keep_turn(db, row.project, row.id, turn)
    reading = seen.reading
    if reading.session and not reading.of_subagent and seen.nonce == row.nonce:
        workers.learn_agent_session(db, row.id, reading.session)


def shown(db: sqlite3.Connection, row: Listed, clock: spool.Stamp, reading: Reading, before: Seen | None) -> None:
    """Write down what the terminal tells, where that has changed, inside a transaction."""
    if before and (before.reading.tells, before.reading.text) == (reading.tells, reading.text):
        if reading.source == "screen":
            readings.touch(db, before, clock.up)
        return
    readings.insert(db, row.id, Seen(reading, clock.boot, clock.up, 0, row.nonce))


def end_turns(db: sqlite3.Connection, row: Listed, *, how: str, alone: bool) -> None:
    """End the open turns of an agent that exited, inside a transaction; `how` is "" where its terminal is gone."""
    mine = [t for t in turns.of_worker(db, row.id) if t.nonce == row.nonce]
    for turn in at_exit(mine, to_ms(now()), how=how, alone=alone):
        keep_turn(db, row.project, row.id, turn)


def leave_turns(db: sqlite3.Connection, row: Listed, agent: Agent | None, outcome: Reading | None) -> None:
    """End the running turns of an agent that is back at its prompt, inside a transaction."""
    at = to_ms(now())
    # What the terminal shows right after a delivery may still be how it looked before.
    mine = [t for t in turns.of_worker(db, row.id) if t.nonce == row.nonce and not 0 <= at - t.begun_at < _BEGUN]
    tells_ends, queues = (agent.tells_ends, agent.queues) if agent else (False, False)
    for turn in at_prompt(mine, at, tells_ends=tells_ends, queues=queues, outcome=outcome):
        keep_turn(db, row.project, row.id, turn)


def follow_record(db: sqlite3.Connection, row: Listed, pane: Pane, agent: Agent) -> bool:
    """Whether the agent's own record tells how its running turns stand; what has ended is ended, inside a transaction.

    A turn whose prompt is not in it has not begun: an agent may show its prompt before it takes the first one.
    """
    running = [t for t in turns.of_worker(db, row.id) if t.nonce == row.nonce and t.state is State.RUNNING]
    if not agent.keeps_record or not running:
        return False
    at, last = to_ms(now()), running[-1]
    told = agent.recorded(environment_of(pane.pid), row.path, last.begun_at)
    if told is None:
        return False
    if told.session:
        workers.learn_agent_session(db, row.id, told.session)
    if not any(same_prompt(last.text, prompt) for prompt in told.prompts):
        lost = at - last.begun_at > _NEVER_TAKEN
        ended = at_prompt(running, at, tells_ends=True) if lost else []
    elif told.end:
        ended = at_prompt(running, at, tells_ends=False, outcome=told.end)
    else:
        return False
    for turn in ended:
        keep_turn(db, row.project, row.id, turn)
    return True


def drop_cut_short(db: sqlite3.Connection, row: Listed) -> None:
    """Settle, inside a transaction, the turns whose delivery died halfway: nobody holds its lock any more."""
    sending = [t for t in turns.of_worker(db, row.id) if t.state is State.SENDING and t.kind == MESSAGE]
    if not sending:
        return
    with contextlib.suppress(Locked), locked(paths.lock_file(f"{row.id}.delivery"), wait=False):
        why = "its delivery was cut short, and whether the agent got it is not known"
        for turn in sending:
            keep_turn(db, row.project, row.id, turn._replace(state=State.UNKNOWN, ended_at=to_ms(now()), why=why))


def announce(db: sqlite3.Connection, row: Listed, verdict: Verdict, since: int) -> told.Told:
    """Tell listeners of a status that changed, inside a transaction; return what they were told."""
    before = told.find(db, row.id)
    new = told.Told(verdict.status.value, verdict.detail, since)
    if before and before.status == new.status and (before.detail == new.detail or new.status == "working"):
        return before
    if before and before.status == new.status and new.status != "asking":
        new = new._replace(since=before.since)
    told.save(db, row.id, new)
    if not before or before.status != new.status or new.status == "asking":
        data = {"from": before.status if before else "", "to": new.status, "detail": new.detail}
        events.append(db, project=row.project, worker=row.id, kind="status.changed", data=data)
    return new
