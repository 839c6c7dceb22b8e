"""`ww plan`: a goal broken down by an agent, checked, repaired once, and written."""

from __future__ import annotations

import json
from pathlib import Path

from woodwind.model.plan import parse_plan
from woodwind.testing.plans import await_run
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox

TASKS = [
    {"id": "one", "description": "Do one\nrehearse: write one.txt 1\nrehearse: commit One", "depends_on": []},
    {"id": "two", "description": "Do two\nrehearse: write two.txt 2\nrehearse: commit Two", "depends_on": ["one"]},
]
# A stand-in for an agent without a terminal: it answers from files, one for each time that it is asked.
AGENT = """#!/bin/sh
n=$(cat "$HOME/asked" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$HOME/asked"
for word; do last=$word; done
printf '%s' "$last" > "$HOME/prompt-$n"
cat "$HOME/answer-$n"
"""


def stand_in(box: Sandbox, repo: Path, *answers: str) -> None:
    program = box.home / "planner"
    program.write_text(AGENT)
    program.chmod(0o755)
    for n, answer in enumerate(answers, 1):
        (box.home / f"answer-{n}").write_text(answer)
    config = repo / "woodwind.toml"
    told = f'\n[agents.planner]\ncommand = "{program}"\nheadless_args = []\n'
    config.write_text(config.read_text().replace('agent = "toy"', 'agent = "rehearsal"') + told)


def test_a_plan_is_made_repaired_written_and_begun(sandbox: Sandbox, repo: Path) -> None:
    cycle = [{**TASKS[0], "depends_on": ["two"]}, TASKS[1]]
    first = f"Sure!\n```json\n{json.dumps({'goal': 'Both', 'tasks': cycle})}\n```"
    stand_in(sandbox, repo, first, json.dumps({"goal": "Both", "tasks": TASKS}))
    file = sandbox.home / "both.toml"
    words = ("--agent", "planner", "--branch", "feat/both", "--output", str(file))
    editor = {"EDITOR": r"sed -i 's/auto_ship = false/verify = false/'"}
    start = ("--edit", "--start", "--permissions", "auto", "--json")
    done = sandbox.ww("plan", "Make both files", *words, *start, cwd=repo, env=editor, check=True).json["data"]
    assert (done["tasks"], done["longest_chain"]) == (2, 2)
    assert "src/app.py" in (sandbox.home / "prompt-1").read_text()
    assert "First commit" in (sandbox.home / "prompt-1").read_text()
    assert "the tasks wait for each other: one → two → one" in (sandbox.home / "prompt-2").read_text()
    plan = parse_plan(file.read_text())
    assert (plan.goal, plan.mode, plan.branch, plan.verify) == ("Both", "into", "feat/both", False)
    run = done["run"]
    await_run(sandbox, repo, run)
    assert set(git(repo, "ls-tree", "--name-only", "feat/both").split()) >= {"one.txt", "two.txt"}


def test_an_agent_that_needs_a_terminal_cannot_plan(sandbox: Sandbox, repo: Path) -> None:
    refused = sandbox.ww("plan", "Make it", "--json", cwd=repo)
    error = refused.json["error"]
    assert (refused.code, error["code"]) == (2, "agent_cannot")
    assert "the agent toy cannot make a plan" in error["message"]
    assert "--agent" in error["hint"]
    assert "[agents.toy]" in error["hint"]


def test_the_rehearsal_agent_plans_too_and_a_plan_that_stays_wrong_is_an_error(sandbox: Sandbox, repo: Path) -> None:
    answer = json.dumps({"goal": "G", "tasks": [{"id": "a", "description": "A"}]}).replace("\\", "\\\\")
    goal = f"Make a plan\nrehearse: say {answer}"
    words = ("--agent", "rehearsal", "--output", str(sandbox.home / "a.toml"), "--json")
    done = sandbox.ww("plan", goal, *words, cwd=repo, check=True).json["data"]
    assert done["graph"] == ["a  A"]
    bad = sandbox.ww("plan", "Make a plan\nrehearse: say I will not", *words, cwd=repo)
    assert bad.json["error"]["code"] == "no_plan"
    assert "no JSON object" in bad.json["error"]["message"]


def test_check_draws_the_graph_or_tells_all_that_is_wrong(sandbox: Sandbox, repo: Path) -> None:
    plan = sandbox.home / "plan.toml"
    plan.write_text(
        '[[task]]\nid = "a"\ndescription = "A"\n[[task]]\nid = "b"\ndescription = "B"\ndepends_on = ["a"]\n'
    )
    shown = sandbox.ww("plan", "check", str(plan), cwd=repo, check=True).stdout
    assert "  a     A\n  └─ b  B\n" in shown
    plan.write_text('[plan]\nmod = "x"\n[[task]]\nid = "a"\n')
    wrong = sandbox.ww("plan", "check", str(plan), cwd=repo)
    assert wrong.code == 2
    assert f"{plan}:2: unknown key `mod` in [plan]\n  Did you mean `mode`?" in wrong.stdout
    assert f"{plan}:3: the task 'a' has neither" in wrong.stdout
    told = sandbox.ww("plan", "check", str(plan), "--json", cwd=repo).json
    assert (told["ok"], told["error"]["code"], len(told["data"]["problems"])) == (False, "plan", 2)
    mistyped = sandbox.ww("run", "sttatus", cwd=repo)
    assert (mistyped.code, "Did you mean `ww run status`?" in mistyped.stderr) == (3, True)
    missing = sandbox.ww("plan", "check", str(sandbox.home / "none.toml"), cwd=repo)
    assert missing.code == 3
