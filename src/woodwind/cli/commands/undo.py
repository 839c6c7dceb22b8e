"""The parser and picture of `ww undo`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.commands import restore as restore_command
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.restore import find_removed, restore

EXAMPLES = ["ww undo", "ww undo add-greeting"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="whose removal; otherwise the last one")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Undo it."""
    worker, removal = find_removed(ctx, current(ctx), args.name)
    return Outcome([restore(ctx, worker, removal)], notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """What is back."""
    restore_command.render(outcome, screen)
