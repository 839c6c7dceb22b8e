"""The events as they are recorded, for all who listen: read once, handed to each at its own pace."""

import asyncio
import contextlib
from collections import deque

from woodwind.daemon.lane import Lane
from woodwind.store import events
from woodwind.store.events import EventRow

_KEPT = 2000
_BATCH = 500
# A command that was killed between its commit and its datagram told nobody.
BACKSTOP = 2.0


class Feed:
    """The newest events, and bells that ring when there are more."""

    def __init__(self, lane: Lane) -> None:
        self.newest = 0
        self.ready = asyncio.Event()
        self.wake = asyncio.Event()
        self._lane = lane
        self._recent: deque[EventRow] = deque()
        self._complete_after = 0  # every event after this one is in `_recent`
        self._bells: set[asyncio.Event] = set()

    def bell(self) -> asyncio.Event:
        """An event that is set whenever something was recorded; give it back with `drop`."""
        bell = asyncio.Event()
        self._bells.add(bell)
        return bell

    def drop(self, bell: asyncio.Event) -> None:
        """Ring this bell no longer."""
        self._bells.discard(bell)

    def ring(self) -> None:
        """Wake all who listen."""
        for bell in self._bells:
            bell.set()

    async def start(self) -> None:
        """Begin after the newest event that is recorded already; a second time changes nothing."""
        if self.ready.is_set():
            return
        self.newest = self._complete_after = await self._lane.call(lambda ctx: events.newest(ctx.store))
        self.ready.set()

    async def more(self) -> list[EventRow]:
        """What was recorded since the last call, after a wait for the next news or the backstop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BACKSTOP):
                await self.wake.wait()
        self.wake.clear()
        found: list[EventRow] = []
        while rows := await self._lane.call(lambda ctx: events.since(ctx.store, self.newest, limit=_BATCH)):
            if rows[0].seq <= self.newest:  # of a new store
                self._recent.clear()
                self._complete_after = 0
            self.newest = rows[-1].seq
            self._recent.extend(rows)
            while len(self._recent) > _KEPT:
                self._complete_after = self._recent.popleft().seq
            found += rows
            self.ring()
            if len(rows) < _BATCH:
                break
        return found

    async def after(self, seq: int, project: str) -> list[EventRow]:
        """Some events after `seq`, of a project or of all; none when there is nothing new."""
        if seq == self.newest:
            return []
        if self._complete_after <= seq < self.newest:
            return [row for row in self._recent if row.seq > seq and project in ("", row.project)][:_BATCH]
        return await self._lane.call(lambda ctx: events.since(ctx.store, seq, project=project, limit=_BATCH))
