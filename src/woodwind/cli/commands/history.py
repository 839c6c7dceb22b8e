"""The parser and picture of `ww history`."""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.landing import VERIFIED
from woodwind.cli.numbers import whole
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.history import history
from woodwind.ops.projects import current

EXAMPLES = ["ww history", "ww history --failed --lines 100"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("--failed", action="store_true", help="also what was tried and did not land")
    parser.add_argument("-l", "--lines", type=whole("--lines", 1), default=20, metavar="N", help="how many (20)")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Read it."""
    return Outcome(history(ctx, current(ctx), failed=args.failed)[: args.lines], notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """A table, newest first."""
    if not outcome.data:
        screen.line("Nothing has landed or been removed yet.")
        return
    rows = [[entry["id"], entry["at"][:16].replace("T", " "), entry["name"], _what(entry)] for entry in outcome.data]
    screen.table(["ID", "WHEN (UTC)", "NAME", "WHAT"], rows)


def _what(entry: dict[str, Any]) -> str:
    undone = ", undone" if entry["state"] == "undone" else ""
    if entry["kind"] == "remove":
        return f"removed{undone}"
    if entry["state"] in ("failed", "running"):
        return f"not landed in {entry['target']}: {entry['why'] or 'under way'}"
    if entry["kind"] == "pr":
        return f"pull request into {entry['target']}: {entry['output']}"
    moved = f"{entry['from'][:10]} → {entry['to'][:10]}"
    if entry["kind"] == "undo":
        return f"taken back out of {entry['target']}: {moved}"
    count = f"{entry['commits']} {'commit' if entry['commits'] == 1 else 'commits'}"
    return (
        f"landed in {entry['target']}: {count}, {moved}, {VERIFIED.get(entry['verified'], entry['verified'])}{undone}"
    )
