"""Workers seen together: the forecast of all pairs beside one bare `git merge-tree`, and a queue beside one by one."""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scene import Scene, program
from benchmarks.timing import CannotMeasure
from woodwind.testing.repo import commit, git, make_repo

WORKERS, QUICK_WORKERS = 20, 6
VERIFY = "sleep 1"
_LINES = "".join(f"line {n}\n" for n in range(200))


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was measured: how long it took, and how many processes or verifications that were."""

    name: str
    seconds: float
    count: int
    counted: str
    goal: str
    ok: bool


class Stage:
    """A repository with workers that have no agent, each with a commit of its own."""

    def __init__(self, scene: Scene, workers: int) -> None:
        self.scene = scene
        self.home = scene.sandbox.home / "together"
        self.repo = self._repository()
        made = scene.sandbox.run(
            scene.ww,
            "--json",
            "new",
            "Work beside others",
            "-n",
            str(workers),
            "--no-agent",
            cwd=self.repo,
            timeout=600,
        ).json["data"]["workers"]
        self.names = [worker["name"] for worker in made]
        self.trees = [Path(worker["path"]) for worker in made]
        for n, tree in enumerate(self.trees):
            commit(tree, f"Change part {n}", {f"part{n}.txt": _LINES.replace("line 7\n", f"worker {n}\n")})
        self.calls = scene.sandbox.root / "calls"

    def _repository(self) -> Path:
        files = {f"part{n}.txt": _LINES for n in range(WORKERS)}
        return make_repo(self.home / "project", files={**files, "woodwind.toml": f'[verify]\ncommand = "{VERIFY}"\n'})

    def counting(self) -> dict[str, str]:
        """An environment in which every call of git is written down."""
        tools = self.scene.sandbox.root / "tools"
        tools.mkdir(exist_ok=True)
        wrapper = tools / "git"
        wrapper.write_text(f'#!/bin/sh\necho "$*" >> {self.calls}\nexec {program("git")} "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        self.calls.write_text("", encoding="utf-8")
        return {**self.scene.env, "PATH": f"{tools}{os.pathsep}{self.scene.env['PATH']}"}

    def timed(self, *words: str, env: Mapping[str, str] | None = None, ok: tuple[int, ...] = (0,)) -> float:
        """How long a command takes, in seconds."""
        began = time.perf_counter()
        done = subprocess.run([self.scene.ww, *words], cwd=self.repo, env=dict(env or self.scene.env),
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)  # fmt: skip
        if done.returncode not in ok:
            raise CannotMeasure(f"ww {' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
        return time.perf_counter() - began

    def counted(self, what: str = "") -> int:
        """How many git processes the last command started, or those of one kind."""
        return sum(what in line for line in self.calls.read_text(encoding="utf-8").splitlines())

    def change(self, n: int, text: str) -> None:
        """Let a worker edit a file without committing it."""
        (self.trees[n] / "part0.txt").write_text(_LINES.replace("line 9\n", f"{text}\n"), encoding="utf-8")


def together(scene: Scene, *, quick: bool) -> list[Fact]:
    """What forecasts and queues cost."""
    stage = Stage(scene, QUICK_WORKERS if quick else WORKERS)
    return [*_forecasts(stage), *_queues(stage)]


def _forecasts(stage: Stage) -> list[Fact]:
    count = len(stage.names)
    pairs = count * (count - 1) // 2 + count
    heads = [git(tree, "rev-parse", "HEAD") for tree in stage.trees]
    lines = "".join(f"{a} {b}\n" for n, a in enumerate(heads) for b in [*heads[:n], "main"])
    began = time.perf_counter()
    bare = [program("git"), "merge-tree", "--stdin"]
    subprocess.run(bare, cwd=stage.repo, input=lines.encode(), capture_output=True, check=True)
    limit = time.perf_counter() - began
    cold = stage.timed("forecast", env=stage.counting())
    cold_calls = stage.counted()
    same = stage.timed("forecast")
    stage.timed("forecast", env=stage.counting())
    same_calls = stage.counted()
    stage.change(1, "one")
    one = stage.timed("forecast")
    stage.change(1, "two")
    stage.timed("forecast", env=stage.counting())
    merges = stage.counted(" merge-tree ")
    all_calls = stage.counted()
    git(stage.trees[1], "checkout", "--quiet", "--", ".")
    who = f"{count} workers"
    return [
        Fact(f"git merge-tree --stdin, {pairs} pairs", limit, 1, "git processes", "the limit", True),
        Fact(f"ww forecast, {who}, cold", cold, cold_calls, "git processes", "–", True),
        Fact(f"ww forecast, {who}, nothing changed", same, same_calls, "git processes", "0", same_calls == 0),
        Fact(
            f"ww forecast, {who}, one changed", one, merges, f"git merge-tree, of {all_calls} in all", "1", merges == 1
        ),
    ]


def _queues(stage: Stage) -> list[Fact]:
    count = len(stage.names)
    began = time.perf_counter()
    done = stage.scene.sandbox.run(
        stage.scene.ww, "--json", "queue", "--ship", "--yes", cwd=stage.repo, timeout=600, check=True
    ).json["data"]
    queue = time.perf_counter() - began
    if len(done["landed"]) != count:
        raise CannotMeasure(f"the queue landed {len(done['landed'])} of {count}")
    stage.timed("undo")
    # What passed is not verified again: a line that no landing has yet makes every tree a new one.
    commit(stage.repo, "Another start", {"again": "x\n"})
    alone = sum(stage.timed("ship", name, "--yes") for name in stage.names)
    verifications = done["verifications"]
    what = f"a verification of `{VERIFY}`"
    return [
        Fact(f"ww queue --ship, {count} workers", queue, verifications, what, "1 to 3", 1 <= verifications <= 3),
        Fact(f"ww ship, {count} workers one by one", alone, count, what, "–", True),
    ]
