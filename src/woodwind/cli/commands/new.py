"""The parser and picture of `ww new`.

A task becomes a branch and a worktree of its own, and an agent starts on it in a terminal of its own. Your
checkout, your current window and your branch stay as they are.
"""

import os

from woodwind.base import paths
from woodwind.cli import task_words
from woodwind.cli.numbers import whole
from woodwind.cli.screen import Screen
from woodwind.git.repo import Refs
from woodwind.model.choice import PERMISSIONS
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.model.status import Phase
from woodwind.model.typed import TYPE_CHECKING, Any
from woodwind.model.worker import HEADLESS, Worker
from woodwind.ops.choose_agents import choose_agents
from woodwind.ops.context import Context
from woodwind.ops.projects import current

if TYPE_CHECKING:  # see cli/plain.py
    from argparse import ArgumentParser, Namespace

EXAMPLES = [
    'ww new "Add a greeting to the start page"',
    'ww new "Fix the login crash" --agent claude --attach',
    'ww new "Try three designs" -n 3',
    "ww new --file task.md --base develop --name importer",
    "git log -5 | ww new -",
    "ww new --issue 7",
    "ww new --pr 9",
    'ww new --pr 9 --continue --prompt "Only mend the failing test"',
    "ww new --jira SHOP-12 --template bugfix",
    "ww new --ticket markdown:TODO.md#fix-login",
    'ww new "Update the changelog" --headless --permissions auto',
]
MOST_AT_ONCE = 50


def arguments(parser: "ArgumentParser") -> None:
    """The command's words."""
    task_words.arguments(parser)
    parser.add_argument(
        "--agent", action="append", default=[], metavar="A", help="the agent; repeat it for one worker each"
    )
    parser.add_argument(
        "-n",
        "--count",
        type=whole("-n", 1, MOST_AT_ONCE),
        default=1,
        metavar="N",
        help="start N workers on the same task",
    )
    parser.add_argument("--name", default="", help="the worker's name; otherwise up to three words of the task")
    parser.add_argument("--branch", default="", help="the new branch's name; otherwise made from the task")
    parser.add_argument("--prefix", default=None, help="the first part of the branch name, instead of feat, fix, …")
    parser.add_argument("--base", default="", metavar="REF", help="start from REF; @ is the current branch")
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "-s", "--session", dest="launch", action="store_const", const="session", help="in a tmux session of its own"
    )
    place.add_argument(
        "-w", "--window", dest="launch", action="store_const", const="window", help="in a window of your session"
    )
    place.add_argument("--launch", choices=("session", "window"), help="the same as -s or -w, for scripts")
    place.add_argument(
        "--headless",
        dest="launch",
        action="store_const",
        const=HEADLESS,
        help="without a terminal: it does the task and exits; `ww log` shows its output, `ww ls` how it ended",
    )
    parser.add_argument(
        "--model", default="", metavar="M", help="the model, as [provider/]model[:thinking], such as opus:high"
    )
    parser.add_argument("--permissions", choices=PERMISSIONS, default="", help="what it may do without asking you")
    parser.add_argument("--in-place", action="store_true", help="on a branch in this checkout, instead of a worktree")
    parser.add_argument("--plan-mode", action="store_true", help="let the agent plan first, without editing")
    parser.add_argument(
        "--no-install", action="store_true", help="install no dependencies, clone no caches and run no setup hook"
    )
    parser.add_argument("--no-agent", action="store_true", help="only the worktree, with a shell in its terminal")
    parser.add_argument("--attach", action="store_true", help="go to its terminal at once")
    parser.add_argument("-y", "--yes", action="store_true", help="ask nothing; take the first agent that is installed")


def run(ctx: Context, args: "Namespace") -> Outcome:
    """Start the workers."""
    origin = task_words.origin_of(args)
    task = "" if origin else task_words.text_of(args)
    if not task.strip() and not origin and not args.no_agent:
        raise UsageError("there is no task", hint='Say what to do: ww new "Add a greeting"')
    if args.no_agent and (args.agent or args.model or args.plan_mode):
        raise UsageError("--no-agent contradicts --agent, --model and --plan-mode")
    if args.launch == HEADLESS and (args.no_agent or args.attach):
        raise UsageError(
            "--headless contradicts --attach and --no-agent: there is no terminal",
            hint="`ww log NAME --follow` shows what a headless agent prints.",
        )
    several = args.count * max(1, len(args.agent)) > 1
    if several and args.in_place:
        raise UsageError("only one worker can be in a checkout", hint="Leave --in-place out.")
    if several and (args.branch or args.name or args.attach):
        raise UsageError(
            "--name, --branch and --attach are for one worker", hint="Leave them out, or start the workers one by one."
        )
    if args.attach and not ctx.person:
        raise UsageError("--attach needs a person at a terminal")
    if args.yes:
        ctx.pick = None
    if not os.path.lexists(paths.config_file()):
        from woodwind.config.template import write_first  # only ever needed once

        write_first()
    agents = [None] if args.no_agent else [*choose_agents(ctx, args.agent, first=args.yes)]
    for agent in agents:
        if agent:
            agent.require_program()
    project = current(ctx)
    refs = Refs(ctx.repo)
    # 10 ms, in which git lists the branches.
    from woodwind.daemon.client import ensure_daemon
    from woodwind.ops.create import create
    from woodwind.ops.free_names import Request
    from woodwind.ops.permissions import permissions_for

    request = Request(
        task=task,
        name=args.name,
        branch=args.branch,
        prefix=args.prefix,
        base=args.base,
        launch=args.launch or "",
        model=args.model,
        plan=args.plan_mode,
        in_place=args.in_place,
        install=not args.no_install,
    )
    made: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    with task_words.asked(ctx, args, request, origin) as request:
        for agent in [a for a in agents for _ in range(args.count)]:
            try:
                allowed = permissions_for(ctx, project, agent, args.permissions, untrusted=request.untrusted)
                worker = create(ctx, project, request._replace(permissions=allowed), agent, refs)
            except WoodwindError as error:
                if not several:
                    raise
                failed.append({"agent": agent.name if agent else "", "error": error.message, "hint": error.hint})
                continue
            made.append(_told(worker))
    if made:
        ensure_daemon(ctx.environ)
    if failed and not made:
        raise WoodwindError(failed[0]["error"], hint=failed[0]["hint"])
    if args.attach:
        from woodwind.cli.commands.attach import go  # 10 ms, and most calls do not need it

        ctx.close()
        go(ctx, made[0]["name"])
    return Outcome({"workers": made, "failed": failed}, notes=ctx.notes, exit_code=EXIT_PARTLY if failed else EXIT_DONE)


def _told(worker: Worker) -> dict[str, Any]:
    tree = worker.worktree
    return {
        "id": worker.id,
        "name": worker.name,
        "branch": tree.branch,
        "base_branch": tree.base_branch,
        "base_commit": tree.base_commit,
        "path": tree.path,
        "agent": worker.agent,
        "launch": worker.launch,
        "phase": worker.phase.value,
        "kind": worker.kind,
        "origin": worker.origin,
        "url": worker.url,
        "untrusted": worker.untrusted,
    }


def render(outcome: Outcome, screen: Screen) -> None:
    """Who was started, and what to type next."""
    for worker in outcome.data["workers"]:
        told = "queued" if worker["phase"] == Phase.QUEUED else "started"
        base = worker["base_branch"] or worker["base_commit"][:10]
        screen.line(
            f"{screen.paint(worker['name'], 'bold')} {told}: {worker['agent']} on {worker['branch']}, from {base}"
        )
        screen.line(screen.paint(f"  {worker['path']}", "dim"))
    for failure in outcome.data["failed"]:
        screen.line(screen.paint(f"one was not started: {failure['error']}", "red"))
    if outcome.data["workers"]:
        last = outcome.data["workers"][-1]
        look = f"ww log {last['name']} --follow" if last["launch"] == HEADLESS else f"ww attach {last['name']}"
        # One that waits for room has no terminal and no output yet.
        screen.line(screen.paint("  ww ls" if last["phase"] == Phase.QUEUED else f"  {look}   ww ls", "dim"))
