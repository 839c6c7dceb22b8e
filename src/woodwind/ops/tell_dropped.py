"""Telling a worker that it fell out of a queue: the reason, and the end of the failing output."""

from woodwind.model.errors import WoodwindError
from woodwind.model.text import clean
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.deliver import NOT_CONFIRMED, deliver
from woodwind.ops.foretell import is_between_turns
from woodwind.ops.listing import list_workers
from woodwind.ops.verify import last_lines
from woodwind.store import landing_queues, workers
from woodwind.store.landing_queues import Entry

_LINES = 60


def tell_dropped(ctx: Context, project: str) -> None:
    """Tell everybody who fell out and was not told; who cannot take a message now is told between its turns."""
    untold = [entry for entry in landing_queues.dropped(ctx.store, project) if not entry.told]
    if not untold:
        return
    ready = {w["id"] for w in list_workers(ctx).data if is_between_turns(w)}
    for entry in untold:
        worker = workers.find(ctx.store, entry.worker)
        if worker is None or worker.id not in ready:
            continue
        # Written down first: the queue and the daemon may come to it at the same time.
        with ctx.store.transaction() as db:
            if not landing_queues.take_telling(db, entry.queue, entry.worker):
                continue
        try:
            deliver(ctx, worker, message(worker, entry))
        except WoodwindError as error:
            if error.code == NOT_CONFIRMED:
                continue  # it was typed, once
            with ctx.store.transaction() as db:
                landing_queues.set_untold(db, entry.queue, entry.worker)


def message(worker: Worker, entry: Entry) -> str:
    """What a worker is told that fell out."""
    target = worker.worktree.base_branch or "its target"
    lines = [f"Your work was not landed in {target}: {clean(entry.why)}", ""]
    output = last_lines(entry.output, _LINES) if entry.output else ""
    if output:
        lines += ["The end of the output, with your work and that of others merged:", ""]
        lines += [f"    {line}" for line in clean(output).splitlines()]
        lines += ["", f"All of it: {entry.output}", ""]
    lines.append(f"Merge {target} into your branch, mend it there, run the checks, and commit.")
    return "\n".join(lines)
