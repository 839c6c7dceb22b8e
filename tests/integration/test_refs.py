"""The branches of a repository, listed by git while the caller does something else."""

import time
from pathlib import Path

import pytest

from woodwind.base.run import RunFailed
from woodwind.git.call import git
from woodwind.git.repo import Refs, locate


def test_branches_and_the_default_are_listed(repo: Path) -> None:
    home = locate(str(repo))
    tip = git("-C", str(repo), "rev-parse", "HEAD").text.strip()
    git("-C", str(repo), "branch", "feat/one")
    git("-C", str(repo), "update-ref", "refs/remotes/origin/trunk", tip)
    git("-C", str(repo), "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    refs = Refs(home)
    assert refs.branches == {"feat/one": tip, "main": tip}
    assert refs.default == "trunk"


def test_without_a_remote_there_is_no_default(repo: Path) -> None:
    assert Refs(locate(str(repo))).default == ""


def test_more_branches_than_a_pipe_holds(repo: Path) -> None:
    tip = git("-C", str(repo), "rev-parse", "HEAD").text.strip()
    names = [f"many/{'x' * 60}-{n}" for n in range(900)]
    git(
        "-C",
        str(repo),
        "update-ref",
        "--stdin",
        input="".join(f"create refs/heads/{n} {tip}\n" for n in names).encode(),
    )
    refs = Refs(locate(str(repo)))
    assert set(refs.branches) == {*names, "main"}


def test_a_failure_is_told_when_they_are_looked_at(repo: Path) -> None:
    home = locate(str(repo))
    (repo / ".git" / "config").write_text("[core\n")
    refs = Refs(home)
    with pytest.raises(RunFailed) as failure:
        _ = refs.branches
    assert failure.value.message.startswith("git for-each-ref --format=")


def test_what_was_asked_long_ago_is_not_fresh(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: began)
    refs = Refs(locate(str(repo)))
    assert refs.fresh
    monkeypatch.setattr(time, "monotonic", lambda: began + 1)
    assert not refs.fresh
    monkeypatch.undo()
    assert "main" in refs.branches
