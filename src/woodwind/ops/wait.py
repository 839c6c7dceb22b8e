"""`ww wait`: until turns have ended or a status is there. It sleeps on the spools, and looks once a second besides."""

import select
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from woodwind.base import paths
from woodwind.base.watch import Folders
from woodwind.model.errors import NotFound, Refused, TimedOut, UsageError
from woodwind.model.status import Phase, Status
from woodwind.model.turn import State, Turn
from woodwind.model.worker import SHELL, Worker
from woodwind.ops.context import Context
from woodwind.ops.listing import told_question, told_turn
from woodwind.ops.observe import Sight, look
from woodwind.store import listing, turns

OUTCOMES = (State.DONE.value, State.FAILED.value, State.INTERRUPTED.value)
STATUSES = (Status.WORKING.value, Status.ASKING.value, Status.READY.value, Status.EXITED.value)
# Titles and screens change without a file in a spool: one look a second at all of them.
_BACKSTOP = 1.0


class Awaited(NamedTuple):
    """One worker that is waited for, and the turn that counts: a later or an earlier one does not."""

    worker: Worker
    turn: str


def wait(
    ctx: Context, workers: Sequence[Worker], *, timeout: float | None = None, until: str = "", any_one: bool = False
) -> list[dict[str, Any]]:
    """How each of the workers stands once all of them, or one, have come to their end; TimedOut otherwise."""
    if until and until not in (*OUTCOMES, *STATUSES):
        raise UsageError(f"nobody can be waited for to be {until!r}", hint=f"Use {', '.join((*OUTCOMES, *STATUSES))}.")
    last = turns.last_of_each(ctx.store)
    awaited = [Awaited(w, last[w.id].id if w.id in last else "") for w in workers]
    found = _wait(ctx, awaited, timeout, until, any_one)
    return [entry for entry in found if entry["met"]] if any_one else found


def _wait(
    ctx: Context, awaited: Sequence[Awaited], timeout: float | None, until: str, any_one: bool
) -> list[dict[str, Any]]:
    deadline = None if timeout is None else time.monotonic() + timeout
    folders = Folders()
    try:
        for each in awaited:
            folders.add(each.worker.id, paths.spool_dir(each.worker.id))
        while True:
            entries = _entries(ctx, awaited, until)
            met = [entry["met"] for entry in entries]
            if all(met) or (any_one and any(met)):
                return entries
            left = _BACKSTOP if deadline is None else min(_BACKSTOP, deadline - time.monotonic())
            if left <= 0:
                raise _too_late(entries, timeout or 0, until)
            if select.select([folders], [], [], left)[0]:
                folders.read()
            for each in awaited:  # a folder that was deleted, or comes only with the agent's start
                folders.add(each.worker.id, paths.spool_dir(each.worker.id))
    finally:
        folders.close()


def _entries(ctx: Context, awaited: Sequence[Awaited], until: str) -> list[dict[str, Any]]:
    ids = {each.worker.id for each in awaited}
    sights = look(ctx, [row for row in listing.rows(ctx.store) if row.id in ids])
    return [_entry(ctx, each, sights.get(each.worker.id), until) for each in awaited]


def _entry(ctx: Context, each: Awaited, sight: Sight | None, until: str) -> dict[str, Any]:
    if sight is None:
        raise NotFound(f"{each.worker.name} was removed while it was waited for", code="no_worker")
    turn = sight.turn  # as it was when its status was found
    if turn is None or turn.id != each.turn:
        turn = turns.find(ctx.store, each.turn) if each.turn else None
    status = sight.verdict.status
    if until in OUTCOMES:
        met = turn is not None and turn.state == until
        if turn is not None and not turn.is_open and not met:
            raise Refused(
                f"the turn of {each.worker.name} is {turn.state}, so it cannot be {until} any more",
                code="ended_otherwise",
                hint=f"See: ww show {each.worker.name}",
            )
    elif until:
        met = status.value == until
    else:
        met = _is_over(each, sight, turn)
    return {
        "name": each.worker.name,
        "id": each.worker.id,
        "met": met,
        "status": status.value,
        "detail": sight.verdict.detail,
        "turn": told_turn(turn),
        "question": told_question(sight),
    }


def _is_over(each: Awaited, sight: Sight, turn: Turn | None) -> bool:
    """Whether there is nothing to wait for: the turn has ended, or a person is needed first."""
    if sight.verdict.status is Status.ASKING:
        return True
    if turn is not None:
        return not turn.is_open
    if sight.row.phase == Phase.QUEUED:
        return False
    return each.worker.agent == SHELL or sight.verdict.status in (Status.READY, Status.EXITED)


def _too_late(entries: list[dict[str, Any]], timeout: float, until: str) -> TimedOut:
    missing = ", ".join(f"{entry['name']} ({entry['status']})" for entry in entries if not entry["met"])
    return TimedOut(
        f"after {timeout:g} seconds these were not {until or 'at the end of their turn'}: {missing}",
        hint="They go on. `ww ls` shows what they are doing.",
    )
