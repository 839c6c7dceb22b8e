"""An agent's event stream ends up in its spool: whole, in order, and again after the stream broke."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from woodwind.base import paths, spool
from woodwind.daemon.streams import Refused, Stream, payloads

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(**payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def chunks(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


async def serving(*answers: bytes) -> tuple[asyncio.Server, str, list[bytes]]:
    """A server on loopback that gives each connection the next answer and hangs up; what it was asked."""
    left, asked = list(answers), []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(left.pop(0) if left else HEAD)
        await writer.drain()
        if not left:
            await reader.read()  # the last one stays open
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/event", asked


@pytest.mark.parametrize("body, told", [
    (HEAD + event(n=1) + event(n=2), [1, 2]),
    (HEAD + b": comment\nevent: x\nid: 4\n" + event(n=1), [1]),
    (HEAD + b'data: {"n":\ndata: 5}\n\n', [5]),
    (HEAD + b"data: nonsense\n\ndata: [1]\n\n" + event(n=3), [3]),
    (HEAD + event(n=1).replace(b"\n", b"\r\n"), [1]),
    (HEAD + event(n=1) + b'data: {"n": 2}\n', [1]),  # cut short
    (CHUNKED + chunks(event(n=1)[:7], event(n=1)[7:] + event(n=2)) + b"0\r\n\r\n", [1, 2]),
])  # fmt: skip
def test_what_a_stream_says(body: bytes, told: list[int]) -> None:
    async def all_of_it() -> list[dict[str, Any]]:
        server, url, asked = await serving(body, HEAD)
        found = [payload async for payload in payloads(url)]
        assert asked[0].startswith(b"GET /event HTTP/1.1\r\n")
        server.close()
        return found

    assert [payload["n"] for payload in asyncio.run(all_of_it())] == told


@pytest.mark.parametrize("body", [
    b"HTTP/1.1 404 Not Found\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
    CHUNKED + b"zz\r\n",
    CHUNKED + b"ffffffff\r\n",
])  # fmt: skip
def test_what_is_no_stream(body: bytes) -> None:
    async def ask() -> None:
        server, url, _ = await serving(body, HEAD)
        with pytest.raises(Refused):
            [payload async for payload in payloads(url)]
        server.close()

    asyncio.run(ask())


@pytest.mark.parametrize("url", ["http://192.0.2.1:80/event", "https://127.0.0.1:1/", "http://127.0.0.1/", "file:///x"])
def test_only_a_port_of_this_machine_is_asked(url: str) -> None:
    async def ask() -> None:
        with pytest.raises(Refused):
            [payload async for payload in payloads(url)]

    asyncio.run(ask())


def test_a_stream_that_breaks_is_read_again_and_all_is_in_the_spool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = Path(paths.spool_dir("w1"))
    folder.mkdir(parents=True)

    async def read() -> None:
        server, url, _ = await serving(
            HEAD + event(n=1) + event(noise=True) + event(n=2), b"HTTP/1.1 500 Oh\r\n\r\n", HEAD + event(n=3)
        )
        stream = Stream("w1", url, "nonce1", lambda payload: "n" in payload)
        task = asyncio.create_task(stream.run())
        await until(lambda: len(list(folder.iterdir())) == 3)
        task.cancel()
        server.close()

    asyncio.run(read())
    names = sorted((p.name for p in folder.iterdir()), key=lambda name: spool.stamp_of(name) or ())
    assert [json.loads((folder / name).read_text())["n"] for name in names] == [1, 2, 3]
    stamps = [spool.stamp_of(name) for name in names]
    assert all(stamp and (stamp.nonce, stamp.boot) == ("nonce1", spool.now().boot) for stamp in stamps)


async def until(condition: Callable[[], bool], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
    for _ in range(6000):
        if condition():
            return
        await sleep(0.01)
    raise AssertionError("waited a minute in vain")
