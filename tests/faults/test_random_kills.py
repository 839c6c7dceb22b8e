"""kill -9 at random moments of `ww new`, `ww rm` and `ww restore`, alone and with the git that they run."""

import itertools
import os
import random
import signal
import time
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, refs_of, work_of
from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import finish, names, new_worker, start

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
KILLS = 500 if LONG else 6
CONSISTENT_WITHIN = 5
# On a machine that is overrun a single look may take longer than that.
LOOKS = 4


def kill_at_random(box: Sandbox, repo: Path, chance: random.Random, *words: str, longest: float) -> bool:
    """Start a command, kill it at some moment, itself or with all that it started; whether it had ended before."""
    process = start(box, repo, *words)
    time.sleep(chance.uniform(0.02, longest))  # the moment is what is tried, nothing is waited for
    if chance.random() < 0.5:
        process.send_signal(signal.SIGKILL)
    else:
        os.killpg(process.pid, signal.SIGKILL)
    code, said = finish(process)
    assert code in (0, -9), said
    return code == 0


def settle(box: Sandbox, repo: Path) -> None:
    """The next command sets it right; where git outlived its caller, once that has ended."""
    began = time.monotonic()
    for look in itertools.count(1):
        box.ww("ls", cwd=repo, check=True)
        left = leftovers(box, repo)
        if not left:
            return
        assert look < LOOKS or time.monotonic() < began + CONSISTENT_WITHIN, f"left behind: {left}"


def time_of(box: Sandbox, repo: Path, *words: str) -> float:
    began = time.monotonic()
    box.ww(*words, cwd=repo, check=True)
    return time.monotonic() - began


@pytest.mark.timeout(7200 if LONG else 120)
def test_killed_creations_leave_nothing(sandbox: Sandbox, repo: Path) -> None:
    chance = random.Random(23)
    # Enough files that git is often met in the middle of its checkout.
    commit(repo, "Many files", {f"many/{n}.txt": f"{n}\n" * 50 for n in range(1500)})
    longest = time_of(sandbox, repo, "new", "Some work", "--name", "first") * 1.2
    refs = refs_of(repo)
    sandbox.ww("rm", "first", "--yes", cwd=repo, check=True)
    for n in range(KILLS):
        ended = kill_at_random(sandbox, repo, chance, "new", "Some work", "--name", "again", longest=longest)
        settle(sandbox, repo)
        made = "again" in names(sandbox, repo)
        assert made or not ended, f"kill {n}: it said that it was done"
        if not made:
            assert refs_of(repo) == refs
            sandbox.ww("new", "Some work", "--name", "again", cwd=repo, check=True)
        [path] = (worker["path"] for worker in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"])
        assert git(Path(path), "status", "--porcelain") == ""
        sandbox.ww("rm", "again", "--yes", cwd=repo, check=True)
        sandbox.ww("trash", "prune", "again", "--yes", cwd=repo, check=True)
    assert git(repo, "fsck", "--no-dangling", "--no-progress") == ""


@pytest.mark.timeout(7200 if LONG else 120)
def test_killed_removals_and_restores_lose_nothing(sandbox: Sandbox, repo: Path) -> None:
    chance = random.Random(29)
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"mine.txt": "mine\n"})
    for n in range(200):
        (tree / f"untracked-{n}.txt").write_text(f"{n}\n" * 100)
    (tree / "README.md").write_text("staged\n")
    git(tree, "add", "README.md")
    before, refs = work_of(tree), refs_of(repo)
    longest = time_of(sandbox, repo, "rm", "worker-one", "--force", "--yes") * 1.2
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    for n in range(KILLS):
        prune = n % 3 == 2
        ended = kill_at_random(sandbox, repo, chance, "rm", "worker-one", "--force", "--yes", longest=longest)
        settle(sandbox, repo)
        assert refs_of(repo) == refs
        if "worker-one" in names(sandbox, repo):
            assert not ended
            assert work_of(tree) == before
            sandbox.ww("rm", "worker-one", "--force", "--yes", cwd=repo, check=True)
        if prune:
            kill_at_random(sandbox, repo, chance, "trash", "prune", "--all", "--yes", longest=longest)
            settle(sandbox, repo)
        kill_at_random(sandbox, repo, chance, "restore", "worker-one", longest=longest)
        settle(sandbox, repo)
        if "worker-one" not in names(sandbox, repo):
            sandbox.ww("restore", "worker-one", cwd=repo, check=True)
        assert work_of(tree) == before, f"kill {n}"
        assert refs_of(repo) == refs
    assert git(repo, "fsck", "--no-dangling", "--no-progress") == ""


def test_git_that_outlives_its_caller_is_waited_for(sandbox: Sandbox, repo: Path) -> None:
    """Cleared up under its feet, it would write into a folder that is nobody's any more."""
    started, go = sandbox.home / "started", sandbox.home / "go"
    slow = f"touch '{started}'; until [ -e '{go}' ]; do sleep 0.02; done; cat"
    git(repo, "config", "filter.slow.smudge", slow)
    commit(repo, "A slow file", {".gitattributes": "*.slow filter=slow\n", "one.slow": "1\n"})
    process = start(sandbox, repo, "new", "Some work", "--name", "slow")
    try:
        sandbox.wait_for(started.exists, what="the checkout")
        process.send_signal(signal.SIGKILL)
        assert finish(process)[0] == -9
        [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
        assert worker["phase"] == "creating"
        assert Path(worker["path"], ".git").exists()
    finally:
        go.touch()  # also where the test fails: the filter would wait for ever
    settle(sandbox, repo)
    assert names(sandbox, repo) == []
    sandbox.ww("new", "Some work", "--name", "slow", cwd=repo, check=True)
