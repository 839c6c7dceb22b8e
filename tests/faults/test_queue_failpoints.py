"""kill -9 at every failpoint of a queue: the target is at a verified commit, and the next `ww queue` goes on."""

import os
import random
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import woodwind
from woodwind.testing.evidence import rows
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import names, start

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
ROUNDS = 20 if LONG else 1
RANDOM = 2000 if LONG else 0
CHECK = "[ -e left ] && [ -e right ] && exit 1\nexit 0\n"
SHIP = ("queue", "--ship", "--yes")
# Where a queue can die, and those of the parts that it is made of.
POINTS = [
    "queue.after_reserve",
    "queue.after_begin",
    "queue_land.before_commit",
    "queue_land.before_merge",
    "queue.after_verify",
    "queue.before_move",
    "queue.after_move",
    "queue.after_commit",
    "queue.before_put_away",
    "merge.in_lane",
    "verify.after_command",
    "move.before_ref",
    "move.after_ref",
    "remove.after_stop",
]
UNDO_POINTS = ["queue.before_rewind", "queue.after_rewind", "rewind.in_checkout", "restore.before_place"]


def test_no_failpoint_of_a_queue_was_forgotten() -> None:
    source = Path(woodwind.__file__).parent
    texts = [file.read_text("utf-8") for file in source.rglob("*.py")]
    written = {name for text in texts for name in re.findall(r'failpoint\("(queue\.\w+)"\)', text)}
    assert written == {name for name in POINTS + UNDO_POINTS if name.startswith("queue.")}


class Stage:
    """A repository with four workers: two that do not go together, one that is fine, and one not committed."""

    def __init__(self) -> None:
        self.box = Sandbox()
        files = {"check.sh": CHECK, "woodwind.toml": '[verify]\ncommand = "sh check.sh"\n', "shared": "x\n"}
        self.repo = make_repo(self.box.home / "project", files=files)
        self.start = git(self.repo, "rev-parse", "main")
        made = self.box.ww("new", "Do work", "-n", "4", "--no-agent", "--json", cwd=self.repo, check=True)
        self.workers: list[dict[str, Any]] = made.json["data"]["workers"]
        self.trees = [Path(w["path"]) for w in self.workers]
        commit(self.trees[0], "Left", {"left": "left\n"})
        commit(self.trees[1], "Fine", {"fine": "fine\n" * 2})
        commit(self.trees[2], "Right", {"right": "right\n" * 5})
        (self.trees[3] / "loose").write_text("loose\n" * 9)

    def ww(self, *words: str, failpoint: str = "", check: bool = False) -> Result:
        return self.box.ww(*words, cwd=self.repo, env={"WOODWIND_FAILPOINT": failpoint}, check=check, timeout=200)

    def check_between(self) -> None:
        """Whatever was killed: main is at something verified, its checkout is clean, and no work is gone."""
        self.ww("ls", check=True)  # settles what died halfway
        assert rows(self.box, "SELECT count(*) FROM operation WHERE state = 'running'") == [(0,)]
        assert rows(self.box, "SELECT count(*) FROM worker WHERE phase = 'landing'") == [(0,)]
        for commit_id in set(git(self.repo, "reflog", "show", "--format=%H", "main").split()):
            files = git(self.repo, "ls-tree", "--name-only", commit_id).split()
            assert not {"left", "right"} <= set(files)
        assert git(self.repo, "status", "--porcelain") == ""
        on_main = set(git(self.repo, "ls-tree", "--name-only", "main").split())
        for worker, tree, file in zip(self.workers, self.trees, ("left", "fine", "right", "loose"), strict=True):
            branch = git(self.repo, "ls-tree", "--name-only", worker["branch"]).split()
            assert file in branch or (tree / file).exists() or file in on_main

    def check_end(self) -> None:
        """All but the one that does not go with the others has landed."""
        assert names(self.box, self.repo) == [self.workers[2]["name"]]
        files = set(git(self.repo, "ls-tree", "--name-only", "main").split())
        assert {"left", "fine", "loose"} <= files
        assert "right" not in files
        assert rows(self.box, "SELECT count(*) FROM landing_queue WHERE state = 'running'") == [(0,)]

    def go_on(self) -> None:
        """Land what is left; when all has landed there may be nobody left who is ready."""
        done = self.ww(*SHIP)
        if done.code == 1:
            assert "nobody is ready" in done.stderr, str(done)
        else:
            assert done.code in (0, 6), str(done)

    def back(self) -> None:
        """Take it all back, for the next round."""
        while git(self.repo, "rev-parse", "main") != self.start:
            self.ww("undo", check=True)
        for worker in self.workers:
            if not Path(worker["path"]).is_dir():
                self.ww("restore", worker["name"], check=True)
        assert set(names(self.box, self.repo)) == {w["name"] for w in self.workers}
        commit(self.trees[2], "Try again")  # unchanged, it would not be tried


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.box.close()


@pytest.mark.parametrize("point", POINTS * ROUNDS)
def test_killed_at(stage: Stage, point: str) -> None:
    done = stage.ww(*SHIP, failpoint=point)
    assert done.code == -signal.SIGKILL, str(done)
    stage.check_between()
    stage.go_on()
    stage.check_between()
    stage.check_end()
    stage.back()


def test_a_move_that_died_while_it_wrote_the_checkout_is_completed_for_the_whole_batch(stage: Stage) -> None:
    assert stage.ww(*SHIP, failpoint="queue.before_move").code == -signal.SIGKILL
    # As a git that was killed in the middle of its fast-forward leaves it.
    (stage.repo / "left").write_text("left\n")
    (stage.repo / ".git" / "index.lock").touch()
    (tip,) = set(
        rows(stage.box, "SELECT batch_new FROM landing_queue_entry WHERE batch_new <> '' AND state = 'waiting'")
    )
    stage.check_between()
    assert git(stage.repo, "rev-parse", "main") == tip[0]
    stage.go_on()
    stage.check_end()
    stage.back()


@pytest.mark.parametrize("point", UNDO_POINTS * ROUNDS)
def test_undo_killed_at(stage: Stage, point: str) -> None:
    stage.ww(*SHIP)
    stage.check_end()
    done = stage.ww("undo", failpoint=point)
    assert done.code == -signal.SIGKILL, str(done)
    stage.check_between()
    stage.back()
    stage.check_between()


def test_a_lock_that_a_killed_git_left_while_a_queue_was_taken_back_goes(stage: Stage) -> None:
    stage.ww(*SHIP)
    stage.check_end()
    assert stage.ww("undo", failpoint="queue.before_rewind").code == -signal.SIGKILL
    (stage.repo / ".git" / "index.lock").touch()
    stage.check_between()
    stage.back()


@pytest.mark.parametrize("round", range(RANDOM))
def test_killed_at_a_random_moment(stage: Stage, round: int) -> None:
    process = start(stage.box, stage.repo, *SHIP)
    try:
        process.wait(timeout=random.Random(round).uniform(0.1, 2.5))
    except subprocess.TimeoutExpired:
        (os.killpg if round % 2 else os.kill)(process.pid, signal.SIGKILL)  # with the git that it runs, or without
    process.communicate(timeout=60)
    stage.check_between()
    stage.go_on()
    stage.check_end()
    stage.back()


def test_ctrl_c_leaves_a_queue_that_goes_on(stage: Stage) -> None:
    waiting = stage.box.root / "waiting"
    slow = f"touch {waiting}; sleep 60; sh check.sh"
    process = start(stage.box, stage.repo, *SHIP, "--lanes", "2", env={"WOODWIND_VERIFY_COMMAND": slow})
    stage.box.wait_for(waiting.exists, 60, "the verification")
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    stage.check_between()
    assert git(stage.repo, "rev-parse", "main") == stage.start
    assert stage.ww("queue", "--json", check=True).json["data"]["unfinished"]
    stage.go_on()
    stage.check_end()
    stage.back()
