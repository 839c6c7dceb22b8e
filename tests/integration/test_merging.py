"""Merges in a lane: every kind of conflict, each method and strategy, and hooks as git would run them for the user."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from woodwind.git import lanes, merging
from woodwind.git.lanes import Lane
from woodwind.model.errors import Refused
from woodwind.testing.repo import commit, git, make_repo


class Scene(NamedTuple):
    repo: Path
    lane: Lane

    def branches(self, ours: Callable[[Path], object], theirs: Callable[[Path], object]) -> tuple[str, str]:
        """The commits of the target and of a worker's branch, each after its change."""
        git(self.repo, "checkout", "-q", "-B", "work", "main")
        theirs(self.repo)
        tip = commit(self.repo, "Theirs")
        git(self.repo, "checkout", "-q", "main")
        ours(self.repo)
        return commit(self.repo, "Ours"), tip


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    repo = make_repo(
        tmp_path / "project", files={"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt": "b\n", "tool": "#!\n"}
    )
    with lanes.taken(str(repo / ".git"), "ptest", str(tmp_path / "trees"), "HEAD") as lane:
        yield Scene(repo, lane)


def write(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda repo: (repo / name).write_bytes(data)


def move(source: str, target: str) -> Callable[[Path], object]:
    return lambda repo: git(repo, "mv", source, target)


def delete(name: str) -> Callable[[Path], object]:
    return lambda repo: (repo / name).unlink()


CONFLICTS = {
    "text": (write("a.txt", b"ours\n"), write("a.txt", b"theirs\n"), ("a.txt",)),
    "binary": (write("b.txt", b"\0ours"), write("b.txt", b"\0theirs"), ("b.txt",)),
    "modify/delete": (write("a.txt", b"ours\n"), delete("a.txt"), ("a.txt",)),
    "add/add": (write("new", b"ours\n"), write("new", b"theirs\n"), ("new",)),
    "rename/rename": (move("a.txt", "ours.txt"), move("a.txt", "theirs.txt"), ("a.txt", "ours.txt", "theirs.txt")),
}


@pytest.mark.parametrize("method", ["merge", "rebase", "squash"])
@pytest.mark.parametrize("kind", CONFLICTS)
def test_a_conflict_is_told_by_file(scene: Scene, kind: str, method: str) -> None:
    ours, theirs, files = CONFLICTS[kind]
    onto, tip = scene.branches(ours, theirs)
    merged = merging.merge(scene.lane, onto, tip, method=method)
    assert (merged.commit, merged.conflicts) == ("", files)
    # The lane is none the worse for it.
    scene.lane.check_out(onto)
    assert git(Path(scene.lane.path), "status", "--porcelain") == ""


@pytest.mark.parametrize("method", ["merge", "rebase", "squash"])
@pytest.mark.parametrize("strategy, kept", [("ours", b"ours\n"), ("theirs", b"theirs\n")])
def test_a_strategy_takes_the_side_that_its_name_says(scene: Scene, method: str, strategy: str, kept: bytes) -> None:
    onto, tip = scene.branches(write("a.txt", b"ours\n"), write("a.txt", b"theirs\n"))
    merged = merging.merge(scene.lane, onto, tip, method=method, strategy=strategy)
    if strategy == "ours" and method != "merge":
        assert merged.empty  # nothing of the worker's is left
    assert (Path(scene.lane.path) / "a.txt").read_bytes() == kept


def test_modes_submodules_and_names_that_differ_in_case_are_merged(scene: Scene) -> None:
    pointed = git(scene.repo, "rev-parse", "HEAD")

    def theirs(repo: Path) -> None:
        (repo / "tool").chmod(0o755)
        git(repo, "mv", "b.txt", "B.txt")
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{pointed},sub")
        (repo / "sub").mkdir()

    onto, tip = scene.branches(write("a.txt", b"ours\n"), theirs)
    merged = merging.merge(scene.lane, onto, tip)
    listed = git(scene.repo, "ls-tree", "-r", merged.commit).splitlines()
    assert [line.split()[0] for line in listed if line.endswith(("\ttool", "\tsub"))] == ["160000", "100755"]
    assert [line.split("\t")[1] for line in listed if line.lower().endswith("b.txt")] == ["B.txt"]


@pytest.mark.parametrize("method, parents", [("merge", 2), ("rebase", 1), ("squash", 1)])
def test_what_each_method_makes(scene: Scene, method: str, parents: int) -> None:
    onto, tip = scene.branches(write("a.txt", b"ours\n"), write("new", b"theirs\n"))
    before = git(scene.repo, "for-each-ref"), git(scene.repo, "status", "--porcelain")
    merged = merging.merge(scene.lane, onto, tip, method=method, message="Landed")
    assert not merged.empty
    assert len(git(scene.repo, "log", "-1", "--format=%P", merged.commit).split()) == parents
    assert git(scene.repo, "log", "-1", "--format=%s", merged.commit) == ("Theirs" if method == "rebase" else "Landed")
    assert merging.is_ancestor(str(scene.repo / ".git"), onto, merged.commit)
    assert (git(scene.repo, "for-each-ref"), git(scene.repo, "status", "--porcelain")) == before


def hook(scene: Scene, name: str, script: str) -> None:
    file = scene.repo / ".git" / "hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.parametrize("method, name", [("merge", "pre-merge-commit"), ("squash", "pre-commit")])
def test_a_hook_that_refuses_stops_it(scene: Scene, method: str, name: str) -> None:
    onto, tip = scene.branches(write("a.txt", b"ours\n"), write("new", b"theirs\n"))
    hook(scene, name, "echo no tabs please; exit 1")
    with pytest.raises(Refused, match="no tabs please"):
        merging.merge(scene.lane, onto, tip, method=method)


@pytest.mark.parametrize("ending", ["exit 1", "exit 0"])
@pytest.mark.parametrize("method", ["merge", "squash"])
def test_what_a_hook_rewrites_is_part_of_the_commit(scene: Scene, method: str, ending: str) -> None:
    """A formatter that changes files refuses at first (or says nothing), and is content with what it wrote."""
    onto, tip = scene.branches(write("a.txt", b"ours\n"), write("new", b"theirs  \n"))
    script = f"grep -q ' $' new || exit 0; sed -i 's/ *$//' new; {ending}"
    hook(scene, "pre-commit", script)
    hook(scene, "pre-merge-commit", script)
    merged = merging.merge(scene.lane, onto, tip, method=method)
    assert git(scene.repo, "show", f"{merged.commit}:new") == "theirs"


def test_what_is_in_the_target_by_another_commit_is_recognised(scene: Scene) -> None:
    common = str(scene.repo / ".git")
    onto, tip = scene.branches(write("b.txt", b"ours\n"), write("a.txt", b"theirs\n"))
    assert not merging.is_in_by_patch(common, tip, onto)
    squashed = merging.merge(scene.lane, onto, tip, method="squash").commit
    assert merging.merge(scene.lane, squashed, tip).empty
    scene.lane.check_out(squashed)
    later = commit(Path(scene.lane.path), "Later", {"a.txt": "later\n"})
    assert merging.merge(scene.lane, later, tip).conflicts
    assert merging.is_in_by_patch(common, tip, later)


@pytest.mark.parametrize(
    "setting",
    ["diff.noprefix=true", "diff.algorithm=histogram", "diff.context=9", "color.ui=always", "diff.renames=true"],
)
def test_how_the_user_reads_diffs_does_not_hide_what_was_squashed(scene: Scene, setting: str) -> None:
    common = str(scene.repo / ".git")
    git(scene.repo, "config", *setting.split("="))
    lines = [f"{n}\n".encode() for n in range(40)]
    onto, tip = scene.branches(write("b.txt", b"ours\n"), write("long", b"".join(lines)))
    scene.lane.check_out(tip)
    place = Path(scene.lane.path)
    git(place, "mv", "a.txt", "moved.txt")
    tip = commit(place, "Move it", {"long": b"".join([b"first\n", *lines[:20], b"middle\n", *lines[20:]]).decode()})
    squashed = merging.merge(scene.lane, onto, tip, method="squash").commit
    scene.lane.check_out(squashed)
    later = commit(place, "Later", {"long": "later\n"})
    assert merging.merge(scene.lane, later, tip).conflicts
    assert merging.is_in_by_patch(common, tip, later)


def test_what_a_repository_names_to_show_changes_is_not_run_to_compare_them(scene: Scene, tmp_path: Path) -> None:
    common = str(scene.repo / ".git")
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\necho the same\n")
    program.chmod(0o755)
    for name in ("diff.external", "diff.mine.textconv", "diff.mine.command"):
        git(scene.repo, "config", name, str(program))
    (scene.repo / ".git" / "info" / "attributes").write_text("* diff=mine\n")
    onto, tip = scene.branches(write("a.txt", b"ours\n"), write("a.txt", b"theirs\n"))
    assert not merging.is_in_by_patch(common, tip, onto)
    assert not ran.exists()


def test_conflict_markers_are_found_and_headings_are_not(scene: Scene) -> None:
    base = git(scene.repo, "rev-parse", "HEAD")
    text = {"bad.py": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "good.rst": "Heading\n=======\n\ntext\n"}
    tip = commit(scene.repo, "Markers", text)
    assert merging.marked_files(str(scene.repo / ".git"), base, tip) == ["bad.py"]
    assert merging.marked_on_disk(str(scene.repo), ["bad.py", "good.rst", "missing"]) == ["bad.py"]


def test_a_lane_that_is_half_made_or_dirty_is_mended(scene: Scene, tmp_path: Path) -> None:
    lane, head = scene.lane, git(scene.repo, "rev-parse", "HEAD")
    lane.check_out(head)
    place = Path(lane.path)
    (place / "a.txt").write_text("changed\n")
    (place / "left.txt").write_text("left\n")
    git(place, "checkout", "-q", "-b", "verify-made-this")
    (Path(lane.admin) / "index.lock").touch()
    lane.check_out(head)
    assert git(place, "status", "--porcelain") == ""
    assert git(scene.repo, "rev-parse", "verify-made-this") == head
    (place / ".git").unlink()
    again = lanes._ready(lane.common, lane.path, head)
    again.check_out(head)
    assert (place / "a.txt").exists()
    assert git(place, "rev-parse", "HEAD") == head
