"""The parser of `ww next`.

Questions come first, then agents that are ready or have exited; among equals, who has been so for the longest.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.commands.attach import go
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.next import next_worker
from woodwind.ops.projects import current

EXAMPLES = ["ww next", "ww next --json   # who it is, without going there"]


def arguments(parser: ArgumentParser) -> None:
    """The command takes no words of its own."""


def run(ctx: Context, args: Namespace) -> Outcome:
    """Go there; without a person, only tell who."""
    worker = next_worker(ctx, current(ctx))
    if ctx.person:
        go(ctx, worker.id)
    return Outcome({"name": worker.name, "id": worker.id}, notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """The name."""
    screen.line(outcome.data["name"])
