"""Fixtures for everyone: a private place for each test, and a real repository in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox

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
