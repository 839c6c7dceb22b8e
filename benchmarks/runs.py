"""Runs: what scheduling costs beside the git work that cannot be avoided, and what a run costs that waits."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks.scene import Scene
from benchmarks.timing import CannotMeasure, run_quietly
from benchmarks.together import Fact
from woodwind.testing.repo import make_repo

PLAN, QUICK_PLAN = 500, 24
# So many tasks by bare git tell what one costs.
BARE, QUICK_BARE = 50, 6
WATCHED, QUICK_WATCHED = 30.0, 6.0
_CAP = 4
# An agent that is done at once: it writes one file, commits it and exits.
_AGENT = """#!/bin/sh
echo done > "$(basename "$PWD").txt" && git add --all && git commit --quiet -m Done
"""


def running(scene: Scene, *, quick: bool) -> list[Fact]:
    """All three measurements."""
    repo = _repository(scene)
    count = QUICK_PLAN if quick else PLAN
    return [
        _steps(scene, count),
        _whole(scene, repo, count, QUICK_BARE if quick else BARE),
        _idle(scene, repo, QUICK_WATCHED if quick else WATCHED),
    ]


def _repository(scene: Scene) -> Path:
    agent = scene.sandbox.home / "instant"
    agent.write_text(_AGENT, encoding="utf-8")
    agent.chmod(0o755)
    config = f'[agents.instant]\ncommand = "{agent}"\nprompt = "none"\nheadless_args = []\n'
    config += f'[agents.still]\ncommand = "{scene.sleep}"\nargs = ["86400"]\nprompt = "none"\n'
    repo = make_repo(scene.sandbox.home / "runs" / "project")
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n", encoding="utf-8")
    (repo / "woodwind.toml").write_text(config, encoding="utf-8")
    return repo


def _steps(scene: Scene, count: int) -> Fact:
    root = Path(__file__).resolve().parents[1]
    env = {**scene.env, "XDG_STATE_HOME": str(scene.sandbox.root / "steps")}
    done = subprocess.run(
        [scene.python, "-m", "benchmarks.run_steps", str(count)],
        cwd=root, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise CannotMeasure(f"the steps of a run ended with {done.returncode}: {done.stderr}")
    seconds = float(done.stdout)
    each = seconds / count * 1000
    goal = f"{each:.1f} ms a task, goal at most 40"
    return Fact(f"scheduler and store, {count} instant tasks", seconds, count, "tasks", goal, each <= 40)


def _plan(scene: Scene, agent: str, count: int) -> Path:
    path = scene.sandbox.home / f"{agent}.toml"
    head = (
        f'[plan]\nmode = "into"\nbranch = "feat/{agent}"\nverify = false\nagent = "{agent}"\nmax_concurrent = {_CAP}\n'
    )
    path.write_text(
        head + "".join(f'[[task]]\nid = "t{n}"\ndescription = "Do {n}"\n' for n in range(count)), encoding="utf-8"
    )
    return path


def _json(scene: Scene, repo: Path, *words: str) -> Any:
    done = scene.sandbox.run(scene.ww, *words, "--json", cwd=repo, timeout=1200)
    answer = json.loads(done.stdout)
    if not answer["ok"]:
        raise CannotMeasure(str(done))
    return answer["data"]


def _whole(scene: Scene, repo: Path, count: int, bare_count: int) -> Fact:
    """A run from its first task to its last landing, beside the same git commands bare, one after the other."""
    pid = _daemon(scene, repo)
    before, began = _spent(pid), time.perf_counter()
    told = _json(scene, repo, "run", str(_plan(scene, "instant", count)), "--headless", "--permissions", "ask")
    ours, spent = time.perf_counter() - began, _spent(pid) - before
    if len(told["landed"]) != count:
        raise CannotMeasure(f"only {len(told['landed'])} of {count} tasks landed")
    began = time.perf_counter()
    for n in range(bare_count):
        _bare(scene, repo, n)
    bare = (time.perf_counter() - began) / bare_count
    each = f"{ours / count * 1000:.0f} ms a task ({spent / count * 1000:.0f} ms of processor time)"
    goal = f"{each}, bare git {bare * 1000:.0f} ms, {ours / count / bare:.1f} ×"
    return Fact(f"a run of {count} instant tasks, {_CAP} at once", ours, count, "tasks", goal, True)


def _bare(scene: Scene, repo: Path, n: int) -> None:
    tree, lane = str(scene.sandbox.home / f"bare-{n}"), str(scene.sandbox.home / "bare-lane")
    git, env = scene.git, scene.env
    for words in (
        [git, "worktree", "add", "--quiet", "-b", f"bare-{n}", tree],
        [str(scene.sandbox.home / "instant")],
        [git, "worktree", "add", "--quiet", "--detach", lane],
        [git, "-C", lane, "merge", "--quiet", "--no-ff", "-m", "Merge", f"bare-{n}"],
        [git, "worktree", "remove", lane],
        [git, "worktree", "remove", tree],
    ):
        run_quietly(words, cwd=tree if words[0].endswith("instant") else str(repo), env=env)


def _idle(scene: Scene, repo: Path, seconds: float) -> Fact:
    """The daemon's own time while a run waits for agents that work."""
    words = ("--permissions", "ask", "--detach", "--skip-preflight")
    run = _json(scene, repo, "run", str(_plan(scene, "still", _CAP)), *words)["id"]
    while set(_json(scene, repo, "run", "status", run)["counts"]) != {"working"}:
        time.sleep(0.2)
    pid = _daemon(scene, repo)
    before = _spent(pid)
    time.sleep(seconds)
    spent = _spent(pid) - before
    _json(scene, repo, "run", "stop", run)
    share = spent / seconds * 100
    goal = f"{share:.2f} % of a core, goal at most 2"
    return Fact(f"a run that waits, {seconds:g} s", spent, _CAP, "agents at work", goal, share <= 2)


def _daemon(scene: Scene, repo: Path) -> int:
    """The id of the daemon, which is started where none runs."""
    _json(scene, repo, "daemon", "start")
    return int(_json(scene, repo, "daemon", "status")["daemon"]["pid"])


def _spent(pid: int) -> float:
    """The processor time of a process and of those that it started and that have ended, in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError as error:
        raise CannotMeasure(f"the daemon's time cannot be read: {error}") from error
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
