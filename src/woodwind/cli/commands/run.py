"""The parser and picture of `ww run`.

The tasks of a plan file are given to workers as those that they wait for have landed. The daemon does it, so that
the run goes on when this command ends; here you see a line per change, and Ctrl-C only stops looking. `ww run
status`, `stop`, `resume` and `report` take the id of a run, of a loop too; left out, the one that is under way.
"""

import difflib
import os
from argparse import ArgumentParser, Namespace

from woodwind.cli.numbers import whole
from woodwind.cli.run_view import follow, show_report, show_status
from woodwind.cli.screen import Screen
from woodwind.daemon import client
from woodwind.model.choice import PERMISSIONS
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, NotFound, UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.plan_file import load_plan
from woodwind.ops.projects import current
from woodwind.ops.run import Wishes, begin, report, resume, status, stop
from woodwind.ops.run_state import find_run
from woodwind.store import events
from woodwind.store.runs import LIVE

EXAMPLES = [
    "ww run plan.toml",
    "ww run plan.toml --into feat/shop --max-concurrent 6 --detach",
    "ww run status",
    "ww run stop r4k9x2m7qhtb",
    "ww run resume r4k9x2m7qhtb",
    "ww run report",
]
ACTIONS = OFFERED = ("status", "stop", "resume", "report", "watch")
_OF_A_PLAN = "into max_concurrent auto_ship agent permissions headless detach skip_preflight".split()


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("what", metavar="FILE|ACTION", help=f"a plan file, or one of {', '.join(ACTIONS)}")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="with an action: the run, or its beginning")
    parser.add_argument("--into", default="", metavar="BRANCH", help="land all tasks on this branch, made if needed")
    parser.add_argument(
        "--max-concurrent",
        type=whole("--max-concurrent", 1, 500),
        default=None,
        metavar="N",
        help="how many tasks at once",
    )
    parser.add_argument("--auto-ship", action="store_true", help="let it reach the base without you")
    parser.add_argument("--agent", default="", metavar="A", help="the agent for tasks that name none")
    parser.add_argument("--permissions", choices=PERMISSIONS, default="", help="what agents may do without asking")
    parser.add_argument("--headless", action="store_true", help="without terminals: each agent does its task and exits")
    parser.add_argument("--detach", action="store_true", help="begin it and come back at once")
    parser.add_argument("--skip-preflight", action="store_true", help="do not look first whether it can go well")
    parser.add_argument("--message", default="", metavar="TEXT", help="with resume: what its agents are told")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Begin a run and look on, or do the action."""
    project = current(ctx)
    if args.message and args.what != "resume":
        raise UsageError("--message goes with `ww run resume`")
    if args.what in ACTIONS:
        for name in _OF_A_PLAN:
            if getattr(args, name):
                flag = name.replace("_", "-")
                raise UsageError(f"--{flag} goes with a plan file, not with `ww run {args.what}`")
        return _act(ctx, args, project)
    near = difflib.get_close_matches(args.what, ACTIONS, 1, 0.7)
    if near and not os.path.exists(args.what):
        raise NotFound(f"there is no plan file {args.what}", hint=f"Did you mean `ww run {near[0]}`?")
    if args.id:
        raise UsageError(f"{args.id!r} is one word too many", hint="A plan file is one; `ww run status ID` two.")
    plan = load_plan(args.what)
    wishes = Wishes(
        into=args.into,
        max_concurrent=args.max_concurrent or 0,
        auto_ship=args.auto_ship,
        agent=args.agent,
        permissions=args.permissions,
        headless=args.headless,
        skip_preflight=args.skip_preflight,
    )
    since = events.newest(ctx.store)
    made = begin(ctx, project, plan, wishes, title=os.path.basename(args.what))
    client.start(ctx.environ)
    if not args.detach:
        return watch(ctx, project, made, since, quiet=args.json)
    return Outcome({"action": "begun", **status(ctx, find_run(ctx, project, made))}, notes=ctx.notes)


def watch(ctx: Context, project: str, made: str, since: int, *, quiet: bool) -> Outcome:
    """Look on until the run ends, or Ctrl-C."""
    if not quiet:
        ctx.notes.append(f"the run is {made}; Ctrl-C stops looking, `ww run stop {made}` stops it")
        for note in ctx.notes:
            Screen("never").note(note)
        ctx.notes.clear()
    try:
        row = find_run(ctx, project, made)
        if row.state in ("running", "paused"):
            follow(client.subscribe(since, project=project, environ=ctx.environ), made, quiet=quiet)
    except KeyboardInterrupt:
        ctx.notes.append(f"the run goes on: ww run watch {made}. To stop it: ww run stop {made}")
    told = report(ctx, find_run(ctx, project, made))
    whole = told["state"] == "finished" and not told["needs_you"] and not told["blocked"]
    code = EXIT_DONE if whole or told["state"] != "finished" else EXIT_PARTLY
    return Outcome({"action": "report", **told}, notes=ctx.notes, exit_code=code)


def _act(ctx: Context, args: Namespace, project: str) -> Outcome:
    row = find_run(ctx, project, args.id)
    if args.what == "watch":
        return watch(ctx, project, row.id, events.newest(ctx.store), quiet=args.json)
    if args.what == "stop":
        return Outcome({"action": "stop", **stop(ctx, row)}, notes=ctx.notes)
    if args.what == "resume":
        done = resume(ctx, row, message=args.message)
        client.start(ctx.environ)
        return Outcome({"action": "resume", **done}, notes=ctx.notes)
    if row.state in LIVE:
        client.ensure_daemon(ctx.environ)  # one that was killed is missed by nobody else
    told = status(ctx, row) if args.what == "status" else report(ctx, row)
    return Outcome({"action": args.what, **told}, notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """What became of it."""
    data = outcome.data
    if data["action"] in ("status", "begun"):
        show_status(data, screen)
    elif data["action"] == "report":
        show_report(data, screen)
    elif data["action"] == "stop":
        paused = f"; interrupted: {', '.join(data['paused'])}" if data["paused"] else ""
        screen.line(f"{data['id']} {data['state']}{paused}. Everything is kept.")
        screen.line(screen.paint(f"  ww run resume {data['id']}", "dim"))
    else:
        left = f": {', '.join(data['tasks'])}" if data["tasks"] else ""
        screen.line(f"{data['id']} goes on{left}")
