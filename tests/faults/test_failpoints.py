"""kill -9, and a full disk, at every failpoint of every operation: nothing is lost and nothing is left behind."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import woodwind
from woodwind.ops.kinds import KINDS
from woodwind.testing.evidence import leftovers, refs_of, rows, work_of
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import names, new_worker

ROUNDS = 20 if os.environ.get("WOODWIND_FAULTS") == "long" else 1
COMMANDS = {
    "create": ("new", "Other work", "--name", "other"),
    "remove": ("rm", "worker-one", "--force", "--yes"),
    "restore": ("restore", "worker-one"),
    "restore pruned": ("restore", "worker-one"),
    "purge": ("trash", "prune", "--all", "--yes"),
    "resume": ("resume", "worker-one", "--fresh"),
}
# The failpoints that are not at a step's edge, and whose command passes them.
INSIDE = {
    "create.after_reserve": ["create"],
    "create.in_worktree": ["create"],
    "move.after_rename": ["remove", "restore", "restore pruned"],
    "restore.in_files": ["restore pruned"],
    "delete.after_rename": ["purge"],
}
# Landings, queues, syncs and a worker in the user's own checkout have tests of their own.
ELSEWHERE = {
    "branch",
    "leave",
    "come_back",
    "land",
    "take_back",
    "queue_land",
    "take_back_queue",
    "sync",
    "land_branch",
}
# What is not of these families is killed at by the tests of its own subject.
FAMILIES = {"create", "remove", "restore", "purge", "resume", "move", "delete"}
OF_LANDINGS = {"move.before_ref", "move.after_ref"}
BEFORE_DELETING = ("purge.before_save", "purge.after_save")


def at_steps(kind: str) -> list[str]:
    """The failpoints that the journal has for an operation, from its own list of steps."""
    # Only its steps are looked at: whatever else it would have been made with is empty.
    blank: Any = type("Blank", (KINDS[kind],), {"__getattr__": lambda self, name: ""})  # type: ignore[arg-type]
    operation = object.__new__(blank)
    edges = [f"{kind}.{edge}_{step.name}" for step in operation.steps() for edge in ("before", "after")]
    return [*edges, f"{kind}.after_commit"]


def cases() -> list[tuple[str, str]]:
    """Every command with every failpoint that it passes."""
    found = [(command, point) for command in COMMANDS for point in at_steps(command.split()[0])]
    return found + [(command, point) for point, commands in INSIDE.items() for command in commands]


def test_no_failpoint_was_forgotten() -> None:
    source = Path(woodwind.__file__).parent
    written = {
        name
        for file in source.rglob("*.py")
        for name in re.findall(r'failpoint\("([\w.]+)"\)', file.read_text("utf-8"))
    }
    assert {name for name in written if name.partition(".")[0] in FAMILIES and name not in OF_LANDINGS} == set(INSIDE)
    assert {command.split()[0] for command in COMMANDS} | ELSEWHERE == set(KINDS)


class Stage:
    """A repository with one worker whose work is of every kind; used again as long as the tests on it pass."""

    def __init__(self) -> None:
        self.box = Sandbox()
        self.repo = make_repo(self.box.home / "project", files={"README.md": "# Project\n", "app.py": "print()\n"})
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n*.secret\n")
        (self.repo / "woodwind.toml").write_text(
            '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
        )
        self.tree = new_worker(self.box, self.repo)
        commit(self.tree, "Mine", {"mine.txt": "mine\n"})
        (self.tree / "README.md").write_text("unstaged\n")
        (self.tree / "app.py").write_text("staged\n")
        git(self.tree, "add", "app.py")
        (self.tree / "notes.txt").write_text("untracked\n")
        (self.tree / "key.secret").write_text("ignored\n")
        self.work = work_of(self.tree)
        self.kept = work_of(self.tree, ignored=False)
        self.refs = refs_of(self.repo)

    def ww(self, *words: str, failpoint: str = "", check: bool = False) -> Result:
        return self.box.ww(*words, cwd=self.repo, env={"WOODWIND_FAILPOINT": failpoint}, check=check)

    def prepare(self, command: str) -> None:
        """Bring the worker to where the command begins."""
        if command != "create" and command != "remove":
            self.ww("rm", "worker-one", "--force", "--yes", check=True)
        if command == "restore pruned":
            self.ww("trash", "prune", "--all", "--yes", check=True)
        if command == "resume":
            self.ww("restore", "worker-one", check=True)

    def check(self) -> None:
        """Nothing half-done, nothing of nobody, and the refs as they were."""
        assert leftovers(self.box, self.repo) == []
        refs = refs_of(self.repo)
        assert {ref: refs.get(ref) for ref in self.refs} == self.refs

    def is_done(self, command: str) -> bool:
        """Whether the command's effect is there."""
        listed = names(self.box, self.repo)
        if command == "create":
            return "other" in listed
        if command == "purge":
            entries = self.ww("trash", "ls", "--json", check=True).json["data"]
            return all(entry["pruned"] for entry in entries)
        if command == "resume":
            return rows(self.box, "SELECT phase FROM worker WHERE name = 'worker-one'") == [("running",)]
        return ("worker-one" in listed) == (command != "remove")

    def bring_back(self, command: str) -> None:
        """Undo the command's effect, and compare what is there with what was."""
        if command == "create":
            self.ww("rm", "other", "--yes", check=True)
            self.ww("trash", "prune", "other", "--yes", check=True)
        elif command in ("remove", "purge"):
            self.ww("restore", "worker-one", check=True)
        if command in ("purge", "restore pruned"):
            assert work_of(self.tree, ignored=False) == self.kept
            (self.tree / "key.secret").write_text("ignored\n")
        assert work_of(self.tree)["files"].keys() == self.work["files"].keys()
        assert work_of(self.tree) == self.work


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
@pytest.mark.parametrize("command, point", cases(), ids=lambda value: value.replace(" ", "-"))
def test_killed_and_failing_at(stage: Stage, request: pytest.FixtureRequest, command: str, point: str) -> None:
    request.node.broken = True
    for _ in range(ROUNDS):
        stage.prepare(command)
        fail(stage, command, point)
        kill(stage, command, point)
        stage.bring_back(command)
        stage.check()
    request.node.broken = False


def fail(stage: Stage, command: str, point: str) -> None:
    """As on a full disk: one clear error, and everything is as before."""
    if point.endswith(".after_commit"):
        return  # nothing can fail after it
    failed = stage.ww(*COMMANDS[command], failpoint=f"{point}=error")
    assert failed.code == 1, failed
    assert failed.stderr.startswith("ww: "), failed
    assert "No space left" in failed.stderr or "failpoint" in failed.stderr, failed
    assert "Traceback" not in failed.stderr
    finished = command == "purge" and point not in BEFORE_DELETING
    assert stage.is_done(command) == finished
    stage.check()
    if finished:  # a deletion cannot be taken back: the next command went on with it
        stage.ww("restore", "worker-one", check=True)
        stage.ww("rm", "worker-one", "--force", "--yes", check=True)
    if command == "remove":
        assert work_of(stage.tree) == stage.work


def kill(stage: Stage, command: str, point: str) -> None:
    """The next command settles it, even when it is killed in the same place; then the same command succeeds."""
    killed = stage.ww(*COMMANDS[command], failpoint=point)
    assert killed.code == -9, f"{command} does not pass {point}: {killed}"
    stage.ww("ls", failpoint=point)
    settled = stage.ww("ls")
    assert settled.code == 0, settled
    stage.check()
    if not stage.is_done(command):
        stage.ww(*COMMANDS[command], check=True)
        stage.check()
    assert stage.is_done(command)
