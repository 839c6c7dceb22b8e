"""`ww cleanup`: who is idle, who may go, and that what it says has happened."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from woodwind.testing.evidence import rows
from woodwind.testing.repo import commit
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import names, rehearse, wait_until

WW = (sys.executable, "-m", "woodwind")


def exited(box: Sandbox, repo: Path, name: str) -> Path:
    """The worktree of a worker whose agent has ended."""
    made = rehearse(box, repo, "exit 0", name=name)
    wait_until(box, repo, "exited", name)
    return Path(made["path"])


def test_only_idle_ones_without_work_go(sandbox: Sandbox, repo: Path) -> None:
    gone = exited(sandbox, repo, "gone")
    dirty = exited(sandbox, repo, "dirty")
    (dirty / "notes.txt").write_text("mine\n")
    ahead = exited(sandbox, repo, "ahead")
    commit(ahead, "Mine", {"mine.txt": "mine\n"})
    live = rehearse(sandbox, repo, name="live")
    wait_until(sandbox, repo, "ready", "live")

    done = sandbox.ww("cleanup", "--days", "0", "--yes", "--json", cwd=repo)
    assert done.code == 6
    data = done.json["data"]
    assert [entry["name"] for entry in data["idle"]] == ["gone", "dirty", "ahead"]
    [removed] = data["removed"]
    assert (removed["name"], removed["idle_days"]) == ("gone", 0)
    # It is really parked, and really not in its place.
    assert not gone.exists()
    assert (Path(removed["trash"]) / "README.md").is_file()
    assert Path(removed["trash"]).parent == gone.parent / ".woodwind-trash"
    kept = {entry["name"]: entry["why"] for entry in data["kept"]}
    assert "1 untracked file (notes.txt)" in kept["dirty"]
    assert "1 commit not in main" in kept["ahead"]
    assert names(sandbox, repo) == ["dirty", "ahead", "live"]
    assert (dirty / "notes.txt").read_text() == "mine\n"

    shown = sandbox.ww("cleanup", "--days", "0", "--force", "--yes", cwd=repo, check=True)
    assert "dirty removed, idle for 0 days" in shown.stdout
    assert names(sandbox, repo) == ["live"]
    assert wait_until(sandbox, repo, "ready", "live")["path"] == live["path"]
    assert not dirty.exists()
    sandbox.ww("restore", "dirty", cwd=repo, check=True)
    assert (dirty / "notes.txt").read_text() == "mine\n"
    nobody = sandbox.ww("cleanup", "--days", "100", "--yes", cwd=repo, check=True)
    assert nobody.stdout == "Nobody has been idle that long.\n"


def test_days(sandbox: Sandbox, repo: Path) -> None:
    tree = exited(sandbox, repo, "worker-one")

    def idle(*words: str) -> list[str]:
        done = sandbox.ww("cleanup", "--dry-run", *words, "--json", cwd=repo, check=True)
        return [entry["name"] for entry in done.json["data"]["idle"]]

    assert idle() == []  # 14 by default
    assert idle("--days", "0") == ["worker-one"]
    assert idle("--days", "1") == []
    assert idle("--days", "999999999999") == []
    assert sandbox.ww("cleanup", "--days", "-1", cwd=repo).code == 2
    assert sandbox.ww("cleanup", "--days", "soon", cwd=repo).code == 2
    # Made, printed, staged and committed long ago.
    database = Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "woodwind.db")
    sandbox.tmux("kill-server")
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript('UPDATE worker SET created_at = 0')"
    sandbox.run(sys.executable, "-c", script, str(database), check=True)
    admin = repo / ".git" / "worktrees" / tree.name
    for name in ("HEAD", "index", "logs/HEAD"):
        os.utime(admin / name, (0, 0))
    assert idle() == ["worker-one"]
    (repo / "woodwind.toml").write_text("[cleanup]\ndays = 99999\n")
    assert idle() == []
    assert idle("--days", "30") == ["worker-one"]
    os.utime(admin / "index")
    assert idle("--days", "30") == []


def test_a_dry_run_changes_nothing(sandbox: Sandbox, repo: Path, footprint: Callable[[Path], dict[str, Any]]) -> None:
    tree = exited(sandbox, repo, "worker-one")
    before = footprint(repo), rows(sandbox, "SELECT * FROM event")
    for words in ((), ("--force",), ("--yes",)):
        shown = sandbox.ww("cleanup", "--days", "0", "--dry-run", *words, cwd=repo, check=True)
        assert shown.stdout == "worker-one is idle for 0 days\n"
    assert (footprint(repo), rows(sandbox, "SELECT * FROM event")) == before
    assert tree.is_dir()


def test_it_asks_first(sandbox: Sandbox, repo: Path) -> None:
    tree = exited(sandbox, repo, "worker-one")
    refused = sandbox.ww("cleanup", "--days", "0", cwd=repo)
    assert refused.code == 2
    assert "needs --yes" in refused.stderr
    assert tree.is_dir()
    for answer, status in (("n", 1), ("", 1), ("C-d", 130), ("y", 0)):
        pane = sandbox.run_in_pane(*WW, "cleanup", "--days", "0", server="terminal", cwd=repo)
        asked = lambda pane=pane: "Remove worker-one? [y/N]" in sandbox.screen(pane, server="terminal")  # noqa: E731
        sandbox.wait_for(asked, what="the question")
        if answer == "C-d":
            sandbox.press(pane, answer, server="terminal")
        else:
            sandbox.type_in(pane, answer, server="terminal")
        assert sandbox.exit_status(pane, server="terminal") == status, sandbox.screen(pane, server="terminal")
        assert tree.is_dir() == (answer != "y")


def test_one_that_came_back_while_it_asked_stays(sandbox: Sandbox, repo: Path) -> None:
    tree = exited(sandbox, repo, "worker-one")
    words = ("cleanup", "--days", "0", "--force")
    pane = sandbox.run_in_pane(*WW, *words, server="terminal", cwd=repo, until_shown=True)
    sandbox.wait_for(lambda: "[y/N]" in sandbox.screen(pane, server="terminal"), what="the question")
    sandbox.ww("resume", "worker-one", cwd=repo, check=True)
    wait_until(sandbox, repo, "ready")
    sandbox.type_in(pane, "y", server="terminal")
    assert sandbox.exit_status(pane, server="terminal") == 6
    assert "worker-one kept: its agent runs again" in sandbox.screen(pane, server="terminal")
    assert wait_until(sandbox, repo, "ready")["path"] == str(tree)
    assert tree.is_dir()


def test_what_cannot_be_parked_is_not_called_removed(sandbox: Sandbox, repo: Path) -> None:
    tree = exited(sandbox, repo, "worker-one")
    # Something is where it would be parked.
    worker = rows(sandbox, "SELECT id FROM worker")[0][0]
    (tree.parent / ".woodwind-trash" / worker).mkdir(parents=True)
    done = sandbox.ww("cleanup", "--days", "0", "--force", "--yes", "--json", cwd=repo)
    assert done.code == 6
    assert done.json["data"]["removed"] == []
    assert "is in the way" in done.json["data"]["kept"][0]["why"]
    assert (tree / "README.md").is_file()
    assert names(sandbox, repo) == ["worker-one"]


def test_an_agent_may_tidy_up_only_its_own(sandbox: Sandbox, repo: Path) -> None:
    tree = exited(sandbox, repo, "worker-one")
    env = {"WOODWIND_WORKER": "somebodyelse"}
    done = sandbox.ww("cleanup", "--days", "0", "--force", "--yes", "--json", cwd=repo, env=env)
    assert done.code == 6
    assert "may remove or land only itself" in done.json["data"]["kept"][0]["why"]
    assert tree.is_dir()
