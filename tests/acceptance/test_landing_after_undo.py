"""A worker whose landing a commit took back lands again: what it has now, and never stuck for good."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker

TOY = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n[verify]\ncommand = "true"\n'


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Undone:
    """A project in which the work of `one`, new.txt, landed, was taken back by a commit, and is another's by now."""

    def __init__(self, box: Sandbox, method: str) -> None:
        self.box = box
        self.repo = make_repo(box.home / f"project{method}-{len(list(box.home.iterdir()))}")
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
        (self.repo / "woodwind.toml").write_text(TOY)
        self.tree: Path = new_worker(box, self.repo, "one")
        commit(self.tree, "Work", {"new.txt": "the worker's\n"})
        box.ww("merge", "one", method, cwd=self.repo, check=True)
        commit(self.repo, "Later", {"later.txt": "later\n"})
        box.ww("undo", cwd=self.repo, check=True)
        self.revert = git(self.repo, "rev-parse", "main")
        commit(self.repo, "Another's", {"new.txt": "another's\n"})

    def at(self, path: str) -> str:
        return git(self.repo, "show", f"main:{path}")


@pytest.fixture(params=["--merge", "--squash", "--rebase"])
def undone(box: Sandbox, request: pytest.FixtureRequest) -> Undone:
    return Undone(box, request.param)


def test_one_that_started_over_lands_what_it_has_and_not_what_was_taken_back(undone: Undone) -> None:
    git(undone.tree, "reset", "--quiet", "--hard", "main")
    commit(undone.tree, "Anew", {"anew.txt": "anew\n"})
    done = undone.box.ww("merge", "one", cwd=undone.repo, check=True)
    assert (undone.at("new.txt"), undone.at("anew.txt")) == ("another's", "anew")
    assert f"git revert {undone.revert[:10]}" in done.stderr


def test_one_that_goes_on_is_told_how_to_settle_it_and_lands_then(undone: Undone) -> None:
    commit(undone.tree, "More", {"more.txt": "more\n"})
    error = undone.box.ww("merge", "one", "--json", cwd=undone.repo).json["error"]
    assert error["code"] == "conflict"
    assert f"git revert {undone.revert[:10]}" in error["hint"]
    assert "--strategy" not in error["hint"]
    git(undone.tree, "merge", "--quiet", "-X", "ours", "-m", "What is new", "main")
    (undone.tree / "new.txt").write_text("both\n")
    commit(undone.tree, "Settle it")
    undone.box.ww("merge", "one", cwd=undone.repo, check=True)
    assert (undone.at("new.txt"), undone.at("more.txt")) == ("both", "more")


def test_conflicts_with_what_was_taken_back_can_be_left_in_its_folder(undone: Undone) -> None:
    commit(undone.tree, "More", {"more.txt": "more\n"})
    left = undone.box.ww("merge", "one", "--leave-conflicts", "--json", cwd=undone.repo).json["error"]
    assert left["code"] == "conflicts_left"
    assert "<<<<<<<" in (undone.tree / "new.txt").read_text()
    commit(undone.tree, "Settle it", {"new.txt": "both\n"})
    undone.box.ww("merge", "one", cwd=undone.repo, check=True)
    assert (undone.at("new.txt"), undone.at("more.txt")) == ("both", "more")


def test_a_dry_run_tells_that_what_was_taken_back_comes_again(box: Sandbox) -> None:
    repo = make_repo(box.home / "dry")
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
    (repo / "woodwind.toml").write_text(TOY)
    commit(new_worker(box, repo, "dry"), "Work", {"new.txt": "the worker's\n"})
    box.ww("merge", "dry", cwd=repo, check=True)
    commit(repo, "Later", {"later.txt": "later\n"})
    box.ww("undo", cwd=repo, check=True)
    revert = git(repo, "rev-parse", "main")
    [told] = box.ww("merge", "dry", "--dry-run", "--json", cwd=repo).json["data"]["plan"]
    assert (told["problems"], told["files"]) == ([], ["new.txt"])
    assert f"take back {revert[:10]}, which took its work out of main" in told["steps"]
    assert git(repo, "rev-parse", "main") == revert
    box.ww("merge", "dry", cwd=repo, check=True)
    assert git(repo, "show", "main:new.txt") == "the worker's"
