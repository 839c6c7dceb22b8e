"""The control plane with a story instead of a store, for tests of what it paints."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from textual.pilot import Pilot

from woodwind.model.sections import Notice
from woodwind.ops.overview import Overview
from woodwind.tui.app import ControlPlane

NOW = 1_800_000_000.0
DONE = {"state": "done", "last_words": "All done."}


def entry(name: str, **facts: Any) -> dict[str, Any]:
    """A worker as the list has it: at work for five minutes, unless `facts` say otherwise."""
    since = datetime.fromtimestamp(NOW - 300, UTC).isoformat()
    plain = {"id": f"w-{name}", "name": name, "status": "working", "detail": "", "phase": "running", "agent": "claude"}
    rest = {"launch": "session", "title": f"Task of {name}", "since": since, "turn": None, "question": None, "path": ""}
    return {**plain, **rest, **facts}


WORK = {"commits": 2, "added": 30, "removed": 4, "dirty": 0}
STORY = Overview(
    [
        entry("ask-me", status="asking", question={"id": "q", "text": "May I run `make clean`?", "tool": "Bash"}),
        entry("broken", status="ready", turn={"state": "failed", "last_words": "API error: 500"}),
        entry("add-login", status="ready", turn=DONE, work=WORK, forecast=["fix-login"]),
        entry("fix-login", status="exited", detail="with status 0", turn=DONE, work={"commits": 1, "dirty": 2}),
        entry("thinker", doing="reading src/app.py", turn={"state": "running"}),
        entry("later", status="starting", phase="queued", detail="it waits for room"),
        entry("zzz", status="ready", phase="paused"),
    ],
    [Notice("event 3", NOW - 7200, "docs landed in main", "3 commits, verified", "l1")],
    [],
    "chimes",
    [],
)
EMPTY = Overview([], [], [], "chimes", [])
Play = Callable[[Pilot[None]], Awaitable[None]]


class Stage(ControlPlane):
    """The control plane with a story instead of a store."""

    def __init__(self, overview: Overview, theme: str = "textual-dark") -> None:
        super().__init__("/", theme_name=theme, preview=False)
        self._story = overview
        self.ended: list[str] = []
        self.picture = ""
        self.chosen = ""

    def _now(self) -> float:
        return NOW

    def on_mount(self) -> None:
        """Paint the story; nothing is looked at."""
        self._feed.start = lambda: None  # type: ignore[method-assign]
        super().on_mount()
        self._on_look(self._story)


def frame(app: ControlPlane) -> list[str]:
    """What is on the screen, line by line."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def play(overview: Overview, size: tuple[int, int], act: Play | None = None, theme: str = "textual-dark") -> Stage:
    """The control plane after `act` was played on it; it has ended, its last frame is kept."""
    app = Stage(overview, theme)

    async def whole() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            if act:
                await act(pilot)
                await pilot.pause()
            for _ in range(20):  # until all of it is painted
                before, app.picture = app.picture, app.export_screenshot()
                if before == app.picture:
                    break
                await pilot.pause()
            app.ended = frame(app)
            app.chosen = app.board.selected.name if app.board.selected else ""

    asyncio.run(whole())
    return app


def keys(*names: str) -> Play:
    """Pressing these."""

    async def press(pilot: Pilot[None]) -> None:
        await pilot.press(*names)

    return press


def text(app: Stage) -> str:
    """What was on the screen at the end."""
    return "\n".join(app.ended)


async def until(pilot: Pilot[None], there: Callable[[], bool]) -> None:
    """Wait for something, as long as a busy machine may take."""
    for _ in range(2000):
        if there():
            return
        await pilot.pause(0.03)
    raise AssertionError("it never came:\n" + "\n".join(frame(stage(pilot))))


def stage(pilot: Pilot[None]) -> Stage:
    """The control plane that is being played on."""
    assert isinstance(pilot.app, Stage)
    return pilot.app
