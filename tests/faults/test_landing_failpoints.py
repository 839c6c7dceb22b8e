"""kill -9, and a full disk, at every failpoint of a landing and of its undo: before or after, never between."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import woodwind
from woodwind.ops.land import Land
from woodwind.ops.undo import TakeBack
from woodwind.testing.evidence import database, leftovers, rows, work_of
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import new_worker

ROUNDS = 20 if os.environ.get("WOODWIND_FAULTS") == "long" else 1
COMMANDS = {
    "checked-out": ("merge", "one"),
    "elsewhere": ("merge", "one", "--into", "other"),
    "dirty": ("ship", "two", "--yes"),
    "undo": ("undo",),
    "revert": ("undo",),
}
# The failpoints that are not at a step's edge, and whose command passes them. (Those of a push: test_landing_push.py.)
INSIDE = {
    "land.in_commit": ["dirty"],
    "lane.after_add": ["checked-out"],
    "merge.before": ["checked-out"],
    "merge.in_lane": ["checked-out", "revert"],
    "verify.before_command": ["checked-out"],
    "verify.after_command": ["checked-out"],
    "move.before_ref": ["checked-out", "elsewhere"],
    "move.after_ref": ["checked-out", "elsewhere", "revert"],
    "rewind.before_ref": ["undo"],
    "rewind.in_checkout": ["undo"],
    "push.before": [],
    "push.after": [],
}


def at_steps(kind: type[Land]) -> list[str]:
    blank: Any = type("Blank", (kind,), {"__init__": lambda self: None})
    edges = [f"{kind.kind}.{edge}_{step.name}" for step in blank().steps() for edge in ("before", "after")]
    return [*edges, f"{kind.kind}.after_commit"]


def cases() -> list[tuple[str, str]]:
    found = [("checked-out", point) for point in at_steps(Land)] + [("undo", point) for point in at_steps(TakeBack)]
    return found + [(command, point) for point, commands in INSIDE.items() for command in commands]


def test_no_failpoint_of_a_landing_was_forgotten() -> None:
    source = Path(woodwind.__file__).parent
    texts = [file.read_text("utf-8") for file in source.rglob("*.py")]
    written = {name for text in texts for name in re.findall(r'failpoint\("([\w.]+)"\)', text)}
    ours = re.compile(r"(land|lane|merge|verify|rewind|push)\.|move\.(before|after)_ref$")
    assert {name for name in written if ours.match(name)} == set(INSIDE)


class Stage:
    """A repository whose checkout has edits of every kind, and two workers with something to land."""

    def __init__(self) -> None:
        self.box = Sandbox()
        files = {"README.md": "# Project\n", "app.py": "print()\n", "mine.py": "mine\n"}
        self.repo = make_repo(self.box.home / "project", files=files)
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n*.secret\n")
        (self.repo / "woodwind.toml").write_text(
            '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
            "[verify]\ncommand = \"git rev-parse 'HEAD^{tree}' >> ~/verified; touch written.txt\"\n"
        )
        self.one = new_worker(self.box, self.repo, "one")
        commit(self.one, "One", {"app.py": "print('one')\n", "one.txt": "one\n"})
        (self.one / "key.secret").write_text("ignored\n")
        self.two = new_worker(self.box, self.repo, "two")
        self.base = git(self.repo, "rev-parse", "main")
        git(self.repo, "branch", "other", self.base)
        (self.repo / "README.md").write_text("edited\n")
        (self.repo / "mine.py").write_text("staged\n")
        git(self.repo, "add", "mine.py")
        (self.repo / "mine.py").write_text("and edited\n")
        (self.repo / "notes.txt").write_text("untracked\n")
        (self.repo / "key.secret").write_text("ignored\n")
        self.work = work_of(self.one)
        self.verified = self.box.home / "verified"
        self.fresh()

    def ww(self, *words: str, failpoint: str = "", check: bool = False) -> Result:
        return self.box.ww(*words, cwd=self.repo, env={"WOODWIND_FAILPOINT": failpoint}, check=check)

    def fresh(self) -> None:
        """Back to where nothing has landed and nothing was verified."""
        self.verified.write_text("")
        forget(self.box)

    def prepare(self, command: str) -> None:
        if command == "dirty":
            (self.two / "two.txt").write_text("two\n")
        if command in ("undo", "revert"):
            self.ww("merge", "one", check=True)
        if command == "revert":
            git(self.repo, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "Later", "--only")
            self.later = git(self.repo, "rev-parse", "main")

    def target(self, command: str) -> str:
        return git(self.repo, "rev-parse", "other" if command == "elsewhere" else "main")

    def is_done(self, command: str) -> bool:
        tip = self.target(command)
        if command in ("undo", "revert"):
            return "one.txt" not in git(self.repo, "ls-tree", "--name-only", tip).split()
        return tip != self.base

    def check(self, command: str, before: str) -> None:
        """The target is before or after and verified, the checkout and the workers lost nothing, nothing is left."""
        assert leftovers(self.box, self.repo, branches=("main", "other")) == []
        tip = self.target(command)
        tree = git(self.repo, "rev-parse", f"{tip}^{{tree}}")
        assert tip in (before, self.base) or tree in self.verified.read_text().split()
        assert (self.repo / "README.md").read_text() == "edited\n"
        assert (self.repo / "mine.py").read_text() == "and edited\n"
        assert git(self.repo, "show", ":mine.py") == "staged"
        assert (self.repo / "notes.txt").read_text() == "untracked\n"
        assert (self.repo / "key.secret").read_text() == "ignored\n"
        status = git(self.repo, "status", "--porcelain").splitlines()
        assert status == [" M README.md", "MM mine.py", "?? notes.txt"]
        assert work_of(self.one) == self.work
        assert rows(self.box, "SELECT name FROM worker WHERE phase = 'landing'") == []
        assert rows(self.box, "SELECT id FROM landing WHERE state = 'running'") == []

    def bring_back(self, command: str) -> None:
        if command == "dirty":
            self.ww("undo", check=True)
            assert (self.two / "two.txt").read_text() == "two\n"
            git(self.two, "reset", "-q", "--hard", self.base)
        elif command == "checked-out":
            self.ww("undo", check=True)
        elif command == "elsewhere":
            git(self.repo, "update-ref", "refs/heads/other", self.base)
        elif command == "revert":
            git(self.repo, "update-ref", "refs/heads/main", self.base)
            assert git(self.repo, "status", "--porcelain", "-uno").splitlines() == [" M README.md", "MM mine.py"]
        assert self.target(command) == self.base
        self.fresh()


def forget(box: Sandbox) -> None:
    with contextlib.closing(sqlite3.connect(database(box), timeout=20)) as db:
        db.execute("DELETE FROM verification")
        db.execute("DELETE FROM landing")
        db.commit()


_stages: list[Stage] = []


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if not _stages:
        _stages.append(Stage())
    failed = request.session.testsfailed
    yield _stages[0]
    if request.session.testsfailed > failed or getattr(request.node, "broken", False):
        _stages.pop().box.close()


@pytest.fixture(scope="module", autouse=True)
def _close_stages() -> Iterator[None]:
    yield
    while _stages:
        _stages.pop().box.close()


@pytest.mark.timeout(120 * ROUNDS)
@pytest.mark.parametrize("command, point", cases())
def test_a_landing_that_is_cut_short(stage: Stage, request: pytest.FixtureRequest, command: str, point: str) -> None:
    request.node.broken = True
    for _ in range(ROUNDS):
        stage.prepare(command)
        before = stage.target(command)
        lane = stage.repo.parent / "project.worktrees" / ".woodwind-lanes"
        if point == "lane.after_add":
            for folder in lane.glob("*/lane-*/.git"):
                folder.unlink()
        elif not point.endswith(".after_commit"):
            failed = stage.ww(*COMMANDS[command], failpoint=f"{point}=error")
            assert failed.code == 1, failed
            assert "Traceback" not in failed.stderr
            assert "No space left" in failed.stderr or "failpoint" in failed.stderr, failed
            stage.check(command, before)
            if stage.is_done(command):  # it failed after the target had moved: nothing more was to do
                stage.bring_back(command)
                stage.prepare(command)
        killed = stage.ww(*COMMANDS[command], failpoint=point)
        assert killed.code == -9, f"{command} does not pass {point}: {killed}"
        stage.ww("ls", failpoint=point)
        assert stage.ww("ls").code == 0
        stage.check(command, before)
        if not stage.is_done(command):
            stage.ww(*COMMANDS[command], check=True)
            stage.check(command, before)
        assert stage.is_done(command)
        stage.bring_back(command)
    request.node.broken = False
