"""Whom the daemon looks at, and that nobody is missed for good."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest

from woodwind.base import paths
from woodwind.daemon import glances, watcher as module
from woodwind.daemon.lane import Lane
from woodwind.daemon.watcher import Watcher
from woodwind.store.listing import Listed
from woodwind.testing.sandbox import Sandbox


class Here:
    """A lane without a thread: what is called is called at once."""

    async def call(self, what: Callable[[Any], Any]) -> Any:
        return what(None)


class Looks(list[tuple[str, ...]]):
    """Whom each look was about; () for everybody."""

    def __call__(self, ctx: object, workers: Sequence[str] = (), listed: object = None) -> None:
        self.append(tuple(workers))


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> Looks:
    monkeypatch.setenv("XDG_STATE_HOME", sandbox.env["XDG_STATE_HOME"])
    found = Looks()
    monkeypatch.setattr(module, "observe", found)
    monkeypatch.setattr(module, "TICK", 0.05)
    monkeypatch.setattr(module, "pace", lambda *_, **__: 0.05)
    monkeypatch.setattr(module, "_LATER", 0.2)
    return found


def watch(act: Callable[[Watcher], Awaitable[None]]) -> None:
    """Watch two workers of nobody while something happens."""

    async def whole() -> None:
        lane = cast(Lane, Here())
        watcher = Watcher(lane, lane, on_end=lambda: None)
        row = Listed("", "", "", "", "", "", "", "", 0, "", "", "", 0, "", "", "", "", 0)
        watcher._rows = {"one": row, "two": row}
        watcher.look_at_all()
        tasks = [asyncio.create_task(work()) for work in (watcher.observe, watcher.glance)]
        try:
            await act(watcher)
        finally:
            for task in tasks:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            watcher.close()

    asyncio.run(whole())


async def until(there: Callable[[], bool]) -> None:
    """Wait for something, as long as a busy machine may take."""
    async with asyncio.timeout(60):
        while not there():
            await asyncio.sleep(0.01)


def test_everybody_is_looked_at_now_and_then_even_where_it_is_never_quiet(
    looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glances, "ROUND", 0.5)

    async def act(watcher: Watcher) -> None:
        async with asyncio.timeout(60):
            while looks.count(()) < 3:
                watcher.look_at("one")
                await asyncio.sleep(0.01)

    watch(act)
    assert ("one",) in looks


def test_what_could_not_be_taken_is_looked_at_until_it_is(looks: Looks) -> None:
    spool = paths.spool_dir("one")

    async def act(watcher: Watcher) -> None:
        await until(lambda: bool(looks))
        os.makedirs(spool)
        half = os.path.join(spool, "half-written")
        with open(half, "w") as file:
            file.write("{")
        before = looks.count(("one",))
        await until(lambda: looks.count(("one",)) >= before + 4)
        os.unlink(half)

    watch(act)


def test_a_spool_that_is_found_late_is_looked_at(looks: Looks) -> None:
    async def act(watcher: Watcher) -> None:
        await until(lambda: bool(looks))
        os.makedirs(paths.spool_dir("two"))
        await until(lambda: ("two",) in looks)

    watch(act)


def test_what_happens_during_a_look_that_was_waited_for_is_looked_at_right_after_it(
    looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(watcher: Watcher) -> None:
        await until(lambda: bool(looks))
        await asyncio.sleep(0.1)  # quiet again
        monkeypatch.setattr(module, "_PAUSE", 3600.0)
        watcher.look_at("one")

        def look(*_: object) -> None:
            monkeypatch.setattr(module, "observe", looks)
            watcher.look_at("two")

        monkeypatch.setattr(module, "observe", look)
        await until(lambda: ("two",) in looks)

    watch(act)
