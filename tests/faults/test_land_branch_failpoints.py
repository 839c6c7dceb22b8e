"""kill -9, and a full disk, at every failpoint of the landing of a run's own branch: before or after, never between."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from woodwind.ops.land_branch import LandBranch
from woodwind.testing.evidence import leftovers
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox

# What the daemon does at the end of a run, for one whose tasks have all landed.
SCRIPT = """\
import os
from woodwind.model.errors import WoodwindError
from woodwind.model.run import Run, Settings
from woodwind.ops.context import Context
from woodwind.ops.land_branch import land_branch
from woodwind.ops.projects import current
from woodwind.store import runs

ctx = Context(os.getcwd(), os.environ)
project = current(ctx)
about = {"base": "main", "verify": True}
row = runs.RunRow("rmade", project, "plan", "Play", "into", "feat/all", os.getcwd(), about, "running", "", "", "")
if not runs.listed(ctx.store, project):
    runs.add(ctx.store, row, Run(Settings(), {}), {})
try:
    print(land_branch(ctx, row))
except (WoodwindError, OSError) as error:
    raise SystemExit(str(error)) from error
"""


class Place:
    """A repository with a branch that is to land, and a checkout with an edit that must stay."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.repo = make_repo(box.home / "project", files={"mine.py": "mine\n"})
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
        (self.repo / "woodwind.toml").write_text('[verify]\ncommand = "test -f all.txt"\n')
        self.base = git(self.repo, "rev-parse", "main")
        git(self.repo, "checkout", "-q", "-b", "feat/all")
        self.tip = commit(self.repo, "All", {"all.txt": "all\n"})
        git(self.repo, "checkout", "-q", "main")
        (self.repo / "mine.py").write_text("edited\n")

    def land(self, failpoint: str = "") -> Result:
        return self.box.run(sys.executable, "-c", SCRIPT, cwd=self.repo, env={"WOODWIND_FAILPOINT": failpoint})

    def history(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.box.ww("history", "--json", cwd=self.repo, check=True).json["data"]
        return [entry for entry in found if entry["state"] == "done" and entry["kind"] == "land"]

    def landed(self) -> bool:
        """Whether it is there; it is all there or not at all, the history says the same, and the edit has stayed."""
        told = self.history()
        tip = git(self.repo, "rev-parse", "main")
        there = tip != self.base
        assert [entry["to"] for entry in told] == ([tip] if there else [])
        assert (self.repo / "all.txt").exists() == there
        assert (self.repo / "mine.py").read_text() == "edited\n"
        assert leftovers(self.box, self.repo, branches=("main", "feat/all")) == []
        return there


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    box = Sandbox()
    yield Place(box)
    box.close()


def points() -> list[str]:
    blank: Any = type("Blank", (LandBranch,), {"__init__": lambda self: None})
    edges = [f"land_branch.{edge}_{step.name}" for step in blank().steps() for edge in ("before", "after")]
    return [*edges, "move.before_ref", "move.after_ref", "land_branch.after_commit"]


@pytest.mark.parametrize("point", points())
def test_the_landing_of_a_runs_branch_that_is_cut_short(place: Place, point: str) -> None:
    if place.landed():  # another point's landing
        place.box.ww("undo", "rmade", cwd=place.repo, check=True)
    if point != "land_branch.after_commit":
        full = place.land(f"{point}=error")
        assert full.code == 1, full
        assert "Traceback" not in full.stderr
    if place.landed():  # it failed at something after the base had moved
        place.box.ww("undo", "feat/all", cwd=place.repo, check=True)
    assert not place.landed()
    killed = place.land(point)
    assert killed.code == -9, killed
    place.landed()
    done = place.land()
    assert done.code == 0, done
    assert place.landed()
    assert done.stdout.strip() == git(place.repo, "rev-parse", "main")
    assert git(place.repo, "rev-parse", "main^2") == place.tip
