"""`ww run`: plans that the daemon carries out with rehearsal agents."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from woodwind.testing.daemons import daemon_status, start_daemon
from woodwind.testing.plans import (
    DIAMOND,
    adds,
    await_run,
    await_task,
    begin_run,
    run_status,
    states_of,
    write_plan,
)
from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Sandbox

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
KILLS = 20 if LONG else 3


def files_on(repo: Path, branch: str) -> dict[str, str]:
    names = git(repo, "ls-tree", "-r", "--name-only", branch).splitlines()
    return {name: git(repo, "show", f"{branch}:{name}") for name in names if name.endswith(".txt")}


def test_children_start_from_their_parents_commits_and_hear_of_them(sandbox: Sandbox, repo: Path) -> None:
    lines = {
        "one": adds("one"),
        "two": ["run cp one.txt two.txt", "run cp .woodwind/brief.md seen.txt", "commit Add two", "say Added two"],
    }
    plan = write_plan(sandbox.home / "plan.toml", lines, after={"two": ["one"]}, verify=False)
    ended = sandbox.ww("run", str(plan), "--permissions", "auto", cwd=repo, timeout=100)
    assert ended.code == 0, ended
    assert "one started" in ended.stdout
    assert "two landed" in ended.stdout
    made = files_on(repo, "feat/all")
    assert made["two.txt"] == "made by one"
    assert "Added one" in made["seen.txt"]
    assert "one.txt" in made["seen.txt"]
    assert git(repo, "log", "--oneline", "main").count("\n") == 0
    assert sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"] == []


@pytest.mark.timeout(3600 if LONG else 300)
def test_a_daemon_killed_at_random_moments_changes_nothing_in_the_end(sandbox: Sandbox, repo: Path) -> None:
    chance = random.Random(41)
    tasks = {name: adds(name) for name in DIAMOND}
    plan = write_plan(sandbox.home / "plan.toml", tasks, after=DIAMOND, verify=False, max_concurrent=3)
    run = begin_run(sandbox, repo, plan)
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.05, 2.0))  # the moment is what is tried, nothing is waited for
        daemon = daemon_status(sandbox)
        if daemon:
            os.kill(daemon["pid"], signal.SIGKILL)
        if run_status(sandbox, repo, run)["state"] == "finished":
            break
        start_daemon(sandbox)
    start_daemon(sandbox)
    told = await_run(sandbox, repo, run, timeout=240)
    assert set(states_of(told).values()) == {"landed"}, told
    assert files_on(repo, "feat/all") == {f"{name}.txt": f"made by {name}" for name in DIAMOND}
    subjects = git(repo, "log", "--no-merges", "--format=%s", "main..feat/all").splitlines()
    assert sorted(subjects) == sorted(f"Add {name}" for name in DIAMOND)


def test_a_task_that_failed_is_told_what_was_seen_and_only_its_children_wait(sandbox: Sandbox, repo: Path) -> None:
    check = sandbox.home / "check"
    check.write_text(
        "test -f mended.txt && exit 0\n"
        "printf 'it is broken\\nrehearse: write mended.txt yes\\nrehearse: commit Mend it\\n'; exit 1\n"
    )
    config = repo / "woodwind.toml"
    config.write_text(f'{config.read_text()}\n[verify]\ncommand = "sh {check}"\n')
    lines = {
        "breaks": adds("breaks"),
        "after": adds("after"),
        "idle": ["say I looked at it"],
        "child": adds("child"),
        "empty": ["say It is there already.\\nNOTHING TO DO"],
        "after-empty": adds("after-empty"),
    }
    after = {"after": ["breaks"], "child": ["idle"], "idle": ["breaks"], "empty": ["breaks"], "after-empty": ["empty"]}
    plan = write_plan(sandbox.home / "plan.toml", lines, after=after)
    run = begin_run(sandbox, repo, plan, "--skip-preflight")
    told = await_run(sandbox, repo, run)
    assert states_of(told) == {
        "breaks": "landed",
        "after": "landed",
        "idle": "failed",
        "child": "blocked",
        "empty": "nothing",
        "after-empty": "landed",
    }
    assert told["tasks"]["breaks"]["attempt"] == 2
    assert told["tasks"]["idle"]["why"] == "it ended without a commit"
    assert told["tasks"]["idle"]["attempt"] == 2
    assert files_on(repo, "feat/all")["mended.txt"] == "yes"
    report = sandbox.ww("run", "report", cwd=repo, check=True).stdout
    assert "idle  failed: it ended without a commit" in report
    assert "child  blocked: idle did not land" in report


def test_what_is_left_uncommitted_is_committed_and_conflicts_go_back_to_the_agent(sandbox: Sandbox, repo: Path) -> None:
    settles = "Settle it:\nrehearse: run git merge --quiet -X ours feat/all"
    lines = {
        "first": ["write same.txt first", "commit First", "say Done"],
        "second": ["think 1", "write same.txt second", "say Done and not committed"],
    }
    plan = write_plan(sandbox.home / "plan.toml", lines, verify=False, retries=0)
    run = begin_run(sandbox, repo, plan)
    told = await_run(sandbox, repo, run)
    states = states_of(told)
    assert sorted(states.values()) == ["failed", "landed"]
    loser = next(name for name, state in states.items() if state == "failed")
    assert "conflicts with feat/all in same.txt" in told["tasks"][loser]["why"]
    sandbox.ww("run", "resume", run, "--message", settles, cwd=repo, check=True)
    told = await_run(sandbox, repo, run)
    assert set(states_of(told).values()) == {"landed"}, told


def test_stop_keeps_everything_and_resume_goes_on(sandbox: Sandbox, repo: Path) -> None:
    lines = {"slow": ["think 600"], "next": adds("next")}
    plan = write_plan(sandbox.home / "plan.toml", lines, after={"next": ["slow"]}, verify=False)
    run = begin_run(sandbox, repo, plan)
    await_task(sandbox, repo, run, "slow", "working")
    stopped = sandbox.ww("run", "stop", "--json", cwd=repo, check=True).json["data"]
    assert stopped["state"] == "stopped"
    assert stopped["paused"] == ["slow"]
    assert [worker["name"] for worker in sandbox.ww("ls", "--json", cwd=repo).json["data"]] == ["slow"]
    again = sandbox.ww("run", "stop", run, "--json", cwd=repo)
    assert again.json["error"]["code"] == "not_running"
    message = "Now:\nrehearse: write slow.txt yes\nrehearse: commit At last"
    sandbox.ww("run", "resume", run, "--message", message, cwd=repo, check=True)
    told = await_run(sandbox, repo, run)
    assert set(states_of(told).values()) == {"landed"}, told


def test_stopped_and_resumed_in_a_loop_it_still_ends_well(sandbox: Sandbox, repo: Path) -> None:
    lines = {name: ["think 0.5", *adds(name)] for name in ("one", "two", "three")}
    plan = write_plan(sandbox.home / "plan.toml", lines, after={"three": ["one", "two"]}, verify=False, retries=9)
    run = begin_run(sandbox, repo, plan)
    for _ in range(4):
        sandbox.ww("run", "stop", run, cwd=repo)
        stopped = run_status(sandbox, repo, run)
        assert stopped["state"] in ("stopped", "finished")
        sandbox.ww("run", "resume", run, cwd=repo)
    told = await_run(sandbox, repo, run)
    assert set(states_of(told).values()) == {"landed"}, told
    assert files_on(repo, "feat/all") == {f"{name}.txt": f"made by {name}" for name in lines}


def test_a_task_out_of_time_is_paused_and_the_others_go_on(sandbox: Sandbox, repo: Path) -> None:
    lines = {"hangs": ["hang"], "exits": ["exit 3"], "fine": adds("fine"), "lost": ["say Never begun"]}
    more = {"hangs": 'timeout = "8s"', "exits": "retries = 0", "lost": 'ticket = "markdown:README.md#nowhere"'}
    plan = write_plan(sandbox.home / "plan.toml", lines, more=more, verify=False)
    run = begin_run(sandbox, repo, plan)
    told = await_run(sandbox, repo, run)
    assert states_of(told) == {"hangs": "timed_out", "exits": "failed", "fine": "landed", "lost": "failed"}
    assert "there is no item 'nowhere'" in told["tasks"]["lost"]["why"]
    assert "exited with status 3" in told["tasks"]["exits"]["why"]
    workers = {w["name"]: w for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]}
    assert workers["hangs"]["phase"] == "paused"


def test_without_terminals_tasks_are_tried_again_and_stopped_too(sandbox: Sandbox, repo: Path) -> None:
    lines = {"idle": ["say I made no commit"], "hangs": ["think 600"], "fine": adds("fine")}
    plan = write_plan(sandbox.home / "plan.toml", lines, verify=False)
    run = begin_run(sandbox, repo, plan, "--headless")
    idle = await_task(sandbox, repo, run, "idle", "failed")
    assert (idle["attempt"], idle["why"]) == (2, "it ended without a commit")
    await_task(sandbox, repo, run, "fine", "landed")
    assert sandbox.ww("run", "stop", "--json", cwd=repo, check=True).json["data"]["paused"] == ["hangs"]
    # Each its own file: what two tasks change alike may come to a collision.
    message = "Now:\nrehearse: run sh -c 'echo yes > $(basename $PWD).txt'\nrehearse: commit At last"
    sandbox.ww("run", "resume", run, "--message", message, cwd=repo, check=True)
    told = await_run(sandbox, repo, run)
    assert states_of(told) == {"idle": "landed", "hangs": "landed", "fine": "landed"}, told


def test_a_person_who_ships_lets_the_children_begin(sandbox: Sandbox, repo: Path) -> None:
    plan = write_plan(
        sandbox.home / "plan.toml",
        {"one": adds("one"), "two": adds("two")},
        after={"two": ["one"]},
        mode="ship",
        branch="",
        verify=False,
    )
    run = begin_run(sandbox, repo, plan)
    await_task(sandbox, repo, run, "one", "ready")
    assert run_status(sandbox, repo, run)["tasks"]["two"]["state"] == "waiting"
    assert headlines(sandbox) == "['plan Play 0/2, 1 need you']\n"
    sandbox.ww("ship", "one", "--no-verify", "--yes", cwd=repo, check=True)
    await_task(sandbox, repo, run, "two", "ready")
    assert (repo / "one.txt").exists()
    sandbox.ww("run", "stop", run, cwd=repo, check=True)


def test_what_a_person_mends_and_lands_by_hand_counts_and_the_run_goes_on(sandbox: Sandbox, repo: Path) -> None:
    lines = {"ships": ["say No"], "merges": ["say No"], "busy": ["think 600"], "child": adds("child")}
    after = {"child": ["ships", "merges", "busy"]}
    plan = write_plan(sandbox.home / "plan.toml", lines, after=after, verify=False, retries=0)
    run = begin_run(sandbox, repo, plan)
    for name, state in (("ships", "failed"), ("merges", "failed"), ("busy", "working")):
        worker = await_task(sandbox, repo, run, name, state)["worker"]
        tree = Path(sandbox.ww("path", worker, cwd=repo, check=True).stdout.strip())
        commit(tree, f"Mend {name}", {f"{name}.txt": "by hand\n"})
        verb = ("merge", worker) if name == "merges" else ("ship", worker, "--yes")
        sandbox.ww(*verb, "--no-verify", cwd=repo, check=True)
    assert await_task(sandbox, repo, run, "busy", "landed")["commit"]
    again = sandbox.ww("run", "resume", run, "--json", cwd=repo, check=True).json["data"]
    assert sorted(again["tasks"]) == ["child", "merges", "ships"]
    told = await_run(sandbox, repo, run)
    assert set(states_of(told).values()) == {"landed"}, told
    assert set(files_on(repo, "feat/all")) == {"ships.txt", "merges.txt", "busy.txt", "child.txt"}


def headlines(box: Sandbox) -> str:
    """What the head of the control plane says of runs."""
    script = (
        "import os; from woodwind.ops.context import Context; from woodwind.ops.run_headlines import headlines; "
        "print(headlines(Context(os.getcwd(), os.environ).store))"
    )
    return box.run(sys.executable, "-c", script, check=True).stdout


def test_a_question_waits_for_a_person_or_is_answered_by_the_run(sandbox: Sandbox, repo: Path) -> None:
    lines = {"one": ["ask Which colour?", *adds("one")]}
    plan = write_plan(sandbox.home / "plan.toml", lines, verify=False)
    run = begin_run(sandbox, repo, plan)
    sandbox.wait_for(lambda: run_status(sandbox, repo, run)["tasks"]["one"]["question"], 60, "the question")
    [listed] = sandbox.ww("runs", "--json", cwd=repo, check=True).json["data"]
    assert (listed["needs_you"], listed["counts"]) == (1, {"working": 1})
    assert run_status(sandbox, repo, run)["needs_you"] == 1
    assert headlines(sandbox) == "['plan Play 0/1, 1 need you']\n"
    assert "one  asks: Which colour?" in sandbox.ww("run", "report", cwd=repo, check=True).stdout
    sandbox.ww("answer", "one", "allow", cwd=repo, check=True)
    told = await_run(sandbox, repo, run)
    assert (states_of(told), told["needs_you"]) == ({"one": "landed"}, 0)
    decides = write_plan(sandbox.home / "d.toml", lines, branch="feat/decides", on_question="decide", verify=False)
    assert states_of(await_run(sandbox, repo, begin_run(sandbox, repo, decides))) == {"one": "landed"}


def test_a_branch_reaches_its_base_by_itself_only_when_asked(sandbox: Sandbox, repo: Path) -> None:
    (repo / "TODO.md").write_text("- [ ] Fix login\n  rehearse: write fixed.txt yes\n  rehearse: commit Fix it\n")
    tasks = {"one": adds("one"), "two": ["say Begun as told"]}
    more = {"two": 'ticket = "markdown:TODO.md#fix-login"'}
    plan = write_plan(sandbox.home / "plan.toml", tasks, more=more, verify=False)
    run = begin_run(sandbox, repo, plan, "--auto-ship")
    told = await_run(sandbox, repo, run)
    assert states_of(told) == {"one": "landed", "two": "landed", "ship the branch": "landed"}
    assert files_on(repo, "main") == {"one.txt": "made by one", "fixed.txt": "yes"}
    # It is a landing like any other: known, undone by moving the base back, and landed again by the run.
    [landed, *_] = sandbox.ww("history", "--json", cwd=repo, check=True).json["data"]
    assert (landed["name"], landed["run"], landed["worker"], landed["state"]) == ("feat/all", run, "", "done")
    undone = sandbox.ww("undo", cwd=repo, check=True)
    assert "feat/all is out of main: it is back where it was" in undone.stdout
    assert f"ww run resume {run}" in undone.stderr
    assert git(repo, "rev-parse", "main") == landed["from"]
    assert files_on(repo, "main") == {}
    told = run_status(sandbox, repo, run)
    assert (told["tasks"]["ship the branch"]["state"], told["needs_you"]) == ("failed", 1)
    sandbox.ww("run", "resume", run, cwd=repo, check=True)
    assert states_of(await_run(sandbox, repo, run))["ship the branch"] == "landed"
    # After something else has landed, a commit reverts it; and it can land once more all the same.
    commit(repo, "Something else", {"else.txt": "else\n"})
    sandbox.ww("undo", run, "--no-verify", cwd=repo, check=True)
    assert files_on(repo, "main") == {"else.txt": "else"}
    sandbox.ww("run", "resume", run, cwd=repo, check=True)
    assert states_of(await_run(sandbox, repo, run))["ship the branch"] == "landed"
    assert set(files_on(repo, "main")) == {"else.txt", "one.txt", "fixed.txt"}


def test_what_cannot_go_well_is_refused_before_it_begins(sandbox: Sandbox, repo: Path) -> None:
    plan = write_plan(sandbox.home / "plan.toml", {"one": ["hang"]})
    unset = sandbox.ww("run", str(plan), "--detach", "--json", cwd=repo)
    assert unset.json["error"]["code"] == "no_permissions"
    command = ("run", str(plan), "--detach", "--permissions", "auto", "--json")
    assert "no [verify] command" in sandbox.ww(*command, cwd=repo).json["error"]["message"]
    config = repo / "woodwind.toml"
    config.write_text(config.read_text() + '\n[verify]\ncommand = "false"\n')
    red = sandbox.ww(*command, cwd=repo).json["error"]
    assert red["code"] == "preflight"
    assert "`false` fails on main" in red["message"]
    assert sandbox.ww("runs", "--json", cwd=repo, check=True).json["data"] == []
    run = begin_run(sandbox, repo, plan, "--skip-preflight")
    assert sandbox.ww(*command, "--skip-preflight", cwd=repo).json["error"]["code"] == "branch_in_run"
    sandbox.ww("run", "stop", run, cwd=repo, check=True)
    for words, said in (
        (("--into", "a b"), "'a b' cannot be a branch name: it has a space"),
        (("--max-concurrent", "0"), "--max-concurrent must be from 1 to 500, found 0"),
    ):
        assert said in sandbox.ww(*command, *words, cwd=repo).json["error"]["message"]
    stray = sandbox.ww("run", "status", "--into", "x", "--json", cwd=repo).json["error"]["message"]
    assert stray == "--into goes with a plan file, not with `ww run status`"
    assert "no plan file" in sandbox.ww("plan", "check", "--json", cwd=repo).json["error"]["message"]
    bad = sandbox.home / "bad.toml"
    bad.write_text('[[task]]\nid = "a"\ndescription = "A"\ndepends = ["b"]\n')
    wrong = sandbox.ww("run", str(bad), "--json", cwd=repo)
    assert wrong.code == 2
    assert wrong.json["error"]["message"].startswith(f"{bad}:4: unknown key `depends`")
