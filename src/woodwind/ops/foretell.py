"""Telling the younger of two workers that they collide: once per collision, and only between its turns."""

from woodwind.model.errors import WoodwindError
from woodwind.model.forecast import ranges_text
from woodwind.model.status import Status
from woodwind.model.text import clean, one_line
from woodwind.model.worker import SHELL, Worker
from woodwind.ops.context import Context
from woodwind.ops.deliver import NOT_CONFIRMED, deliver
from woodwind.ops.listing import list_workers
from woodwind.store import forecasts, workers
from woodwind.store.forecasts import Collision

_MOST_FILES = 20


def tell(ctx: Context, project: str) -> list[str]:
    """Tell every worker that is between turns of collisions that it was not told of; return their names."""
    if not ctx.loaded_config.config.forecast.tell:
        return []
    untold: dict[str, list[Collision]] = {}
    for collision in forecasts.collisions(ctx.store, project):
        if collision.other and not collision.told:
            untold.setdefault(collision.worker, []).append(collision)
    if not untold:
        return []
    between = {w["id"] for w in list_workers(ctx).data if is_between_turns(w)}
    return [name for id in untold if id in between and (name := _tell(ctx, id, untold[id]))]


def is_between_turns(entry: dict[str, object]) -> bool:
    """Whether an entry of the list is of an agent that can be told something without being disturbed."""
    turn = entry.get("turn")
    running = isinstance(turn, dict) and turn.get("state") == "running"
    return entry["status"] == Status.READY and entry["agent"] != SHELL and not running


def _tell(ctx: Context, id: str, collisions: list[Collision]) -> str:
    worker = workers.find(ctx.store, id)
    others = [workers.find(ctx.store, c.other) for c in collisions]
    if worker is None:
        return ""
    # Written down first: told twice would be worse than a message that a crash swallowed.
    with ctx.store.transaction() as db:
        forecasts.set_told(db, id, [c.other for c in collisions], told=True)
    try:
        deliver(ctx, worker, message([(o, c) for o, c in zip(others, collisions, strict=True) if o]))
    except WoodwindError as error:
        if error.code == NOT_CONFIRMED:
            return ""  # it was typed, and an agent that hangs must not find it in its input line again and again
        # It began a turn, asks something, or went away: it is told when it is between turns again.
        with ctx.store.transaction() as db:
            forecasts.set_told(db, id, [c.other for c in collisions], told=False)
        return ""
    return worker.name


def message(collisions: list[tuple[Worker, Collision]]) -> str:
    """What a worker is told: with whom it collides, and where."""
    lines = ["Woodwind foresees that your work will conflict with that of others, who began before you:", ""]
    for other, collision in collisions:
        lines.append(f"- {other.name} ({one_line(other.title, 80)}), branch {other.worktree.branch}:")
        for file in collision.files[:_MOST_FILES]:
            where = f", your lines {ranges_text(file['one_lines'])}" if file["one_lines"] else f" ({file['kind']})"
            lines.append(f"  - {one_line(clean(file['path']), 200)}{where}")
    lines += [
        "",
        "Nothing is broken yet. Where your task allows it, leave those places alone or make your change elsewhere;",
        "where it needs both changes, keep yours and say so. Do not touch the other worker's branch or folder.",
    ]
    return "\n".join(lines)
