"""kill -9, and a full disk, while a worker comes back into the user's own checkout: as it was, or wholly there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.ops.restore import ComeBack
from woodwind.testing.evidence import manifest, rows
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import names

STEPS = [step.name for step in object.__new__(ComeBack).steps()]
POINTS = [f"come_back.{edge}_{step}" for step in STEPS for edge in ("before", "after")]


class Stage:
    """A worker in place that left, with a commit on its branch; the checkout is on main again."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.repo = make_repo(box.home / "project")
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
        toy = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
        (self.repo / "woodwind.toml").write_text(toy)
        box.ww("branch", "Do it", "--name", "one", cwd=self.repo, check=True)
        commit(self.repo, "Mine", {"mine.txt": "mine\n"})
        self.leave()
        self.before = self.look()

    def leave(self) -> None:
        self.box.ww("rm", "one", "--force", "--yes", cwd=self.repo, check=True)

    def look(self) -> tuple[object, ...]:
        """The checkout as the person sees it."""
        files = {name: entry for name, entry in manifest(self.repo).items() if not name.startswith(b".git/")}
        head = git(self.repo, "symbolic-ref", "--short", "HEAD")
        return files.keys(), head, git(self.repo, "status", "--porcelain"), git(self.repo, "for-each-ref", "refs/heads")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Sandbox() as box:
        yield Stage(box)


@pytest.mark.parametrize("mode", ["", "=error"], ids=["killed", "full-disk"])
@pytest.mark.parametrize("point", POINTS)
def test_a_return_that_is_cut_short(stage: Stage, point: str, mode: str) -> None:
    box, repo = stage.box, stage.repo
    cut = box.ww("restore", "one", cwd=repo, env={"WOODWIND_FAILPOINT": f"{point}{mode}"})
    assert cut.code == (1 if mode else -9), cut
    assert names(box, repo) == []
    assert stage.look() == stage.before
    assert rows(box, "SELECT kind FROM operation WHERE state = 'running'") == []
    assert not (repo / ".git" / "woodwind.json").exists()
    box.ww("restore", "one", cwd=repo, check=True)
    assert names(box, repo) == ["one"]
    assert (repo / "mine.txt").read_text() == "mine\n"
    stage.leave()
    assert stage.look() == stage.before


def test_what_is_saved_of_a_checkout_is_not_the_repository(stage: Stage) -> None:
    """The checkout's git directory holds all objects: saved with every removal, it would double each time."""
    [(worker,)] = rows(stage.box, "SELECT id FROM worker")
    held = git(Path(stage.repo), "ls-tree", "-r", "--name-only", f"refs/woodwind/saved/{worker}").splitlines()
    assert not [name for name in held if name.startswith("g/")]
