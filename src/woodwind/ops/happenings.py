"""What happened: events with the names of those whom they are about, after a cursor."""

from typing import Any

from woodwind.base.clock import from_ms
from woodwind.ops.context import Context
from woodwind.store import events, projects, workers

MOST = 1000


def happened(ctx: Context, cursor: int, *, everywhere: bool = False) -> dict[str, Any]:
    """The first events after a cursor, the cursor to go on from, and whether there are more."""
    project = "" if everywhere else ctx.known_project
    if not everywhere and not project:
        return {"events": [], "cursor": cursor, "more": False}
    newest = events.newest(ctx.store)
    found = events.since(ctx.store, cursor, project=project, limit=MOST + 1)
    shown, more = found[:MOST], len(found) > MOST
    # Without more of ours, those of other projects need not be read again.
    end = shown[-1].seq if more else max(newest, shown[-1].seq if shown else 0)
    return {"events": [named(ctx, row._asdict()) for row in shown], "cursor": end, "more": more}


def named(ctx: Context, event: dict[str, Any]) -> dict[str, Any]:
    """An event as people and scripts get it: with names, a readable time, and its number as the cursor."""
    return {
        "cursor": event["seq"],
        "at": from_ms(event["at"]).isoformat(),
        "kind": event["kind"],
        "worker": event["worker"],
        "name": workers.name_of(ctx.store, event["worker"]) if event["worker"] else "",
        "project": event["project"],
        "project_name": projects.names(ctx.store).get(event["project"], ""),
        "data": event["data"],
    }
