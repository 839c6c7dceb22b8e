"""`ww new --headless`: an agent without a terminal does its task, its output and exit status are kept."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from woodwind.base.processes import group_runs
from woodwind.ops.create import Create
from woodwind.testing.evidence import leftovers
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Result, Sandbox

Footprint = Callable[[Path], dict[str, Any]]


def new(box: Sandbox, repo: Path, *script: str, name: str = "", words: tuple[str, ...] = ()) -> dict[str, Any]:
    """Start a headless rehearsal agent on a script."""
    task = "\n".join(["Some work", "", *(f"rehearse: {line}" for line in script)])
    named = ("--name", name) if name else ()
    call = ("new", task, "--headless", "--agent", "rehearsal", "--permissions", "auto", "--json", *named, *words)
    made = box.ww(*call, cwd=repo, check=True).json["data"]["workers"][0]
    assert isinstance(made, dict)
    return made


def listed(box: Sandbox, repo: Path, name: str) -> dict[str, Any]:
    [worker] = [w for w in box.ww("ls", "--json", cwd=repo, check=True).json["data"] if w["name"] == name]
    assert isinstance(worker, dict)
    return worker


def ended(box: Sandbox, repo: Path, name: str) -> str:
    """How its agent ended, once it has."""

    def detail() -> str:
        worker = listed(box, repo, name)
        return str(worker["detail"]) if worker["status"] == "exited" else ""

    return box.wait_for(detail, 60, f"the end of {name}")


def place(box: Sandbox, worker: dict[str, Any]) -> Path:
    return Path(box.env["XDG_STATE_HOME"], "woodwind", "headless", worker["id"])


def facts(box: Sandbox, worker: dict[str, Any]) -> dict[str, Any]:
    found = json.loads((place(box, worker) / "pane.json").read_text())
    assert isinstance(found, dict)
    return found


def log(box: Sandbox, repo: Path, name: str, *words: str) -> str:
    return box.ww("log", name, *words, cwd=repo, check=True).stdout


def test_it_does_its_brief_and_exits(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "write greeting.txt hello", "commit Add a greeting", "say All done")
    assert worker["launch"] == "headless"
    assert ended(sandbox, repo, worker["name"]) == "with status 0"
    assert "exited with status 0" in sandbox.ww("ls", cwd=repo, check=True).stdout
    assert git(Path(worker["path"]), "log", "-1", "--format=%s") == "Add a greeting"
    assert log(sandbox, repo, worker["name"]).endswith("All done\n")
    assert listed(sandbox, repo, worker["name"])["launch"] == "headless"
    assert "headless" in sandbox.ww("show", worker["name"], cwd=repo, check=True).stdout
    # No tmux was needed for it.
    assert list(Path(sandbox.env["TMUX_TMPDIR"]).rglob("*")) == []
    assert oct((place(sandbox, worker)).stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize(
    "line, how", [("exit 7", "with status 7"), ("die", "with signal 9"), ("fail no", "with status 1")]
)
def test_how_it_failed_is_told(sandbox: Sandbox, repo: Path, line: str, how: str) -> None:
    worker = new(sandbox, repo, line)
    assert ended(sandbox, repo, worker["name"]) == how


def test_without_a_terminal_nobody_answers(sandbox: Sandbox, repo: Path) -> None:
    task = "Some work\n\nrehearse: write x.txt x"
    done = sandbox.ww("new", task, "--headless", "--agent", "rehearsal", "--name", "one", cwd=repo, check=True)
    assert "nobody can answer a headless agent" in done.stderr
    assert "ww log one --follow" in done.stdout
    assert ended(sandbox, repo, "one") == "with status 1"


def test_an_agent_that_needs_a_terminal_is_refused(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    before = footprint(repo)
    refused = sandbox.ww("new", "Some work", "--headless", cwd=repo)
    assert refused.code == 2
    assert "the agent toy cannot run without a terminal" in refused.stderr
    assert "Leave --headless out" in refused.stderr
    assert footprint(repo) == before
    assert not Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "headless").exists()


@pytest.mark.parametrize(
    "words", [("-s",), ("-w",), ("--launch", "session"), ("--attach",), ("--no-agent",)], ids=lambda w: w[0]
)
def test_contradictions(sandbox: Sandbox, repo: Path, footprint: Footprint, words: tuple[str, ...]) -> None:
    before = footprint(repo)
    refused = sandbox.ww("new", "Some work", "--headless", *words, cwd=repo)
    assert refused.code == 2
    assert "--headless" in refused.stderr
    assert footprint(repo) == before


@pytest.mark.parametrize("words", [("send", "one", "hi"), ("pause", "one"), ("promote", "one")], ids=lambda w: w[0])
def test_what_needs_a_terminal(sandbox: Sandbox, repo: Path, words: tuple[str, ...]) -> None:
    new(sandbox, repo, "hang", name="one")
    refused = sandbox.ww(*words, cwd=repo)
    assert refused.code == 1
    assert "one runs headless: it has no terminal" in refused.stderr
    assert "ww log one --follow" in refused.stderr
    assert listed(sandbox, repo, "one")["phase"] == "running"
    assert listed(sandbox, repo, "one")["status"] != "exited"


def test_nobody_is_sent_to_it(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "say hi", name="one")
    ended(sandbox, repo, "one")
    assert sandbox.ww("next", cwd=repo).code == 3


def test_one_that_hangs_is_ended_with_all_that_it_started(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "say waiting", "hang", name="one")
    sandbox.wait_for(lambda: "waiting" in log(sandbox, repo, "one"))
    group = facts(sandbox, worker)["parent"]
    assert group_runs(group)
    kept = sandbox.ww("cleanup", "--days", "0", "--yes", cwd=repo)
    assert "one" in [w["name"] for w in sandbox.ww("ls", "--json", cwd=repo).json["data"]], kept
    sandbox.ww("rm", "one", "--force", "--yes", cwd=repo, check=True)
    assert not group_runs(group)
    assert not place(sandbox, worker).exists()
    kept_log = Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "workers", worker["id"], "terminal.log")
    assert "waiting" in kept_log.read_text()
    assert leftovers(sandbox, repo) == []
    sandbox.ww("restore", "one", cwd=repo, check=True)
    assert "waiting" in log(sandbox, repo, "one")


def test_one_that_is_idle_can_go_without_force(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "hang", name="one")
    # Its own processes are no reason to keep the worktree, as with a terminal.
    sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
    assert not place(sandbox, worker).exists()


def test_a_flood(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, f"flood {50 << 20}", "say the end", name="one")
    assert ended(sandbox, repo, "one") == "with status 0"
    for words in (("ls",), ("log", "one", "--lines", "5"), ("show", "one")):
        began = time.monotonic()
        done = sandbox.ww(*words, cwd=repo, check=True)
        assert time.monotonic() - began < 10, words  # a fraction of a second, where the machine is not busy
        assert len(done.stdout) < 20_000
    assert log(sandbox, repo, "one", "--lines", "1") == "the end\n"


def test_a_parent_that_was_killed(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "hang", name="one")
    processes = facts(sandbox, worker)
    os.kill(processes["parent"], signal.SIGKILL)
    assert listed(sandbox, repo, "one")["status"] != "exited"  # the agent itself runs on
    os.kill(processes["pid"], signal.SIGKILL)
    assert ended(sandbox, repo, "one") == "status not known"


def test_two_at_once(sandbox: Sandbox, repo: Path) -> None:
    task = "Some work\n\nrehearse: write x.txt x\nrehearse: commit One\nrehearse: say done"
    words = ("--headless", "--agent", "rehearsal", "--permissions", "auto", "-n", "2", "--json")
    made = sandbox.ww("new", task, *words, cwd=repo, check=True).json["data"]["workers"]
    assert [ended(sandbox, repo, w["name"]) for w in made] == ["with status 0"] * 2
    assert [git(Path(w["path"]), "log", "-1", "--format=%s") for w in made] == ["One", "One"]


def test_resume_goes_on_in_its_conversation(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "say first", name="one")
    ended(sandbox, repo, "one")
    sandbox.ww("resume", "one", "--message", "rehearse: say second\nrehearse: exit 4", cwd=repo, check=True)
    assert sandbox.wait_for(lambda: (place(sandbox, worker) / "status").exists())
    assert ended(sandbox, repo, "one") == "with status 4"
    shown = log(sandbox, repo, "one")
    assert "resumed: this session had 1 turn" in shown
    assert shown.index("first") < shown.index("second")
    sandbox.ww("resume", "--all", cwd=repo, check=True)
    assert ended(sandbox, repo, "one") == "with status 0"
    assert "Go on with the task in .woodwind/brief.md." in log(sandbox, repo, "one")


def test_resume_after_a_removal(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "say first", name="one")
    ended(sandbox, repo, "one")
    sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "one", cwd=repo, check=True)
    sandbox.ww("resume", "one", "-m", "rehearse: exit 5", cwd=repo, check=True)
    assert sandbox.wait_for(lambda: ended(sandbox, repo, "one") == "with status 5")


def test_one_that_runs_is_not_resumed(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "hang", name="one")
    refused = sandbox.ww("resume", "one", cwd=repo)
    assert refused.code == 1
    assert "one is running already" in refused.stderr
    assert "ww log one --follow" in refused.stderr


def test_follow_ends_with_the_agent_and_misses_nothing(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "say one", "think 0.5", "say two", "think 0.5", "say three", name="one")
    followed = log(sandbox, repo, "one", "--follow")
    assert followed.splitlines()[-3:] == ["one", "two", "three"]
    assert followed == log(sandbox, repo, "one")


def test_secrets_are_in_no_command_line(sandbox: Sandbox, repo: Path) -> None:
    with (repo / "woodwind.toml").open("a") as config:
        config.write('\n[agents.rehearsal]\npass_env = ["MY_TOKEN"]\n')
    secret = "s3cret-that-nobody-may-see"
    call = ("new", "Some work\n\nrehearse: hang", "--headless", "--agent", "rehearsal", "--name", "one", "--json")
    made = sandbox.ww(*call, cwd=repo, env={"MY_TOKEN": secret}, check=True).json["data"]["workers"][0]
    assert secret.encode() in Path(f"/proc/{facts(sandbox, made)['pid']}/environ").read_bytes()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret.encode() not in entry.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
    for file in Path(sandbox.env["XDG_STATE_HOME"]).rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes(), file


def test_a_lost_store_finds_it_again(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "hang", name="one")
    for file in Path(sandbox.env["XDG_STATE_HOME"], "woodwind").glob("woodwind.db*"):
        file.unlink()
    assert listed(sandbox, repo, "one")["status"] != "exited"


def test_doctor_ends_one_that_nobody_owns(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "hang", name="one")
    group = facts(sandbox, worker)["parent"]
    saved = sandbox.root / "aside"
    place(sandbox, worker).rename(saved)  # out of sight, so that the removal does not end it
    sandbox.ww("rm", "one", "--force", "--yes", cwd=repo, check=True)
    saved.rename(place(sandbox, worker))
    assert "a terminal of one is still there" in sandbox.ww("doctor", cwd=repo).stdout
    sandbox.ww("doctor", "--fix", cwd=repo)
    assert not group_runs(group)
    assert not place(sandbox, worker).exists()


def test_an_agent_that_removes_its_own_worker(sandbox: Sandbox, repo: Path) -> None:
    """Its command is in the process group that is ended, and still carries the removal out."""
    agent = sandbox.home / "leaver"
    agent.write_text(f"#!/bin/sh\n{sys.executable} -m woodwind rm me --force --yes\nsleep 100\n")
    agent.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as config:
        config.write(f'\n[agents.leaver]\ncommand = "{agent}"\nheadless_args = []\npass_env = ["PYTHONPATH"]\n')
    sandbox.ww("new", "Go", "--headless", "--agent", "leaver", "--name", "me", cwd=repo, check=True)
    sandbox.wait_for(lambda: [w["name"] for w in sandbox.ww("trash", "ls", "--json", cwd=repo).json["data"]] == ["me"])
    assert leftovers(sandbox, repo) == []


def points() -> list[str]:
    operation: Any = Create.__new__(Create)  # only its steps are looked at
    operation.queued = False
    edges = [f"create.{edge}_{step.name}" for step in operation.steps() for edge in ("before", "after")]
    return ["create.after_reserve", *edges]


@pytest.mark.parametrize("point", points())
def test_killed_or_failing_at(sandbox: Sandbox, repo: Path, footprint: Footprint, point: str) -> None:
    def attempt(failpoint: str) -> Result:
        words = ("new", "Some work\n\nrehearse: hang", "--headless", "--agent", "rehearsal", "--name", "one")
        return sandbox.ww(*words, cwd=repo, env={"WOODWIND_FAILPOINT": failpoint})

    sandbox.ww("ls", cwd=repo, check=True)
    before = footprint(repo)
    assert attempt(f"{point}=error").code == 1
    if point == "create.after_reserve":
        sandbox.ww("ls", cwd=repo, check=True)  # before the first step there is nobody to undo it at once
    assert footprint(repo) == before
    assert attempt(point).code == -9
    begun = [json.loads(f.read_text()) for f in Path(sandbox.env["XDG_STATE_HOME"]).rglob("pane.json")]
    assert bool(begun) == (point == "create.after_terminal")
    sandbox.ww("ls", cwd=repo, check=True)
    assert footprint(repo) == before
    assert leftovers(sandbox, repo) == []
    assert not any(group_runs(facts["parent"]) for facts in begun if facts.get("parent"))
    assert not running(sandbox)


def running(box: Sandbox) -> list[str]:
    """The command lines of processes that work inside the sandbox."""
    listing = subprocess.run(["ps", "-ewwo", "args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listing.splitlines() if str(box.root) in line]
