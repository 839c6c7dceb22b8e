"""Plans of rehearsal tasks in a sandbox: written, run, waited for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from woodwind.testing.sandbox import Sandbox

DIAMOND = {
    "root": (),
    **{f"left-{n}": ("root",) for n in range(3)},
    **{f"right-{n}": ("root",) for n in range(3)},
    "left": ("left-0", "left-1", "left-2"),
    "right": ("right-0", "right-1", "right-2"),
    "both": ("left", "right"),
    "check": ("both",),
    "last": ("both", "check"),
}


def adds(name: str) -> list[str]:
    """The lines of a task that adds one file and commits it."""
    return [f"write {name}.txt made by {name}", f"commit Add {name}", f"say Added {name}"]


def write_plan(
    path: Path,
    tasks: Mapping[str, Sequence[str]],
    *,
    after: Mapping[str, Sequence[str]] | None = None,
    more: Mapping[str, str] | None = None,
    **settings: Any,
) -> Path:
    """A plan file whose tasks play these lines; `more` adds keys to single tasks, as TOML."""
    head: dict[str, Any] = {"goal": "Play", "mode": "into", "branch": "feat/all", "agent": "rehearsal"} | settings
    lines = ["[plan]", *(f"{key} = {json.dumps(value)}" for key, value in head.items() if value != "")]
    for name, script in tasks.items():
        text = "\n".join([f"Do {name}", *(f"rehearse: {line}" for line in script)])
        lines += ["", "[[task]]", f'id = "{name}"', f"description = {json.dumps(text)}"]
        if after and after.get(name):
            lines.append(f"depends_on = {json.dumps(list(after[name]))}")
        lines += [more[name]] if more and name in more else []
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def begin_run(box: Sandbox, repo: Path, plan: Path, *words: str, env: Mapping[str, str] | None = None) -> str:
    """The id of a run that was begun in the background."""
    command = ("run", str(plan), "--permissions", "auto", "--detach", *words, "--json")
    return str(box.ww(*command, cwd=repo, env=env, check=True).json["data"]["id"])


def run_status(box: Sandbox, repo: Path, run: str) -> dict[str, Any]:
    """How a run stands, with its tasks by id."""
    told: dict[str, Any] = box.ww("run", "status", run, "--json", cwd=repo, check=True).json["data"]
    return told | {"tasks": {task["id"]: task for task in told["tasks"]}}


def await_run(box: Sandbox, repo: Path, run: str, state: str = "finished", timeout: float = 180) -> dict[str, Any]:
    """How a run stands once it is in this state."""

    def there() -> dict[str, Any] | None:
        told = run_status(box, repo, run)
        return told if told["state"] == state else None

    return box.wait_for(there, timeout, f"the run {run} to be {state}") or {}


def await_task(box: Sandbox, repo: Path, run: str, task: str, *states: str, timeout: float = 120) -> dict[str, Any]:
    """How a task stands once it is in one of these states."""

    def there() -> dict[str, Any] | None:
        told: dict[str, Any] = run_status(box, repo, run)["tasks"].get(task, {})
        return told if told.get("state") in states else None

    return box.wait_for(there, timeout, f"{task} to be {' or '.join(states)}") or {}


def states_of(told: Mapping[str, Any]) -> dict[str, str]:
    """The states of a run's tasks."""
    return {name: task["state"] for name, task in told["tasks"].items()}
