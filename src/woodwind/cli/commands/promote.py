"""The parser and picture of `ww promote`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
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
    project = current(ctx)
    return Outcome([promote(ctx, w) for w in find_workers(ctx, project, args.names)], notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """What moved."""
    for entry in outcome.data:
        screen.line(f"{screen.paint(entry['name'], 'bold')} has a session of its own now")
