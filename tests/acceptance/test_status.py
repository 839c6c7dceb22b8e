"""Statuses and turns as a user sees them: `ww ls`, `wait`, `answer`, `explain`, with an agent that tells its events."""

import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, new_worker, panes_of, rehearse, wait_until


def turn_of(box: Sandbox, repo: Path, name: str = "worker-one") -> dict[str, Any]:
    found: dict[str, Any] = listed(box, repo, name)["turn"]
    return found


def await_turn(box: Sandbox, repo: Path, state: str, name: str = "worker-one") -> dict[str, Any]:
    """The last turn once it is in a state."""

    def there() -> dict[str, Any] | None:
        turn = turn_of(box, repo, name)
        return turn if turn and turn["state"] == state else None

    return box.wait_for(there, timeout=60, what=f"the turn of {name} to be {state}") or {}


def question_of(box: Sandbox, repo: Path, name: str = "worker-one") -> dict[str, str]:
    question: dict[str, str] = wait_until(box, repo, "asking", name)["question"]
    return question


def test_a_wait_is_for_its_own_turn(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "say the first")
    [first] = sandbox.ww("wait", "worker-one", "--timeout", "60", "--json", cwd=repo, check=True).json["data"]
    assert (first["turn"]["state"], first["turn"]["last_words"]) == ("done", "the first")
    for n in range(3):
        sent = sandbox.ww("send", "worker-one", f"rehearse: say number {n}", "--json", cwd=repo, check=True)
        done = sandbox.ww("wait", "worker-one", "--timeout", "60", "--json", cwd=repo, check=True)
        [entry] = done.json["data"]
        assert entry["turn"]["id"] == sent.json["data"]["turns"]["worker-one"]
        assert entry["turn"]["last_words"] == f"number {n}"
    shown = sandbox.ww("show", "worker-one", "--json", cwd=repo, check=True).json["data"][0]
    assert [turn["last_words"] for turn in shown["turns"]] == ["the first", "number 0", "number 1", "number 2"]
    assert re.search(r"done \d+s", sandbox.ww("ls", cwd=repo, check=True).stdout)


def test_waits_that_end_otherwise(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "fail out of luck")
    failed = sandbox.ww("wait", "worker-one", "--timeout", "60", cwd=repo)
    assert (failed.code, failed.stdout) == (6, "worker-one  failed: out of luck\n")
    assert "failed: out of luck — Play a part" in sandbox.ww("ls", cwd=repo, check=True).stdout
    refused = sandbox.ww("wait", "worker-one", "--for", "done", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (1, "ended_otherwise")
    sandbox.ww("send", "worker-one", "rehearse: think 600", cwd=repo, check=True)
    late = sandbox.ww("wait", "worker-one", "--timeout", "0.2", "--json", cwd=repo)
    assert (late.code, late.json["error"]["code"]) == (5, "timed_out")
    assert sandbox.ww("wait", "worker-one", "--for", "working", cwd=repo).code == 0
    assert sandbox.ww("wait", "worker-one", "--for", "levitating", cwd=repo).code == 2
    assert sandbox.ww("wait", "worker-one", "--timeout", "-1", cwd=repo).code == 2
    rehearse(sandbox, repo, "say quick", name="other")
    any_one = sandbox.ww("wait", "worker-one", "other", "--any", "--timeout", "60", "--json", cwd=repo, check=True)
    assert [entry["name"] for entry in any_one.json["data"]] == ["other"]
    assert sandbox.ww("wait", "nobody", cwd=repo).code == 3


def test_questions_are_answered_by_id(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo, "write a.txt x", "commit Add a", words=("--permissions", "ask"))
    asked = sandbox.ww("wait", "worker-one", "--timeout", "60", "--json", cwd=repo)
    assert asked.code == 6
    first = asked.json["data"][0]["question"]
    assert (first["text"], first["tool"]) == ("Allow write a.txt? (y/n/a for always)", "write")
    assert "waiting for you: Allow write a.txt?" in sandbox.ww("ls", cwd=repo, check=True).stdout
    wrong = sandbox.ww("answer", "worker-one", "allow", "--question", "q999", "--json", cwd=repo)
    assert (wrong.code, wrong.json["error"]["code"]) == (1, "other_question")
    assert not (Path(worker["path"]) / "a.txt").exists()
    sandbox.ww("answer", "worker-one", "allow", "--question", first["id"], cwd=repo, check=True)

    def second() -> dict[str, str] | None:
        found = listed(sandbox, repo)["question"]
        return found if found and found["id"] != first["id"] else None

    found = sandbox.wait_for(second, timeout=60, what="the second question") or {}
    assert found["tool"] == "commit"
    stale = sandbox.ww("answer", "worker-one", "allow", "--question", first["id"], "--json", cwd=repo)
    assert (stale.code, stale.json["error"]["code"]) == (1, "other_question")
    sandbox.ww("answer", "worker-one", "deny", cwd=repo, check=True)
    assert "not allowed" in await_turn(sandbox, repo, "done")["last_words"]
    nothing = sandbox.ww("answer", "worker-one", "allow", "--json", cwd=repo)
    assert (nothing.code, nothing.json["error"]["code"]) == (1, "not_asking")
    sandbox.ww("send", "worker-one", "rehearse: ask Which one?\nrehearse: say {answer}", cwd=repo, check=True)
    question_of(sandbox, repo)
    sandbox.ww("answer", "worker-one", "the blue one", cwd=repo, check=True)
    assert await_turn(sandbox, repo, "done")["last_words"] == "the blue one"


def test_always_is_remembered_for_the_project(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "write a.txt x", words=("--permissions", "ask"))
    question_of(sandbox, repo)
    sandbox.ww("answer", "worker-one", "always", cwd=repo, check=True)
    await_turn(sandbox, repo, "done")
    worker = rehearse(sandbox, repo, "write b.txt y", name="second", words=("--permissions", "ask"))
    await_turn(sandbox, repo, "done", "second")
    assert (Path(worker["path"]) / "b.txt").read_text() == "y"


def test_an_interruption_that_nobody_tells_of(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo, "think 600")
    wait_until(sandbox, repo, "working")
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.press(pane, "C-c")
    await_turn(sandbox, repo, "interrupted")
    entry = listed(sandbox, repo)
    assert entry["status"] == "ready"
    [why] = sandbox.ww("explain", "worker-one", "--json", cwd=repo, check=True).json["data"]
    assert "title" in [reason["source"] for reason in why["reasons"]]
    assert "submitted" in [reading["tells"] for reading in why["readings"]]
    assert "because" in sandbox.ww("explain", "worker-one", cwd=repo, check=True).stdout


def test_a_pause_is_an_interruption(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "think 600")
    wait_until(sandbox, repo, "working")
    [paused] = sandbox.ww("pause", "worker-one", "--json", cwd=repo, check=True).json["data"]["paused"]
    assert paused["stopped"]
    assert turn_of(sandbox, repo)["state"] == "interrupted"


@pytest.mark.parametrize("end", ["exit 3", "die", "the pane"])
def test_an_end_in_the_middle_of_a_turn(sandbox: Sandbox, repo: Path, end: str) -> None:
    worker = rehearse(sandbox, repo, "think 600" if end == "the pane" else end)
    if end == "the pane":
        wait_until(sandbox, repo, "working")
        sandbox.tmux("kill-pane", "-t", panes_of(sandbox, worker["id"])[0])
    wait_until(sandbox, repo, "exited")
    turn = turn_of(sandbox, repo)
    how = {"exit 3": "status 3", "die": "signal 9", "the pane": "closed"}[end]
    assert (turn["state"], how in turn["why"]) == ("interrupted" if end == "the pane" else "failed", True)


def test_an_end_whose_status_comes_later_than_the_terminals(sandbox: Sandbox, repo: Path) -> None:
    program, go = sandbox.home / "slow-to-end", sandbox.home / "go"
    program.write_text(
        f"#!/bin/sh\ntrap '' HUP\nexec </dev/null >/dev/null 2>&1\nuntil [ -e {go} ]; do sleep 0.05; done\nexit 7\n"
    )
    program.chmod(0o755)
    (repo / "woodwind.toml").write_text(f'[new]\nagent = "rehearsal"\n[agents.rehearsal]\ncommand = "{program}"\n')
    worker = rehearse(sandbox, repo)
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.wait_for(lambda: sandbox.fact(pane, "pane_dead") == "1", 60, "the terminal to be closed")
    entry = listed(sandbox, repo)
    assert (entry["status"], entry["turn"]["state"]) == ("unknown", "running"), entry
    assert "has not ended yet" in entry["detail"]
    go.touch()
    assert wait_until(sandbox, repo, "exited")["detail"] == "with status 7"
    assert "status 7" in await_turn(sandbox, repo, "failed")["why"]


def test_a_headless_turn(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "say in a file", words=("--headless", "--permissions", "auto"))
    done = sandbox.ww("wait", "worker-one", "--timeout", "60", "--json", cwd=repo, check=True)
    assert done.json["data"][0]["turn"]["last_words"] == "in a file"


def test_a_window_that_the_user_renames_and_moves(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.tmux("new-session", "-d", "-s", "theirs", "cat")
    sandbox.tmux("rename-window", "-t", pane, "mine now")
    sandbox.tmux("move-window", "-s", pane, "-t", "theirs:")
    sandbox.ww("send", "worker-one", "rehearse: say found", cwd=repo, check=True)
    assert await_turn(sandbox, repo, "done")["last_words"] == "found"


def test_somebody_types_while_a_message_comes(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.type_in(pane, "half a thought", enter=False)
    sandbox.wait_for(lambda: "› half a thought" in sandbox.screen(pane), what="what was typed")
    sent = sandbox.ww("send", "worker-one", "rehearse: say whole", cwd=repo, check=True)
    assert "somebody had typed in the terminal of worker-one" in sent.stderr
    assert await_turn(sandbox, repo, "done")["last_words"] == "whole"


def test_a_flood_changes_no_status(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, f"flood {50_000_000}", "say dry again")
    assert await_turn(sandbox, repo, "done")["last_words"] == "dry again"
    assert wait_until(sandbox, repo, "ready")["turn"]["state"] == "done"


def test_an_agent_without_any_events(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    entry = listed(sandbox, repo)
    assert (entry["status"], entry["turn"]["state"]) == ("unknown", "running")
    sent = sandbox.ww("send", "worker-one", "hello", "--json", cwd=repo, check=True)
    assert sent.json["data"]["turns"]["worker-one"]
    assert sandbox.ww("wait", "worker-one", "--timeout", "0.1", cwd=repo).code == 5


@pytest.mark.parametrize("point", ["deliver.after_turn", "deliver.after_paste", "deliver.after_enter"])
def test_a_delivery_that_is_killed_is_explained(sandbox: Sandbox, repo: Path, point: str) -> None:
    rehearse(sandbox, repo)
    await_turn(sandbox, repo, "done")
    env = {"WOODWIND_FAILPOINT": point}
    assert sandbox.ww("send", "worker-one", "rehearse: say got it", cwd=repo, env=env).code == -9
    if point == "deliver.after_enter":
        assert await_turn(sandbox, repo, "done")["last_words"] == "got it"
    else:
        assert "cut short" in await_turn(sandbox, repo, "unknown")["why"]
    sandbox.ww("send", "worker-one", "rehearse: say next", cwd=repo, check=True)
    assert await_turn(sandbox, repo, "done")["last_words"] == "next"
    shown = sandbox.ww("show", "worker-one", "--json", cwd=repo, check=True).json["data"][0]
    # What stood in the input line went along with the next message.
    states = ["done", "unknown" if point == "deliver.after_turn" else "done", "done"]
    assert [turn["state"] for turn in shown["turns"]] == states


def test_after_a_reboot(sandbox: Sandbox, repo: Path) -> None:
    """All processes gone, the runtime folders empty: the conversation that the agent named last goes on."""
    worker = rehearse(sandbox, repo, "think 600", words=("--permissions", "auto"))
    wait_until(sandbox, repo, "working")
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.press(pane, "C-c")
    await_turn(sandbox, repo, "interrupted")
    sandbox.type_in(pane, "/clear")
    sandbox.wait_for(lambda: "now session" in sandbox.screen(pane), what="a new conversation")
    session = re.findall(r"now session (\S+)", sandbox.screen(pane))[0]
    sandbox.ww("send", "worker-one", "rehearse: think 600", cwd=repo, check=True)
    program = int(sandbox.fact(pane, "pane_pid"))
    os.kill(int(sandbox.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    os.kill(program, signal.SIGKILL)
    for folder in ("run", "t"):
        shutil.rmtree(sandbox.root / folder)
        (sandbox.root / folder).mkdir(mode=0o700)
    wait_until(sandbox, repo, "exited")
    assert turn_of(sandbox, repo)["state"] == "interrupted"
    sandbox.ww("resume", "worker-one", "-m", "rehearse: write back.txt x", cwd=repo, check=True)
    await_turn(sandbox, repo, "done")
    assert (Path(worker["path"]) / "back.txt").read_text() == "x"
    shown = sandbox.ww("show", "worker-one", "--json", cwd=repo, check=True).json["data"][0]
    assert shown["agent_session"] == session
