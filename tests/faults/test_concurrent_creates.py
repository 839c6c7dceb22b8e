"""Many `ww new` at the same time, over and over: none fails, and no two get the same name, branch or folder."""

import os
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import finish, start

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
ROUNDS = 200 if LONG else 2
AT_ONCE = 10


@pytest.mark.timeout(7200 if LONG else 120)
def test_none_fails_and_no_two_are_alike(sandbox: Sandbox, repo: Path) -> None:
    ids: set[str] = set()
    for n in range(ROUNDS):
        ends = [finish(command) for command in [start(sandbox, repo, "new", "Add a greeting") for _ in range(AT_ONCE)]]
        assert [said for code, said in ends if code] == [], f"round {n}"
        made = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
        for field in ("id", "name", "branch", "path"):
            assert len({worker[field] for worker in made}) == AT_ONCE, f"round {n}: {field}"
        ids |= {worker["id"] for worker in made}
        assert len(sandbox.tmux("list-sessions").splitlines()) == AT_ONCE
        assert leftovers(sandbox, repo) == []
        sandbox.ww("rm", *(worker["name"] for worker in made), "--yes", cwd=repo, check=True)
        sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    assert len(ids) == ROUNDS * AT_ONCE
    assert git(repo, "fsck", "--no-dangling", "--no-progress") == ""
