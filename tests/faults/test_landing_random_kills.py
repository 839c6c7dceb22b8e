"""kill -9 at random moments of `ww merge`, `ww ship` and `ww undo`, alone and with the git that they run."""

import os
import random
import signal
import time

import pytest

from woodwind.testing.evidence import leftovers, rows
from woodwind.testing.landing_stage import COMMANDS, Stage
from woodwind.testing.repo import git
from woodwind.testing.workers import finish, start

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
KILLS = 50 if LONG else 5
SEEDS = range(31, 35) if LONG else [31]  # 200 kills in all, of which each part can run beside the others
PATIENCE = 60


def settle(stage: Stage) -> None:
    """The next command sets it right; where git outlived its caller, once that has ended."""
    began = time.monotonic()
    while True:
        stage.ww("ls", check=True)
        left = leftovers(stage.box, stage.repo, branches=("main", "other"))
        left += [str(row) for row in rows(stage.box, "SELECT id FROM landing WHERE state = 'running'")]
        if not left:
            return
        assert time.monotonic() < began + PATIENCE, f"left behind: {left}"


@pytest.mark.timeout(3600 if LONG else 240)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_landing_that_is_killed_is_before_or_after(seed: int) -> None:
    chance = random.Random(seed)
    stage = Stage(many=300)
    try:
        began = time.monotonic()
        stage.ww(*COMMANDS["checked-out"], check=True)
        longest = (time.monotonic() - began) * 1.1
        stage.bring_back("checked-out")
        for n in range(KILLS):
            command = ("checked-out", "elsewhere", "undo", "checked-out")[n % 4]
            stage.prepare(command)
            before = stage.target(command)
            process = start(stage.box, stage.repo, *COMMANDS[command])
            time.sleep(chance.uniform(0.05, longest))  # the moment is what is tried, nothing is waited for
            if chance.random() < 0.5:
                process.send_signal(signal.SIGKILL)
            else:
                os.killpg(process.pid, signal.SIGKILL)
            code, said = finish(process)
            assert code in (0, -9), said
            settle(stage)
            stage.check(command, before)
            done = stage.is_done(command)
            assert done or code == -9, f"kill {n}: it said that it was done"
            if not done:
                stage.ww(*COMMANDS[command], check=True)
                stage.check(command, before)
            stage.bring_back(command)
        assert git(stage.repo, "fsck", "--no-dangling", "--no-progress") == ""
    finally:
        stage.box.close()
