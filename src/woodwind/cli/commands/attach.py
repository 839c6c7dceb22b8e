"""The parser of `ww attach`.

Outside tmux this terminal shows the worker's; detach with your tmux prefix and d. Inside tmux your client
switches to it. Only for people: agents and scripts read with `ww log`.
"""

from argparse import ArgumentParser, Namespace

from woodwind.base.run import become
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_worker
from woodwind.ops.attach import attach_argv
from woodwind.ops.context import Context
from woodwind.ops.projects import current

EXAMPLES = ["ww attach add-greeting", "ww attach -"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)


def go(ctx: Context, name: str) -> None:
    """Become the program that shows the worker's terminal; returns never."""
    fresh = Context(ctx.cwd, ctx.environ, person=ctx.person)
    worker = find_worker(fresh, current(fresh), name)
    argv, env = attach_argv(fresh, worker)
    fresh.close()
    become(argv, env)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Go there."""
    go(ctx, args.name)
    return Outcome()


def render(outcome: Outcome, screen: Screen) -> None:
    """Nothing: the terminal is the worker's now."""
