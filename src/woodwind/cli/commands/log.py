"""The parser and picture of `ww log`."""

import sys
from argparse import ArgumentParser, Namespace

from woodwind.cli.numbers import whole
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.model.text import clean
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.environment_log import environment_log, follow_environment
from woodwind.ops.log import follow, landing_log, log
from woodwind.ops.projects import current

EXAMPLES = [
    "ww log add-greeting",
    "ww log add-greeting --lines 500",
    "ww log - --follow",
    "ww log add-greeting --environment",
    "ww log add-greeting --landing",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)
    parser.add_argument("-l", "--lines", type=whole("--lines", 1), default=50, metavar="N", help="how many lines (50)")
    parser.add_argument(
        "--environment", action="store_true", help="what the installation of its dependencies and its hooks printed"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with new lines until the agent exits")
    parser.add_argument("--landing", action="store_true", help="instead, what the [verify] command said when it landed")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Read the terminal."""
    if args.follow and args.json:
        raise UsageError("--follow has no end, so it cannot be one JSON document", hint="Leave one of them out.")
    project = current(ctx)
    if args.landing:
        if args.follow:
            raise UsageError("a landing's output has an end", hint="Leave --follow out.")
        name, text = landing_log(ctx, project, args.name, lines=args.lines)
        return Outcome({"name": name, "text": clean(text)}, notes=ctx.notes)
    worker = find_worker(ctx, project, args.name)
    if not args.follow:
        read = environment_log(worker, lines=args.lines) if args.environment else log(ctx, worker, lines=args.lines)
        return Outcome({"name": worker.name, "text": clean(read)}, notes=ctx.notes)
    for text in (follow_environment if args.environment else follow)(ctx, worker, lines=args.lines):
        sys.stdout.write(clean(text))
        sys.stdout.flush()
    return Outcome({"name": worker.name, "text": ""}, notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """The text as it is."""
    sys.stdout.write(outcome.data["text"])
