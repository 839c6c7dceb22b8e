"""What the daemon tells agents between their turns: collisions that it foresees, and why they fell out of a queue."""

from functools import partial
from pathlib import Path
from typing import Any

from woodwind.testing.daemons import start_daemon
from woodwind.testing.repo import commit
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import heard, listed, rehearse

TOLD = "Woodwind foresees"


def log_of(box: Sandbox, repo: Path, name: str) -> str:
    return box.ww("log", name, "--lines", "200", cwd=repo, check=True).stdout


def told(box: Sandbox) -> list[dict[str, Any]]:
    """The messages about collisions that agents have taken."""
    return [entry for entry in heard(box, "UserPromptSubmit") if TOLD in str(entry)]


def is_ready(box: Sandbox, repo: Path, name: str) -> bool:
    return bool(listed(box, repo, name)["status"] == "ready")


def workers(box: Sandbox, repo: Path) -> None:
    """Two workers that wrote the same file, and wait."""
    for name in ("older", "younger"):
        rehearse(box, repo, f"write same.txt {name}", name=name, words=("--permissions", "bypass"))
    for name in ("older", "younger"):
        box.wait_for(partial(is_ready, box, repo, name), 60, f"{name} to be ready")


def test_the_younger_worker_is_told_once(sandbox: Sandbox, repo: Path) -> None:
    workers(sandbox, repo)
    start_daemon(sandbox)
    sandbox.wait_for(lambda: told(sandbox), 60, "the younger worker to be told")
    (collision,) = sandbox.ww("forecast", "--json", cwd=repo, check=True).json["data"]["collisions"]
    assert (collision["name"], collision["with"], collision["told"]) == ("younger", "older", True)
    assert listed(sandbox, repo, "younger")["forecast"] == ["older"]
    assert listed(sandbox, repo, "older")["forecast"] == ["younger"]
    assert "collides with older" in sandbox.ww("ls", cwd=repo, check=True).stdout
    # A further event makes the daemon look again: nobody is told a second time.
    sandbox.ww("new", "Idle", "--no-agent", "--name", "third", cwd=repo, check=True)
    sandbox.ww("daemon", "stop", check=True)
    assert TOLD not in log_of(sandbox, repo, "older")
    (only,) = told(sandbox)
    assert "same.txt" in str(only)


def test_nobody_is_told_where_that_is_switched_off(sandbox: Sandbox, repo: Path) -> None:
    (repo / "woodwind.toml").write_text("[forecast]\ntell = false\n")
    workers(sandbox, repo)
    start_daemon(sandbox)
    sandbox.wait_for(lambda: listed(sandbox, repo, "younger")["forecast"], 60, "the forecast")
    sandbox.ww("daemon", "stop", check=True)
    assert TOLD not in log_of(sandbox, repo, "younger")


def test_a_worker_that_fell_out_in_the_middle_of_a_turn_is_told_after_it(sandbox: Sandbox, repo: Path) -> None:
    (repo / "woodwind.toml").write_text("[verify]\ncommand = 'test ! -e broken'\n")
    done = sandbox.home / "done"
    waits = f"run sh -c 'until [ -e {done} ]; do sleep 0.1; done'"
    made = rehearse(sandbox, repo, waits, name="busy", words=("--permissions", "bypass"))
    commit(Path(made["path"]), "Break it", {"broken": "x\n"})
    sandbox.wait_for(lambda: listed(sandbox, repo, "busy")["status"] == "working", 60, "a turn")
    start_daemon(sandbox)
    shipped = sandbox.ww("queue", "--ship", "busy", "--yes", "--json", cwd=repo, timeout=200)
    assert [entry["told"] for entry in shipped.json["data"]["dropped"]] == [False], shipped

    def heard_of_it() -> list[str]:
        return [str(entry) for entry in heard(sandbox, "UserPromptSubmit") if "was not landed in main" in str(entry)]

    assert heard_of_it() == []
    done.touch()
    sandbox.wait_for(heard_of_it, 60, "the message")
    sandbox.ww("daemon", "stop", check=True)
    assert len(heard_of_it()) == 1
    assert [entry["told"] for entry in sandbox.ww("queue", "--json", cwd=repo, check=True).json["data"]["dropped"]] == [
        True
    ]
