"""The parser and picture of `ww loop`.

A loop gives a worker one ticket of its epic after the other: claimed, with a cleared conversation and a new brief,
until the tracker says closed; then the next, until none is left. An epic is what the source means by it: an epic
in beads or Jira, a label or milestone on GitHub, a heading of a Markdown list.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.numbers import whole
from woodwind.cli.run_view import event_line, show_status
from woodwind.cli.screen import Screen
from woodwind.daemon import client
from woodwind.model.choice import PERMISSIONS
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.model.plan import ON_QUESTION
from woodwind.model.span import WANTED, parse_span
from woodwind.ops import loop
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.run import resume, status, stop
from woodwind.ops.run_state import find_run
from woodwind.store.runs import LIVE

EXAMPLES = [
    "ww loop start --source github --epics shop,basket",
    "ww loop start --source markdown:TODO.md --epics api --parallel 2 --land epic",
    "ww loop status",
    'ww loop resume --message "The staging server is back"',
    "ww loop add --epics payment",
    "ww loop stop",
    "ww loop teardown --keep-worktrees",
    "ww loop log",
]
ACTIONS = ("start", "status", "pause", "resume", "add", "stop", "teardown", "log", "close")


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("action", choices=ACTIONS, nargs="?", default="status", help="what to do (status)")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="the loop; left out: the one under way")
    parser.add_argument("--epics", default="", metavar="A,B", help="start, add: the epics, with commas between")
    parser.add_argument("--source", default="", metavar="S", help="start: beads, github, jira or markdown:FILE")
    parser.add_argument("--agent", default="", metavar="A", help="start: the agent")
    parser.add_argument("--model", default="", metavar="M", help="start: its model")
    parser.add_argument(
        "--epic-model",
        action="append",
        default=[],
        metavar="E=M",
        help="start: the model for one epic; may be repeated",
    )
    parser.add_argument("--ticket-timeout", default="30m", metavar="T", help="start: how long one may take (30m)")
    parser.add_argument(
        "--retries",
        type=whole("--retries", 0, 20),
        default=1,
        metavar="N",
        help="start: how often a ticket is tried again (1)",
    )
    parser.add_argument("--template", default="", metavar="T", help="start: the template of the briefs")
    parser.add_argument(
        "--prompt-template",
        default="",
        metavar="FILE",
        help="start: further instructions, with {epic_id} and {epic_name}",
    )
    parser.add_argument(
        "--parallel",
        type=whole("--parallel", 1, 20),
        default=None,
        metavar="N",
        help="start, add: workers for each epic (1)",
    )
    parser.add_argument(
        "--land", choices=loop.LANDS, default="ticket", help="start: when work lands (after each ticket)"
    )
    parser.add_argument("--push", action="store_true", help="start: push the base after each landing")
    parser.add_argument("--base", default="", metavar="BRANCH", help="start: where workers start from and land")
    parser.add_argument(
        "--permissions", choices=PERMISSIONS, default="", help="start: what agents may do without asking"
    )
    parser.add_argument("--no-verify", action="store_true", help="start: land without the project's checks")
    parser.add_argument("--headless", action="store_true", help="start: without terminals")
    parser.add_argument("--on-question", choices=ON_QUESTION, default="wait", help="start: when an agent asks (wait)")
    parser.add_argument("--skip-preflight", action="store_true", help="start: do not look first whether it can go well")
    parser.add_argument(
        "--message", default="", metavar="TEXT", help="resume: what the agents are told; close: a remark"
    )
    parser.add_argument("--keep-worktrees", action="store_true", help="teardown: only close the terminals")
    parser.add_argument("--force", action="store_true", help="teardown: also workers whose work has not landed")
    parser.add_argument("--limit", type=whole("--limit", 1), default=50, metavar="N", help="log: how many lines (50)")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Do the action."""
    project = current(ctx)
    if args.action == "start":
        made = loop.begin(ctx, project, _wishes(args))
        client.start(ctx.environ)
        return _told(ctx, "status", status(ctx, find_run(ctx, project, made)))
    if args.action == "close":
        return _told(ctx, "close", loop.close_ticket(ctx, args.message))
    row = find_run(ctx, project, args.id, kind="loop")
    if args.action == "status":
        if row.state in LIVE:
            client.ensure_daemon(ctx.environ)  # one that was killed is missed by nobody else
        return _told(ctx, "status", status(ctx, row))
    if args.action == "log":
        return _told(ctx, "log", {"id": row.id, "events": loop.log(ctx, row, args.limit)})
    if args.action == "teardown":
        done = loop.teardown(ctx, row, keep_worktrees=args.keep_worktrees, force=args.force)
        return _told(ctx, "teardown", done)
    if args.action in ("pause", "stop"):
        why = "you paused it" if args.action == "pause" else "you stopped it"
        return _told(ctx, args.action, stop(ctx, row, hold=args.action == "pause", why=why))
    if args.action == "add":
        done = loop.add(ctx, row, _epics(args), args.parallel or 0)
    else:
        done = resume(ctx, row, message=args.message)
    client.start(ctx.environ)
    return _told(ctx, args.action, done)


def _told(ctx: Context, action: str, data: dict[str, object]) -> Outcome:
    return Outcome({"action": action, **data}, notes=ctx.notes)


def _epics(args: Namespace) -> tuple[str, ...]:
    epics = tuple(dict.fromkeys(word.strip() for word in args.epics.split(",") if word.strip()))
    if not epics:
        raise UsageError("there is no epic", hint="Say which: --epics A,B")
    return epics


def _wishes(args: Namespace) -> loop.LoopWishes:
    if not args.source:
        raise UsageError(
            "there is no source", hint="Say where the tickets are: --source beads|github|jira|markdown:FILE"
        )
    timeout = parse_span(args.ticket_timeout)
    if timeout is None:
        raise UsageError(f"--ticket-timeout must be {WANTED}, found {args.ticket_timeout!r}")
    models = [word.partition("=") for word in args.epic_model]
    if not all(epic and model for epic, _, model in models):
        raise UsageError("--epic-model is written EPIC=MODEL")
    return loop.LoopWishes(
        epics=_epics(args),
        source=args.source,
        agent=args.agent,
        model=args.model,
        models=tuple((epic, model) for epic, _, model in models),
        timeout=timeout,
        retries=args.retries,
        template=args.template,
        prompt=loop.read_prompt(args.prompt_template) if args.prompt_template else "",
        parallel=args.parallel or 1,
        land=args.land,
        push=args.push,
        base=args.base,
        permissions=args.permissions,
        verify=not args.no_verify,
        headless=args.headless,
        on_question=args.on_question,
        skip_preflight=args.skip_preflight,
    )


def render(outcome: Outcome, screen: Screen) -> None:
    """What became of it."""
    data = outcome.data
    if data["action"] == "status":
        show_status(data, screen)
    elif data["action"] == "log":
        for event in data["events"]:
            text = event_line(event["kind"], event["data"])
            if text:
                screen.line(f"{screen.paint(event['at'][11:19], 'dim')}  {text}")
    elif data["action"] == "close":
        screen.line(f"{data['ticket']} closed")
    elif data["action"] == "teardown":
        for what in ("removed", "kept"):
            if data[what]:
                screen.line(f"{what}: {', '.join(data[what])}")
        if not data["removed"] and not data["kept"]:
            screen.line(f"{data['id']} has no workers any more")
    elif data["action"] in ("pause", "stop"):
        paused = f"; interrupted: {', '.join(data['paused'])}" if data["paused"] else ""
        what = ": nothing new begins" if data["action"] == "pause" else f"{paused}. Everything is kept."
        screen.line(f"{data['id']} {data['state']}{what}")
        screen.line(screen.paint(f"  ww loop resume {data['id']}", "dim"))
    else:
        screen.line(f"{data['id']} goes on")
