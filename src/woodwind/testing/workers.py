"""Workers in a sandbox: made, named, and commands on them that run at the same time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from woodwind.testing.sandbox import Sandbox


def new_worker(box: Sandbox, repo: Path, name: str = "worker-one") -> Path:
    """The worktree of a new worker."""
    made = box.ww("new", "Some work", "--name", name, "--json", cwd=repo, check=True).json["data"]
    return Path(made["workers"][0]["path"])


def names(box: Sandbox, repo: Path) -> list[str]:
    """The names that `ww ls` shows."""
    return [worker["name"] for worker in box.ww("ls", "--json", cwd=repo, check=True).json["data"]]


def start(box: Sandbox, repo: Path, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """A `ww` command that runs by itself, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "woodwind", *words],
        cwd=repo,
        env={**box.env, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """How a command that was started ended, and what it complained about."""
    said = process.communicate(timeout=100)[1]
    return process.returncode, said
