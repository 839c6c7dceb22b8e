"""The parser and picture of `ww resume`.

An agent that has exited, or whose terminal or tmux server is gone, is started again in its own conversation,
with the same model, permissions and folder. A paused one goes on.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.cli.several import each
from woodwind.daemon.client import ensure_daemon
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError
from woodwind.model.outcome import Outcome
from woodwind.model.status import Phase, Status
from woodwind.model.worker import Worker
from woodwind.ops.address import find_workers, workers_in
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.resume import resume

EXAMPLES = ["ww resume add-greeting", 'ww resume add-greeting --message "Go on with the tests"', "ww resume --all"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)
    parser.add_argument("-m", "--message", default="", help="what to tell it")
    parser.add_argument("--all", action="store_true", help="every worker that is paused or has exited")
    parser.add_argument("--fresh", action="store_true", help="a new conversation on its brief, instead of its old one")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Bring them back."""
    if args.all and args.names:
        raise UsageError("--all and names contradict each other")
    project = current(ctx)
    if args.all:
        chosen = workers_in(ctx, {Status.EXITED}, {Phase.PAUSED})
    else:
        chosen = find_workers(ctx, project, args.names)

    def bring_back(worker: Worker) -> dict[str, Any]:
        return {**resume(ctx, worker, message=args.message, fresh=args.fresh), "told": bool(args.message)}

    done, failed = each(chosen, bring_back, alone=not args.all and len(chosen) == 1)
    if done:
        ensure_daemon(ctx.environ)
    data = {"resumed": done, "failed": failed}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """Who is back, and how."""
    words = {
        "continued": "is not paused any more",
        "restarted": "was started again in its conversation",
        "fresh": "was started anew",
    }
    for entry in outcome.data["resumed"]:
        waits = entry["how"] != "fresh" and not entry["told"]
        more = ", and waits at its prompt: tell it what to do with `ww send`" if waits else ""
        screen.line(f"{screen.paint(entry['name'], 'bold')} {words[entry['how']]}{more}")
    for entry in outcome.data["failed"]:
        screen.line(screen.paint(f"{entry['name']} was not resumed: {entry['error']}", "red"))
    if not outcome.data["resumed"] and not outcome.data["failed"]:
        screen.line("Nobody is paused or has exited.")
