"""The parser and picture of `ww rm`.

The worktree is moved, whole, to a trash folder beside it; ignored files, the index and the branch are kept,
and `ww restore NAME` brings everything back. Work that is not committed or not merged is a reason to refuse.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.address import check_may_touch, find_workers
from woodwind.ops.context import Context
from woodwind.ops.critic import judge
from woodwind.ops.projects import current
from woodwind.ops.remove import Findings, remove

EXAMPLES = ["ww rm add-greeting", "ww rm add-greeting --force --yes", "ww rm one two three"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)
    parser.add_argument(
        "-f", "--force", action="store_true", help="also with uncommitted or unmerged work, which is parked too"
    )
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Remove them; every one is looked at before the first is touched."""
    project = current(ctx)
    found = find_workers(ctx, project, args.names, exact=True)
    for worker in found:
        check_may_touch(ctx, worker)
        if not args.force:
            judge(ctx, worker, "delete")
    if not args.yes:
        names = ", ".join(w.name for w in found)
        if not ctx.confirm:
            raise UsageError(f"removing {names} needs --yes where there is no terminal to ask on")
        put_away = [f"  {w.name}: {reason}" for w in found for reason in Findings(ctx, w).reasons] if args.force else []
        if not ctx.confirm("\n".join([*put_away, f"Remove {names}?"])):
            raise WoodwindError("nothing was removed", code="declined")
    removed: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for worker in found:
        try:
            removed.append(remove(ctx, worker, force=args.force))
        except WoodwindError as error:
            if len(found) == 1:
                raise
            failed.append({"name": worker.name, "error": error.message, "hint": error.hint})
    return Outcome(
        {"removed": removed, "failed": failed}, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE
    )


def render(outcome: Outcome, screen: Screen) -> None:
    """What was parked, and the way back."""
    for entry in outcome.data["removed"]:
        kept = f"; its branch {entry['branch']} stays"
        screen.line(f"{screen.paint(entry['name'], 'bold')} removed{kept}. To have it back: ww restore {entry['name']}")
        for reason in entry["put_away"]:
            screen.line(screen.paint(f"  parked with it: {reason}", "dim"))
    for entry in outcome.data["failed"]:
        screen.line(screen.paint(f"{entry['name']} not removed: {entry['error']}", "red"))
