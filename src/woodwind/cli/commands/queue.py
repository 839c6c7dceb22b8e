"""The parser and picture of `ww queue`.

Without --ship, it shows who is ready to land, in the order in which the fewest fall out. With --ship they land: merged
one onto the other and verified together; when that fails, the guilty one is found and falls out, and the others land.
The target moves only to what was verified. One that was cut short goes on with the next `ww queue --ship`.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.landing import VERIFIED
from woodwind.cli.numbers import whole
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError, WoodwindError
from woodwind.model.landing import LandRequest
from woodwind.model.outcome import Outcome
from woodwind.ops.address import check_may_touch, find_workers
from woodwind.ops.context import Context
from woodwind.ops.landing_choice import Choice, show_queue
from woodwind.ops.landing_queue import ship_queue
from woodwind.ops.projects import current
from woodwind.store import landing_queues

EXAMPLES = ["ww queue", "ww queue --ship", "ww queue --ship --yes --lanes 2", "ww queue --ship --yes one two three"]
_MOST_LANES = 16


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)
    parser.add_argument("--ship", action="store_true", help="land them, and put each away")
    parser.add_argument(
        "--lanes",
        type=whole("--lanes", 1, _MOST_LANES),
        default=1,
        metavar="N",
        help="verify up to N combinations at the same time",
    )
    parser.add_argument("--no-verify", action="store_true", help="land without running the [verify] command")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Show the queue, or land it."""
    project = current(ctx)
    if not args.ship:
        if args.names:
            raise UsageError("names are for --ship", hint="`ww queue` shows everybody who is ready.")
        return Outcome(show_queue(ctx, project), notes=ctx.notes)
    named = find_workers(ctx, project, args.names, exact=True) if args.names else []
    choice = Choice(ctx, project, named)
    chosen = choice.in_order
    left = [] if named else choice.left_over()
    for worker in chosen + left:
        check_may_touch(ctx, worker)
    if not chosen and (named or not landing_queues.unfinished(ctx.store, project)):
        raise WoodwindError(
            "nobody is ready to land", code="nobody_ready", hint="`ww queue` tells what each worker waits for."
        )
    _confirm(ctx, args, [w.name for w in left + chosen])
    request = LandRequest(verify=not args.no_verify, keep=False)
    data = ship_queue(ctx, project, chosen, request, lanes=args.lanes, go_on=not named)
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if data["dropped"] else EXIT_DONE)


def _confirm(ctx: Context, args: Namespace, names: list[str]) -> None:
    if args.yes:
        return
    who = ", ".join(names) or "the rest of the queue"
    if not ctx.confirm:
        raise UsageError(f"landing {who} needs --yes where there is no terminal to ask on")
    if not ctx.confirm(f"Land {who}, in this order, and put them away?"):
        raise WoodwindError("nothing was landed", code="declined")


def render(outcome: Outcome, screen: Screen) -> None:
    """The order with its reasons, or what landed and what fell out."""
    data = outcome.data
    if "ready" in data:
        _show(data, screen)
        return
    for entry in data["landed"]:
        kept = "" if entry["removed"] else ", and was kept"
        how = f"has a pull request: {entry['url']}" if entry["url"] else f"landed in {entry['target']}{kept}"
        screen.line(f"{screen.paint(entry['name'], 'bold')} {how}")
    if data["landed"] and data["queues"]:
        loud = data["landed"][0]["verified"] in ("skipped", "none")
        how = VERIFIED.get(data["landed"][0]["verified"], "")
        count = f"{data['verifications']} verification{'' if data['verifications'] == 1 else 's'}"
        screen.line(screen.paint(f"  {how}; {count}. To take all of it back: ww undo", "yellow" if loud else "dim"))
    for entry in data["dropped"]:
        screen.line(screen.paint(f"{entry['name']} fell out: {entry['why']}", "red"))
        if entry["output"]:
            screen.line(screen.paint(f"  {entry['output']}", "dim"))
        if entry["told"]:
            screen.line(screen.paint("  its agent was told", "dim"))


def _show(data: dict[str, Any], screen: Screen) -> None:
    for queue in data["unfinished"]:
        left = [e["name"] for e in queue["entries"] if e["state"] == "waiting"]
        screen.line(
            screen.paint(f"A queue was cut short ({', '.join(left) or 'all landed'}): ww queue --ship", "yellow")
        )
    rows = [[str(n), e["name"], e["target"], e["reason"]] for n, e in enumerate(data["ready"], 1)]
    if rows:
        styles = [{1: "bold", 3: "" if e["will_merge"] else "red"} for e in data["ready"]]
        screen.table(["", "READY", "INTO", "WHY HERE"], rows, styles=styles)
    else:
        screen.line("Nobody is ready to land.")
    for entry in data["dropped"]:
        screen.line(screen.paint(f"{entry['name']} fell out of the last queue: {entry['why']}", "red"))
    for entry in data["waiting"]:
        screen.line(screen.paint(f"{entry['name']}: {entry['why']}", "dim"))
