"""Whom the next look is about, by what happened since the last one."""

import threading

from woodwind.ops.overview import OF_ONE_WORKER

# What no event tells of (a process that died, a folder that is gone) is found by a look at all, when it is quiet again
# after some workers were looked at alone, or after so long where it never is.
_QUIET, _LONGEST_WITHOUT = 3.0, 30.0


class Due:
    """Whom the next look is about. Times are those of one clock that never jumps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: set[str] | None = set()  # None: all of them, and the rest
        self._looked_at_all = 0.0
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

    def take(self, now: float) -> set[str] | None:
        """The workers to look at now; None for everything."""
        with self._lock:
            taken, self._workers = self._workers, set()
        if taken is not None and self._owes and now - self._looked_at_all >= _LONGEST_WITHOUT:
            taken = None
        self._owes = taken is not None
        if taken is None:
            self._looked_at_all = now
        return taken

    @property
    def patience(self) -> float | None:
        """How long to wait for news before everything is looked at; None: for ever."""
        if self._owes:
            return _QUIET
        return _LONGEST_WITHOUT if self.has_remarks else None
