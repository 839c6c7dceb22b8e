"""The parser and picture of `ww wait`.

Without --for, it ends when each worker's last turn has ended, or when its agent asks: exit code 0 when all are done, 6
when one failed, was interrupted, or needs a person. It is tied to the turn that was the last one at the call, so an
earlier "done" never ends it. The exit code after --timeout is 5.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.numbers import seconds
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import STATUS_COLOURS, Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_workers
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.wait import OUTCOMES, STATUSES, wait

EXAMPLES = [
    "ww wait add-greeting",
    "ww wait one two --any --timeout 10m",
    "ww wait add-greeting --for asking --timeout 60",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)
    parser.add_argument(
        "--timeout", type=seconds("--timeout"), metavar="T", help="give up after so many seconds, or 10m"
    )
    parser.add_argument(
        "--for", dest="until", metavar="STATUS", default="", help=f"one of {', '.join((*OUTCOMES, *STATUSES))}"
    )
    parser.add_argument("--any", action="store_true", help="one of the workers is enough")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Wait."""
    chosen = find_workers(ctx, current(ctx), args.names)
    found = wait(ctx, chosen, timeout=args.timeout, until=args.until, any_one=args.any)
    well = all(args.until or (e["turn"] is None and e["status"] != "asking") or _is_done(e) for e in found)
    return Outcome(found, notes=ctx.notes, exit_code=EXIT_DONE if well else EXIT_PARTLY)


def _is_done(entry: dict[str, object]) -> bool:
    turn = entry["turn"]
    return isinstance(turn, dict) and turn["state"] == "done"


def render(outcome: Outcome, screen: Screen) -> None:
    """How each of them stands."""
    for entry in outcome.data:
        turn, words = entry["turn"], entry["status"]
        if entry["question"]:
            words = f"waiting for you: {entry['question']['text']}"
        elif turn and turn["ended_at"]:
            words = ": ".join(filter(None, (turn["state"], turn["why"] or turn["last_words"])))
        colour = STATUS_COLOURS.get(entry["status"], "dim")
        screen.line(f"{screen.paint(entry['name'], 'bold')}  {screen.paint(words, colour)}")
