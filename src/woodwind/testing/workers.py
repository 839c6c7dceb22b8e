"""Workers in a sandbox: made, named, and commands on them that run at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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


def rehearse(
    box: Sandbox,
    repo: Path,
    *lines: str,
    name: str = "worker-one",
    words: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A new worker whose rehearsal agent plays these lines; its hooks are collected for `heard`."""
    task = "\n".join(["Play a part", *(f"rehearse: {line}" for line in lines)])
    variables = {"REHEARSAL_HOOK": f"cat >> '{box.home}/hooks.jsonl'", **(env or {})}
    command = ("new", task, "--agent", "rehearsal", "--name", name, *words, "--json")
    made: dict[str, Any] = box.ww(*command, cwd=repo, env=variables, check=True).json["data"]["workers"][0]
    return made


def heard(box: Sandbox, event: str) -> list[dict[str, Any]]:
    """What the hooks of rehearsal agents told about an event, in order."""
    file = box.home / "hooks.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True) if file.exists() else []
    told = [json.loads(line) for line in lines if line.endswith("\n")]
    return [entry for entry in told if entry["hook_event_name"] == event]


def listed(box: Sandbox, repo: Path, name: str = "worker-one") -> dict[str, Any]:
    """What `ww ls` says about a worker."""
    found: list[dict[str, Any]] = box.ww("ls", "--json", cwd=repo, check=True).json["data"]
    return next(entry for entry in found if entry["name"] == name)


def wait_until(box: Sandbox, repo: Path, status: str, name: str = "worker-one") -> dict[str, Any]:
    """What `ww ls` says about a worker once it has the status."""

    def there() -> dict[str, Any] | None:
        entry = listed(box, repo, name)
        return entry if entry["status"] == status else None

    return box.wait_for(there, what=f"{name} to be {status}") or {}


def panes_of(box: Sandbox, worker: str, *, server: str = "woodwind") -> list[str]:
    """The panes that carry a worker's tag."""
    seen = box.run("tmux", "-L", server, "list-panes", "-a", "-F", "#{@woodwind} #{pane_id}").stdout.splitlines()
    return [line.split(" ")[1] for line in seen if line.startswith(f"{worker} ")]
