"""The parser and picture of `ww send`.

The text is pasted whole into the agent's terminal, several lines too, and Enter pressed, again where it was
swallowed. The command returns once the agent has told that it took it; an agent that tells nothing has it typed.
It is refused when the agent has exited, shows a question (`ww answer` is for that), or when another program runs in
its terminal.
"""

import sys
from argparse import ArgumentParser, Namespace

from woodwind.cli.screen import Screen
from woodwind.daemon.client import ensure_daemon
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, NotFound, UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.model.status import Status
from woodwind.model.typed import Any
from woodwind.model.worker import SHELL
from woodwind.ops.address import find_worker, workers_in
from woodwind.ops.context import Context
from woodwind.ops.deliver import deliver
from woodwind.ops.projects import current

EXAMPLES = [
    'ww send add-greeting "Use the German text too"',
    'ww send --all "Rebase on main when you are done"',
    "ww send add-greeting --file review.md",
    "git diff | ww send add-greeting -",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument(
        "words", nargs="*", metavar="NAME TEXT", help="the worker and the message; - reads standard input"
    )
    parser.add_argument("--all", action="store_true", help="to every worker whose agent runs; then only TEXT is given")
    parser.add_argument("--working", action="store_true", help="to every worker that is working now")
    parser.add_argument("--file", metavar="F", help="read the message from a file")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Deliver it."""
    many = args.all or args.working
    words = list(args.words)
    names = [] if many else words[:1]
    text = _text(args.file, words if many else words[1:])
    if not many and not names:
        raise UsageError("who is it for?", hint='ww send NAME "TEXT", or --all')
    project = current(ctx)
    statuses = {Status.WORKING} if args.working else set(Status) - {Status.EXITED, Status.STARTING}
    if many:
        chosen = [w for w in workers_in(ctx, statuses) if w.agent != SHELL]
    else:
        chosen = [find_worker(ctx, project, names[0])]
    if not chosen:
        raise NotFound("no worker is working" if args.working else "no worker's agent runs", code="nobody")
    sent: dict[str, str] = {}
    failed: list[dict[str, Any]] = []
    for worker in chosen:
        try:
            sent[worker.name] = deliver(ctx, worker, text)
        except WoodwindError as error:
            if not many:
                raise
            failed.append({"name": worker.name, "code": error.code, "error": error.message})
    if sent:
        ensure_daemon(ctx.environ)
    data = {"sent": list(sent), "turns": sent, "failed": failed}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def _text(file: str | None, words: list[str]) -> str:
    if bool(file) == bool(words):
        raise UsageError("give the message as one text or with --file", hint='ww send NAME "TEXT"')
    try:
        if file:
            with open(file, encoding="utf-8", errors="replace") as source:
                return source.read()
    except OSError as error:
        raise UsageError(f"the message cannot be read from {file}: {error.strerror}") from error
    if words == ["-"]:
        return sys.stdin.read()
    if len(words) > 1:
        raise UsageError("the message is several words", hint='Put it in quotes: ww send NAME "TEXT"')
    return words[0]


def render(outcome: Outcome, screen: Screen) -> None:
    """Who got it."""
    for name in outcome.data["sent"]:
        screen.line(f"sent to {screen.paint(name, 'bold')}")
    for entry in outcome.data["failed"]:
        screen.line(screen.paint(f"not sent to {entry['name']}: {entry['error']}", "red"))
