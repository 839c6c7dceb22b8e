"""Fixtures for everyone: a private place for each test, and a real repository in it."""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from woodwind.testing.repo import git, make_repo
from woodwind.testing.sandbox import Sandbox

# The same examples every time, so that a red test is about the change and not about luck; the long form looks further.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)
settings.load_profile("searching" if os.environ.get("WOODWIND_FAULTS") == "long" else "steady")

# Where tests run in the background of a script, SIGINT is ignored, and what they start would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)

TOY = """#!/bin/sh
echo "toy got: $1"
pwd
exec cat
"""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A private home, tmux and state; nothing of the user's can be reached from it."""
    with Sandbox() as box:
        yield box


@pytest.fixture
def repo(sandbox: Sandbox) -> Path:
    """A real repository with one commit and a toy agent in its woodwind.toml, at `home/project`."""
    path = make_repo(sandbox.home / "project", files={"README.md": "# Project\n", "src/app.py": "print('hi')\n"})
    toy = sandbox.home / "toy"
    toy.write_text(TOY)
    toy.chmod(0o755)
    # The file stays out of git's sight, so that a test's `git status` shows only what it made.
    (path / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
    (path / "woodwind.toml").write_text(f'[new]\nagent = "toy"\n\n[agents.toy]\ncommand = "{toy}"\n')
    return path


@pytest.fixture
def footprint(sandbox: Sandbox) -> Callable[[Path], dict[str, Any]]:
    """What there is of a repository, its worktrees, terminals and rows: equal before and after, nothing changed."""

    def look(path: Path) -> dict[str, Any]:
        database = Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "woodwind.db")
        rows: list[Any] = []
        if database.exists():
            with closing(sqlite3.connect(database)) as db:
                rows += db.execute("SELECT id, name, phase FROM worker ORDER BY id").fetchall()
                rows += db.execute("SELECT id, worker FROM operation WHERE state = 'running'").fetchall()
        sessions = sandbox.run("tmux", "-L", "woodwind", "list-sessions", "-F", "#{session_name}")
        headless = Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "headless")
        return {
            "headless": sorted(p.name for p in headless.iterdir()) if headless.exists() else [],
            "refs": git(path, "for-each-ref"),
            "worktrees": git(path, "worktree", "list", "--porcelain"),
            "beside": sorted(p.name for p in path.parent.rglob("*") if ".worktrees" in str(p)),
            "sessions": sessions.stdout,
            "rows": rows,
        }

    return look
