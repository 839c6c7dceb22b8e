"""Agents that tell their events to whoever listens at a port of theirs: read here, and put into the worker's spool.

Server-Sent Events over HTTP on loopback. From the spool on, they go the same way as the events of every other agent.
"""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any
from urllib.parse import urlsplit

from woodwind.base import paths, spool

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
# An agent takes its first prompt soon after it begins to listen, and its word for that must not be missed: for so long
# after its start it is asked again and again.
_STARTING = 60.0
# A line or an event that is longer is dropped with its connection: it would only fill the memory.
MOST = 4 << 20
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# A server that dies without a word, as with its machine's network, would never be noticed.
_SILENCE = 120.0
# A request that came while its agent was starting may never be answered (seen with opencode 1.18.33): ask again.
_HEAD_WHILE_STARTING, _HEAD = 1.0, 4.0
# What of an event is put into the spool; None for nothing.
Takes = Callable[[dict[str, Any]], dict[str, Any] | None]


class Refused(Exception):
    """What answers is not a stream of events."""


class Stream:
    """One agent's stream, read for as long as it is wanted; its end or an error only means another try."""

    def __init__(self, worker: str, url: str, nonce: str, takes: Takes) -> None:
        self._worker = worker
        self._url = url
        self._nonce = nonce
        self._takes = takes
        self._written = 0
        self.problem = ""

    async def run(self) -> None:
        """Read for ever."""
        pause, has_told, begun = _FIRST_PAUSE, False, time.monotonic()
        while True:
            is_starting = not has_told and time.monotonic() - begun < _STARTING
            try:
                patience = _HEAD_WHILE_STARTING if is_starting else _HEAD
                async with contextlib.aclosing(payloads(self._url, patience)) as found:
                    async for payload in found:
                        pause, has_told = _FIRST_PAUSE, True
                        if taken := self._takes(payload):
                            self._write(taken)
                self.problem = ""
            except (OSError, Refused, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
                self.problem = str(error)
            await asyncio.sleep(pause)
            if not is_starting:
                pause = min(pause * 2, _LONGEST_PAUSE)

    def _write(self, payload: dict[str, Any]) -> None:
        """One new file, whole from the start: written beside the spool and renamed into it."""
        self._written += 1
        folder = paths.spool_dir(self._worker)
        stamp = spool.now()
        # The number stands where a hook has its process: together with ours it is never used twice.
        number = f"{os.getpid()}{self._written:09}"
        name = f"{spool.VERSION}_{stamp.boot}_{stamp.up / 1000:.2f}_{number}_{self._nonce}"
        beside = os.path.join(paths.worker_dir(self._worker), f"stream-{name}")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(fd, "wb") as file:
            file.write(json.dumps(payload).encode())
        os.utime(beside, ns=(time.time_ns(), time.time_ns()))  # finer than the kernel's own, for the order
        os.rename(beside, os.path.join(folder, name))


async def payloads(url: str, patience: float = _HEAD) -> AsyncGenerator[dict[str, Any], None]:
    """The objects that a stream sends, until it ends; Refused when it is none, or not on this machine.

    `patience` is how many seconds it may take to begin to answer.
    """
    place = urlsplit(url)
    if place.scheme != "http" or place.hostname not in _LOOPBACK or not place.port:
        raise Refused(f"{url} is not a port of this machine")
    reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=MOST)
    try:
        path = place.path + (f"?{place.query}" if place.query else "")
        asked = f"GET {path or '/'} HTTP/1.1\r\nHost: {place.netloc}\r\nAccept: text/event-stream\r\n\r\n"
        writer.write(asked.encode())
        await writer.drain()
        async with asyncio.timeout(patience):  # not wait_for, which may swallow a cancellation
            chunked = _is_chunked(await reader.readuntil(b"\r\n\r\n"))
        lines = _lines(reader, chunked=chunked)
        async with contextlib.aclosing(lines), contextlib.aclosing(_events(lines)) as events:
            async for data in events:
                try:
                    payload = json.loads(data)
                except (ValueError, RecursionError):
                    continue
                if isinstance(payload, dict):
                    yield payload
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _is_chunked(head: bytes) -> bool:
    first, *rest = head.decode("latin-1").split("\r\n")
    if first.split(" ")[1:2] != ["200"]:
        raise Refused(f"it answers {first!r}")
    fields = {name.strip().lower(): value.strip().lower() for name, _, value in (line.partition(":") for line in rest)}
    if not fields.get("content-type", "").startswith("text/event-stream"):
        raise Refused(f"it sends {fields.get('content-type') or 'nothing that it names'}")
    return "chunked" in fields.get("transfer-encoding", "")


async def _lines(reader: asyncio.StreamReader, *, chunked: bool) -> AsyncGenerator[bytes, None]:
    """The lines of the body, without their ends."""
    rest = b""
    while True:
        async with asyncio.timeout(_SILENCE):
            chunk = await _chunk(reader) if chunked else await reader.read(1 << 16)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MOST:
            raise Refused("it sends a line without an end")
        for line in lines:
            yield line.removesuffix(b"\r")


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    """The next part of a body that comes in chunks; b"" at its end."""
    try:
        size = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
    except ValueError as error:
        raise Refused("its chunks have no length") from error
    if not 0 <= size <= MOST:
        raise Refused("it sends a chunk that is too long")
    data = await reader.readexactly(size + 2)
    return data[:-2]


async def _events(lines: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The data of each event: its lines that begin with `data:`, up to an empty one."""
    data: list[bytes] = []
    async for line in lines:
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
            if sum(map(len, data)) > MOST:
                raise Refused("it sends an event that is too long")
        elif not line and data:
            yield b"\n".join(data)
            data = []
