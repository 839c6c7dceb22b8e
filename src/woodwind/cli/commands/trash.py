"""The parser and picture of `ww trash`.

`ww trash prune` deletes parked folders that are older than [trash] days, and the oldest beyond [trash] max_size.
Before that, commits, tracked and untracked files are saved under refs/woodwind/saved; ignored files end there.
"""

import time
from argparse import ArgumentParser, Namespace
from datetime import datetime

from woodwind.cli.screen import Screen, age
from woodwind.cli.several import each
from woodwind.config.sizes import show_size
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.address import check_may_touch
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.purge import list_trash, prunable, purge
from woodwind.ops.restore import find_removed

EXAMPLES = ["ww trash ls", "ww trash prune", "ww trash prune add-greeting --yes"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("action", choices=("ls", "prune"), nargs="?", default="ls", help="ls (default) or prune")
    parser.add_argument("names", metavar="NAME", nargs="*", help="prune just these, whatever their age")
    parser.add_argument("--all", action="store_true", help="prune everything in the trash, whatever its age")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(ctx: Context, args: Namespace) -> Outcome:
    """List or prune."""
    project = current(ctx)
    if args.action == "ls":
        if args.names or args.all:
            raise UsageError("names and --all go with `ww trash prune`")
        return list_trash(ctx, project)
    chosen = [find_removed(ctx, project, n) for n in args.names] or prunable(ctx, project, everything=args.all)
    for worker, _ in chosen:
        check_may_touch(ctx, worker)
    if chosen and not args.yes:
        names = ", ".join(worker.name for worker, _ in chosen)
        if not ctx.confirm:
            raise UsageError(f"pruning {names} needs --yes where there is no terminal to ask on")
        if not ctx.confirm(f"Delete the parked folders of {names} for good? Ignored files in them will be lost."):
            raise WoodwindError("nothing was pruned", code="declined")
    removals = {worker.id: removal for worker, removal in chosen}
    parked = list({worker.id: worker for worker, _ in chosen}.values())
    pruned, failed = each(parked, lambda worker: purge(ctx, worker, removals[worker.id]), alone=len(parked) == 1)
    data = {"pruned": pruned, "failed": failed}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """A table, or what was pruned."""
    if isinstance(outcome.data, dict):
        for entry in outcome.data["pruned"]:
            freed = f"{show_size(entry['freed'])} freed; its work is saved under {entry['saved']}"
            screen.line(f"{screen.paint(entry['name'], 'bold')} pruned, {freed}")
        for entry in outcome.data["failed"]:
            screen.line(screen.paint(f"{entry['name']} not pruned: {entry['error']}", "red"))
        if not outcome.data["pruned"] and not outcome.data["failed"]:
            screen.line("Nothing in the trash is old or large enough to prune.")
        return
    if not outcome.data:
        screen.line("The trash is empty.")
        return
    now = time.time()
    rows = []
    for e in outcome.data:
        since = age(now - datetime.fromisoformat(e["removed_at"]).timestamp())
        left = datetime.fromisoformat(e["prunable_from"]).timestamp() - now
        kept = "pruned" if e["pruned"] else f"{age(left + 3600)} more" if left > 0 else "prunable"
        rows.append([e["name"], f"{since} ago", kept, show_size(e["size"]), e["branch"], e["title"]])
    screen.table(["NAME", "REMOVED", "KEPT", "SIZE", "BRANCH", "TASK"], rows)
