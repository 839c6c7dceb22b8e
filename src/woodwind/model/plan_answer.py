"""A planner's prompt and its answer: what an agent is asked, and the plan in what it says."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from woodwind.model.plan import Plan, PlanTask
from woodwind.model.text import clean, one_line

_KEYS = {"id", "description", "depends_on"}
_MOST_TEXT = 20_000


class PlanFacts(NamedTuple):
    """What a planner is told about the project."""

    goal: str
    files: Sequence[str]
    history: Sequence[str]
    conventions: Sequence[str] = ()
    checks: Sequence[str] = ()
    most_tasks: int = 12


def prompt(facts: PlanFacts, *, answer: str = "", problems: Sequence[str] = ()) -> str:
    """The instructions for a planner; with `problems`, for the one repair of its answer."""
    parts = [
        "Break a goal down into tasks for coding agents that work at the same time, each in a git worktree of its own.",
        f"# The goal\n\n{clean(facts.goal).strip()}",
        "# The rules\n\n"
        f"- At most {facts.most_tasks} tasks; fewer are better. One is fine for a small goal.\n"
        "- Each task is one commit-sized piece that a good developer can do, test and commit alone, without asking.\n"
        "- Two tasks that would change the same places must not run at the same time: let one depend on the other.\n"
        "- A task may start when all tasks that it depends on have landed; it then sees their work.\n"
        "- A description says what to build, where, and how to know that it is done. It names files where it can.\n"
        "- Read what you need. Change nothing.",
        "# The project\n\n" + "\n".join(f"    {one_line(name, 200)}" for name in facts.files),
    ]
    if facts.history:
        parts.append("# Its last commits\n\n" + "\n".join(f"- {one_line(line)}" for line in facts.history))
    if facts.conventions or facts.checks:
        told = [f"- conventions: {one_line(name)}" for name in facts.conventions]
        told += [f"- checks: {one_line(check, 200)}" for check in facts.checks]
        parts.append("# Also there\n\n" + "\n".join(told))
    parts.append(
        "# Your answer\n\nOne JSON object and nothing else:\n\n"
        '{"goal": "in one line", "tasks": [{"id": "short-name", "description": "what to do", "depends_on": []}]}'
    )
    if problems:
        listed = "\n".join(f"- {one_line(problem, 300)}" for problem in problems)
        parts.append(
            f"# Your last answer\n\n{clean(answer)[:_MOST_TEXT]}\n\nIt cannot be used:\n\n{listed}\n\nMend it."
        )
    return "\n\n".join(parts) + "\n"


def read_answer(text: str, most_tasks: int) -> tuple[Plan | None, list[str]]:
    """The plan in what a planner said, or what is wrong with it. The graph itself is checked as any plan's."""
    found = _object_in(text)
    if found is None:
        return None, ["there is no JSON object with `tasks` in it"]
    problems = []
    entries = found["tasks"]
    if not isinstance(entries, list) or not entries:
        return None, ["`tasks` must be a list with at least one task"]
    if len(entries) > most_tasks:
        problems.append(f"there are {len(entries)} tasks, and at most {most_tasks} are wanted")
    tasks = []
    for n, entry in enumerate(entries, 1):
        problem = _misfit(entry)
        if problem:
            problems.append(f"task {n}: {problem}")
        else:
            description = clean(entry["description"]).strip()
            tasks.append(PlanTask(entry["id"], description, depends_on=tuple(entry.get("depends_on", ()))))
    goal = found.get("goal", "")
    plan = Plan(tuple(tasks), goal=one_line(goal, 300) if isinstance(goal, str) else "")
    return (None, problems) if problems else (plan, [])


def _misfit(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "it must be an object"
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        return f"unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}"
    for key in ("id", "description"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            return f"`{key}` must be a text that is not empty"
    after = entry.get("depends_on", [])
    if not isinstance(after, list) or not all(isinstance(name, str) for name in after):
        return "`depends_on` must be a list of ids"
    return ""


def _object_in(text: str) -> dict[str, Any] | None:
    """The last JSON object in a text that has `tasks`, whatever is said around it."""
    decoder = json.JSONDecoder()
    found = None
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict) and "tasks" in value:
            found = value
        at = text.find("{", max(end, at + 1))
    return found


def plan_text(plan: Plan) -> str:
    """The plan as a TOML file, for people to read and change."""
    lines = ["[plan]", f"goal = {_text(plan.goal)}", f'mode = "{plan.mode}"']
    if plan.branch:
        lines.append(f"branch = {_text(plan.branch)}")
    lines += [f"max_concurrent = {plan.max_concurrent}", f"auto_ship = {str(plan.auto_ship).lower()}"]
    for task in plan.tasks:
        lines += ["", "[[task]]", f"id = {_text(task.id)}", f"description = {_text(task.description)}"]
        if task.depends_on:
            lines.append(f"depends_on = [{', '.join(_text(name) for name in task.depends_on)}]")
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    plain = clean(value)
    # Over several lines where that reads well, and nothing in it could end it or be taken for an escape.
    if "\n" in plain and "'''" not in plain and not plain.endswith("'") and "\r" not in plain:
        return f"'''\n{plain}'''"
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
