"""The parser and picture of `ww pause`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.cli.several import each
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_workers
from woodwind.ops.context import Context
from woodwind.ops.pause import pause
from woodwind.ops.projects import current

EXAMPLES = ["ww pause add-greeting", "ww pause one two"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Interrupt them."""
    chosen = find_workers(ctx, current(ctx), args.names)
    paused, failed = each(chosen, lambda worker: pause(ctx, worker), alone=len(chosen) == 1)
    data = {"paused": paused, "failed": failed}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """Who is paused, who is not and why."""
    for entry in outcome.data["paused"]:
        how = "interrupted" if entry["stopped"] else "told to stop"
        if not entry["pressed"]:
            how = "is paused; it was at its prompt"
        screen.line(f"{screen.paint(entry['name'], 'bold')} {how}. To go on: ww resume {entry['name']}")
    for entry in outcome.data["failed"]:
        screen.line(screen.paint(f"{entry['name']} was not paused: {entry['error']}", "red"))
