"""Plans: a goal and a graph of tasks, read from TOML with errors that name the line."""

import difflib
import tomllib
from typing import Any, NamedTuple

from woodwind.model.errors import UsageError
from woodwind.model.naming import check_branch
from woodwind.model.span import WANTED, parse_span
from woodwind.model.text import clean, one_line
from woodwind.model.toml_lines import Lines

MOST_TASKS = 2000
MODES = ("ship", "into")
ON_QUESTION = ("wait", "decide")


class PlanTask(NamedTuple):
    """One piece of work; what is empty is as the plan or the configuration says."""

    id: str
    description: str = ""
    ticket: str = ""
    depends_on: tuple[str, ...] = ()
    agent: str = ""
    model: str = ""
    template: str = ""
    branch: str = ""
    timeout: int = 0  # seconds
    retries: int = 0
    plan_mode: bool = False

    @property
    def title(self) -> str:
        """One line about it."""
        return one_line(self.description) or self.ticket or self.id


class Plan(NamedTuple):
    """A whole plan. `mode` is ship (each task lands on the base) or into (all land on `branch`)."""

    tasks: tuple[PlanTask, ...]
    goal: str = ""
    mode: str = "ship"
    branch: str = ""
    base: str = ""
    agent: str = ""
    model: str = ""
    max_concurrent: int = 4
    timeout: int = 1800
    retries: int = 1
    verify: bool = True
    auto_ship: bool = False
    on_question: str = "wait"


class Problem(NamedTuple):
    """Something wrong in a plan file."""

    line: int
    message: str
    hint: str = ""


class PlanError(UsageError):
    """A plan that cannot be run as it is."""

    code = "plan"

    def __init__(self, file: str, problems: list[Problem]) -> None:
        first, *others = problems
        more = f" (and {len(others)} more)" if others else ""
        super().__init__(f"{file}:{first.line}: {first.message}{more}", hint=first.hint)
        self.file = file
        self.problems = problems


class _Key(NamedTuple):
    """What a key may be: its type, and for texts the choices."""

    type: type
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 1_000_000
    span: bool = False
    branch: bool = False


_TEXT = _Key(str)
_BRANCH = _Key(str, branch=True)
_FLAG = _Key(bool)
PLAN_KEYS = {
    "goal": _TEXT,
    "mode": _Key(str, MODES),
    "branch": _BRANCH,
    "base": _TEXT,
    "agent": _TEXT,
    "model": _TEXT,
    "max_concurrent": _Key(int, least=1, most=500),
    "timeout": _Key(str, span=True),
    "retries": _Key(int, most=20),
    "verify": _FLAG,
    "auto_ship": _FLAG,
    "on_question": _Key(str, ON_QUESTION),
}
TASK_KEYS = {
    "id": _TEXT,
    "description": _TEXT,
    "ticket": _TEXT,
    "depends_on": _Key(list),
    "agent": _TEXT,
    "model": _TEXT,
    "template": _TEXT,
    "branch": _BRANCH,
    "timeout": _Key(str, span=True),
    "retries": _Key(int, most=20),
    "plan_mode": _FLAG,
}


def parse_plan(text: str, file: str = "the plan") -> Plan:
    """The plan in a TOML text; PlanError with all that is wrong."""
    plan, problems = read_plan(text)
    if problems or plan is None:
        raise PlanError(file, sorted(problems))
    return plan


def read_plan(text: str) -> tuple[Plan | None, list[Problem]]:
    """The plan, or None and what is wrong in it."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return None, [_syntax(text, error)]
    lines = Lines(text)
    problems: list[Problem] = []
    for name in tables:
        if name not in ("plan", "task"):
            at = lines.of(name) if isinstance(tables[name], dict | list) else lines.of("", 0, name)
            problems.append(Problem(at, f"unknown table `{name}`", _near(name, ["plan", "task"])))
    head = tables.get("plan", {})
    if not isinstance(head, dict):
        return None, [Problem(lines.of("plan"), "the plan is one table, written as [plan]")]
    entries = tables.get("task", [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        return None, [Problem(lines.of("task"), "tasks are written as [[task]], one for each")]
    settings = _checked(head, PLAN_KEYS, "plan", 0, lines, problems)
    if not entries:
        problems.append(Problem(lines.of("plan"), "the plan has no task", "Add one: [[task]] with id and description"))
    if len(entries) > MOST_TASKS:
        problems.append(
            Problem(lines.of("task", MOST_TASKS), f"a plan has at most {MOST_TASKS} tasks, found {len(entries)}")
        )
    problems += _contradictions(settings, lines)
    defaults = {"timeout": settings.get("timeout", 1800), "retries": settings.get("retries", 1)}
    tasks = []
    for n, entry in enumerate(entries):
        given = _checked(entry, TASK_KEYS, "task", n, lines, problems)
        tasks.append(_task(defaults | given, n, lines, problems))
    problems += _graph_problems(tasks, lines)
    if problems:
        return None, problems
    return Plan(tasks=tuple(tasks), **settings), []


def _syntax(text: str, error: tomllib.TOMLDecodeError) -> Problem:
    said = str(error)
    _, _, place = said.partition("(at line ")
    number = place.partition(",")[0]
    at = int(number) if number.isdigit() else len(text.splitlines()) or 1
    return Problem(at, f"this is not valid TOML: {said.partition(' (at')[0]}")


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.4)
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"Known here: {', '.join(known)}." if known else "There is no other one."


def _checked(
    given: dict[str, Any], keys: dict[str, _Key], table: str, index: int, lines: Lines, problems: list[Problem]
) -> dict[str, Any]:
    """The keys that are known and well-formed; the others become problems."""
    good: dict[str, Any] = {}
    for name, value in given.items():
        at = lines.of(table, index, name)
        key = keys.get(name)
        if key is None:
            problems.append(Problem(at, f"unknown key `{clean(name)}` in [{table}]", _near(name, list(keys))))
            continue
        wanted = _misfit(key, value)
        if wanted:
            problems.append(Problem(at, f"`{name}` must be {wanted}, found {value!r}"))
        elif key.span:
            good[name] = parse_span(value)
        elif key.type is list:
            good[name] = tuple(value)
        else:
            good[name] = value
            if key.branch and value and (why := _bad_branch(value)):
                problems.append(why._replace(line=at))
    return good


def _bad_branch(name: str) -> Problem | None:
    try:
        check_branch(name)
    except UsageError as error:
        return Problem(0, error.message, error.hint)
    return None


def _misfit(key: _Key, value: Any) -> str:
    """What was wanted instead of `value`, or "" when it fits."""
    if key.span:
        return "" if isinstance(value, str) and parse_span(value) is not None else WANTED
    if key.type is list:
        fits = isinstance(value, list) and all(isinstance(v, str) for v in value)
        return "" if fits else 'a list of task ids, such as ["a", "b"]'
    if key.type is bool:
        return "" if isinstance(value, bool) else "true or false"
    if key.type is int:
        fits = isinstance(value, int) and not isinstance(value, bool) and key.least <= value <= key.most
        return "" if fits else f"a whole number from {key.least} to {key.most}"
    if not isinstance(value, str):
        return "a text"
    return "one of " + ", ".join(key.choices) if key.choices and value not in key.choices else ""


def _contradictions(settings: dict[str, Any], lines: Lines) -> list[Problem]:
    mode = settings.get("mode", "ship")
    if mode == "into" and not settings.get("branch"):
        return [Problem(lines.of("plan", 0, "mode"), 'mode = "into" needs a `branch` that the tasks land on')]
    if mode == "ship" and settings.get("branch"):
        hint = 'Say mode = "into" to land all tasks on it, or use `base` for where they start from and land.'
        return [Problem(lines.of("plan", 0, "branch"), '`branch` goes with mode = "into"', hint)]
    return []


def _task(given: dict[str, Any], index: int, lines: Lines, problems: list[Problem]) -> PlanTask:
    at = lines.of("task", index)
    name = given.get("id", "")
    if not name.strip():
        problems.append(Problem(at, "a task has no `id`", 'Every task needs one: id = "a-short-name"'))
    elif len(name) > 60 or not all(ch.isalnum() or ch in "-_." for ch in name) or not name[0].isalnum():
        wanted = "letters, digits, - _ and . (at most 60, a letter or digit first)"
        problems.append(Problem(lines.of("task", index, "id"), f"the id {clean(name)!r} must be {wanted}"))
    if not given.get("description", "").strip() and not given.get("ticket", "").strip():
        problems.append(Problem(at, f"the task {clean(name)!r} has neither a `description` nor a `ticket`"))
    return PlanTask(**({"id": name} | given))


def _graph_problems(tasks: list[PlanTask], lines: Lines) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[str, int] = {}
    for n, task in enumerate(tasks):
        if not task.id:
            continue
        if task.id in first:
            before = lines.of("task", first[task.id], "id")
            problems.append(
                Problem(lines.of("task", n, "id"), f"the id {task.id!r} is taken already, in line {before}")
            )
        first.setdefault(task.id, n)
    for n, task in enumerate(tasks):
        for parent in task.depends_on:
            if parent not in first:
                at = lines.of("task", n, "depends_on")
                hint = _near(parent, [i for i in first if i != task.id])
                problems.append(
                    Problem(at, f"the task {task.id!r} depends on {clean(parent)!r}, which is not there", hint)
                )
    if not problems:
        cycle = find_cycle({task.id: task.depends_on for task in tasks})
        if cycle:
            at = lines.of("task", first[cycle[0]], "depends_on")
            hint = "Each waits for the next: take one of these dependencies out."
            problems.append(Problem(at, f"the tasks wait for each other: {' → '.join(cycle)}", hint))
    return problems


def find_cycle(parents: dict[str, tuple[str, ...]]) -> list[str]:
    """A path of tasks that ends where it begins, each waiting for the next; empty when there is none."""
    over: set[str] = set()
    for root in parents:
        path: list[str] = []
        on_path: set[str] = set()
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                path.pop()
                on_path.discard(name)
                over.add(name)
            elif name in on_path:
                return [*path[path.index(name) :], name]
            elif name not in over:
                path.append(name)
                on_path.add(name)
                stack.append((name, True))
                stack += [(parent, False) for parent in reversed(parents[name])]
    return []
