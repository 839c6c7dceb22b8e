"""A daemon in a sandbox: started, asked, listened to."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from woodwind.testing.sandbox import Sandbox

ON = {"WOODWIND_DAEMON_START": "auto"}


def start_daemon(box: Sandbox, **env: str) -> dict[str, Any]:
    """The status of a daemon that answers, started when it was not there."""
    found: dict[str, Any] = box.ww("daemon", "start", "--json", env=env, check=True).json["data"]["daemon"]
    return found


def daemon_status(box: Sandbox) -> dict[str, Any] | None:
    """What the daemon tells about itself; None when it does not run."""
    found: dict[str, Any] | None = box.ww("daemon", "status", "--json", check=True).json["data"]["daemon"]
    return found


def runtime_dir(box: Sandbox) -> Path:
    """The folder of the daemon's sockets, as it wrote it down."""
    return Path(Path(box.env["XDG_STATE_HOME"], "woodwind", "woodwind.db.daemon").read_text(encoding="utf-8").strip())


def connect(box: Sandbox) -> socket.socket:
    """A raw connection to the daemon."""
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(60)
    made.connect(str(runtime_dir(box) / "socket"))
    return made


class Listener:
    """A subscriber in a process of its own, which writes each event to a file as it comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._last: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def events(self) -> list[dict[str, Any]]:
        """What was told so far."""
        return [json.loads(line) for line in self._path.read_text(encoding="utf-8").splitlines(keepends=True)
                if line.endswith("\n")]  # fmt: skip

    def last_of(self, worker: str, kind: str, *, after: int = 0) -> dict[str, Any] | None:
        """The newest event of this kind about a worker after a cursor; only what is new in the file is read."""
        with self._path.open(encoding="utf-8") as file:
            file.seek(self._read)
            while (line := file.readline()).endswith("\n"):
                event = json.loads(line)
                self._last[event["worker"], event["kind"]] = event
                self._read = file.tell()
        found = self._last.get((worker, kind))
        return found if found and found["seq"] > after else None

    def kinds(self) -> list[str]:
        """The kinds of what was told so far."""
        return [event["kind"] for event in self.events]


_SUBSCRIBE = (
    "import json, sys; from woodwind.daemon.client import subscribe\n"
    "for event in subscribe(int(sys.argv[1])): print(json.dumps(event), flush=True)"
)


@contextmanager
def listening(box: Sandbox, since: int = 0, env: Mapping[str, str] | None = None) -> Iterator[Listener]:
    """A subscriber from `since` on; it is ended with the block."""
    path = box.root / f"heard-{os.urandom(4).hex()}"
    with path.open("wb") as file:
        words = [sys.executable, "-c", _SUBSCRIBE, str(since)]
        process = subprocess.Popen(words, stdout=file, env={**box.env, **ON, **(env or {})}, cwd=box.home)
    try:
        yield Listener(path)
    finally:
        process.kill()
        process.wait()
