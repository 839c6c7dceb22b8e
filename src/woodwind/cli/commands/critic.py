"""The parser and picture of `ww critic`.

The same checks that `ww ship`, `ww merge` and `ww rm` make; here nothing is done and nothing is counted. The exit
code is 1 when the critic would say no. What each check is worth is in [critic] of the configuration.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.critic import BLOCK, VERBS
from woodwind.model.errors import EXIT_DONE, EXIT_FAILED
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.critic import report
from woodwind.ops.projects import current

EXAMPLES = ["ww critic ship add-greeting", "ww critic delete add-greeting --json"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("verb", choices=VERBS, help="what is about to be done")
    worker_argument(parser, several=False)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Look."""
    data = report(ctx, find_worker(ctx, current(ctx), args.name), args.verb)
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_FAILED if data["blocked"] else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """One line per finding."""
    for finding in outcome.data["findings"]:
        where = f"{finding['path']}:{finding['line']}: " if finding["line"] else ""
        where = where or (f"{finding['path']}: " if finding["path"] else "")
        style = "red" if finding["level"] == BLOCK else "yellow"
        screen.line(f"{screen.paint(finding['level'], style)}  {finding['check']}: {where}{finding['message']}")
    if not outcome.data["findings"]:
        screen.line("Nothing speaks against it.")
