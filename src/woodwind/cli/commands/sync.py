"""The parser and picture of `ww sync`.

The base's new commits come into each worker's branch. A conflict is found first, and then nothing is changed. A worker
with uncommitted files, or whose agent is in the middle of a turn, is left as it is. Nothing is fetched.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.cli.several import each
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError
from woodwind.model.outcome import Outcome
from woodwind.model.worker import Worker
from woodwind.ops.address import check_may_touch, find_workers
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.sync import sync
from woodwind.store import workers

EXAMPLES = ["ww sync add-greeting", "ww sync --all", "ww sync add-greeting --rebase"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)
    parser.add_argument("-a", "--all", action="store_true", help="every worker of the project")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--merge", action="store_true", help="merge the base into the branch; this if left out")
    how.add_argument("--rebase", action="store_true", help="put the branch's commits on top of the base")
    parser.add_argument("-f", "--force", action="store_true", help="also while the agent is in the middle of a turn")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Sync them, each by itself."""
    if args.all and args.names:
        raise UsageError("--all and names contradict each other", hint="Give one of them.")
    project = current(ctx)
    found = workers.of_project(ctx.store, project) if args.all else find_workers(ctx, project, args.names)

    def bring_in(worker: Worker) -> dict[str, Any]:
        check_may_touch(ctx, worker)
        return sync(ctx, worker, method="rebase" if args.rebase else "merge", force=args.force)

    synced, failed = each(found, bring_in, alone=len(found) == 1)
    return Outcome(
        {"synced": synced, "failed": failed}, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE
    )


_TOLD = {
    "up_to_date": "is up to date with {base}",
    "fast_forward": "moved forward to {base}",
    "merge": "got {commits} of {base}, merged",
    "rebase": "was put on top of {base}, which had {commits} new",
}


def render(outcome: Outcome, screen: Screen) -> None:
    """What moved, and what did not and why."""
    for entry in outcome.data["synced"]:
        count = f"{entry['commits']} commit{'' if entry['commits'] == 1 else 's'}"
        told = _TOLD[entry["how"]].format(base=entry["base_branch"], commits=count)
        screen.line(f"{screen.paint(entry['name'], 'bold')} {told}")
    for entry in outcome.data["failed"]:
        screen.line(screen.paint(f"{entry['name']} not synced: {entry['error']}", "red"))
    if not outcome.data["synced"] and not outcome.data["failed"]:
        screen.line("No workers here.")
