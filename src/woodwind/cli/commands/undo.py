"""The parser and picture of `ww undo`.

A removal is undone by bringing the worker back. A landing is undone by moving its target back to where it was, as long
as nothing came after it; otherwise by a commit that reverts it, verified like any landing. After `ww ship`, both.
After `ww queue --ship`, all that it landed; a name takes back one worker's part of it.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.commands import restore as restore_command
from woodwind.cli.landing import VERIFIED
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.undo_queue import undo_last

EXAMPLES = ["ww undo", "ww undo add-greeting", "ww undo l6ypmzbnp6v5a"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument(
        "name", metavar="NAME|ID", nargs="?", default="", help="whose, or which one of `ww history`; otherwise the last"
    )
    parser.add_argument("--no-verify", action="store_true", help="revert without running the [verify] command")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Undo it."""
    return Outcome(undo_last(ctx, current(ctx), args.name, verify=not args.no_verify), notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """What is as it was."""
    landing = outcome.data["landing"]
    if landing:
        how = "a commit reverts it" if landing["reverted"] else "it is back where it was"
        moved = f"{landing['from'][:10]} → {landing['to'][:10]}"
        screen.line(f"{screen.paint(landing['name'], 'bold')} is out of {landing['target']}: {how}, {moved}")
        if landing["reverted"]:
            loud = landing["verified"] in ("skipped", "none")
            screen.line(screen.paint(f"  {VERIFIED[landing['verified']]}", "yellow" if loud else "dim"))
    queue = outcome.data["queue"]
    if queue:
        how = "commits revert it" if queue["reverted"] else "it is back where it was"
        moved = f"{queue['from'][:10]} → {queue['to'][:10]}"
        names = screen.paint(", ".join(queue["taken_back"]), "bold")
        screen.line(f"{names}: out of {queue['target']}: {how}, {moved}")
        restore_command.render(Outcome(queue["restored"]), screen)
    if outcome.data["restored"]:
        restore_command.render(Outcome([outcome.data["restored"]]), screen)
