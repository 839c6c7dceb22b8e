"""The parser and picture of `ww merge`.

The worker's commits are merged in a folder of Woodwind's own, the [verify] command runs on the result, and only when
that passed does the target move; where it is checked out, by a fast-forward that refuses rather than overwrites.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.landing import check_request, landing_arguments, render_landed, request_of
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.errors import WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.address import check_may_touch, find_worker
from woodwind.ops.context import Context
from woodwind.ops.land import leave_conflicts
from woodwind.ops.land_plan import plan
from woodwind.ops.landing_steps import Conflict
from woodwind.ops.projects import current
from woodwind.ops.ship import merge

EXAMPLES = [
    "ww merge add-greeting",
    "ww merge add-greeting --dry-run",
    "ww merge add-greeting --into release --squash",
    "ww merge add-greeting --leave-conflicts",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)
    landing_arguments(parser)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Land it, and keep the worker."""
    check_request(args)
    worker = find_worker(ctx, current(ctx), args.name, exact=True)
    check_may_touch(ctx, worker)
    request = request_of(args)
    if args.dry_run:
        return Outcome({"landed": [], "failed": [], "plan": [plan(ctx, worker, request)]}, notes=ctx.notes)
    try:
        landed = merge(ctx, worker, request)
    except Conflict as conflict:
        if not args.leave_conflicts:
            raise
        files = leave_conflicts(ctx, worker, request)
        raise WoodwindError(
            f"{conflict.message}; the conflicts are in {worker.worktree.path} now",
            code="conflicts_left",
            hint=f"Settle and commit {'it' if len(files) == 1 else f'them ({len(files)} files)'} there, "
            f"then ww merge {worker.name} again.",
        ) from conflict
    return Outcome({"landed": [landed], "failed": [], "plan": []}, notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """What moved, or would."""
    render_landed(outcome, screen)
