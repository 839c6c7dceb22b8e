"""`ww ls`: every worker with what is known about it now. The hottest command: mind what it imports."""

import os
from typing import Any

from woodwind.agents import registry as agents
from woodwind.base.clock import from_ms
from woodwind.base.processes import start_time
from woodwind.git.identity import record_count
from woodwind.model.outcome import Outcome
from woodwind.model.status import Phase, Status, from_process
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Pane
from woodwind.ops.context import Context
from woodwind.ops.environment_state import unsettled
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
    rows = listing.rows(ctx.store, project)
    panes = panes_of({row.server for row in rows if row.server})
    names = projects.names(ctx.store) if everywhere else {}
    if not everywhere:
        ctx.notes += _gone(ctx, project, rows)
    entries = [_entry(row, panes.get(row.id), names) for row in rows]
    collided = listing.collisions(ctx.store, project)
    for entry in entries:
        entry["forecast"] = collided.get(entry["id"], [])
    unready = unsettled(ctx, project)
    for entry in entries:
        entry["environment"] = unready.get(entry["id"])
    return Outcome(entries, notes=ctx.notes)


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


def panes_of(servers: set[str]) -> dict[str, Pane]:
    """The live panes by worker, over all of these servers."""
    return {pane.worker: pane for server in sorted(servers) for pane in muxes.at(server).panes()}


def status_of(row: Listed, pane: Pane | None) -> tuple[Status, str]:
    """What the agent is doing, and why we say so."""
    if row.phase == Phase.CREATING:
        return Status.STARTING, "it is being made"
    if row.phase == Phase.QUEUED:
        return Status.STARTING, "it waits for room"
    if row.phase == Phase.PAUSED and pane is None:
        return Status.EXITED, "not started since it came back"
    proven = from_process(
        found=pane is not None,
        dead=pane.dead if pane else True,
        exit_status=pane.exit_status if pane else "",
        same_process=pane is not None and row.pid == pane.pid and start_time(pane.pid) == row.pid_start,
    )
    if proven or pane is None:
        return proven or (Status.UNKNOWN, "")
    agent = agents.built_in(row.agent)
    told = agent.status_from_title(pane.title) if agent else None
    return told or (Status.UNKNOWN, "it runs, and tells nothing about itself")


def _entry(row: Listed, pane: Pane | None, names: dict[str, str]) -> dict[str, Any]:
    try:
        status, detail = status_of(row, pane)
        created = from_ms(row.created_ms).isoformat()
    except (OSError, ValueError, OverflowError, TypeError) as damage:
        status, detail, created = Status.UNKNOWN, f"its row is damaged: {damage}", ""
    entry = {
        "id": row.id,
        "name": row.name,
        "status": status.value,
        "detail": detail,
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
