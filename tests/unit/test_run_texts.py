"""What a run says, and what it makes of what agents say."""

from __future__ import annotations

import tomllib

import pytest

from woodwind.model.plan import Plan, PlanTask, parse_plan
from woodwind.model.plan_answer import PlanFacts, plan_text, prompt, read_answer
from woodwind.model.run import Task
from woodwind.model.run_texts import mark, message, parent_summary, says_nothing
from woodwind.model.storms import back_at, storm_of


@pytest.mark.parametrize(
    "words, nothing",
    [
        ("NOTHING TO DO", True),
        ("It is there already.\n\n**NOTHING TO DO**", True),
        ("- nothing to do.", True),
        ("There is nothing to do for me, so I wrote a test.", False),
        ("NOTHING TO DO here, but I changed it", False),
        ("", False),
    ],
)
def test_the_sign_that_there_was_nothing_to_do_is_a_line_of_its_own(words: str, nothing: bool) -> None:
    assert says_nothing(words) is nothing


@pytest.mark.parametrize(
    "error, storm",
    [
        ("Claude AI usage limit reached|1767225600", "usage"),
        ("429 Too Many Requests", "usage"),
        ("You've hit your limit", "usage"),
        ("API Error: 500 Internal server error", "api"),
        ("overloaded_error: Overloaded", "api"),
        ("stream disconnected before completion", "api"),
        ("Connection refused", "api"),
        ("the agent exited with status 1 in the middle of it", ""),
        ("git commit failed: nothing to commit", ""),
        ("tests failed: 4290 of 5000", ""),
    ],
)
def test_errors_of_the_service_are_told_from_those_of_the_agent(error: str, storm: str) -> None:
    assert storm_of(error) == storm


def test_a_limit_may_say_when_it_ends() -> None:
    assert back_at("usage limit reached|1767225600") == 1767225600000
    assert back_at("usage limit reached") == 0
    assert back_at("API error in request 1767225600") == 0


def test_a_message_begins_with_its_mark_and_says_what_failed() -> None:
    task = Task(
        "api", delivery=3, tell="retry", why="api conflicts with main in a.py", output="````\x1b[31mred\nrm -rf"
    )
    told = message("r1", task, target="main")
    assert told.startswith(mark("r1", task) + " ")
    assert "Merge `main` into your branch" in told
    assert "\x1b" not in told
    assert "`````text\n````red\nrm -rf\n`````" in told
    assert "still open" in message("r1", task._replace(tell="remind"), target="main")
    assert message("r1", task._replace(tell="Use the old one"), target="main").endswith("] Use the old one")


def test_a_childs_brief_tells_what_its_parent_did() -> None:
    told = parent_summary("api", "Build it\nmore", commits=["Add a", "Add b"], files=["a.py"], words="All done")
    assert told == "api: Build it\nCommits:\n- Add a\n- Add b\nFiles: a.py\nIts last words:\nAll done"


ANSWER = (
    '{"goal": "G", "tasks": [{"id": "a", "description": "Do a"}, {"id": "b", "description": "B", "depends_on": ["a"]}]}'
)


@pytest.mark.parametrize("around", ["{}", "Here it is:\n```json\n{}\n```\nGood luck {{}}", 'I saw {{"x": 1}}.\n{}'])
def test_a_plan_is_found_in_whatever_is_said_around_it(around: str) -> None:
    plan, problems = read_answer(around.format(ANSWER), 5)
    assert problems == []
    assert plan == Plan((PlanTask("a", "Do a"), PlanTask("b", "B", depends_on=("a",))), goal="G")


@pytest.mark.parametrize(
    "answer, problem",
    [
        ("I would rather not", "there is no JSON object"),
        ('{"tasks": {}}', "`tasks` must be a list"),
        ('{"tasks": []}', "at least one"),
        ('{"tasks": [3]}', "task 1: it must be an object"),
        ('{"tasks": [{"id": "a"}]}', "task 1: `description` must be a text"),
        ('{"tasks": [{"id": 1, "description": "x"}]}', "task 1: `id` must be a text"),
        ('{"tasks": [{"id": "a", "description": "x", "depends_on": "b"}]}', "`depends_on` must be a list"),
        ('{"tasks": [{"id": "a", "description": "x", "run": "rm"}]}', "unknown key 'run'"),
        ('{"tasks": [' + ",".join('{"id": "a", "description": "x"}' for _ in range(4)) + "]}", "at most 3"),
    ],
)
def test_an_answer_that_cannot_be_used_is_told_why(answer: str, problem: str) -> None:
    plan, problems = read_answer(answer, 3)
    assert plan is None
    assert problem in problems[0]


@pytest.mark.parametrize(
    "text", ["plain", 'with "quotes" \\ and \\n', "two\nlines", "'''", "ends with '", "a\n'''\nb'", "ü\n\t#x"]
)
def test_a_plan_is_written_so_that_it_reads_back_the_same(text: str) -> None:
    plan = Plan((PlanTask("a", text, timeout=1800, retries=1),), goal=text.replace("\n", " "), mode="into", branch="b")
    assert tomllib.loads(plan_text(plan))["task"][0]["description"].strip("\n") == text
    back = parse_plan(plan_text(plan))
    assert (back.goal, back.branch) == (plan.goal, "b")


def test_a_planner_is_told_the_goal_the_files_and_at_the_repair_what_was_wrong() -> None:
    facts = PlanFacts("Add a shop", ["src/a.py"], ["First commit"], ["AGENTS.md"], ["make test"], 4)
    asked = prompt(facts)
    assert all(
        word in asked for word in ("Add a shop", "src/a.py", "First commit", "AGENTS.md", "make test", "At most 4")
    )
    assert "Your last answer" not in asked
    assert "It cannot be used:\n\n- no tasks" in prompt(facts, answer="hm", problems=["no tasks"])
