"""An agent's event stream ends up in its spool: whole, in order, and again after the stream broke."""

import asyncio
import contextlib
import json
import socket
import threading
from pathlib import Path
from typing import Any, Self

import pytest

from woodwind.base import paths, spool
from woodwind.daemon import streams
from woodwind.daemon.streams import Refused, Stream, payloads

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(**payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def chunks(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


class Server:
    """A server on loopback that gives each connection the next answer and hangs up."""

    def __init__(self, *answers: bytes) -> None:
        self.asked: list[bytes] = []
        self._answers = list(answers)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/event"
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # at its end
            for answer in self._answers:
                connection, _ = self._listener.accept()
                with connection:
                    self.asked.append(connection.recv(4096))
                    connection.sendall(answer)
            self._listener.accept()[0].close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()


def read_all(url: str) -> list[dict[str, Any]]:
    async def read() -> list[dict[str, Any]]:
        async with contextlib.aclosing(payloads(url)) as found:
            return [payload async for payload in found]

    return asyncio.run(read())


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
    with Server(body) as server:
        assert [payload["n"] for payload in read_all(server.url)] == told
        assert server.asked[0].startswith(b"GET /event HTTP/1.1\r\n")


@pytest.mark.parametrize("body", [
    b"HTTP/1.1 404 Not Found\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
    CHUNKED + b"zz\r\n",
    CHUNKED + b"ffffffff\r\n",
])  # fmt: skip
def test_what_is_no_stream(body: bytes) -> None:
    with Server(body) as server, pytest.raises(Refused):
        read_all(server.url)


@pytest.mark.parametrize("url", ["http://192.0.2.1:80/event", "https://127.0.0.1:1/", "http://127.0.0.1/", "file:///x"])
def test_only_a_port_of_this_machine_is_asked(url: str) -> None:
    with pytest.raises(Refused):
        read_all(url)


def test_a_stream_that_breaks_is_read_again_and_all_is_in_the_spool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = Path(paths.spool_dir("w1"))
    folder.mkdir(parents=True)

    async def read(url: str) -> None:
        stream = Stream("w1", url, "nonce1", lambda payload: payload if "n" in payload else None)
        task = asyncio.create_task(stream.run())
        for _ in range(6000):
            if len(list(folder.iterdir())) == 3:
                break
            await asyncio.sleep(0.01)
        task.cancel()
        assert (await asyncio.wait((task,), timeout=60))[0], "it can be ended"

    broken = HEAD + event(n=1) + event(noise=True) + event(n=2)
    with Server(broken, b"HTTP/1.1 500 Oh\r\n\r\n", HEAD + event(n=3)) as server:
        asyncio.run(read(server.url))
    names = sorted((p.name for p in folder.iterdir()), key=lambda name: spool.stamp_of(name) or ())
    assert [json.loads((folder / name).read_text())["n"] for name in names] == [1, 2, 3]
    stamps = [spool.stamp_of(name) for name in names]
    assert all(stamp and (stamp.nonce, stamp.boot) == ("nonce1", spool.now().boot) for stamp in stamps)


def test_an_agent_that_is_starting_is_asked_again_and_again_so_that_its_first_word_is_not_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    async def refuse(*_: object, **__: object) -> None:
        asked.append(1)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio, "open_connection", refuse)
    monkeypatch.setattr(streams, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(streams, "_LONGEST_PAUSE", 3600.0)

    async def read() -> None:
        task = asyncio.create_task(Stream("w1", "http://127.0.0.1:1/event", "nonce1", lambda payload: payload).run())
        async with asyncio.timeout(20):  # with pauses that double it would be asked ten times
            while len(asked) < 30:
                await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(read())
