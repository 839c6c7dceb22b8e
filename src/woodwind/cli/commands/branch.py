"""The parser and picture of `ww branch`.

The same as `ww new --in-place`: your own checkout is switched to a new branch, cut from the current one, and the
agent works there. It must be clean, and only one worker can be in it; a stash is never touched.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.commands import new
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context

EXAMPLES = ['ww branch "Fix the typo in the title"', 'ww branch "Try it" --base develop --attach']


def arguments(parser: ArgumentParser) -> None:
    """The words of `ww new`."""
    new.arguments(parser)
    parser.set_defaults(in_place=True)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Start the worker."""
    return new.run(ctx, args)


def render(outcome: Outcome, screen: Screen) -> None:
    """As for `ww new`."""
    new.render(outcome, screen)
