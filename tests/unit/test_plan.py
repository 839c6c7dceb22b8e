"""Plan files: what is read, and what is said about each mistake."""

from __future__ import annotations

import pytest

from woodwind.model.plan import Plan, PlanError, PlanTask, find_cycle, parse_plan, read_plan
from woodwind.model.plan_graph import draw, levels, summary
from woodwind.model.span import parse_span

WHOLE = '''\
[plan]
goal = "A shop"
mode = "into"
branch = "feat/shop"
max_concurrent = 3
timeout = "1h30m"
retries = 2
verify = false
auto_ship = true
on_question = "decide"

[[task]]
id = "schema"
description = """
Make the tables.
id = "this is no key"
"""
[[task]]
id = "api"
ticket = "gh#12"
depends_on = [
    "schema",  # [not a table]
]
agent = "claude"
model = "opus:high"
template = "terse"
branch = "feat/api"
timeout = "10m"
retries = 0
plan_mode = true
'''
TASK = '[[task]]\nid = "a"\ndescription = "A"\n'


def test_reads_a_whole_plan() -> None:
    plan = parse_plan(WHOLE)
    schema = PlanTask("schema", 'Make the tables.\nid = "this is no key"\n', timeout=5400, retries=2)
    api = PlanTask("api", "", "gh#12", ("schema",), "claude", "opus:high", "terse", "feat/api", 600, 0, True)
    assert plan == Plan((schema, api), "A shop", "into", "feat/shop", "", "", "", 3, 5400, 2, False, True, "decide")


def test_the_defaults_are_one_retry_and_half_an_hour() -> None:
    task = parse_plan(TASK).tasks[0]
    assert (task.timeout, task.retries) == (1800, 1)


@pytest.mark.parametrize(
    "text, line, said, hint",
    [
        ("", 1, "the plan has no task", "Add one"),
        ("[plan]\ngoal = 'x'\n", 1, "the plan has no task", ""),
        ("[plan]\nmax_concurent = 3\n" + TASK, 2, "unknown key `max_concurent` in [plan]", "`max_concurrent`"),
        (TASK + 'depend_on = ["b"]\n', 4, "unknown key `depend_on` in [task]", "`depends_on`"),
        (TASK + "xyz = 1\n", 4, "unknown key `xyz` in [task]", "Known here: id, description"),
        ("goal = 'x'\n" + TASK, 1, "unknown table `goal`", "plan, task"),
        (TASK + "[tasks]\n", 4, "unknown table `tasks`", "`task`"),
        (TASK + TASK, 5, "the id 'a' is taken already, in line 2", ""),
        ('[[task]]\ndescription = "A"\n', 1, "a task has no `id`", "Every task needs one"),
        ('[[task]]\nid = "a b"\ndescription = "A"\n', 2, "the id 'a b' must be letters", ""),
        ('[[task]]\nid = "-a"\ndescription = "A"\n', 2, "the id '-a' must be letters", ""),
        ('[[task]]\nid = "a"\n', 1, "neither a `description` nor a `ticket`", ""),
        (TASK + 'depends_on = ["b"]\n', 4, "depends on 'b', which is not there", "There is no other one."),
        (TASK + 'branch = "a b"\n', 4, "'a b' cannot be a branch name: it has a space", "check-ref-format"),
        ('[plan]\nmode = "into"\nbranch = "x..y"\n' + TASK, 3, "'x..y' cannot be a branch name", ""),
        (TASK + '[[task]]\nid = "bb"\ndescription = "B"\ndepends_on = ["aa"]\n', 7, "depends on 'aa'", "`a`"),
        (TASK + 'depends_on = ["a"]\n', 4, "the tasks wait for each other: a → a", "take one"),
        (TASK + 'depends_on = "b"\n', 4, "`depends_on` must be a list of task ids", ""),
        (TASK + 'timeout = "soon"\n', 4, "`timeout` must be a span of time", ""),
        (TASK + "timeout = 30\n", 4, "`timeout` must be a span of time", ""),
        (TASK + "retries = -1\n", 4, "`retries` must be a whole number from 0 to 20", ""),
        (TASK + "retries = true\n", 4, "`retries` must be a whole number", ""),
        (TASK + "plan_mode = 1\n", 4, "`plan_mode` must be true or false", ""),
        (TASK + "agent = 1\n", 4, "`agent` must be a text", ""),
        ("[plan]\nmax_concurrent = 0\n" + TASK, 2, "from 1 to 500", ""),
        ('[plan]\nmode = "all"\n' + TASK, 2, "one of ship, into", ""),
        ('[plan]\nmode = "into"\n' + TASK, 2, "needs a `branch`", ""),
        ('[plan]\nbranch = "x"\n' + TASK, 2, '`branch` goes with mode = "into"', ""),
        ("[[plan]]\n" + TASK, 1, "written as [plan]", ""),
        ("[task]\nid = 'a'\n", 1, "written as [[task]]", ""),
        ("[plan]\ngoal = \n", 2, "not valid TOML", ""),
        ('[plan]\ngoal = "x', 2, "not valid TOML", ""),
        ("".join(f'[[task]]\nid = "t{n}"\ndescription = "T"\n' for n in range(2001)), 6001, "at most 2000 tasks", ""),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_was_meant(text: str, line: int, said: str, hint: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(text, "plan.toml")
    assert caught.value.message.startswith(f"plan.toml:{line}: ")
    assert said in caught.value.message
    assert hint in caught.value.hint


def test_all_mistakes_are_told_at_once() -> None:
    plan, problems = read_plan('[plan]\nmode = 3\n[[task]]\nid = "a"\nfoo = 1\n')
    assert plan is None
    assert sorted(problem.line for problem in problems) == [2, 3, 5]


def test_a_cycle_is_shown_as_a_path() -> None:
    parents = {"a": ("b",), "b": ("c", "d"), "c": (), "d": ("e",), "e": ("b",)}
    assert find_cycle(parents) == ["b", "d", "e", "b"]
    assert find_cycle(parents | {"e": ()}) == []


def test_a_chain_of_two_thousand_is_no_problem() -> None:
    tasks = "".join(
        f'[[task]]\nid = "t{n}"\ndescription = "T"\n' + (f'depends_on = ["t{n - 1}"]\n' if n else "")
        for n in range(2000)
    )
    plan = parse_plan(tasks)
    assert levels({task.id: task.depends_on for task in plan.tasks})["t1999"] == 1999
    assert len(draw(plan)) == 2000
    assert summary(plan) == {"tasks": 2000, "longest_chain": 2000, "most_at_once": 1}


def test_draws_the_graph_as_a_tree() -> None:
    def task(name: str, *after: str) -> PlanTask:
        return PlanTask(name, name.upper(), depends_on=after)

    plan = Plan((task("a"), task("b", "a"), task("c", "a"), task("d", "c", "b"), task("e", "d"), task("f")))
    assert draw(plan) == [
        "a           A",
        "├─ b        B",
        "└─ c        C",
        "   └─ d     D  (and after b)",
        "      └─ e  E",
        "f           F",
    ]
    assert draw(Plan((task("a"),)), {"a": "landed"}) == ["a  landed  A"]
    assert summary(plan) == {"tasks": 6, "longest_chain": 4, "most_at_once": 2}


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("0", 0),
        ("90s", 90),
        ("30m", 1800),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1D", 86400),
        ("", None),
        ("5", None),
        ("-1m", None),
        ("1.5h", None),
    ],
)
def test_spans(text: str, seconds: int | None) -> None:
    assert parse_span(text) == seconds
