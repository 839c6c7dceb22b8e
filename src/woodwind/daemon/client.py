"""The way to the daemon, for commands and other surfaces: light enough for `ww new`."""

import _socket  # the socket module costs 4 ms more
import os
import sys
import time
from collections.abc import Iterator, Mapping

from woodwind import __version__
from woodwind.base import paths
from woodwind.base.run import spawn
from woodwind.daemon.peers import peer_of
from woodwind.daemon.protocol import is_newer, line, parse, request
from woodwind.model.errors import TimedOut, WoodwindError
from woodwind.model.typed import Any
from woodwind.store.db import SCHEMA

# How long a busy machine may take; a command that has something else to do waits only for a moment.
_ANSWER, _MOMENT = 30.0, 1.0
_START = 60.0
_POLL = 1.0


class DaemonGone(WoodwindError):
    """There is no daemon, or it went away in the middle of a sentence."""

    code = "daemon_gone"


class Connection:
    """A connection to the daemon. DaemonGone when there is none that is ours."""

    def __init__(self, patience: float = _ANSWER) -> None:
        self._patience = patience
        self._buffer = bytearray()
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            self._socket.settimeout(patience)
            self._socket.connect(os.path.join(_folder(), "socket"))
            self.pid, user = peer_of(self._socket)
            if user != os.getuid():
                raise DaemonGone("the program at the daemon's socket is another user's")
            self.greeting = self.receive(patience)
        except OSError as error:
            self.close()
            raise DaemonGone("the daemon does not run", hint="Start it: ww daemon start") from error
        except BaseException:
            self.close()
            raise

    def send(self, message: dict[str, Any]) -> None:
        """Say something."""
        rest = memoryview(line(message))
        try:
            while rest:
                rest = rest[self._socket.send(rest) :]
        except OSError as error:
            raise DaemonGone("the daemon went away") from error

    def receive(self, timeout: float | None) -> dict[str, Any]:
        """The next object; TimedOut when none comes in time, DaemonGone at the end."""
        self._socket.settimeout(timeout)
        while (end := self._buffer.find(b"\n")) < 0:
            try:
                chunk = self._socket.recv(1 << 16)
            except TimeoutError:
                raise TimedOut("the daemon does not answer", hint="See `ww daemon logs`.") from None
            except OSError as error:
                raise DaemonGone("the daemon went away") from error
            if not chunk:
                raise DaemonGone("the daemon went away")
            self._buffer += chunk
        text = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            return parse(text)
        except ValueError as error:
            raise DaemonGone("what answers at the daemon's socket is no daemon") from error

    def ask(self, op: str, **words: Any) -> dict[str, Any]:
        """The answer to one request."""
        self.send(request(op, **words))
        return self.receive(self._patience)

    def close(self) -> None:
        """End it."""
        self._socket.close()

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self.close()


def _folder() -> str:
    """Where the daemon of this store said its sockets are."""
    try:
        with open(paths.daemon_file(), "rb") as file:
            folder = os.fsdecode(file.read(4096).strip())
    except OSError:
        folder = ""
    return folder or paths.runtime_dir()


def ensure_daemon(environ: Mapping[str, str]) -> bool:
    """Start the daemon unless it is there or [daemon] start forbids it; whether there is, or soon will be, one.

    It does not wait for a new one, and it never fails: what a daemon would do, commands do too, only later.
    """
    try:
        with Connection(_MOMENT) as daemon:
            if not _is_older(daemon.greeting):
                return True
            daemon.ask("leave")
            replace = True
    except WoodwindError:
        replace = False
    if not _may_start(environ):
        return False
    try:
        _start(environ, replace=replace)
    except (OSError, WoodwindError):
        return False
    return True


def start(environ: Mapping[str, str]) -> dict[str, Any]:
    """The status of the daemon, which is started when it is not there; an older one is replaced."""
    replace = False
    try:
        with Connection() as daemon:
            if not _is_older(daemon.greeting):
                return daemon.ask("status") | {"started": False}
            daemon.ask("leave")
            replace = True
    except DaemonGone:
        pass
    _start(environ, replace=replace)
    deadline = time.monotonic() + _START
    while True:
        try:
            with Connection() as daemon:
                if not _is_older(daemon.greeting):
                    return daemon.ask("status") | {"started": True}
        except DaemonGone:
            pass
        if time.monotonic() >= deadline:
            raise TimedOut("the daemon does not start", code="daemon_gone", hint="See `ww daemon logs`.")
        time.sleep(0.02)


def status() -> dict[str, Any] | None:
    """What the daemon tells about itself; None when it does not run."""
    try:
        with Connection() as daemon:
            return daemon.ask("status")
    except DaemonGone:
        return None


def stop() -> bool:
    """End the daemon and wait until it is gone; False when there was none."""
    try:
        with Connection() as daemon:
            daemon.ask("stop")
            deadline = time.monotonic() + _START
            while True:  # its end closes the connection
                try:
                    daemon.receive(max(0.01, deadline - time.monotonic()))
                except DaemonGone:
                    break
    except DaemonGone:
        return False
    while status() is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    return True


def subscribe(
    since: int | None = None, *, project: str = "", environ: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Each event after `since` (None: from now on), as it happens, for ever: seq, project, worker, at, kind, data.

    A daemon is started when there is none. When it goes away, the next one continues where it ended. Where none may be
    started, we look ourselves, once a second.
    """
    environ = os.environ if environ is None else environ
    while True:
        if status() is None and not _may_start(environ):
            yield from _polled(environ, since, project)
        start(environ)
        try:
            with Connection() as daemon:
                daemon.send(request("subscribe", since=since, project=project))
                since = int(daemon.receive(_ANSWER)["subscribed"])
                while True:
                    event = daemon.receive(None)
                    since = int(event["seq"])
                    yield event
        except DaemonGone:
            continue


def _polled(environ: Mapping[str, str], since: int | None, project: str) -> Iterator[dict[str, Any]]:
    from woodwind.ops.context import Context  # most of the program, for those who forbid a daemon
    from woodwind.ops.observe import observe
    from woodwind.store import events

    while True:
        ctx = Context("/", environ)
        try:
            if since is None:
                since = events.newest(ctx.store)
            observe(ctx)
            for event in events.since(ctx.store, since, project=project):
                since = event.seq
                yield event._asdict()
        finally:
            ctx.close()
        time.sleep(_POLL)


def _is_older(greeting: Mapping[str, Any]) -> bool:
    theirs = greeting.get("woodwind"), greeting.get("schema")
    return theirs != (__version__, SCHEMA) and not is_newer(*theirs)


def _may_start(environ: Mapping[str, str]) -> bool:
    wanted = environ.get("WOODWIND_DAEMON_START", "")
    if not wanted:
        from woodwind.config.load import load  # 10 ms, and `ww new` has loaded it already

        try:
            wanted = load(environ=environ).config.daemon.start
        except WoodwindError:
            return False  # the command itself reports what is wrong with the configuration
    return wanted != "never"


_started: list[int] = []


def _start(environ: Mapping[str, str], *, replace: bool) -> None:
    """Start a daemon in the background; when one is there already, the new one leaves at once."""
    _reap()
    null = os.open(os.devnull, os.O_RDWR)
    try:
        # -P: nothing is ever imported from the folder that we are called in.
        words = [sys.executable, "-P", "-m", "woodwind.daemon", *(["--replace"] if replace else [])]
        _started.append(spawn(words, env=environ, stdin=null, stdout=null, stderr=null, new_session=True))
    finally:
        os.close(null)


def _reap() -> None:
    """Collect the daemons that this process started and that have ended: a control plane lives long."""
    for pid in list(_started):
        try:
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        except ChildProcessError:
            pass
        _started.remove(pid)
