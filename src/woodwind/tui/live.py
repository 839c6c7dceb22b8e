"""The terminal of the selected worker, looked at again when it prints: soon, and no oftener than a person can see."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from woodwind.muxes.base import Mux, Pane, Tailing

_PAUSE = 0.12
# Where the output itself cannot be had: a pane that its user pipes somewhere, or a headless worker's log.
_WITHOUT_TAIL = 1.0


class Live:
    """Calls `look` after the followed pane has printed. For use in the event loop only, which never waits for tmux."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        # One thread, so that a pane is let go of before it is followed anew; Python ends after what it has to do.
        self._hands = ThreadPoolExecutor(1, "tail")
        self._tail: Tailing | None = None
        self._reads = -1
        self._timer: asyncio.TimerHandle | None = None

    def follow(self, mux: Mux, pane: Pane) -> None:
        """Follow another pane instead."""
        self.stop()
        if pane.dead:
            return
        tail = self._tail = mux.tail(pane)
        if tail is None:
            self._later(_WITHOUT_TAIL)
            return
        opening = asyncio.get_running_loop().run_in_executor(self._hands, tail.open)
        opening.add_done_callback(partial(self._opened, tail))

    def stop(self) -> None:
        """Follow nobody."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._read_no_more()
        if self._tail:
            self._hands.submit(self._tail.close)
            self._tail = None

    def end(self) -> None:
        """Follow nobody any more."""
        self.stop()
        self._hands.shutdown(wait=False)

    def _opened(self, tail: Tailing, opening: asyncio.Future[bool]) -> None:
        if tail is not self._tail or opening.cancelled():
            return  # another one is followed already
        if opening.result():
            self._reads = tail.fileno()
            asyncio.get_running_loop().add_reader(self._reads, self._printed)
            self._later(0)  # what it printed meanwhile
        else:
            self._tail = None
            self._later(_WITHOUT_TAIL)

    def _read_no_more(self) -> None:
        if self._reads >= 0:
            asyncio.get_running_loop().remove_reader(self._reads)
            self._reads = -1

    def _printed(self) -> None:
        assert self._tail
        goes_on = self._tail.drain()
        if not self._timer:
            self._later(_PAUSE)
        if not goes_on:
            self._read_no_more()

    def _later(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._due)

    def _due(self) -> None:
        self._timer = None if self._tail else asyncio.get_running_loop().call_later(_WITHOUT_TAIL, self._due)
        self._look()
