"""The parser of `ww shell`."""

from argparse import ArgumentParser, Namespace

from woodwind.base.run import run_attached
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.inside import folder_and_variables
from woodwind.ops.projects import current

EXAMPLES = ["ww shell add-greeting"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Open it; its exit status becomes ours."""
    if not ctx.person:
        raise UsageError("a shell needs a person at a terminal", hint="A script uses: ww exec NAME -- COMMAND")
    folder, env = folder_and_variables(ctx, find_worker(ctx, current(ctx), args.name))
    ctx.close()
    code = run_attached([ctx.environ.get("SHELL") or "/bin/sh"], cwd=folder, env=env)
    return Outcome({"folder": folder, "status": code}, exit_code=code if code >= 0 else 128 - code)


def render(outcome: Outcome, screen: Screen) -> None:
    """Nothing: the shell has said it all."""
