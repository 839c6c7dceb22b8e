"""The parser and picture of `ww pause`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
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
    project = current(ctx)
    return Outcome([pause(ctx, w) for w in find_workers(ctx, project, args.names)], notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """Who is paused."""
    for entry in outcome.data:
        how = "interrupted" if entry["stopped"] else "told to stop"
        screen.line(f"{screen.paint(entry['name'], 'bold')} {how}. To go on: ww resume {entry['name']}")
