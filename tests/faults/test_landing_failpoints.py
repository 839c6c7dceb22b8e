"""kill -9, and a full disk, at every failpoint of a landing and of its undo: before or after, never between."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import woodwind
from woodwind.ops.landing_steps import Land
from woodwind.ops.undo import TakeBack
from woodwind.testing.landing_stage import COMMANDS, Stage

ROUNDS = 20 if os.environ.get("WOODWIND_FAULTS") == "long" else 1
# The failpoints that are not at a step's edge, and whose command passes them. Those of a push: test_landing_remote.py.
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


@pytest.mark.parametrize("command", ["checked-out", "undo"])
def test_what_a_killed_git_left_locked_in_the_lane_is_taken_away(stage: Stage, command: str) -> None:
    stage.prepare(command)
    point = {"checked-out": "merge.before", "undo": "take_back.before_merge"}[command]
    assert stage.ww(*COMMANDS[command], failpoint=point).code == -9
    (stage.repo / ".git" / "worktrees" / "lane-1" / "index.lock").touch()
    before = stage.target(command)
    stage.ww("ls", check=True)
    stage.check(command, before)
    stage.ww(*COMMANDS[command], check=True)
    stage.bring_back(command)
