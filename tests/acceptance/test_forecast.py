"""`ww forecast` as a user sees it: what collides, from files as they are, at no cost when nothing changed."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.evidence import refs_of
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox

LINES = "".join(f"line {n}\n" for n in range(1, 31))


class Stage:
    """A repository with three workers, and a git that writes down what it is asked."""

    def __init__(self) -> None:
        self.box = Sandbox()
        self.repo = make_repo(
            self.box.home / "project", files={"app.py": LINES, "other.py": LINES, ".gitignore": "*.log\nbuild/\n"}
        )
        self.trees = {}
        for name in ("one", "two", "three"):
            made = self.box.ww("new", f"Work {name}", "--no-agent", "--name", name, "--json", cwd=self.repo, check=True)
            self.trees[name] = Path(made.json["data"]["workers"][0]["path"])
        self.calls = self.box.root / "calls"
        tools = self.box.root / "tools"
        tools.mkdir()
        wrapper = tools / "git"
        wrapper.write_text(f'#!/bin/sh\necho "$*" >> {self.calls}\nexec {shutil.which("git")} "$@"\n')
        wrapper.chmod(0o755)
        self.path = f"{tools}:{os.environ['PATH']}"

    def forecast(self, *words: str) -> list[dict[str, Any]]:
        """The collisions; `asked` counts the git processes."""
        self.calls.write_text("")
        done = self.box.ww("forecast", *words, "--json", cwd=self.repo, env={"PATH": self.path}, check=True)
        self.asked = [line for line in self.calls.read_text().splitlines() if "forecasts" in line]
        found: list[dict[str, Any]] = done.json["data"]["collisions"]
        return found

    def write(self, name: str, line: int, text: str, file: str = "app.py") -> None:
        path = self.trees[name] / file
        lines = path.read_text().splitlines()
        lines[line - 1] = text
        path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """One place for all tests here, each of which starts from clean worktrees."""
    stage = Stage()
    yield stage
    stage.box.close()


@pytest.fixture(autouse=True)
def _clean(stage: Stage) -> None:
    for tree in stage.trees.values():
        git(tree, "reset", "--quiet", "--hard", "main")
        git(tree, "clean", "-fdxq", "--exclude=.woodwind")


def pairs(found: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(entry["name"], entry["with"]) for entry in found}


def test_uncommitted_edits_of_the_same_lines_collide_with_file_and_lines(stage: Stage) -> None:
    stage.write("one", 10, "one was here")
    stage.write("two", 10, "two was here")
    stage.write("three", 20, "elsewhere")
    found = stage.forecast()
    assert pairs(found) == {("two", "one")}
    assert found[0]["files"] == [
        {"path": "app.py", "kind": "content", "one_lines": [[10, 10]], "other_lines": [[10, 10]]}
    ]
    shown = stage.box.ww("forecast", "one", cwd=stage.repo, check=True).stdout
    assert "one collides with two" in shown
    assert "app.py (lines: one 10; two 10)" in shown


def test_untracked_files_of_the_same_name_collide_and_ignored_ones_do_not(stage: Stage) -> None:
    for name in ("one", "two"):
        (stage.trees[name] / "new.py").write_text(f"{name}\n")
        (stage.trees[name] / "run.log").write_text(f"{name}\n")
        (stage.trees[name] / "build").mkdir()
        (stage.trees[name] / "build" / "out").write_text(f"{name}\n")
    found = stage.forecast()
    assert [(entry["name"], [f["path"] for f in entry["files"]]) for entry in found] == [("two", ["new.py"])]


def test_a_worker_collides_with_its_target(stage: Stage) -> None:
    before = git(stage.repo, "rev-parse", "main")
    stage.write("one", 5, "mine")
    commit(stage.repo, "Theirs", {"app.py": LINES.replace("line 5\n", "theirs\n")})
    try:
        assert pairs(stage.forecast()) == {("one", "main")}
    finally:
        git(stage.repo, "reset", "--quiet", "--hard", before)
    assert stage.forecast() == []


def test_a_worker_that_was_kept_after_its_landing_collides_only_with_what_is_new(stage: Stage) -> None:
    before = git(stage.repo, "rev-parse", "main")
    words = ("new", "Work kept", "--no-agent", "--name", "kept", "--json")
    kept = Path(stage.box.ww(*words, cwd=stage.repo, check=True).json["data"]["workers"][0]["path"])
    commit(kept, "Land this", {"app.py": LINES.replace("line 12\n", "landed\n")})
    stage.box.ww("merge", "kept", "--squash", "--no-verify", cwd=stage.repo, check=True)
    try:
        commit(stage.repo, "Go on from there", {"app.py": LINES.replace("line 12\n", "landed, and changed\n")})
        assert stage.forecast() == []
        (kept / "new.py").write_text("new\n")
        (stage.trees["one"] / "new.py").write_text("another\n")
        assert ("kept", "one") in pairs(stage.forecast())
    finally:
        git(stage.repo, "reset", "--quiet", "--hard", before)
        stage.box.ww("rm", "kept", "--force", "--yes", cwd=stage.repo, check=True)


def test_an_edit_against_a_deletion_is_named_as_such(stage: Stage) -> None:
    (stage.trees["one"] / "other.py").unlink()
    stage.write("three", 3, "changed", file="other.py")
    found = stage.forecast()
    assert [(f["path"], f["kind"]) for f in found[0]["files"]] == [("other.py", "modify/delete")]


def test_nothing_changed_starts_no_git_and_one_change_makes_one_trial_merge_process(stage: Stage) -> None:
    stage.write("one", 10, "one was here")
    stage.write("two", 10, "two was here")
    stage.forecast()
    stage.forecast()
    assert stage.asked == []
    stage.write("three", 10, "three too")
    assert pairs(stage.forecast()) == {("two", "one"), ("three", "one"), ("three", "two")}
    assert len([call for call in stage.asked if " merge-tree " in call]) == 1
    commit(stage.trees["three"], "What is there")  # the same tree on the same base: known already
    assert len(stage.forecast()) == 3
    assert [call for call in stage.asked if " merge-tree " in call] == []


def test_the_repository_gains_nothing_and_no_filter_runs(stage: Stage) -> None:
    trap = stage.box.root / "trap"
    git(stage.repo, "config", "filter.trap.clean", f"touch {trap}; cat")
    git(stage.repo, "config", "filter.trap.process", f"touch {trap}")
    own = Path(stage.box.env["GIT_CONFIG_GLOBAL"])  # not even one of the user's own, such as git-lfs
    settings = own.read_text()
    own.write_text(f'{settings}[filter "mine"]\n\tclean = "touch {trap}; cat"\n')
    (stage.trees["one"] / ".gitattributes").write_text("* filter=trap\nother.py filter=mine\n")
    os.utime(stage.trees["one"] / ".gitignore", (1, 1))  # git has to read it again to see that it is as it was
    stage.write("one", 2, "through another", file="other.py")
    stage.write("one", 1, "through a filter")
    before = _objects(stage.repo), refs_of(stage.repo), (stage.repo / ".git" / "config").read_bytes()
    indexes = {n: (stage.repo / ".git" / "worktrees" / n / "index").read_bytes() for n in ("one", "two")}
    for words in (("forecast",), ("ls",), ("ls", "--all"), ("explain", "one"), ("log", "one"), ("doctor",)):
        stage.box.ww(*words, cwd=stage.repo, check=True)
        assert not trap.exists(), words
    assert (_objects(stage.repo), refs_of(stage.repo), (stage.repo / ".git" / "config").read_bytes()) == before
    assert {n: (stage.repo / ".git" / "worktrees" / n / "index").read_bytes() for n in indexes} == indexes
    own.write_text(settings)
    git(stage.repo, "config", "--remove-section", "filter.trap")


def test_each_new_collision_is_an_event_once(stage: Stage) -> None:
    def told() -> list[tuple[str, str]]:
        import sqlite3

        with sqlite3.connect(stage.box.home / ".local/state/woodwind/woodwind.db") as db:
            rows = db.execute("SELECT kind, data FROM event WHERE kind LIKE 'forecast.%' ORDER BY seq").fetchall()
        return [(kind, json.loads(data)["with"]) for kind, data in rows]

    stage.forecast()
    before = len(told())
    stage.write("one", 15, "one was here")
    stage.write("two", 15, "two was here")
    stage.forecast()
    stage.write("two", 16, "and here")
    stage.forecast()
    assert told()[before:] == [("forecast.appeared", "one")]
    stage.write("two", 15, "line 15")
    stage.write("two", 16, "line 16")
    assert stage.forecast() == []
    assert told()[before:] == [("forecast.appeared", "one"), ("forecast.cleared", "one")]


def test_odd_trees_are_no_obstacle(stage: Stage) -> None:
    tree = stage.trees["one"]
    git(tree, "init", "--quiet", "empty-nested")
    os.mkfifo(tree / "pipe")
    (tree / "new\nline").write_text("odd\n")
    (tree / "broken").symlink_to("nowhere")
    assert stage.forecast() == []
    shutil.rmtree(tree / "empty-nested")


def _objects(repo: Path) -> set[str]:
    return {str(p.relative_to(repo)) for p in (repo / ".git" / "objects").rglob("*")}
