"""The parser and picture of `ww runs`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.run_view import show_list
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.run import listed

EXAMPLES = ["ww runs", "ww runs --all"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("-a", "--all", action="store_true", help="of all projects")


def run(ctx: Context, args: Namespace) -> Outcome:
    """List them."""
    return Outcome(listed(ctx, "" if args.all else current(ctx)), notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """A table, newest first."""
    show_list(outcome.data, screen)
