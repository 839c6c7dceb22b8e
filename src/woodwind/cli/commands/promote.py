"""The parser and picture of `ww promote`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.cli.several import each
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_workers
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.promote import promote

EXAMPLES = ["ww promote review-login"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Move the terminals."""
    chosen = find_workers(ctx, current(ctx), args.names)
    promoted, failed = each(chosen, lambda worker: promote(ctx, worker), alone=len(chosen) == 1)
    data = {"promoted": promoted, "failed": failed}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """What moved, and what did not and why."""
    for entry in outcome.data["promoted"]:
        screen.line(f"{screen.paint(entry['name'], 'bold')} has a session of its own now")
    for entry in outcome.data["failed"]:
        screen.line(screen.paint(f"{entry['name']} was not moved: {entry['error']}", "red"))
