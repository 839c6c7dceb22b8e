"""The parser and picture of `ww path`."""

import sys
from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_workers
from woodwind.ops.context import Context
from woodwind.ops.projects import current

EXAMPLES = ['cd "$(ww path add-greeting)"']


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Find the folders."""
    found = find_workers(ctx, current(ctx), args.names)
    return Outcome([{"name": w.name, "path": w.worktree.path} for w in found], notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """One path a line."""
    for entry in outcome.data:
        sys.stdout.write(f"{entry['path']}\n")  # exactly as it is, for `cd "$(ww path …)"`
