"""The parser and picture of `ww restore`.

From the trash it comes back byte for byte. After `ww trash prune` it comes back from its saved ref: commits,
index, changed and untracked files, but no ignored ones.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.screen import Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.restore import find_removed, restore

EXAMPLES = ["ww restore add-greeting", "ww trash ls"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("names", metavar="NAME", nargs="+", help="the name, id or branch of a removed worker")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Bring them back."""
    project = current(ctx)
    named = (find_removed(ctx, project, name) for name in args.names)
    found = {removal.id: (worker, removal) for worker, removal in named}
    told: list[dict[str, Any]] = []
    for worker, removal in found.values():
        try:
            told.append(restore(ctx, worker, removal))
        except WoodwindError as error:
            if len(found) == 1:
                raise
            told.append({"name": worker.name, "id": worker.id, "error": error.message, "hint": error.hint})
    failed = any("error" in entry for entry in told)
    return Outcome(told, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """What is back."""
    for entry in outcome.data:
        if "error" in entry:
            screen.line(screen.paint(f"{entry['name']} not restored: {entry['error']}", "red"))
            continue
        screen.line(f"{screen.paint(entry['name'], 'bold')} is back on {entry['branch']} in {entry['path']}")
        if not entry["ignored_files"]:
            screen.line("  made again from its saved ref: ignored files are not part of that")
