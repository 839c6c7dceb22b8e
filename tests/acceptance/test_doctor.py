"""`ww doctor`: what it finds, what it mends, and what it leaves alone."""

import contextlib
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.evidence import database, leftovers, rows
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import listed, names, new_worker, panes_of, rehearse, wait_until


@pytest.fixture
def plain(sandbox: Sandbox) -> Path:
    """A repository without any configuration of Woodwind's."""
    return make_repo(sandbox.home / "plain")


def doctor(box: Sandbox, repo: Path, *words: str, code: int | None = None, path: str = "") -> list[dict[str, Any]]:
    """The findings; with `code`, after making sure of the exit status."""
    done = box.ww("doctor", "--json", *words, cwd=repo, env={"PATH": path or box.env["PATH"]})
    assert code is None or done.code == code, done
    found: list[dict[str, Any]] = done.json["data"]["findings"]
    return found


def test_outside_of_a_repository_the_machine_is_looked_at(sandbox: Sandbox) -> None:
    told = sandbox.ww("doctor", cwd=sandbox.home, check=True)
    assert "All is well." in told.stdout
    assert "only the machine was looked at" in told.stderr
    (sandbox.home / "bin").mkdir()
    alone = sandbox.ww("doctor", "--json", cwd=sandbox.home, env={"PATH": str(sandbox.home / "bin")})
    assert alone.code == 6
    assert [entry["message"].split()[0] for entry in alone.json["data"]["findings"]] == ["git", "tmux"]


def fix(box: Sandbox, repo: Path) -> Result:
    """What `ww doctor --fix` did, after which nothing is wrong any more."""
    done = box.ww("doctor", "--fix", "--json", cwd=repo)
    assert done.code == 0, done
    assert all(entry["ok"] for entry in done.json["data"]["mended"]), done
    return done


def stub(box: Sandbox, name: str, script: str) -> str:
    """A PATH on which a program is first found as this script."""
    folder = box.home / f"stub-{name}"
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{box.env['PATH']}"


def forget(box: Sandbox, name: str) -> None:
    """Take a worker's row out of the store, as if it had been lost."""
    with contextlib.closing(sqlite3.connect(database(box), timeout=20, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("DELETE FROM worker WHERE name = ?", (name,))


def leave_terminal(box: Sandbox, worker: str, project: str) -> str:
    """A pane with a worker's tags, of a program that goes on by itself."""
    pane = box.run_in_pane("sleep", "1000")
    box.tmux("set-option", "-p", "-t", pane, "@woodwind_project", project)
    box.tmux("set-option", "-p", "-t", pane, "@woodwind", worker)
    return pane


def there(box: Sandbox, pane: str) -> bool:
    return pane in box.tmux("list-panes", "-a", "-F", "#{pane_id}").splitlines()


def test_all_is_well(sandbox: Sandbox, plain: Path) -> None:
    first = sandbox.ww("doctor", cwd=plain, check=True)
    assert first.stdout == "All is well.\n"
    rehearse(sandbox, plain)
    rehearse(sandbox, plain, name="worker-two")
    sandbox.ww("rm", "worker-two", "--yes", cwd=plain, check=True)
    for words in ((), ("--fix",)):
        done = sandbox.ww("doctor", *words, cwd=plain, check=True)
        assert (done.stdout, done.stderr) == ("All is well.\n", "")


def test_a_worktree_whose_row_is_lost_is_taken_in_again(sandbox: Sandbox, plain: Path) -> None:
    worker = rehearse(sandbox, plain)
    wait_until(sandbox, plain, "ready")
    [pane] = panes_of(sandbox, worker["id"])
    process = sandbox.fact(pane, "pane_pid")
    forget(sandbox, "worker-one")
    found = doctor(sandbox, plain, code=6)
    [lost] = [f for f in found if f["check"] == "worktrees"]
    assert (lost["level"], lost["fix"]) == ("leftover", "take it into the store again")
    assert worker["path"] in lost["message"]
    assert rows(sandbox, "SELECT * FROM worker") == []  # looking changes nothing
    fix(sandbox, plain)
    # Its terminal is its own again, and was not closed as that of nobody.
    entry = wait_until(sandbox, plain, "ready")
    assert (entry["id"], entry["path"]) == (worker["id"], worker["path"])
    assert sandbox.fact(pane, "pane_pid") == process
    assert doctor(sandbox, plain, code=0) == []


def test_the_terminal_of_a_removed_worker_is_closed(sandbox: Sandbox, plain: Path) -> None:
    worker = rehearse(sandbox, plain)
    live = rehearse(sandbox, plain, name="live")
    sandbox.ww("rm", "worker-one", "--yes", cwd=plain, check=True)
    [(project,)] = rows(sandbox, "SELECT id FROM project")
    removed = leave_terminal(sandbox, worker["id"], project)
    unknown = leave_terminal(sandbox, "w-nobody", project)
    others = leave_terminal(sandbox, "w-nobody", "p-another")
    found = doctor(sandbox, plain, code=6)
    assert [(f["check"], f["level"], f["fix"]) for f in found] == [("terminals", "leftover", "close it")] * 2
    assert "worker-one" in found[0]["message"] + found[1]["message"]
    assert there(sandbox, removed)
    fix(sandbox, plain)
    assert not there(sandbox, removed)
    assert not there(sandbox, unknown)
    assert there(sandbox, others)
    assert panes_of(sandbox, live["id"])


def test_a_missing_folder_is_told_and_not_touched(sandbox: Sandbox, plain: Path) -> None:
    worker = rehearse(sandbox, plain, "exit 0")
    wait_until(sandbox, plain, "exited")
    sandbox.ww("doctor", cwd=plain, check=True)
    tree = Path(worker["path"])
    tree.rename(sandbox.home / "elsewhere")
    for words in ((), ("--fix",)):
        [found] = doctor(sandbox, plain, *words, code=6)
        assert (found["check"], found["level"], found["fix"]) == ("worktrees", "problem", "")
        assert str(tree) in found["message"]
    (sandbox.home / "elsewhere").rename(tree)
    assert doctor(sandbox, plain, code=0) == []


def test_trash_past_its_time_is_pruned(sandbox: Sandbox, plain: Path) -> None:
    worker = rehearse(sandbox, plain)
    tree = Path(worker["path"])
    commit(tree, "Mine", {"mine.txt": "mine\n"})
    sandbox.ww("rm", "worker-one", "--force", "--yes", cwd=plain, check=True)
    assert doctor(sandbox, plain, code=0) == []
    (plain / "woodwind.toml").write_text("[trash]\ndays = 0\n")
    parked = tree.parent / ".woodwind-trash" / worker["id"]
    [found] = doctor(sandbox, plain, code=6)
    assert (found["check"], found["level"]) == ("trash", "leftover")
    assert parked.is_dir()
    fix(sandbox, plain)
    assert not parked.exists()
    sandbox.ww("restore", "worker-one", cwd=plain, check=True)
    assert (tree / "mine.txt").read_text() == "mine\n"


def test_configuration_that_runs_code_is_warned_of(sandbox: Sandbox, plain: Path) -> None:
    program = sandbox.home / "program"
    ran = sandbox.home / "ran"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    program.chmod(0o755)
    commit(plain, "Harmless", {".claude/settings.json": json.dumps({"permissions": {}})})
    assert doctor(sandbox, plain, code=0) == []
    commit(
        plain,
        "Code",
        {
            ".mcp.json": "{}",
            ".claude/settings.json": json.dumps({"hooks": {"Stop": []}}),
            "woodwind.toml": f'[agents.mine]\ncommand = "{program}"\n',
        },
    )
    git(plain, "config", "core.hooksPath", str(sandbox.home))
    git(plain, "config", "core.fsmonitor", str(program))
    git(plain, "config", "diff.external", str(program))
    git(plain, "config", "filter.trap.clean", str(program))
    git(plain, "config", "merge.trap.driver", str(program))
    found = doctor(sandbox, plain, "--fix", code=0)
    assert {f["level"] for f in found} == {"warning"}
    text = "\n".join(f["message"] for f in found)
    for word in (
        ".mcp.json",
        ".claude/settings.json",
        "core.hookspath",
        "core.fsmonitor",
        "diff.external",
        "filter.trap.clean",
        "merge.trap.driver",
        "agents.mine",
    ):
        assert word in text, word
    assert "All is well" not in sandbox.ww("doctor", cwd=plain, check=True).stdout
    assert not ran.exists()


def test_an_agent_that_is_newer_than_its_adapter(sandbox: Sandbox, plain: Path) -> None:
    newer = stub(sandbox, "claude", 'echo "99.0.0 (Claude Code)"')
    found = doctor(sandbox, plain, code=0, path=newer)
    warned = [f["message"] for f in found if f["check"] == "agents"]
    assert [text for text in warned if "claude is 99.0.0" in text and "checked with" in text]
    shutil.rmtree(sandbox.home / "stub-claude")
    older = stub(sandbox, "claude", "echo 0.0.1")
    found = doctor(sandbox, plain, code=0, path=older)
    assert not [f for f in found if "claude is" in f["message"]]
    # One that fails, or is no program at all, must not keep the rest from being looked at.
    shutil.rmtree(sandbox.home / "stub-claude")
    broken = stub(sandbox, "claude", "echo broken >&2; exit 1")
    (plain / ".mcp.json").write_text("{}")
    assert [f["check"] for f in doctor(sandbox, plain, code=0, path=broken)] == ["code"]
    (sandbox.home / "stub-claude" / "claude").write_bytes(b"\x7fELF\0\0garbage")
    assert "code" in [f["check"] for f in doctor(sandbox, plain, path=broken)]


@pytest.mark.parametrize("name, says", [("tmux", "tmux 2.9a"), ("git", "git version 2.30.2")])
def test_old_tools(sandbox: Sandbox, plain: Path, name: str, says: str) -> None:
    real = shutil.which(name)
    path = stub(sandbox, name, f'case "$1" in -V|--version) echo "{says}";; *) exec {real} "$@";; esac')
    [found] = doctor(sandbox, plain, code=6, path=path)
    assert (found["check"], found["level"]) == ("tools", "problem")
    assert f"{says} is too old" in found["message"]


def test_what_died_halfway_is_settled(sandbox: Sandbox, plain: Path) -> None:
    words = ("new", "Work", "--agent", "rehearsal", "--name", "worker-one")
    killed = sandbox.ww(*words, cwd=plain, env={"WOODWIND_FAILPOINT": "create.after_terminal"})
    assert killed.code == -9
    found = doctor(sandbox, plain, code=6)
    assert ("operations", "leftover", "finish or undo it") in [(f["check"], f["level"], f["fix"]) for f in found]
    assert rows(sandbox, "SELECT state FROM operation") == [("running",)]
    fix(sandbox, plain)
    assert rows(sandbox, "SELECT state FROM operation") == [("undone",)]
    assert leftovers(sandbox, plain) == []


def test_a_state_folder_that_others_can_read(sandbox: Sandbox, plain: Path) -> None:
    rehearse(sandbox, plain)
    folder = database(sandbox).parent
    folder.chmod(0o755)
    [found] = doctor(sandbox, plain, code=6)
    assert (found["check"], found["level"], found["fix"]) == ("store", "problem", "make it private")
    fix(sandbox, plain)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_fix_in_one_project_leaves_another_alone(sandbox: Sandbox, plain: Path, repo: Path) -> None:
    """The other one has a live worker, a lost row, a leftover terminal, and an operation that died."""
    rehearse(sandbox, plain)
    tree = new_worker(sandbox, repo, "live")
    new_worker(sandbox, repo, "lost")
    live = listed(sandbox, repo, "live")
    other = leave_terminal(sandbox, "w-nobody", live["project"])
    words = ("new", "Work", "--name", "half")
    assert sandbox.ww(*words, cwd=repo, env={"WOODWIND_FAILPOINT": "create.after_worktree"}).code == -9
    forget(sandbox, "lost")
    mine = leave_terminal(sandbox, "w-nobody", listed(sandbox, plain)["project"])
    sql = "SELECT id, phase FROM worker WHERE project = ? ORDER BY id"
    before = rows(sandbox, sql, live["project"]), git(repo, "worktree", "list"), git(repo, "for-each-ref")
    fix(sandbox, plain)
    assert not there(sandbox, mine)
    assert there(sandbox, other)
    assert (rows(sandbox, sql, live["project"]), git(repo, "worktree", "list"), git(repo, "for-each-ref")) == before
    assert rows(sandbox, "SELECT project FROM operation WHERE state = 'running'") == [(live["project"],)]
    assert tree.is_dir()
    assert listed(sandbox, repo, "live")["status"] == live["status"]
    fix(sandbox, repo)
    assert not there(sandbox, other)
    assert sorted(names(sandbox, repo)) == ["live", "lost"]
