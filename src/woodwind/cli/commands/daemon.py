"""The parser and picture of `ww daemon`.

The daemon watches agents while no command runs: it takes their events as they come, starts workers that wait for
room, and tells others what happens. Commands start it by themselves ([daemon] start), and it ends by itself when there
is nothing to watch. No command needs it to be right. It keeps the environment of whoever started it, until
`ww daemon restart`.
"""

import sys
from argparse import ArgumentParser, Namespace

from woodwind.base import paths
from woodwind.cli.numbers import whole
from woodwind.cli.screen import Screen
from woodwind.config.sizes import show_size
from woodwind.daemon import client
from woodwind.daemon.log import follow, last_lines
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.model.text import clean
from woodwind.ops.context import Context

EXAMPLES = ["ww daemon status", "ww daemon start", "ww daemon restart", "ww daemon stop", "ww daemon logs --follow"]
_ACTIONS = ("start", "stop", "status", "restart", "logs")


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("action", choices=_ACTIONS, nargs="?", default="status", help="what to do; status if left out")
    parser.add_argument(
        "-l", "--lines", type=whole("--lines", 1), default=50, metavar="N", help="with logs: how many lines (50)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="with logs: go on with new lines until Ctrl-C")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Do the action."""
    if args.action == "logs":
        return _logs(args)
    if args.follow:
        raise UsageError("--follow goes with `ww daemon logs`")
    stopped = False
    if args.action in ("stop", "restart"):
        ctx.say("waiting for the daemon to end")
        stopped = client.stop()
    found = None
    if args.action in ("start", "restart"):
        ctx.say("starting the daemon")
        found = client.start(ctx.environ)
    elif args.action == "status":
        found = client.status()
    data = {"action": args.action, "running": found is not None, "stopped": stopped, "log": paths.daemon_log()}
    return Outcome(data | {"daemon": found})


def _logs(args: Namespace) -> Outcome:
    if args.follow and args.json:
        raise UsageError("--follow has no end, so it cannot be one JSON document", hint="Leave one of them out.")
    lines = last_lines(paths.daemon_log(), args.lines)
    if args.follow:
        for line in follow(paths.daemon_log(), lines):
            sys.stdout.write(clean(line) + "\n")
            sys.stdout.flush()
    return Outcome({"action": "logs", "log": paths.daemon_log(), "lines": lines})


def render(outcome: Outcome, screen: Screen) -> None:
    """What the daemon does, or what was done to it."""
    data = outcome.data
    if data["action"] == "logs":
        for line in data["lines"]:
            screen.line(line)
        return
    daemon = data["daemon"]
    if not daemon:
        told = "stopped" if data["stopped"] else "it does not run, or has just been started and does not answer yet"
        screen.line(f"{told}; the next command with something to watch starts it ([daemon] start)")
        return
    how = "started" if daemon.get("started") else "runs"
    screen.line(f"{how}: process {daemon['pid']}, version {daemon['version']}, {show_size(daemon['memory'])} of memory")
    busy = [keeper["name"] for keeper in daemon["keepers"] if keeper["busy"]]
    told = f"{daemon['subscribers']} subscribers" + (f"; busy with {', '.join(busy)}" if busy else "")
    screen.line(screen.paint(f"  {told}", "dim"))
    screen.line(screen.paint(f"  {data['log']}", "dim"))
