"""`ww loop`: tickets of a Markdown list, one after the other, until none is left."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.plans import await_run, await_task
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
TICKETS = 20 if LONG else 6
CLOSE = f"run {sys.executable} -m woodwind loop close"


def item(name: str, *lines: str) -> str:
    return f"- [ ] {name}\n" + "".join(f"  rehearse: {line}\n" for line in lines)


def add_file(name: str) -> str:
    return item(f"Add {name}", f"write {name}.txt {name}", f"commit Add {name}", CLOSE)


def start(box: Sandbox, repo: Path, *words: str) -> str:
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\nTODO.md\n")
    command = ("loop", "start", "--source", "markdown:TODO.md", "--agent", "rehearsal", "--permissions", "auto")
    made = box.ww(*command, "--no-verify", *words, "--json", cwd=repo, check=True).json["data"]
    return str(made["id"])


@pytest.mark.timeout(900 if LONG else 300)
def test_two_workers_close_all_tickets_of_a_list(sandbox: Sandbox, repo: Path) -> None:
    names = [f"f{n}" for n in range(TICKETS)]
    (repo / "TODO.md").write_text("# Things\n\n" + "".join(map(add_file, names)))
    loop = start(sandbox, repo, "--epics", "things", "--parallel", "2")
    told = await_run(sandbox, repo, loop, timeout=600 if LONG else 200)
    assert {task["state"] for task in told["tasks"].values()} == {"landed"}, told
    assert len(told["tasks"]) == TICKETS
    assert "[ ]" not in (repo / "TODO.md").read_text()
    assert {name for name in names if (repo / f"{name}.txt").exists()} == set(names)
    assert len({task["worker"] for task in told["tasks"].values()}) == 2
    log = sandbox.ww("loop", "log", "--limit", "500", cwd=repo, check=True).stdout
    assert log.count(" landed") == TICKETS
    gone = sandbox.ww("loop", "teardown", "--json", cwd=repo, check=True).json["data"]
    assert len(gone["removed"]) == 2
    assert sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"] == []


def test_a_ticket_that_stays_open_gets_a_reminder_then_needs_you_and_the_other_epic_goes_on(
    sandbox: Sandbox, repo: Path
) -> None:
    stuck = item("Never closed", "write n.txt n", "commit Do it", "say I forgot something")
    (repo / "TODO.md").write_text(f"# One\n\n{stuck}{add_file('later')}\n# Two\n\n{add_file('two')}")
    loop = start(sandbox, repo, "--epics", "one,two", "--land", "epic")
    told = await_run(sandbox, repo, loop)
    states = {name: task["state"] for name, task in told["tasks"].items()}
    assert states == {"never-closed": "failed", "add-two": "done", "land two#1": "landed"}
    assert told["tasks"]["never-closed"]["why"] == "the tracker says that the ticket is still open"
    assert (repo / "two.txt").exists()
    assert not (repo / "n.txt").exists()
    shown = sandbox.ww("log", "one", cwd=repo, check=True).stdout
    assert "The tracker says that the ticket is still open" in shown
    message = f"Close it now:\nrehearse: {CLOSE}"
    sandbox.ww("loop", "resume", loop, "--message", message, cwd=repo, check=True)
    told = await_run(sandbox, repo, loop)
    states = {name: task["state"] for name, task in told["tasks"].items()}
    assert states["never-closed"] == states["add-later"] == "done"
    assert states["land one#1"] == "landed"
    assert git(repo, "log", "--format=%s", "main").count("Add later") >= 1


def test_a_loop_is_paused_widened_stopped_at_its_second_ticket_and_goes_on(sandbox: Sandbox, repo: Path) -> None:
    slow = item("Add slow", "think 600")
    (repo / "TODO.md").write_text(f"# One\n\n{add_file('quick')}{slow}\n# Two\n\n{add_file('two')}")
    loop = start(sandbox, repo, "--epics", "one")
    await_task(sandbox, repo, loop, "add-slow", "working")
    assert sandbox.ww("loop", "pause", "--json", cwd=repo, check=True).json["data"]["state"] == "paused"
    widened = sandbox.ww("loop", "add", "--epics", "two", "--json", cwd=repo, check=True).json["data"]
    assert (widened["state"], widened["epics"]) == ("paused", ["one", "two"])
    sandbox.ww("loop", "resume", cwd=repo, check=True)
    await_task(sandbox, repo, loop, "add-two", "landed")
    stopped = sandbox.ww("loop", "stop", cwd=repo, check=True).stdout
    assert f"{loop} stopped; interrupted: one. Everything is kept." in stopped
    phases = {w["name"]: w["phase"] for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]}
    assert phases["one"] == "paused"
    message = f"Be quick:\nrehearse: write slow.txt yes\nrehearse: commit At last\nrehearse: {CLOSE}"
    sandbox.ww("loop", "resume", "--message", message, cwd=repo, check=True)
    told = await_run(sandbox, repo, loop)
    assert {task["state"] for task in told["tasks"].values()} == {"landed"}, told
    kept = sandbox.ww("loop", "teardown", "--keep-worktrees", "--json", cwd=repo, check=True).json["data"]
    assert (kept["removed"], sorted(kept["kept"])) == ([], ["one", "two"])
    gone = sandbox.ww("loop", "teardown", "--json", cwd=repo, check=True).json["data"]
    assert sorted(gone["removed"]) == ["one", "two"]
    assert sandbox.ww("loop", "teardown", cwd=repo, check=True).stdout == f"{loop} has no workers any more\n"


def test_mistakes_are_told_before_anything_begins(sandbox: Sandbox, repo: Path) -> None:
    (repo / "TODO.md").write_text("# One\n\n- [ ] A thing\n")

    def error(*words: str) -> dict[str, Any]:
        found: dict[str, Any] = sandbox.ww("loop", *words, "--json", cwd=repo).json["error"]
        return found

    source = ("--source", "markdown:TODO.md", "--agent", "rehearsal", "--skip-preflight")
    assert error("start", "--epics", "one")["message"] == "there is no source"
    assert error("start", *source)["message"] == "there is no epic"
    assert error("start", *source, "--epics", "other")["code"] == "no_ticket"
    assert error("start", *source, "--epics", "one")["code"] == "no_permissions"
    assert error("start", *source, "--epics", "one", "--epic-model", "two=x")["code"] == "usage"
    assert error("start", *source, "--epics", "one", "--ticket-timeout", "soon")["code"] == "usage"
    assert "found 0" in error("start", *source, "--epics", "one", "--parallel", "0")["message"]
    assert error("status")["code"] == "no_run"
    assert error("close")["code"] == "no_ticket"
    assert sandbox.ww("runs", "--json", cwd=repo, check=True).json["data"] == []
