"""kill -9 of the tmux server with every agent on it: no byte of their work changes, and all of them go on soon."""

import os
import signal
import time
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, work_of
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import rehearse

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
AGENTS = 20 if LONG else 4
KILLS = 50 if LONG else 2
GOES_ON_WITHIN = 30


def statuses(box: Sandbox, repo: Path) -> set[str]:
    return {worker["status"] for worker in box.ww("ls", "--json", cwd=repo, check=True).json["data"]}


@pytest.mark.timeout(7200 if LONG else 120)
def test_all_agents_go_on_and_no_work_is_touched(sandbox: Sandbox, repo: Path) -> None:
    trees = [Path(rehearse(sandbox, repo, name=f"worker-{n}")["path"]) for n in range(AGENTS)]
    for n, tree in enumerate(trees):
        (tree / "README.md").write_text(f"{n}\n")
        (tree / "untracked.txt").write_text(f"{n}\n")
    before = [work_of(tree) for tree in trees]
    sandbox.wait_for(lambda: statuses(sandbox, repo) == {"ready"}, what="all agents to be ready")
    for n in range(KILLS):
        os.kill(int(sandbox.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
        sandbox.wait_for(lambda: statuses(sandbox, repo) == {"exited"}, what="all agents to be told as exited")
        began = time.monotonic()
        done = sandbox.ww("resume", "--all", "--json", cwd=repo, check=True).json["data"]
        assert len(done["resumed"]) == AGENTS, f"kill {n}"
        sandbox.wait_for(lambda: statuses(sandbox, repo) == {"ready"}, what="all agents to be ready again")
        took = time.monotonic() - began
        assert took < GOES_ON_WITHIN, f"kill {n}: {took:.0f} seconds"
        assert [work_of(tree) for tree in trees] == before, f"kill {n}"
        assert leftovers(sandbox, repo) == []
