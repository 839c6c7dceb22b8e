"""Pictures of the control plane that are kept: each section and state alone, in every theme, and in small and large."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from woodwind.model.sections import Notice
from woodwind.ops.overview import Overview
from woodwind.testing.control_stage import DONE, EMPTY, NOW, STORY, WORK, Play, entry, frame, play, stage, until

KEPT = Path(__file__).parents[1] / "snapshots" / "control"
THEMES = {"dark": "textual-dark", "light": "textual-light", "dark-ansi": "ansi-dark", "light-ansi": "ansi-light"}
SMALL, USUAL, LARGE = (40, 10), (80, 24), (300, 80)
RUNNING = {"state": "running", "begun_at": datetime.fromtimestamp(NOW - 4000, UTC).isoformat()}
AHEAD = {"commits": 1, "added": 7, "removed": 0, "dirty": 0}


def of(*workers: dict[str, Any], notices: tuple[Notice, ...] = (), order: tuple[str, ...] = ()) -> Overview:
    return Overview(list(workers), list(notices), list(order), "chimes", [])


def ready(name: str, **facts: Any) -> dict[str, Any]:
    return entry(name, **{"status": "ready", "turn": DONE, "work": WORK, "verified": "not verified yet", **facts})


QUESTION = {"id": "q", "text": "May I run `make clean`?\nIt takes long.", "tool": "Bash"}
NEEDS_YOU = {
    "asking": entry("ask-me", status="asking", question=QUESTION),
    "turn-failed": entry("broken", status="ready", turn={"state": "failed", "last_words": "API error: 500"}),
    "exited-in-the-middle": entry("gone", status="exited", detail="with status 137", turn=RUNNING),
    "conflict": ready("collider", conflict="conflicts in src/app.py and README.md"),
    "red-in-the-queue": ready("red-one", dropped="`make test` failed: 2 of 40 tests"),
    "unknown-for-long": entry("silent", status="unknown", detail="its screen says nothing that is known"),
}
READY_TO_SHIP = {
    "forecast": ready("add-login", forecast=["fix-login", "rename"]),
    "verified": ready("fix-login", work=AHEAD, verified="verified"),
    "uncommitted": ready("rename", status="exited", detail="with status 0", work={"commits": 0, "dirty": 2}),
    "paused-ready": ready("resting", phase="paused", work=AHEAD),
}
IN_FLIGHT = {
    "working": entry("thinker", doing="reading src/app.py", turn=RUNNING),
    "last-words": entry("talker", turn={**RUNNING, "last_words": "Now I look at the tests."}),
    "queued": entry("later", status="starting", phase="queued", detail="it waits for room"),
    "starting": entry("fresh", status="starting", detail="its agent was started"),
    "ready": entry("idle", status="ready", turn=DONE),
    "paused": entry("zzz", status="ready", phase="paused"),
    "landing": ready("lander", phase="landing"),
    "environment": entry("no-deps", environment={"state": "failed"}, turn=RUNNING),
}
NOTICES = (
    Notice("event 5", NOW - 20, "add-docs landed in main", "3 commits, verified", "l1"),
    Notice("event 4", NOW - 7200, "old-idea was removed", "its worktree is parked", "r1"),
    Notice("event 3", NOW - 3 * 86400, "a run has finished", "12 of 12 tasks landed"),
)
SECTIONS = {
    "needs-you": of(*NEEDS_YOU.values()),
    "ready-to-ship": of(*READY_TO_SHIP.values(), order=("w-fix-login", "w-rename", "w-add-login")),
    "in-flight": of(*IN_FLIGHT.values()),
    "background": of(notices=NOTICES),
    "empty": EMPTY,
}
ODD = ("x" * 200, "修复登录错误" * 10, "🎉🎊party", "bad\x1b[31mred", "[bold]markup[/bold]", "שלום")
NAMES = of(
    *(entry(name, title=f"{name} title") for name in ODD),
    ready("修复" * 30, forecast=["错误" * 20]),
    notices=(Notice("event 3", NOW - 60, f"{'错误' * 30} landed in main", "修复 " * 20, "l1"),),
)
MANY = of(*(entry(f"worker-{n:03}", turn=RUNNING) for n in range(500)))
OTHERS = STORY._replace(
    project="",
    workers=[{**worker, "project_name": "chimes" if n % 2 else "flute"} for n, worker in enumerate(STORY.workers)],
    notices=[NOTICES[0]._replace(project="flute"), NOTICES[2]._replace(project="chimes")],
    runs=["run epic-7: 3 of 12"],
)


async def asked(pilot: Pilot[None]) -> None:
    """The dialog of the question, with a cursor that does not blink."""
    await pilot.press("y")
    await until(pilot, lambda: isinstance(pilot.app.focused, TextArea))
    pilot.app.screen.query_one(TextArea).cursor_blink = False
    await until(pilot, lambda: any("asks:" in line for line in frame(stage(pilot))))


async def to_the_end(pilot: Pilot[None]) -> None:
    """The last of many rows."""
    await pilot.press("end")
    await until(pilot, lambda: any("▶ ● worker-499" in line for line in frame(stage(pilot))))


SCENES: list[tuple[str, Overview, tuple[int, int], str, Play | None]] = [
    *((f"all-{name}", STORY, (120, 30), theme, None) for name, theme in THEMES.items()),
    ("all-80x24", STORY, USUAL, "textual-dark", None),
    ("all-40x10", STORY, SMALL, "textual-dark", None),
    *(
        (f"{section}-{name}", scene, (100, 14), theme, None)
        for section, scene in SECTIONS.items()
        for name, theme in THEMES.items()
    ),
    *(
        (f"{section}-{size[0]}x{size[1]}", scene, size, "textual-dark", None)
        for section, scene in SECTIONS.items()
        for size in (SMALL, USUAL, LARGE)
    ),
    *(
        (f"state-{state}", of(worker), (100, 5), "textual-dark", None)
        for states in (NEEDS_YOU, READY_TO_SHIP, IN_FLIGHT)
        for state, worker in states.items()
    ),
    ("question", SECTIONS["needs-you"], (100, 24), "textual-dark", asked),
    ("names-80", NAMES, (80, 16), "textual-dark", None),
    ("names-140", NAMES, (140, 16), "textual-dark", None),
    ("500-workers-end", MANY, (100, 12), "textual-dark", to_the_end),
    ("all-projects", OTHERS, (120, 20), "textual-dark", None),
]


def compact(svg: str) -> str:
    """The picture without what only makes it larger: fonts, the window around it, a path and an id for every line."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = re.sub(r'<clipPath id="[^"]*-line-\d+">.*?</clipPath>\s*', "", svg, flags=re.S)
    svg = re.sub(r' clip-path="url\(#[^"]*-line-\d+\)"| shape-rendering="crispEdges"', "", svg)
    svg = re.sub(r"terminal-\d+-", "", svg)
    svg = re.sub(r'<text class="[^"]*" x="[^"]*" y="[^"]*" textLength="[^"]*">(?:&#160;|\s)*</text>', "", svg)
    return re.sub(r"(</text>|/>)(?=<)", r"\1\n", svg)


@pytest.mark.parametrize("name, scene, size, theme, act", SCENES, ids=[scene[0] for scene in SCENES])
def test_pictures(name: str, scene: Overview, size: tuple[int, int], theme: str, act: Play | None) -> None:
    """The picture is the one that was kept; UPDATE_SNAPSHOTS=1 keeps a new one, to be looked at."""
    picture = compact(play(scene, size, act, theme=theme).picture)
    path = KEPT / f"{name}.svg"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(picture, encoding="utf-8")
    assert picture == path.read_text(encoding="utf-8")


def test_nothing_is_kept_that_no_scene_has() -> None:
    assert {path.stem for path in KEPT.iterdir()} == {scene[0] for scene in SCENES}
