"""The parser and picture of `ww plan`.

An installed agent breaks a goal down into a plan file, which you can read, edit and give to `ww run`. `ww plan
check FILE` looks for mistakes in one and draws its graph.
"""

import os
import shlex
from argparse import ArgumentParser, Namespace

from woodwind.base.run import run_attached
from woodwind.cli.numbers import seconds, whole
from woodwind.cli.screen import Screen
from woodwind.daemon import client
from woodwind.model import naming
from woodwind.model.choice import PERMISSIONS
from woodwind.model.errors import EXIT_DONE, EXIT_USAGE, UsageError
from woodwind.model.outcome import Outcome
from woodwind.model.plan import Plan, PlanError, read_plan
from woodwind.model.plan_answer import plan_text
from woodwind.model.plan_graph import draw, summary
from woodwind.ops.context import Context
from woodwind.ops.plan import make_plan
from woodwind.ops.plan_file import load_plan, read_text, save_plan
from woodwind.ops.projects import current
from woodwind.ops.run import Wishes, begin

EXAMPLES = [
    'ww plan "Add a shop with a basket and payment"',
    'ww plan "Move to the new API" --agent claude --max-tasks 6 --branch feat/api --start',
    "ww plan check plan.toml",
]
OFFERED = ("check",)


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("goal", metavar="GOAL|check", help="what is to be reached; or the word check")
    parser.add_argument("file", nargs="?", default="", metavar="FILE", help="with check: the plan file")
    parser.add_argument("--output", default="", metavar="FILE", help="where to write it; otherwise made from the goal")
    parser.add_argument("--edit", action="store_true", help="open it in $EDITOR before it is used")
    parser.add_argument("--start", action="store_true", help="begin the run at once, in the background")
    parser.add_argument("--agent", default="", metavar="A", help="who plans; its tasks get the configured agent")
    parser.add_argument("--model", default="", metavar="M", help="the planner's model, instead of [roles] planner")
    parser.add_argument(
        "--max-tasks", type=whole("--max-tasks", 1, 200), default=12, metavar="N", help="at most so many tasks (12)"
    )
    parser.add_argument("--branch", default="", metavar="B", help="land all tasks on this branch")
    parser.add_argument("--auto-ship", action="store_true", help="let the run reach the base without you")
    parser.add_argument("--permissions", choices=PERMISSIONS, default="", help="with --start: what agents may do")
    parser.add_argument(
        "--timeout", type=seconds("--timeout"), default=600, metavar="T", help="how long the planner may take (10m)"
    )


def run(ctx: Context, args: Namespace) -> Outcome:
    """Make a plan, or check one."""
    if args.goal == "check" and args.file:
        return _check(args.file)
    if args.goal == "check":
        raise UsageError("there is no plan file to check", hint="For example: ww plan check plan.toml")
    if args.file:
        raise UsageError(f"{args.file!r} is one word too many", hint="Put the goal into quotes.")
    project = current(ctx) if args.start else ""
    plan = make_plan(
        ctx, args.goal, agent=args.agent, model=args.model, most_tasks=args.max_tasks, timeout=args.timeout
    )
    if args.branch:
        plan = plan._replace(mode="into", branch=naming.check_branch(args.branch))
    plan = plan._replace(auto_ship=args.auto_ship)
    path = args.output or f"{naming.slug(args.goal)[:40].strip('-') or 'the'}.plan.toml"
    save_plan(path, plan_text(plan))
    if args.edit:
        plan = _edited(ctx, path)
    data = {"file": os.path.abspath(path), "goal": plan.goal, **summary(plan), "graph": draw(plan), "run": ""}
    if args.start:
        data["run"] = begin(ctx, project, plan, Wishes(permissions=args.permissions), title=path)
        client.start(ctx.environ)
    return Outcome(data, notes=ctx.notes)


def _edited(ctx: Context, path: str) -> Plan:
    """The plan after a person has been at it, who may come back to mend it."""
    editor = ctx.environ.get("VISUAL") or ctx.environ.get("EDITOR") or "vi"
    while True:
        run_attached([*shlex.split(editor), path])
        try:
            return load_plan(path)
        except PlanError as error:
            if not ctx.confirm or not ctx.confirm(f"{error.message}. {error.hint} Edit it again?"):
                raise


def _check(path: str) -> Outcome:
    text = read_text(path)
    plan, problems = read_plan(text)
    found = [{"line": p.line, "message": p.message, "hint": p.hint} for p in sorted(problems)]
    if plan is None:
        return Outcome({"file": path, "problems": found, "graph": []}, exit_code=EXIT_USAGE)
    return Outcome(
        {"file": path, "problems": [], "goal": plan.goal, **summary(plan), "graph": draw(plan)}, exit_code=EXIT_DONE
    )


def render(outcome: Outcome, screen: Screen) -> None:
    """The graph, or what is wrong."""
    data = outcome.data
    for problem in data.get("problems", ()):
        screen.line(f"{data['file']}:{problem['line']}: {problem['message']}")
        if problem["hint"]:
            screen.line(screen.paint(f"  {problem['hint']}", "dim"))
    if not data["graph"]:
        return
    if data["goal"]:
        screen.line(screen.paint(data["goal"], "bold"))
    for line in data["graph"]:
        screen.line(f"  {line}")
    screen.line(
        f"{data['tasks']} tasks, at most {data['most_at_once']} at once, {data['longest_chain']} one after the other"
    )
    if "run" in data:
        screen.line(screen.paint(f"  ww run watch {data['run']}" if data["run"] else f"  ww run {data['file']}", "dim"))
