"""The parser and picture of `ww diff`.

Everything since the worker left its base, uncommitted edits included; untracked files are named below.
"""

import sys
from argparse import ArgumentParser, Namespace

from woodwind.base.run import run_attached
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.git.call import argv as git_argv
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.diff import diff, diff_words, work_tree
from woodwind.ops.projects import current

EXAMPLES = ["ww diff add-greeting", "ww diff add-greeting --stat", "ww diff - --committed > work.patch"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)
    parser.add_argument("--stat", action="store_true", help="only the files and how much changed")
    parser.add_argument("--committed", action="store_true", help="only what is committed")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Compare; on a terminal in the user's own pager and colours."""
    worker = find_worker(ctx, current(ctx), args.name)
    if ctx.person:
        tree = work_tree(ctx, worker)
        words = diff_words(worker, tree, stat=args.stat, committed=args.committed)
        run_attached(git_argv(*tree.words(), *words))
        untracked = [] if args.committed else tree.changes().untracked
        return Outcome({"name": worker.name, "diff": "", "untracked": untracked}, notes=ctx.notes)
    return Outcome(diff(ctx, worker, stat=args.stat, committed=args.committed), notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """The text as git gives it."""
    text = outcome.data["diff"]
    if text and sys.stdout.isatty():
        screen.line(text.rstrip("\n"))
    else:
        sys.stdout.write(text)  # a patch in a file or pipe must have every byte as it is
    for path in outcome.data["untracked"]:
        screen.line(screen.paint(f"untracked: {path}", "dim"))
