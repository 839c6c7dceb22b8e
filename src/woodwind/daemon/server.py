"""The daemon: one process per store that watches agents, calls keepers, and tells subscribers what happens.

It holds no rules and no state of its own: everything is in the store, so that it can be killed at any time.
"""

import asyncio
import contextlib
import os
import resource
import signal
import time
from collections.abc import Mapping
from typing import Any

from woodwind import __version__
from woodwind.base import paths
from woodwind.base.clock import now
from woodwind.daemon.feed import Feed
from woodwind.daemon.keepers import KEEPERS, Keeper
from woodwind.daemon.lane import Lane
from woodwind.daemon.log import Log
from woodwind.daemon.peers import peer_of
from woodwind.daemon.protocol import MOST_REQUEST, event_object, greeting, is_newer, line, parse
from woodwind.daemon.sockets import Place
from woodwind.daemon.watcher import Watcher
from woodwind.model.errors import WoodwindError

_TICK = 1.0
_AFTER_FAILURE = 5.0
# Keepers begin so long after an event: it rarely comes alone, and whoever listens is told of all of it first.
_SETTLE = 0.03
# How long ops that run may take to end before the daemon leaves; they are journalled and survive that.
_GRACE = 5.0
_FILES = 8192


class Daemon:
    """One daemon, from start to end. `idle` is how many seconds it stays with nothing to do; 0 for ever."""

    def __init__(self, place: Place, environ: Mapping[str, str], *, idle: float, log: Log) -> None:
        self.place = place
        self.log = log
        self._environ = environ
        self._idle = idle
        self._leave = asyncio.Event()
        self._why = ""
        self._lanes: list[Lane] = []
        self.feed = Feed(self._lane("store"))
        self.watcher = Watcher(self._lane("agents"), self._lane("tmux"), on_end=self.feed.ring)
        self._keepers: list[Keeper] = [make() for make in KEEPERS]
        self._busy: dict[str, bool] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self._subscribers = 0
        self._started_at = now()
        self._useful = time.monotonic()

    async def run(self) -> None:
        """Work until there is nothing to do, or somebody says so."""
        loop = asyncio.get_running_loop()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave, f"signal {number}")
        self.log.write("info", "started", pid=os.getpid(), version=__version__, sockets=self.place.folder)
        loop.add_reader(self.place.news, self._on_news)
        server = await asyncio.start_unix_server(self._on_connection, sock=self.place.stream, limit=MOST_REQUEST)
        tasks = [asyncio.create_task(self._lasting(work)) for work in self._works()]
        tasks += [asyncio.create_task(self._keep(keeper)) for keeper in self._keepers]
        await self._leave.wait()
        self.log.write("info", "leaves", why=self._why)
        loop.remove_reader(self.place.news)
        self.watcher.close()
        server.close()
        for task in [*tasks, *self._connections]:
            task.cancel()
        deadline = time.monotonic() + _GRACE
        while any(lane.calls for lane in self._lanes) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self.place.leave()

    def _lane(self, name: str) -> Lane:
        lane = Lane(name, self._environ, lambda text: self.log.write("info", text, by=name))
        self._lanes.append(lane)
        return lane

    def _works(self) -> list[Any]:
        watcher = self.watcher
        return [self._feed, self._idle_watch, watcher.follow_workers, watcher.observe, watcher.glance]

    def leave(self, why: str) -> None:
        """End soon; the first reason is the one that counts."""
        self._why = self._why or why
        self._leave.set()

    def _on_news(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.place.news.recv(64)
        self.feed.wake.set()

    async def _lasting(self, work: Any) -> None:
        """Do this for as long as we live: a locked store or a tmux that went away is no reason to end."""
        while True:
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - whatever it was, the others go on, and the log has it
                self._failed(getattr(work, "__name__", "work"), error)
                await asyncio.sleep(_AFTER_FAILURE)

    def _failed(self, what: str, error: Exception) -> None:
        self.log.write("error", f"{what}: {error}", kind=type(error).__name__)
        if isinstance(error, WoodwindError) and error.code == "store_newer":
            self.leave("the store was written by a newer Woodwind")

    async def _feed(self) -> None:
        await self.feed.start()
        while True:
            for event in await self.feed.more():
                if event.kind.startswith("worker."):
                    self.watcher.look_again()

    async def _keep(self, keeper: Keeper) -> None:
        lane = self._lane(keeper.name)
        bell = self.feed.bell()
        while True:
            bell.clear()
            self._busy[keeper.name] = True
            try:
                again = await lane.call(keeper.tick)
                self._busy[keeper.name] = await lane.call(keeper.busy)
            except Exception as error:  # noqa: BLE001 - one keeper that fails must not end the others
                self._failed(keeper.name, error)
                self._busy[keeper.name] = False
                again = _AFTER_FAILURE
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(again):  # wait_for may swallow a cancellation
                    await bell.wait()
                    await asyncio.sleep(_SETTLE)

    async def _idle_watch(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            if not self.place.is_ours():
                self.leave("its place is gone")
            elif self._subscribers or self.watcher.live or any(self._busy.values()):
                self._useful = time.monotonic()
            elif self._idle and time.monotonic() - self._useful >= self._idle:
                self.leave("there is nothing to watch")

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        try:
            pid, user = peer_of(writer.get_extra_info("socket"))
            if user != os.getuid():
                self.log.write("error", "a connection of another user was refused", user=user, process=pid)
                return
            writer.write(line(greeting(os.getpid())))
            await self._serve(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass  # it went away, or did not speak our language
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = parse(await reader.readuntil(b"\n"))
        op = asked.get("op")
        if is_newer(asked.get("version"), asked.get("schema")):
            writer.write(line({"leaving": True}))
            self.leave(f"a newer Woodwind is here: {asked.get('version')}")
        elif op == "status":
            writer.write(line(self.status()))
        elif op == "stop":
            writer.write(line({"leaving": True}))
            self.leave("it was told to")
        elif op == "subscribe":
            await self._subscribe(reader, writer, asked)
            return
        else:
            writer.write(line({"error": f"unknown request {op!r}"}))
        await writer.drain()

    async def _subscribe(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: Mapping[str, Any]
    ) -> None:
        await self.feed.ready.wait()
        project = asked.get("project")
        project = project if isinstance(project, str) else ""
        wanted = asked.get("since")
        seq = wanted if isinstance(wanted, int) and wanted >= 0 else self.feed.newest
        bell = self.feed.bell()
        self._subscribers += 1
        gone = asyncio.create_task(reader.read())
        try:
            writer.write(line({"subscribed": seq}))
            while not gone.done():
                bell.clear()
                while rows := await self.feed.after(seq, project):
                    seq = rows[-1].seq
                    writer.write(b"".join(line(event_object(row)) for row in rows))
                    await writer.drain()
                rung = asyncio.create_task(bell.wait())
                await asyncio.wait((rung, gone), return_when=asyncio.FIRST_COMPLETED)
                rung.cancel()
        finally:
            gone.cancel()
            self._subscribers -= 1
            self.feed.drop(bell)

    def status(self) -> dict[str, Any]:
        """What there is to know about this daemon."""
        return {
            "pid": os.getpid(),
            "version": __version__,
            "started_at": self._started_at.isoformat(),
            "watching": self.watcher.status(),
            "subscribers": self._subscribers,
            "keepers": [{"name": keeper.name, "busy": self._busy.get(keeper.name, False)} for keeper in self._keepers],
            "cursor": self.feed.newest,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }


def serve(environ: Mapping[str, str], *, idle: float, patience: float) -> None:
    """Be the daemon; returns at its end. Taken, when another one stays for longer than `patience` seconds."""
    place = Place(patience=patience)
    log = Log(paths.daemon_log())
    _allow_files()

    async def whole() -> None:
        await Daemon(place, environ, idle=idle, log=log).run()

    asyncio.run(whole())


def _allow_files() -> None:
    """A descriptor for each agent's process, and some for the rest, have to be possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, _FILES) if hard == resource.RLIM_INFINITY else max(soft, min(_FILES, hard))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
