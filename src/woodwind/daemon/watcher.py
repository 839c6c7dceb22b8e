"""Watching agents: the kernel tells of their events and of their ends, and tmux once a second of the rest."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from woodwind.agents import registry as agents
from woodwind.agents.base import Agent
from woodwind.base import paths, spool
from woodwind.base.processes import is_running
from woodwind.base.watch import End, Folders
from woodwind.daemon.glances import TICK, Glances, pace, round_time
from woodwind.daemon.lane import Lane
from woodwind.daemon.streams import Stream, Takes
from woodwind.model.status import Phase
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import HEADLESS, Pane
from woodwind.ops.context import Context
from woodwind.ops.observe import observe
from woodwind.ops.panes import Panes
from woodwind.store import listing, terminals
from woodwind.store.listing import Listed

# Between looks that follow one another, so that what happens meanwhile is looked at together. After one that was waited
# for there is none: what happens during it need not wait any longer.
_PAUSE = 0.01
# Who was looked at is looked at once more so much later: silence tells something too.
_LATER = 5.0


class Watcher:
    """All workers that can be watched now. `on_end` is called when an agent has ended."""

    def __init__(self, lane: Lane, tmux: Lane, on_end: Callable[[], None]) -> None:
        self._lane = lane
        self._tmux = tmux  # a tmux that hangs must not hold up what agents tell
        self._on_end = on_end
        self._rows: dict[str, Listed] = {}
        self._ends: dict[str, End] = {}
        self._streams: dict[str, tuple[tuple[str, str], asyncio.Task[None]]] = {}
        self._folders = Folders()
        self._glances = Glances(self._meaning, self._is_mute)
        self._dirty: set[str] = set()
        self._again: dict[str, float] = {}
        self._everybody = True
        self._round = time.monotonic() + round_time(0)  # when everybody is looked at again
        self._listed: tuple[float, Panes] | None = None  # when it was asked for, by the clock of `_happened`
        self._happened = float("-inf")  # the last time that somebody else than the list told of something
        self._work = asyncio.Event()
        self._stale = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._folders.fileno(), self._on_files)

    @property
    def live(self) -> int:
        """How many agents run."""
        return len(self._ends)

    def status(self) -> dict[str, int]:
        """What is watched, in numbers."""
        servers, streams = len(self._servers()), len(self._streams)
        return {"workers": len(self._rows), "live": self.live, "servers": servers, "streams": streams}

    def look_again(self) -> None:
        """Somebody came, went, or was started again: find out whom to watch."""
        self._stale.set()

    def look_at(self, worker: str) -> None:
        """Something happened to a worker."""
        self._happened = time.monotonic()
        self._mark(worker)

    def _mark(self, worker: str) -> None:
        self._again[worker] = time.monotonic() + _LATER
        self._dirty.add(worker)
        self._work.set()

    def look_at_all(self) -> None:
        """Something happened, and it is not known to whom."""
        self._happened = time.monotonic()
        self._everybody = True
        self._work.set()

    async def follow_workers(self) -> None:
        """Keep up with who is there, for ever."""
        while True:
            self._stale.clear()
            rows = await self._lane.call(lambda ctx: listing.rows(ctx.store))
            self._watch({row.id: row for row in rows if row.phase not in (Phase.CREATING, Phase.QUEUED)})
            self._read_streams(await self._lane.call(lambda ctx: terminals.streams(ctx.store)))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(round_time(self.live)):
                    await self._stale.wait()

    async def observe(self) -> None:
        """Look at those to whom something happened, for ever; all of them once in a while."""
        while True:
            was_quiet = not self._work.is_set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, self._round - time.monotonic())):
                    await self._work.wait()
            self._work.clear()
            # By the clock and not by silence: among agents that always tell something, one may have been missed.
            batch, everybody = self._dirty, self._everybody or time.monotonic() >= self._round
            self._dirty, self._everybody = set(), False
            if everybody:
                self._round = time.monotonic() + round_time(self.live)
            if not self._rows:
                continue
            whom = sorted(self._rows if everybody else batch)
            try:
                left = await self._lane.call(_look_at(whom, self._panes(), everybody=everybody))
            except BaseException:
                self._dirty |= batch
                self._everybody = self._everybody or everybody
                self._work.set()
                raise
            for worker in left:
                self._again.setdefault(worker, time.monotonic() + _LATER)
            await asyncio.sleep(0 if was_quiet else _PAUSE)

    async def glance(self) -> None:
        """Ask each tmux server at a steady pace what its panes show, for ever; none where no agent runs."""
        while True:
            await asyncio.sleep(self._pace())
            for worker in self._rows:
                # Made at its start, or again after a deletion, and perhaps written to before it was watched.
                if not self._folders.watches(worker) and self._folders.add(worker, paths.spool_dir(worker)):
                    self.look_at(worker)
            servers = self._servers()
            if servers:
                at, wall = time.monotonic(), int(time.time() * 1000)
                panes = await self._tmux.call(_panes_on(servers))
                self._listed = at, Panes(frozenset(servers), {pane.worker: pane for pane in panes}, wall)
                for worker in self._glances.changed(panes, time.monotonic()):
                    if worker in self._rows:
                        self._mark(worker)
            self._look_later()  # with those of the list, and by the same list

    def _pace(self) -> float:
        return pace(self.live, mute=any(map(self._is_mute, self._ends)))

    def _panes(self) -> Panes | None:
        """The last list, while it is young and nothing has happened since that it might not show."""
        if self._listed is None or self._listed[0] <= max(self._happened, time.monotonic() - TICK / 2):
            return None
        return self._listed[1]

    def _look_later(self) -> None:
        due = [worker for worker, at in self._again.items() if at <= time.monotonic()]
        for worker in due:
            del self._again[worker]
        if due:
            self._dirty.update(due)
            self._work.set()

    def close(self) -> None:
        """Let go of everything."""
        asyncio.get_running_loop().remove_reader(self._folders.fileno())
        for worker in list(self._ends):
            self._drop_end(worker)
        for _, task in self._streams.values():
            task.cancel()
        self._folders.close()

    def _watch(self, rows: dict[str, Listed]) -> None:
        for worker in self._rows.keys() - rows.keys():
            self._folders.remove(worker)
            self._drop_end(worker)
            self._glances.forget(worker)
        for worker, row in rows.items():
            before = self._rows.get(worker)
            if before is None:
                self._glances.forget(worker)  # what its title means could not be known before
            if before is None and self._folders.add(worker, paths.spool_dir(worker)):
                self.look_at(worker)  # for what it wrote before
            if before is None or (before.pid, before.pid_start) != (row.pid, row.pid_start):
                self._drop_end(worker)
                self._watch_end(row)
                self.look_at(worker)
        self._rows = rows

    def _watch_end(self, row: Listed) -> None:
        if not row.pid:
            return
        try:
            end = End(row.pid)
        except OSError:
            return  # it has ended, which the look at it tells
        if not is_running(row.pid, row.pid_start):  # asked only now, so that the descriptor is of this process
            end.close()
            return
        self._ends[row.id] = end
        asyncio.get_running_loop().add_reader(end.fileno(), self._ended, row.id)

    def _read_streams(self, wanted: dict[str, tuple[str, str]]) -> None:
        """Read the streams of agents that run, each start's own."""
        live = {worker: where for worker, where in wanted.items() if worker in self._ends}
        for worker, (where, task) in list(self._streams.items()):
            if live.get(worker) != where:
                task.cancel()
                del self._streams[worker]
        for worker, where in live.items():
            agent = agents.shared(self._rows[worker].agent)
            if worker not in self._streams and agent:
                stream = Stream(worker, *where, takes=_taken_by(agent))
                self._streams[worker] = where, asyncio.create_task(stream.run())

    def _ended(self, worker: str) -> None:
        self._drop_end(worker)
        self.look_at(worker)
        self.look_again()
        self._on_end()

    def _drop_end(self, worker: str) -> None:
        end = self._ends.pop(worker, None)
        if end:
            asyncio.get_running_loop().remove_reader(end.fileno())
            end.close()

    def _on_files(self) -> None:
        found, dropped = self._folders.read()
        for worker in found:
            self.look_at(worker)
        if dropped:
            self.look_at_all()

    def _servers(self) -> list[str]:
        """The tmux servers on which an agent runs."""
        found = {self._rows[worker].server for worker in self._ends if worker in self._rows}
        return sorted(server for server in found if server and not server.startswith(HEADLESS))

    def _meaning(self, worker: str, title: str) -> object:
        row = self._rows.get(worker)
        agent = agents.shared(row.agent) if row else None
        return agent.status_from_title(title) if agent else None

    def _is_mute(self, worker: str) -> bool:
        row = self._rows.get(worker)
        agent = agents.shared(row.agent) if row else None
        return not (agent and agent.tells_ends)


def _taken_by(agent: Agent) -> Takes:
    """What is taken of a stream's events: most are single words of what the agent writes."""
    listen = agent.listener()

    def take(payload: dict[str, Any]) -> dict[str, Any] | None:
        try:
            return listen(payload)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return None  # not of the kind that it is known to send

    return take


def _look_at(workers: Sequence[str], listed: Panes | None, *, everybody: bool) -> Callable[[Context], list[str]]:
    """A look that tells of whom something is left: half-written, or not to be taken while the store was locked."""

    def look(ctx: Context) -> list[str]:
        observe(ctx, () if everybody else workers, listed)
        return [worker for worker in workers if spool.waiting(paths.spool_dir(worker))]

    return look


def _panes_on(servers: list[str]) -> Callable[[Context], list[Pane]]:
    return lambda _: [pane for server in servers for pane in muxes.at(server).panes()]
