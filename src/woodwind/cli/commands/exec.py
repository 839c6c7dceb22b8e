"""The parser of `ww exec`.

The command runs in the worker's folder, on this terminal; its exit status becomes that of `ww`.
"""

from argparse import REMAINDER, ArgumentParser, Namespace

from woodwind.base.run import run as run_program, run_attached
from woodwind.cli.screen import Screen
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.inside import folder_and_variables
from woodwind.ops.projects import current

EXAMPLES = ["ww exec add-greeting -- make test", "ww exec --json add-greeting -- git status --short"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("name", metavar="NAME", help="a worker's name, id, branch or path; - for the last one")
    parser.add_argument("command", nargs=REMAINDER, metavar="-- COMMAND", help="the command with its arguments")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Run it."""
    words = args.command[1:] if args.command[:2] == ["--json", "--"] else args.command
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise UsageError("there is no command", hint="For example: ww exec add-greeting -- make test")
    folder, env = folder_and_variables(ctx, find_worker(ctx, current(ctx), args.name))
    ctx.close()
    if args.json:
        done = run_program(words, cwd=folder, env=env, ok=None)
        data = {"status": done.code, "stdout": done.text, "stderr": done.stderr.decode("utf-8", "replace")}
        return Outcome(data, exit_code=_status(done.code))
    return Outcome({}, exit_code=_status(run_attached(words, cwd=folder, env=env)))


def _status(code: int) -> int:
    return code if code >= 0 else 128 - code


def render(outcome: Outcome, screen: Screen) -> None:
    """Nothing: the command has said it all."""
