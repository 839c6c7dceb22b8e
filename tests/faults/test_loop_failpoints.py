"""The daemon killed at each step of a ticket loop: the next one goes on, and every ticket is done once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from woodwind.testing.daemons import daemon_status, start_daemon
from woodwind.testing.plans import await_run
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Sandbox

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
ALWAYS = ("loop.after_claim", "loop.after_landing")
POINTS = ("loop.after_claim_note", "loop.after_brief", "loop.before_start", "loop.after_start", *ALWAYS)


def ticket(name: str) -> str:
    close = f"run {sys.executable} -m woodwind loop close"
    lines = (f"write {name}.txt {name}", f"commit Add {name}", close)
    return f"- [ ] Add {name}\n" + "".join(f"  rehearse: {line}\n" for line in lines)


@pytest.mark.parametrize("where", POINTS if LONG else ALWAYS)
def test_a_daemon_killed_at_a_step_is_followed_by_one_that_goes_on(sandbox: Sandbox, repo: Path, where: str) -> None:
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\nTODO.md\n")
    (repo / "TODO.md").write_text(f"# Things\n\n{ticket('one')}{ticket('two')}")
    doomed = start_daemon(sandbox, WOODWIND_FAILPOINT=where)["pid"]
    words = ("--source", "markdown:TODO.md", "--agent", "rehearsal", "--permissions", "auto", "--no-verify")
    begun = sandbox.ww("loop", "start", *words, "--epics", "things", "--land", "ticket", "--json", cwd=repo, check=True)

    def died() -> bool:
        found = daemon_status(sandbox)
        return found is None or found["pid"] != doomed

    sandbox.wait_for(died, 120, f"the daemon to die at {where}")
    start_daemon(sandbox)
    told = await_run(sandbox, repo, str(begun.json["data"]["id"]), timeout=150)
    assert {task["state"] for task in told["tasks"].values()} == {"landed"}, [
        (t["state"], t["why"]) for t in told["tasks"].values()
    ]
    assert "[ ]" not in (repo / "TODO.md").read_text()
    subjects = git(repo, "log", "--no-merges", "--format=%s", "main").splitlines()
    assert sorted(subjects) == ["Add one", "Add two", "First commit"]
