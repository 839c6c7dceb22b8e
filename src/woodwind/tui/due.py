"""Whom the next look is about, by what happened since the last one."""

import threading
from collections.abc import Collection

from woodwind.ops.overview import OF_ONE_WORKER

# What no event tells of (a process that died, a folder that is gone) is found by a look at all, when it is quiet again
# after some workers were looked at alone.
_QUIET = 3.0
# Where it never is, so long after the last one: a few of the others with each look at some, so that none takes long.
_LONGEST_WITHOUT, _A_FEW = 30.0, 5


class Due:
    """Whom the next look is about. Times are those of one clock that never jumps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: set[str] | None = set()  # None: all of them, and the rest
        self._looked_at_all = 0.0
        self._others: list[str] = []  # those who are still to be looked at with some
        self._owes = False
        self.has_remarks = False  # whether the last look told of trouble, which may pass without an event

    def after(self, kind: str, worker: str) -> None:
        """An event was told."""
        if kind not in OF_ONE_WORKER or not worker:
            self.everything()
            return
        with self._lock:
            if self._workers is not None:
                self._workers.add(worker)

    def everything(self) -> None:
        """Anything may have happened."""
        with self._lock:
            self._workers = None

    def take(self, now: float, shown: Collection[str]) -> set[str] | None:
        """The workers to look at now, of those who are shown and whom something happened to; None for everything."""
        with self._lock:
            taken, self._workers = self._workers, set()
        if taken is None:
            self._looked_at_all = now
            self._others.clear()
        elif self._owes and now - self._looked_at_all >= _LONGEST_WITHOUT:
            self._others = self._others or list(shown)
            taken.update(self._others[:_A_FEW])
            del self._others[:_A_FEW]
            if not self._others:
                self._looked_at_all = now
        self._owes = taken is not None
        return taken

    @property
    def patience(self) -> float | None:
        """How long to wait for news before everything is looked at; None: for ever."""
        if self._owes:
            return _QUIET
        return _LONGEST_WITHOUT if self.has_remarks else None
