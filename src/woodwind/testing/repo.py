"""Real git repositories for tests and the demo, independent of the user's git configuration."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

IDENTITY = {"user.name": "Test Person", "user.email": "test@example.invalid", "commit.gpgsign": "false"}

_GREET = '''\
"""Greetings for the hours of the day."""


def part_of_day(hour: int) -> str:
    """Names the part of the day for an hour from 0 to 23."""
    if hour < 12:
        return "morning"
    if hour < 18:
        return "afternoon"
    return "evening"
'''
# The bug that the demo's agents find: the name is written in small letters, and no test looks at it.
_GREET_BY_NAME = '''

def greet(name: str, hour: int) -> str:
    """Greets somebody by name; names are written with a capital letter."""
    return f"Good {part_of_day(hour)}, {name.lower()}!"
'''
_TEST = """\
import unittest

from chimes.greet import part_of_day


class PartOfDay(unittest.TestCase):
    def test_names_the_parts(self) -> None:
        hours = {0: "morning", 11: "morning", 12: "afternoon", 17: "afternoon", 18: "evening"}
        for hour, part in hours.items():
            self.assertEqual(part_of_day(hour), part)


if __name__ == "__main__":
    unittest.main()
"""
_PYPROJECT = """\
[project]
name = "chimes"
version = "0.1.0"
description = "Greetings for the hours of the day"
requires-python = ">=3.11"

[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["chimes"]
"""
_README = """\
# chimes

Greetings for the hours of the day.

    python -m unittest
"""
# Each commit of the sample: its message, and the files that it writes.
_SAMPLE: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Start chimes",
        {"README.md": _README, "pyproject.toml": _PYPROJECT, ".gitignore": "__pycache__/\n*.egg-info/\n"},
    ),
    (
        "Name the parts of the day",
        {
            "chimes/__init__.py": "",
            "chimes/greet.py": _GREET,
            "tests/__init__.py": "",
            "tests/test_greet.py": _TEST,
        },
    ),
    ("Greet by name", {"chimes/greet.py": _GREET + _GREET_BY_NAME}),
)


class GitError(Exception):
    """A git command that failed; the message has the command, the folder and what git said."""


def git(path: Path, *args: str, env: Mapping[str, str] | None = None) -> str:
    """What a git command prints in that folder, without the last line end; GitError if it fails."""
    # Without the caller's GIT_* variables, so that it is this folder and no other.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    clean |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["git", *args],
        cwd=path,
        env={**clean, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise GitError(f"git {' '.join(args)} in {path} ended with {done.returncode}: {said}")
    return done.stdout.removesuffix("\n")


def commit(path: Path, message: str, files: Mapping[str, str] | None = None) -> str:
    """The id of a new commit of everything in the folder, after these files were written."""
    for name, text in (files or {}).items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", f"--message={message}")
    return git(path, "rev-parse", "HEAD")


def make_repo(path: Path, *, files: Mapping[str, str] | None = None, bare: bool = False, branch: str = "main") -> Path:
    """The path of a new repository with one commit of the files (a README without any)."""
    path.mkdir(parents=True, exist_ok=True)
    if bare:
        # Only a worktree can be committed in: a passing one makes the commit, and the bare one fetches it.
        with tempfile.TemporaryDirectory(prefix="ww-") as folder:
            source = make_repo(Path(folder, "source"), files=files, branch=branch)
            git(path, "init", "--quiet", "--bare", f"--initial-branch={branch}")
            git(path, "fetch", "--quiet", str(source), f"{branch}:{branch}")
        _configure(path)
        return path
    git(path, "init", "--quiet", f"--initial-branch={branch}")
    _configure(path)
    commit(path, "First commit", files or {"README.md": "# Test\n"})
    return path


def sample_project(path: Path) -> Path:
    """The path of a new small Python project with three commits, passing tests, and a bug in greet.py."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    _configure(path)
    for message, files in _SAMPLE:
        commit(path, message, files)
    return path


def _configure(path: Path) -> None:
    for key, value in IDENTITY.items():
        git(path, "config", key, value)
