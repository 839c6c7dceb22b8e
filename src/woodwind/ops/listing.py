"""`ww ls`: every worker with what is known about it now. The hottest command: mind what it imports."""

import os
from collections.abc import Sequence

from woodwind.base.clock import from_ms
from woodwind.git.identity import record_count
from woodwind.model.outcome import Outcome
from woodwind.model.status import Phase, Status
from woodwind.model.turn import Turn
from woodwind.model.typed import Any
from woodwind.ops.context import Context
from woodwind.ops.environment_state import unsettled
from woodwind.ops.observe import Sight, look
from woodwind.store import listing, operations, projects
from woodwind.store.listing import Listed


def list_workers(ctx: Context, *, everywhere: bool = False) -> Outcome:
    """The workers of the current project, or of all projects."""
    project = "" if everywhere else ctx.known_project
    if not everywhere and not project:
        return Outcome([])
    if project and (_elsewhere(ctx, project) or operations.any_running(ctx.store, project)):
        # A new store, a moved or copied repository, or something that may have died halfway: rare, and worth
        # loading the rest for.
        from woodwind.ops.projects import current

        current(ctx)
    entries = _entries(ctx, project, listing.rows(ctx.store, project), everywhere=everywhere)
    return Outcome(entries, notes=ctx.notes)


def list_some(ctx: Context, workers: Sequence[str], *, everywhere: bool = False) -> list[dict[str, Any]]:
    """These workers as `list_workers` has them; without those that are not there, or not in the current project."""
    project = "" if everywhere else ctx.known_project
    if not workers or not (everywhere or project):
        return []
    return _entries(ctx, project, listing.rows(ctx.store, project, workers), everywhere=everywhere)


def _entries(ctx: Context, project: str, rows: list[Listed], *, everywhere: bool) -> list[dict[str, Any]]:
    sights = look(ctx, rows)
    names = projects.names(ctx.store) if everywhere else {}
    if not everywhere:
        ctx.notes += _gone(ctx, project, rows)
    entries = [_entry(sights[row.id], names) for row in rows]
    collided = listing.collisions(ctx.store, project)
    dropped = listing.dropped(ctx.store, project)
    for entry in entries:
        entry["forecast"] = collided.get(entry["id"], [])
        entry["dropped"] = dropped.get(entry["id"], "")
    unready = unsettled(ctx, project)
    for entry in entries:
        entry["environment"] = unready.get(entry["id"])
    return entries


def _elsewhere(ctx: Context, project: str) -> bool:
    """Whether the store does not know the project, knows it in another place, or knows less of it than git."""
    known = projects.find(ctx.store, project)
    if known is None or known[0] != ctx.repo.common:
        return True
    return record_count(ctx.repo.common) > listing.held(ctx.store, project)


def _gone(ctx: Context, project: str, rows: list[Listed]) -> list[str]:
    """A remark on each worker whose folder was deleted from outside."""
    missing = {row.id for row in rows if row.phase != Phase.CREATING and not os.path.isdir(row.path)}
    if not missing or operations.any_running(ctx.store, project):
        return []  # a removal that is under way has just moved it
    still = [row for row in listing.rows(ctx.store, project) if row.id in missing]
    return [f"the folder of {row.name} is gone: {row.path}" for row in still]


def _entry(sight: Sight, names: dict[str, str]) -> dict[str, Any]:
    row, verdict = sight.row, sight.verdict
    detail = verdict.detail
    try:
        created, since = from_ms(row.created_ms).isoformat(), from_ms(sight.since).isoformat()
    except (ValueError, OverflowError, TypeError) as damage:
        created, since, detail = "", "", f"its row is damaged: {damage}"
    entry = {
        "id": row.id,
        "name": row.name,
        "status": verdict.status.value,
        "detail": detail,
        "since": since,
        "turn": told_turn(sight.turn),
        "question": told_question(sight),
        "phase": row.phase,
        "agent": row.agent,
        "permissions": row.permissions,
        "branch": row.branch,
        "path": row.path,
        "title": row.title,
        "launch": row.launch,
        "created_at": created,
        "project": row.project,
        "origin": row.origin,
        "url": row.url,
    }
    if names:
        entry["project_name"] = names.get(row.project, row.project)
    return entry


def told_turn(turn: Turn | None) -> dict[str, Any] | None:
    """A turn as it is told in JSON; None where there was none."""
    if turn is None:
        return None
    return {
        "id": turn.id,
        "state": turn.state.value,
        "kind": turn.kind,
        "begun_at": from_ms(turn.begun_at).isoformat(),
        "ended_at": from_ms(turn.ended_at).isoformat() if turn.ended_at else "",
        "last_words": turn.last_words,
        "why": turn.why,
    }


def told_question(sight: Sight) -> dict[str, str] | None:
    """The question that an agent shows, as it is told in JSON; None where it shows none."""
    verdict = sight.verdict
    if verdict.status is not Status.ASKING:
        return None
    reading = verdict.question.reading if verdict.question else None
    if reading is None:
        return {"id": "", "text": verdict.detail, "tool": ""}
    return {"id": reading.question, "text": reading.text or verdict.detail, "tool": reading.tool}
