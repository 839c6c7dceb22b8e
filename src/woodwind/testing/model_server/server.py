"""The HTTP server: it answers each request by the script in it, and remembers what was asked and answered."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import uuid
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from woodwind.testing.model_server.apis import Api, api_of, aside, wants_stream
from woodwind.testing.model_server.conversation import Body, Conversation
from woodwind.testing.model_server.replies import Drop, Failure, Frame, Reply
from woodwind.testing.model_server.script import ScriptError, reply_to


@dataclass(slots=True)
class Exchange:
    """One request and what is answered; `ended` is when its last byte was sent, by time.time(), and 0 until then."""

    path: str
    talk: Conversation
    reply: Reply
    ended: float = 0.0


class ModelServer:
    """A scripted model on a port of 127.0.0.1; a context manager that serves meanwhile."""

    def __init__(self, port: int = 0) -> None:
        self.exchanges: list[Exchange] = []
        self.strangers: list[str] = []  # requests that no API knows
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.model = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def serve(self) -> None:
        """Serve until the process is ended."""
        self._http.serve_forever()

    def __enter__(self) -> Self:
        """The server, at work."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it, and with it every answer that is under way."""
        self._http.ending.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=10)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: ModelServer

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.ending = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: an agent that is killed breaks its connections, as tests mean it to."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing: the exchanges tell more."""

    def do_HEAD(self) -> None:
        self._whole(200, {})

    def do_GET(self) -> None:
        found = aside(self._path())
        self._whole(200, found) if found is not None else self._unknown()

    def do_POST(self) -> None:
        path = self._path()
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)) if not self._chunked() else self._chunks()
        api, found = api_of(path), aside(path)
        if api is None:
            return self._whole(200, found) if found is not None else self._unknown()
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        body = json.loads(raw)
        talk = api.read(body)
        try:
            reply = reply_to(talk)
        except ScriptError as problem:
            return self._error(400, str(problem))
        exchange = Exchange(path, talk, reply)
        self.server.model.exchanges.append(exchange)
        self._answer(api, body, reply)
        exchange.ended = time.time()
        return None

    def _answer(self, api: Api, body: Body, reply: Reply) -> None:
        unique = uuid.uuid4().hex[:20]
        if isinstance(reply, Failure):
            self._error(reply.status, f"scripted error {reply.status}")
        elif isinstance(reply, Drop):
            self._headers(200, "text/event-stream", {"Transfer-Encoding": "chunked"})
            # Half an event: what came before the break must not look like an answer.
            self.wfile.write(b"7\r\ndata: {\r\n")
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif wants_stream(self._path(), body):
            self._headers(200, "text/event-stream", {"Transfer-Encoding": "chunked", "Cache-Control": "no-cache"})
            for frame in api.stream(body, reply, unique):
                self._chunk(_event(frame))
                if frame.pause and self.server.ending.wait(frame.pause):
                    self.close_connection = True
                    return
            self._chunk(b"")
        else:
            self._whole(200, api.whole(body, reply, unique))

    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _chunked(self) -> bool:
        return self.headers.get("Transfer-Encoding", "").lower() == "chunked"

    def _chunks(self) -> bytes:
        whole = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _headers(self, status: int, kind: str, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "request-id": "req_scripted", **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def _whole(self, status: int, data: dict[str, Any]) -> None:
        encoded = json.dumps(data).encode()
        self._headers(status, "application/json", {"Content-Length": str(len(encoded))})
        if self.command != "HEAD":
            self.wfile.write(encoded)
        self.wfile.flush()

    def _error(self, status: int, message: str) -> None:
        kind = "api_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
        error = {"type": kind, "message": message, "code": status, "status": "INTERNAL"}
        self._whole(status, {"type": "error", "error": error})

    def _unknown(self) -> None:
        self.server.model.strangers.append(f"{self.command} {self._path()}")
        self._error(404, "the scripted model knows no such path")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def _event(frame: Frame) -> bytes:
    name = f"event: {frame.name}\n" if frame.name else ""
    data = frame.data if isinstance(frame.data, str) else json.dumps(frame.data)
    return f"{name}data: {data}\n\n".encode()
