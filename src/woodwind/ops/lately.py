"""What happened in the background within a day and still holds, newest first."""

from woodwind.base.clock import days_ago, to_ms
from woodwind.model.notices import KINDS, notice_of
from woodwind.model.sections import Notice
from woodwind.ops.context import Context
from woodwind.store import events, landings, notices, projects, removals, workers
from woodwind.store.events import EventRow

_DAYS = 1
_MOST = 30


def lately(ctx: Context, project: str) -> list[Notice]:
    """The notices of a project, or of all for ""; without those that a person dismissed."""
    names = projects.names(ctx.store)
    put_away = notices.dismissed(ctx.store)
    found: list[Notice] = []
    for row in events.latest(ctx.store, KINDS, project=project, after=to_ms(days_ago(_DAYS))):
        if len(found) == _MOST:
            break
        if row.seq in put_away or not _holds(ctx, row):
            continue
        worker = workers.find(ctx.store, row.worker) if row.worker else None
        shown = notice_of(row, worker.name if worker else "")
        if shown:
            found.append(shown._replace(project="" if project else names.get(row.project, "")))
    return found


def _holds(ctx: Context, row: EventRow) -> bool:
    """Whether what an event tells was not taken back since, nor is part of what another one tells."""
    if row.kind == "landing.done":
        landing = landings.find(ctx.store, str(row.data.get("landing", "")))
        return landing is None or landing.state == "done"
    if row.kind == "worker.removed":
        removal = removals.current(ctx.store, row.worker)
        if removal is None or removal.id != row.data.get("removal"):
            return False
        shipped = (one for one in landings.of_worker(ctx.store, row.worker) if one.removal == removal.id)
        return not any(one.state == "done" for one in shipped)
    return True
