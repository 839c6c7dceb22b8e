"""The daemon killed at each step of a run, and what else goes away under it: it ends the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from woodwind.testing.daemons import daemon_status, start_daemon
from woodwind.testing.plans import adds, await_run, await_task, begin_run, run_status, states_of, write_plan
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import panes_of

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
# In the order in which a task comes by them. Those that stand for others of their kind run always.
ALWAYS = ("run.after_create", "run.after_commit_turn", "run.after_deliver", "run.after_land", "land_branch.after_move")
POINTS = (
    *("run.before_save", "run.after_save", "run.before_start", "run.after_create", "run.after_start"),
    *("run.before_collect", "run.after_commit_turn", "run.after_collect", "run.after_deliver"),
    *("run.before_land", "run.after_land", "land_branch.before_move", "land_branch.after_move"),
)


def until(file: Path) -> str:
    """The line of an agent that works until the test makes a file."""
    return f"run sh -c 'until test -e {file}; do sleep 0.05; done'"


def check_that_mends(box: Sandbox, repo: Path) -> None:
    """A [verify] command that fails until a file is there, and says how an agent makes it."""
    script = box.home / "check"
    script.write_text(
        "test -f mended.txt && exit 0\n"
        "printf 'it is broken\\nrehearse: write mended.txt yes\\nrehearse: commit Mend it\\n'; exit 1\n"
    )
    config = repo / "woodwind.toml"
    config.write_text(f'{config.read_text()}\n[verify]\ncommand = "sh {script}"\n')


@pytest.mark.parametrize("where", POINTS if LONG else ALWAYS)
def test_a_daemon_killed_at_a_step_is_followed_by_one_that_goes_on(sandbox: Sandbox, repo: Path, where: str) -> None:
    check_that_mends(sandbox, repo)
    plan = write_plan(sandbox.home / "plan.toml", {"one": adds("one"), "two": adds("two")}, after={"two": ["one"]})
    doomed = start_daemon(sandbox, WOODWIND_FAILPOINT=where)["pid"]
    run = begin_run(sandbox, repo, plan, "--skip-preflight", "--auto-ship")

    def died() -> bool:
        found = daemon_status(sandbox)
        return found is None or found["pid"] != doomed

    sandbox.wait_for(died, 90, f"the daemon to die at {where}")
    start_daemon(sandbox)
    told = await_run(sandbox, repo, run)
    assert set(states_of(told).values()) == {"landed"}, told
    subjects = git(repo, "log", "--no-merges", "--format=%s", "main").splitlines()
    assert sorted(subjects) == ["Add one", "Add two", "First commit", "Mend it"]
    assert git(repo, "status", "--porcelain") == ""


def test_a_tmux_server_that_dies_costs_no_retry(sandbox: Sandbox, repo: Path) -> None:
    plan = write_plan(sandbox.home / "plan.toml", {"one": ["think 600"]}, verify=False, retries=0)
    run = begin_run(sandbox, repo, plan)
    task = await_task(sandbox, repo, run, "one", "working")
    sandbox.tmux("kill-server")
    _await_working_again(sandbox, repo, run, task["worker_id"])
    sandbox.ww("run", "stop", run, cwd=repo, check=True)


def _await_working_again(box: Sandbox, repo: Path, run: str, worker: str) -> None:
    """Wait until a task's agent was started again, in its first attempt."""

    def again() -> bool:
        told = run_status(box, repo, run)["tasks"]["one"]
        assert told["state"] != "failed", told
        return told["state"] == "working" and bool(panes_of(box, worker))

    box.wait_for(again, 90, "the agent to be started again")
    assert run_status(box, repo, run)["tasks"]["one"]["attempt"] == 1


def test_a_start_that_fails_after_the_agent_was_lost_is_tried_again_and_costs_no_retry(
    sandbox: Sandbox, repo: Path
) -> None:
    start_daemon(sandbox, WOODWIND_FAILPOINT="resume.after_terminal=error")
    plan = write_plan(sandbox.home / "plan.toml", {"one": ["think 600"]}, verify=False, retries=0)
    run = begin_run(sandbox, repo, plan)
    task = await_task(sandbox, repo, run, "one", "working")
    sandbox.tmux("kill-server")

    def failed_to_start() -> bool:
        return "failpoint" in str(run_status(sandbox, repo, run)["tasks"]["one"]["why"])

    sandbox.wait_for(failed_to_start, 60, "a start that fails")
    sandbox.ww("daemon", "stop", cwd=repo, check=True)
    start_daemon(sandbox)
    _await_working_again(sandbox, repo, run, task["worker_id"])
    sandbox.ww("run", "stop", run, cwd=repo, check=True)


def test_a_task_that_waited_for_room_and_could_not_be_started_needs_you(sandbox: Sandbox, repo: Path) -> None:
    limit = {"WOODWIND_LIMITS_WORKERS": "1"}
    lame = sandbox.home / "lame"
    lame.write_text("#!/bin/sh\nexec cat\n")
    lame.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as file:
        file.write(f'\n[agents.lame]\ncommand = "{lame}"\n')
    sandbox.ww("new", "Do it", "--name", "first", cwd=repo, env=limit, check=True)
    start_daemon(sandbox, **limit)
    plan = write_plan(sandbox.home / "plan.toml", {"one": ["hang"]}, agent="lame", verify=False, retries=0)
    command = ("run", str(plan), "--permissions", "ask", "--detach", "--json")
    run = sandbox.ww(*command, cwd=repo, check=True).json["data"]["id"]
    task = await_task(sandbox, repo, run, "one", "working")
    sandbox.wait_for(lambda: run_status(sandbox, repo, run)["tasks"]["one"]["attached"], 60, "it to be left alone")
    lame.chmod(0o644)
    sandbox.ww("rm", "first", "--yes", cwd=repo, env=limit, check=True)
    told = await_run(sandbox, repo, run)
    assert (states_of(told), told["needs_you"]) == ({"one": "failed"}, 1)
    assert "lame cannot be started" in told["tasks"]["one"]["why"]
    lame.chmod(0o755)
    sandbox.ww("run", "resume", run, cwd=repo, check=True)
    sandbox.wait_for(lambda: panes_of(sandbox, task["worker_id"]), 60, "its agent to be started")
    sandbox.ww("run", "stop", run, cwd=repo, check=True)


def test_a_branch_that_is_deleted_or_set_back_is_not_built_upon(sandbox: Sandbox, repo: Path) -> None:
    go = sandbox.home / "go"
    lines = {"one": adds("one"), "slow": [until(go), *adds("slow")], "two": adds("two")}
    plan = write_plan(sandbox.home / "plan.toml", lines, after={"slow": ["one"], "two": ["slow"]}, verify=False)
    run = begin_run(sandbox, repo, plan)
    await_task(sandbox, repo, run, "slow", "working")
    git(repo, "branch", "-D", "feat/all")
    go.touch()
    told = await_run(sandbox, repo, run)
    assert states_of(told) == {"one": "landed", "slow": "failed", "two": "blocked"}
    assert "feat/all" in told["tasks"]["slow"]["why"]
    gone = sandbox.ww("run", "resume", run, "--json", cwd=repo)
    assert gone.json["error"]["code"] == "no_target"
    git(repo, "branch", "feat/all", "main")  # without what `one` made
    sandbox.ww("run", "resume", run, cwd=repo, check=True)
    told = await_run(sandbox, repo, run)
    assert states_of(told)["slow"] == "landed", told


def attach(box: Sandbox) -> str:
    """The pane of somebody who is at the terminal of the only worker."""
    session = box.tmux("list-panes", "-a", "-f", "#{@woodwind}", "-F", "#{session_id}")
    looking = box.run_in_pane("env", "-u", "TMUX", "tmux", "-L", "woodwind", "attach", "-t", session, server="user")
    box.wait_for(lambda: box.tmux("list-clients", "-F", "x"), 60, "somebody to be attached")
    return looking


def test_a_person_who_interrupts_and_says_what_to_do_costs_no_retry(sandbox: Sandbox, repo: Path) -> None:
    plan = write_plan(sandbox.home / "plan.toml", {"one": ["think 600"]}, verify=False, retries=0)
    run = begin_run(sandbox, repo, plan)
    worker = await_task(sandbox, repo, run, "one", "working")["worker_id"]

    def working() -> bool:
        [found] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
        return bool(found["status"] == "working")

    sandbox.wait_for(working, 60, "the agent to be at work")
    looking = attach(sandbox)
    [pane] = panes_of(sandbox, worker)
    sandbox.tmux("send-keys", "-t", pane, "C-c")

    def held() -> bool:
        task = run_status(sandbox, repo, run)["tasks"]["one"]
        assert task["state"] == "working", task
        return bool(task["attached"])

    sandbox.wait_for(held, 60, "the run to leave the worker alone")
    instead = "\n".join(["Instead:", *(f"rehearse: {line}" for line in adds("one"))])
    sandbox.ww("send", "one", instead, cwd=repo, check=True)
    sandbox.tmux("kill-pane", "-t", looking, server="user")
    told = await_run(sandbox, repo, run)
    assert (states_of(told), told["tasks"]["one"]["attempt"]) == ({"one": "landed"}, 1)


def test_a_person_at_the_terminal_is_left_alone(sandbox: Sandbox, repo: Path) -> None:
    go = sandbox.home / "go"
    plan = write_plan(sandbox.home / "plan.toml", {"one": [until(go), *adds("one")]}, verify=False)
    run = begin_run(sandbox, repo, plan)
    await_task(sandbox, repo, run, "one", "working")
    looking = attach(sandbox)
    go.touch()

    def held() -> bool:
        task = run_status(sandbox, repo, run)["tasks"]["one"]
        return bool(task["attached"]) and task["state"] == "collecting"

    sandbox.wait_for(held, 60, "the run to leave the worker alone")
    sandbox.tmux("kill-pane", "-t", looking, server="user")
    told = await_run(sandbox, repo, run)
    assert states_of(told) == {"one": "landed"}
