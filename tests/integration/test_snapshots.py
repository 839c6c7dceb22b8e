"""Saved refs: what a worktree holds, byte for byte, in one commit that git itself can read."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from woodwind.git import branches, snapshots, worktrees
from woodwind.git.saved import Saved
from woodwind.git.tree import Tree
from woodwind.model.errors import NotFound, WoodwindError
from woodwind.testing.repo import commit, git, make_repo

WORKER = "wtest"
REF = f"refs/woodwind/saved/{WORKER}"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A worktree on a branch of its own, as `ww new` makes it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    repo = make_repo(tmp_path / "project", files={"a.txt": "a\n", "folder/b.txt": "b\n"})
    common, path = str(repo / ".git"), str(tmp_path / "tree")
    branches.make_branch(common, "work", git(repo, "rev-parse", "HEAD"), WORKER)
    admin = worktrees.add(common, path=path, branch="work", worker=WORKER)
    worktrees.write_record(admin, {"id": WORKER, "branch": "work"})
    worktrees.fill(path, admin)
    return Tree(path, admin)


def common_of(tree: Tree) -> str:
    return str(Path(tree.admin).parent.parent)


def saved_manifest(tree: Tree) -> dict[str, object]:
    found: dict[str, object] = json.loads(git(Path(common_of(tree)), "show", f"{REF}:manifest.json"))
    return found


def test_the_saved_commit_holds_the_raw_bytes(tree: Tree) -> None:
    """Line ends and filters must not touch them, as `git add` would let them do."""
    git(Path(tree.path), "config", "core.autocrlf", "true")
    (Path(tree.path) / "windows.txt").write_bytes(b"one\r\ntwo\n")
    saved = snapshots.save(tree, common_of(tree), WORKER)
    assert git(Path(common_of(tree)), "rev-parse", REF) == saved
    assert git(Path(common_of(tree)), "cat-file", "-s", f"{saved}:f/0") == str(len(b"one\r\ntwo\n"))
    assert git(Path(common_of(tree)), "rev-parse", f"{saved}^1") == git(Path(tree.path), "rev-parse", "HEAD")
    assert git(Path(common_of(tree)), "fsck", "--strict", "--no-dangling", "--no-progress") == ""


def test_saving_changes_nothing_in_the_worktree(tree: Tree) -> None:
    (Path(tree.path) / "a.txt").write_text("changed\n")
    index = (Path(tree.admin) / "index").read_bytes()
    refs = git(Path(tree.path), "for-each-ref", "refs/heads")
    snapshots.save(tree, common_of(tree), WORKER, everything=True)
    assert (Path(tree.admin) / "index").read_bytes() == index
    assert git(Path(tree.path), "for-each-ref", "refs/heads") == refs
    assert git(Path(tree.path), "status", "--porcelain") == " M a.txt"


def test_a_second_save_keeps_the_first(tree: Tree) -> None:
    (Path(tree.path) / "draft.txt").write_text("first\n")
    first = snapshots.save(tree, common_of(tree), WORKER)
    (Path(tree.path) / "draft.txt").write_text("second\n")
    second = snapshots.save(tree, common_of(tree), WORKER)
    assert first in git(Path(common_of(tree)), "rev-parse", f"{second}^@").splitlines()
    assert git(Path(common_of(tree)), "show", f"{first}:f/0") == "first"


def test_every_commit_that_only_a_reflog_knows_is_kept(tree: Tree) -> None:
    path = Path(tree.path)
    lone = [commit(path, "One", {"one.txt": "1\n"})]
    for text in ("2\n", "3\n"):
        (path / "one.txt").write_text(text)
        git(path, "commit", "--quiet", "--all", "--amend", "--no-edit")
        lone.append(git(path, "rev-parse", "HEAD"))
    git(path, "reset", "--quiet", "--hard", "HEAD~1")
    git(path, "update-ref", "--create-reflog", "-m", "by somebody else", "refs/heads/work", lone[0])
    git(path, "update-ref", "refs/heads/work", lone[0] + "~1")
    saved = snapshots.save(tree, common_of(tree), WORKER)
    for each in lone:
        git(path, "merge-base", "--is-ancestor", each, saved)


def test_blobs_that_only_the_index_holds_are_kept(tree: Tree) -> None:
    path = Path(tree.path)
    (path / "a.txt").write_text("staged, and nowhere else\n")
    git(path, "add", "a.txt")
    (path / "a.txt").write_text("a\n")
    snapshots.save(tree, common_of(tree), WORKER)
    (Path(tree.admin) / "index").unlink()
    git(path, "reset", "--quiet")
    git(path, "gc", "--quiet", "--prune=now")
    blobs = [line.split()[2] for line in git(path, "ls-tree", f"{REF}:s").splitlines()]
    assert [git(path, "cat-file", "blob", blob) for blob in blobs] == ["staged, and nowhere else"]


def test_a_lock_that_a_killed_git_left_is_no_obstacle(tree: Tree) -> None:
    lock = Path(common_of(tree), f"{REF}.lock")
    lock.parent.mkdir(parents=True)
    lock.touch()
    snapshots.save(tree, common_of(tree), WORKER)
    assert not lock.exists()


def test_an_unreadable_file_is_an_error_and_no_half_save(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that shrinks while it is read; for root no mode makes one unreadable."""
    (Path(tree.path) / "new.txt").write_text("x" * 100)
    real = os.lstat

    class Longer:
        def __init__(self, info: os.stat_result) -> None:
            self.st_mode, self.st_size = info.st_mode, info.st_size + 1

    def lying(path: str | bytes) -> os.stat_result | Longer:
        info = real(path)
        return Longer(info) if os.fsencode(path).endswith(b"new.txt") else info

    monkeypatch.setattr(os, "lstat", lying)
    with pytest.raises(WoodwindError, match="shrank"):
        snapshots.save(tree, common_of(tree), WORKER)
    assert not snapshots.is_saved(common_of(tree), WORKER)
    assert not list(Path(common_of(tree)).glob("fast_import_crash_*"))


def test_a_folder_that_cannot_be_read_is_an_error(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """For root no mode makes one unreadable."""
    hidden = Path(tree.path) / "nested" / "hidden"
    hidden.mkdir(parents=True)
    git(Path(tree.path) / "nested", "init", "--quiet")
    (hidden / "work.txt").write_text("mine\n")
    real = os.scandir

    def refusing(path: str) -> object:
        if Path(path) == hidden:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(PermissionError):
        snapshots.save(tree, common_of(tree), WORKER, everything=True)
    assert not snapshots.is_saved(common_of(tree), WORKER)


def test_a_folder_that_git_cannot_read_is_an_error_before_a_deletion(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git tells of it in a warning, and takes the folder for empty."""
    if not os.geteuid():
        if not shutil.which("setpriv"):
            pytest.skip("modes do not hold root back, and there is no setpriv to give that up")
        wrapper = tmp_path / "bin" / "git"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec setpriv --bounding-set=-all --inh-caps=-all {shutil.which("git")} "$@"\n')
        wrapper.chmod(0o755)
        monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    (Path(tree.path) / "hidden").mkdir(mode=0)
    with pytest.raises(WoodwindError, match="could not open directory 'hidden/'"):
        snapshots.save(tree, common_of(tree), WORKER, everything=True)
    assert not snapshots.is_saved(common_of(tree), WORKER)
    snapshots.save(tree, common_of(tree), WORKER)


def test_files_that_an_agent_deletes_meanwhile_are_no_obstacle(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped only after the save; a file may go at any moment between two looks at it."""
    (Path(tree.path) / "build.tmp").write_text("x")
    (Path(tree.path) / "kept.txt").write_text("y")
    (Path(tree.path) / "link.tmp").symlink_to("nowhere")
    (Path(tree.admin) / "index.lock").touch()
    (Path(tree.admin) / "MERGE.tmp").touch()
    real = os.lstat

    def last_look(path: str | bytes) -> os.stat_result:
        info = real(path)
        if os.fsencode(path).endswith((b".tmp", b".lock")):
            os.unlink(path)
        return info

    monkeypatch.setattr(os, "lstat", last_look)
    saved = snapshots.save(tree, common_of(tree), WORKER)
    files = saved_manifest(tree)
    assert files["files"] == [{"path": "kept.txt", "mode": (Path(tree.path) / "kept.txt").stat().st_mode}]
    assert files["deleted"] == ["build.tmp", "link.tmp"]
    assert git(Path(common_of(tree)), "cat-file", "blob", f"{saved}:f/0") == "y"


def test_nothing_is_written_outside_of_the_worktree(tree: Tree, tmp_path: Path) -> None:
    """A saved ref can be fetched from anywhere: its paths are not trusted."""
    (Path(tree.path) / "new.txt").write_text("planted\n")
    snapshots.save(tree, common_of(tree), WORKER)
    target = Tree(str(tmp_path / "target"), tree.admin)
    for bad in ("../planted.txt", "link/planted.txt", f"{tmp_path}/planted.txt"):
        Path(target.path).mkdir(exist_ok=True)
        with Saved(common_of(tree), WORKER) as saved:
            saved.manifest["complete"] = True
            saved.manifest["files"][0]["path"] = bad
            link = Path(target.path, "link")
            if not link.is_symlink():
                link.symlink_to(tmp_path)
            with pytest.raises(WoodwindError, match="outside"):
                saved.write_files(target)
        assert not (tmp_path / "planted.txt").exists()


def test_nothing_saved_is_said(tree: Tree) -> None:
    with pytest.raises(NotFound, match="nothing is saved"):
        Saved(common_of(tree), "wnobody")


def test_special_files_are_named_as_not_saved(tree: Tree) -> None:
    (Path(tree.path) / "nested").mkdir()
    git(Path(tree.path) / "nested", "init", "--quiet")
    os.mkfifo(Path(tree.path) / "nested" / "pipe")
    snapshots.save(tree, common_of(tree), WORKER, everything=True)
    assert saved_manifest(tree)["not_saved"] == ["nested/pipe"]
