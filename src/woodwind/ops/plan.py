"""`ww plan`: an installed agent breaks a goal down into a plan, which is checked before it is written."""

import os
from typing import Any

from woodwind.agents import registry as agents
from woodwind.agents.base import Agent, Start
from woodwind.base.run import run
from woodwind.git.call import git
from woodwind.model.choice import parse_model
from woodwind.model.errors import UsageError, WoodwindError
from woodwind.model.plan import Plan, read_plan
from woodwind.model.plan_answer import PlanFacts, plan_text, prompt, read_answer
from woodwind.muxes.base import SCRUBBED
from woodwind.ops.brief import checks_in
from woodwind.ops.choose_agents import choose_agents
from woodwind.ops.context import Context

_CONVENTIONS = ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "docs/architecture.md", "README.md")
_MOST_FILES = 400
# Linux takes no single word longer than 128 KB.
_MOST_PROMPT = 100_000


class NoPlan(WoodwindError):
    """The agent gave no plan that can be used, not even when it was told why."""

    code = "no_plan"


def make_plan(ctx: Context, goal: str, *, agent: str, model: str, most_tasks: int, timeout: float) -> Plan:
    """The plan that an agent makes of a goal; one repair is asked for, then it is an error."""
    if not goal.strip():
        raise UsageError("there is no goal", hint='Say what is to be reached: ww plan "Add a shop"')
    config = ctx.loaded_config.config
    planner = agents.find(agent, config.agents) if agent else choose_agents(ctx, [], first=True)[0]
    planner.require_program()
    if planner.headless_args is None:
        raise planner.cannot(
            "make a plan: that needs one that runs without a terminal",
            f"Choose another with --agent, or set `headless_args` in [agents.{planner.name}].",
        )
    facts = gather(ctx, goal, most_tasks)
    answer, problems = "", [""]
    for words in ("asking", "asking again"):
        ctx.say(f"{words} {planner.name} for a plan")
        text = prompt(facts, answer=answer, problems=problems[:9] if answer else ())
        answer = _ask(ctx, planner, model or config.roles.planner, text, timeout)
        plan, problems = read_answer(answer, most_tasks)
        if plan:
            whole, found = read_plan(plan_text(plan))
            problems = [problem.message for problem in found]
            if whole:
                return whole._replace(goal=plan.goal or goal)
    raise NoPlan(
        f"{planner.name} gave no plan that can be used: {problems[0]}",
        hint="Try again, say the goal in other words, or choose another --agent.",
    )


def gather(ctx: Context, goal: str, most_tasks: int) -> PlanFacts:
    """What a planner is told: the files, the history, and where the conventions are."""
    top = ctx.repo.top or ctx.repo.home
    files = git("-C", top, "ls-files", "-z", ok=None).text.split("\0") if ctx.repo.top else []
    files = [name for name in files if name]
    if len(files) > _MOST_FILES:
        files = _folders(files)[:_MOST_FILES]
    history = git("-C", top, "log", "--max-count=20", "--format=%s", ok=None).text.splitlines()
    there = [name for name in _CONVENTIONS if os.path.isfile(os.path.join(top, name))]
    checks = [command for _, command in checks_in(top, ctx.loaded_config.config.verify.command)]
    return PlanFacts(goal, files, history, there, checks, most_tasks)


def _folders(files: list[str]) -> list[str]:
    """Where there are too many files to list: each folder, down to two levels, with how many are in it."""
    counts: dict[str, int] = {}
    for name in files:
        folder = "/".join(os.path.dirname(name).split("/")[:2])
        counts[folder] = counts.get(folder, 0) + 1
    return [f"{folder or '.'}/ ({count} files)" for folder, count in sorted(counts.items())]


def _ask(ctx: Context, planner: Agent, model: str, text: str, timeout: float) -> str:
    """What the agent says to a prompt, without a terminal and without changing anything."""
    if len(text.encode()) > _MOST_PROMPT:
        text = text.encode()[:_MOST_PROMPT].decode("utf-8", "ignore")
    start = Start(
        prompt=text,
        headless=True,
        model=parse_model(model),
        permissions="ask",
        repository=ctx.repo.home,
    )
    env: dict[str, Any] = {k: v for k, v in ctx.environ.items() if not k.startswith(SCRUBBED)}
    env |= planner.variables(start)
    done = run(planner.argv(start), cwd=ctx.repo.top or ctx.repo.home, env=env, ok=None, timeout=timeout)
    if done.code and not done.stdout.strip():
        raise NoPlan(
            f"{planner.name} ended with status {done.code}: {done.complaint or 'it said nothing'}",
            hint=f"Is it logged in? Try by hand: {planner.command}",
        )
    return done.stdout.decode("utf-8", "replace")
