"""A small plan carried out by each real agent: the daemon starts them, hears their ends, commits, lands."""

import json
import sys

import pytest

from tests.agents.rig import PATIENCE, Rig
from woodwind.testing.plans import run_status, states_of
from woodwind.testing.repo import git

SLOW = pytest.mark.timeout(PATIENCE * 5)


@SLOW
def test_a_plan(rig: Rig) -> None:
    with rig.situation("a plan of three tasks"):
        plan = rig.home / "plan.toml"
        head = f'[plan]\nmode = "into"\nbranch = "feat/all"\nverify = false\nagent = "{rig.name}"\n'
        plan.write_text(head + _task(rig, "one") + _task(rig, "two", "one") + _task(rig, "three", "one", "two"))
        words = ("--permissions", rig.setup.free, "--detach", "--json")
        run = str(rig.ww("run", str(plan), *words, check=True).json["data"]["id"])

        def finished() -> bool:
            return bool(run_status(rig.sandbox, rig.repo, run)["state"] == "finished")

        rig.sandbox.wait_for(finished, PATIENCE * 4, "the run to finish")
        told = run_status(rig.sandbox, rig.repo, run)
        assert set(states_of(told).values()) == {"landed"}, told
        assert {task["last_words"] for task in told["tasks"].values()} == {f"Did {n}." for n in ("one", "two", "three")}
        made = set(git(rig.repo, "ls-tree", "--name-only", "feat/all").split())
        assert made == {"README.md", "one.txt", "two.txt", "three.txt"}


def _task(rig: Rig, name: str, *after: str) -> str:
    lines = [f"model: run echo {name} > {name}.txt"]
    lines += [f"model: run git add {name}.txt && git commit -q -m 'Add {name}'"] if rig.setup.commits else []
    text = "\n".join([f"Add {name}", *lines, f"model: say Did {name}."])
    waits = f"depends_on = {json.dumps(after)}\n" if after else ""
    return f'[[task]]\nid = "{name}"\ndescription = {json.dumps(text)}\n{waits}'


@SLOW
def test_a_loop(rig: Rig) -> None:
    with rig.situation("a loop of two tickets"):
        (rig.repo / ".git" / "info" / "exclude").write_text("TODO.md\n")
        (rig.repo / "TODO.md").write_text(f"# Things\n\n{_ticket(rig, 'first')}{_ticket(rig, 'second')}")
        words = ("--source", "markdown:TODO.md", "--epics", "things", "--agent", rig.name, "--no-verify")
        made = rig.ww("loop", "start", *words, "--permissions", rig.setup.free, "--json", check=True).json["data"]

        def finished() -> bool:
            return bool(run_status(rig.sandbox, rig.repo, made["id"])["state"] == "finished")

        rig.sandbox.wait_for(finished, PATIENCE * 4, "the loop to finish")
        told = run_status(rig.sandbox, rig.repo, made["id"])
        assert states_of(told) == {"add-first": "landed", "add-second": "landed"}, told
        assert (rig.repo / "TODO.md").read_text().count("- [x]") == 2
        # The conversation was cleared in between: of the first ticket nothing is left.
        assert told["tasks"]["add-second"]["last_words"] == "I recall 1 scripts."


def _ticket(rig: Rig, name: str) -> str:
    lines = [f"model: run echo {name} > {name}.txt"]
    lines += [f"model: run git add {name}.txt && git commit -q -m 'Add {name}'"] if rig.setup.commits else []
    lines += [f"model: run {sys.executable} -m woodwind loop close", "model: recall"]
    return f"- [ ] Add {name}\n" + "".join(f"  {line}\n" for line in lines)
