"""The terminal of the selected worker, looked at again when it prints: soon, and no oftener than a person can see."""

import asyncio
from collections.abc import Callable

from woodwind.muxes.base import Mux, Pane, Tailing

_PAUSE = 0.12
# Where the output itself cannot be had: a pane that its user pipes somewhere, or a headless worker's log.
_WITHOUT_TAIL = 1.0


class Live:
    """Calls `look` after the followed pane has printed. For use in the event loop only."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._tail: Tailing | None = None
        self._timer: asyncio.TimerHandle | None = None

    def follow(self, mux: Mux, pane: Pane) -> None:
        """Follow another pane instead."""
        self.stop()
        tail = mux.tail(pane)
        if tail and not pane.dead and tail.open():
            self._tail = tail
            asyncio.get_running_loop().add_reader(tail.fileno(), self._printed)
        elif not pane.dead:
            self._later(_WITHOUT_TAIL)

    def stop(self) -> None:
        """Follow nobody."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._tail:
            asyncio.get_running_loop().remove_reader(self._tail.fileno())
            self._tail.close()
            self._tail = None

    def _printed(self) -> None:
        assert self._tail
        goes_on = self._tail.drain()
        if not self._timer:
            self._later(_PAUSE)
        if not goes_on:
            asyncio.get_running_loop().remove_reader(self._tail.fileno())

    def _later(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._due)

    def _due(self) -> None:
        self._timer = None if self._tail else asyncio.get_running_loop().call_later(_WITHOUT_TAIL, self._due)
        self._look()
