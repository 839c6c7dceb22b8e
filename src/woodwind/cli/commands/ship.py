"""The parser and picture of `ww ship`.

What is not committed is committed, all of it is merged and verified as by `ww merge`, and when it is in the target
the agent is stopped and the worktree parked. `ww undo NAME` takes all of it back. Several land as by `ww queue --ship`:
verified together, and who does not go with the others falls out.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.landing import check_request, landing_arguments, render_landed, request_of
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError, WoodwindError
from woodwind.model.landing import LandRequest
from woodwind.model.outcome import Outcome
from woodwind.model.worker import Worker
from woodwind.ops.address import check_may_touch, find_workers
from woodwind.ops.context import Context
from woodwind.ops.land_plan import plan
from woodwind.ops.landing_choice import Choice
from woodwind.ops.landing_queue import ship_queue
from woodwind.ops.projects import current
from woodwind.ops.ship import ship

EXAMPLES = [
    "ww ship add-greeting --yes",
    'ww ship add-greeting -m "Add a greeting"',
    "ww ship one two three --yes",
    "ww ship add-greeting --dry-run",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)
    landing_arguments(parser)
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Land it, and put it away; several land as a queue."""
    check_request(args)
    if args.leave_conflicts:
        raise UsageError("--leave-conflicts keeps a worker at work", hint="That is for `ww merge`.")
    project = current(ctx)
    found = find_workers(ctx, project, args.names, exact=True)
    for worker in found:
        check_may_touch(ctx, worker)
    request = request_of(args, commit_dirty=True)
    if args.dry_run:
        return _planned(ctx, found, request)
    _confirm(ctx, args, found)
    if len(found) == 1:
        return Outcome({"landed": [ship(ctx, found[0], request)], "failed": [], "plan": []}, notes=ctx.notes)
    done = ship_queue(ctx, project, Choice(ctx, project, found).in_order, request, go_on=False)
    failed = [{"name": e["name"], "code": e["code"], "error": e["why"], "hint": e["output"]} for e in done["dropped"]]
    data = {"landed": done["landed"], "failed": failed, "plan": []}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def _planned(ctx: Context, found: list[Worker], request: LandRequest) -> Outcome:
    """What would become of each; of several, one that cannot land does not hide the others."""
    plans, failed = [], []
    for worker in found:
        try:
            plans.append(plan(ctx, worker, request))
        except WoodwindError as error:
            if len(found) == 1:
                raise
            failed.append({"name": worker.name, "code": error.code, "error": error.message, "hint": error.hint})
    data = {"landed": [], "failed": failed, "plan": plans}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def _confirm(ctx: Context, args: Namespace, found: list[Worker]) -> None:
    if args.yes:
        return
    names = ", ".join(w.name for w in found)
    if not ctx.confirm:
        raise UsageError(f"shipping {names} needs --yes where there is no terminal to ask on")
    if not ctx.confirm(f"Land {names} and put {'it' if len(found) == 1 else 'them'} away?"):
        raise WoodwindError("nothing was landed", code="declined")


def render(outcome: Outcome, screen: Screen) -> None:
    """What moved, or would."""
    render_landed(outcome, screen)
