"""What the control plane does about a daemon that does not come."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

from woodwind.daemon.client import DaemonGone
from woodwind.ops.overview import Overview
from woodwind.testing.control_stage import EMPTY
from woodwind.tui import feed as module
from woodwind.tui.feed import Feed


class Looker:
    """Sees nothing, whenever it is asked."""

    shown = ()

    def __init__(self, *, everywhere: bool) -> None:
        pass

    def look(self, ctx: object) -> Overview:
        return EMPTY

    def look_at(self, ctx: object, workers: object) -> Overview:
        return EMPTY


def gone() -> None:
    raise DaemonGone("the daemon does not run")


@contextmanager
def fed(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[Overview], list[str]]]:
    """What is seen and what is told of trouble, where a daemon is started again and again and never answers."""

    def starts(_: Mapping[str, str]) -> bool:
        return True

    monkeypatch.setattr(module, "Looker", Looker)
    monkeypatch.setattr(module, "Connection", gone)
    monkeypatch.setattr(module, "ensure_daemon", starts)
    monkeypatch.setattr(module, "_ANSWER", 0.05)
    seen: list[Overview] = []
    troubles: list[str] = []
    feed = Feed("/", everywhere=True, on_look=seen.append, on_trouble=troubles.append)
    monkeypatch.setattr(feed, "_context", Nothing)
    feed.start()
    try:
        yield seen, troubles
    finally:
        feed.stop()


class Nothing:
    """A context that nothing is asked of."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def close(self) -> None:
        pass


def until(there: Callable[[], bool]) -> None:
    """Wait for something, as long as a busy machine may take."""
    deadline = time.monotonic() + 60
    while not there():
        assert time.monotonic() < deadline, "it never came"
        threading.Event().wait(0.01)


def test_where_no_daemon_comes_it_says_so_and_goes_on_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    with fed(monkeypatch) as (seen, troubles):
        until(lambda: len(seen) >= 4)
        until(lambda: bool(troubles))
        assert troubles == [module._LATE]
