"""The parser and picture of `ww tmux`.

install-keys puts keys behind one of their own (W) into your tmux configuration: n next, s choose, c control plane,
a new worker, p pause, r resume, m merge. install-status adds a segment to the status line that counts who needs
you. Both ask first, and uninstall takes out exactly what they put in. popup and pick let you choose a worker
and go there.
"""

import os
from argparse import ArgumentParser, Namespace

from woodwind.base.run import run_attached
from woodwind.cli.commands.attach import go
from woodwind.cli.screen import Screen
from woodwind.cli.table import COMMANDS
from woodwind.model.errors import NotFound, UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.listing import list_workers
from woodwind.ops.tmux_conf import block, conf_file, install, popup_argv, uninstall
from woodwind.ops.tmux_status import segment

EXAMPLES = [
    "ww tmux install-keys",
    "ww tmux install-keys --key C-w --print",
    "ww tmux install-status --yes",
    "ww tmux popup",
    "ww tmux status",
    "ww tmux uninstall",
]
_ACTIONS = ("install-keys", "install-status", "uninstall", "popup", "pick", "status")


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("action", choices=_ACTIONS, help="what to do")
    parser.add_argument("--key", default="W", metavar="K", help="with install-keys: the key behind your prefix (W)")
    parser.add_argument("--file", default="", metavar="F", help="the tmux configuration, if not the usual one")
    parser.add_argument("--print", action="store_true", dest="show", help="only show what would be added")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Do the action."""
    if args.action == "status":
        return Outcome({"action": "status", "text": segment(ctx)})
    if args.action in ("popup", "pick"):
        return _choose(ctx, popup=args.action == "popup")
    path = conf_file(ctx, args.file)
    if args.action == "uninstall":
        return Outcome({"action": args.action, **uninstall(ctx, path, yes=args.yes)})
    name = args.action.removeprefix("install-")
    body = block(name, key=args.key, commands=COMMANDS)
    if args.show:
        return Outcome({"action": args.action, "file": path, "changed": False, "text": body})
    return Outcome({"action": args.action, **install(ctx, path, name, body, yes=args.yes)})


def _choose(ctx: Context, *, popup: bool) -> Outcome:
    """Let the person choose a worker and go there; in a popup over their tmux, or right here."""
    if not ctx.person or not ctx.pick:
        raise UsageError("choosing a worker needs a person at a terminal", hint="A script lists them: ww ls --json")
    if popup:
        status = run_attached(popup_argv(ctx))
        if status:
            raise WoodwindError(f"tmux could not open the popup (status {status})")
        return Outcome({"action": "popup"})
    found = [worker for worker in list_workers(ctx).data if worker["launch"] != "headless"]
    if not found:
        raise NotFound("there is no worker to go to", code="no_worker", hint='Start one: ww new "What to do"')
    order = {"asking": 0, "ready": 1, "exited": 2}
    found.sort(key=lambda worker: order.get(worker["status"], 3))
    chosen = ctx.pick("Go to", [f"{w['name']}  {w['status']}  {w['title']}" for w in found])
    go(ctx, found[chosen]["id"])
    return Outcome({"action": "pick"})


def render(outcome: Outcome, screen: Screen) -> None:
    """What was done, and how it takes effect."""
    data = outcome.data
    if data["action"] == "status":
        screen.line(data["text"])
    elif "file" not in data:
        return
    elif not data["changed"] and data["text"]:
        screen.line(data["text"].rstrip("\n"))
    elif not data["changed"]:
        there = "nothing of Woodwind" if data["action"] == "uninstall" else "it already"
        screen.line(f"{data['file']} has {there}.")
    elif data["action"] == "uninstall":
        screen.line(f"Taken out of {data['file']}. A tmux that runs keeps them until it is started again.")
    else:
        load = f"tmux source-file {data['file']}" if os.environ.get("TMUX") else "start tmux"
        screen.line(f"Added to {data['file']}. To use it now: {load}")
