"""A target that is checked out, and what else goes on in that folder."""

import threading
from pathlib import Path

import pytest

from woodwind.git import targets, worktrees
from woodwind.git.branches import branch_tip
from woodwind.model.errors import Refused
from woodwind.testing.repo import commit, git, make_repo


def ahead(repo: Path) -> tuple[str, str]:
    """Where `main`, which is checked out, is, and a commit on top of it."""
    old = git(repo, "rev-parse", "main")
    git(repo, "switch", "-q", "--detach")
    new = commit(repo, "More", {"more.txt": "more\n"})
    git(repo, "switch", "-q", "main")
    return old, new


def test_a_git_that_has_the_index_for_a_moment_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo(tmp_path / "project")
    old, new = ahead(repo)
    common, lock = str(repo / ".git"), repo / ".git" / "index.lock"
    monkeypatch.setattr(targets, "_LOCK_PATIENCE", 60.0)
    for move, start, end in ((targets.move, old, new), (targets.rewind, new, old)):
        lock.touch()
        leaving = threading.Timer(0.2, lock.unlink)
        leaving.start()
        move(common, "main", start, end, why="tested")
        leaving.join()
        assert git(repo, "rev-parse", "main") == end
        assert (repo / "more.txt").exists() == (end == new)


def test_a_lock_that_stays_is_told_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo(tmp_path / "project")
    old, new = ahead(repo)
    lock = repo / ".git" / "index.lock"
    lock.touch()
    monkeypatch.setattr(targets, "_LOCK_PATIENCE", 0.0)
    with pytest.raises(Refused) as refused:
        targets.move(str(repo / ".git"), "main", old, new, why="tested")
    assert f"delete {lock}" in refused.value.hint
    assert git(repo, "rev-parse", "main") == old


def test_a_worker_is_found_where_its_record_is_now(tmp_path: Path) -> None:
    common = tmp_path / "repo.git"
    for name in ("one", "two"):
        (common / "worktrees" / name).mkdir(parents=True)
        worktrees.write_record(str(common / "worktrees" / name), {"id": f"w-{name}"})
    assert worktrees.admin_of_worker(str(common), "w-two") == str(common / "worktrees" / "two")
    (common / "worktrees" / "two").rename(common / "worktrees" / "three")
    assert worktrees.admin_of_worker(str(common), "w-two") == str(common / "worktrees" / "three")
    (common / "worktrees" / "three" / "woodwind.json").unlink()
    assert worktrees.admin_of_worker(str(common), "w-two") == ""


@pytest.mark.parametrize("form", ["loose", "packed", "symbolic", "missing", "a folder", "garbage"])
def test_a_branch_is_where_git_says_however_it_is_stored(tmp_path: Path, form: str) -> None:
    repo = make_repo(tmp_path / "project")
    common = str(repo / ".git")
    tip = git(repo, "rev-parse", "HEAD")
    git(repo, "branch", "feat/one")
    if form == "packed":
        git(repo, "pack-refs", "--all")
        assert not (repo / ".git/refs/heads/feat/one").exists()
    elif form == "symbolic":
        git(repo, "symbolic-ref", "refs/heads/feat/one", "refs/heads/main")
    elif form == "garbage":
        (repo / ".git/refs/heads/feat/one").write_text("not a commit\n")
    name = {"missing": "feat/two", "a folder": "feat"}.get(form, "feat/one")
    assert branch_tip(common, name) == ("" if form in ("missing", "a folder", "garbage") else tip)
