"""What there is to show, looked at anew whenever the daemon tells that something happened."""

import os
import threading
import time
from collections.abc import Callable

from woodwind.daemon.client import Connection, DaemonGone, ensure_daemon
from woodwind.daemon.protocol import request
from woodwind.model.errors import WoodwindError
from woodwind.ops.context import Context
from woodwind.ops.overview import Looker, Overview

_RETRY = 0.5
# Where no daemon may run, somebody has to look: as seldom as a person still calls live.
_WITHOUT_DAEMON = 2.0


class Feed:
    """Two threads: one listens to the daemon, one looks. Both end with the program."""

    def __init__(
        self,
        cwd: str,
        *,
        everywhere: bool,
        on_look: Callable[[Overview], None],
        on_trouble: Callable[[str], None],
    ) -> None:
        self._cwd = cwd
        self._looker = Looker(everywhere=everywhere)
        self._on_look = on_look
        self._on_trouble = on_trouble
        self._news = threading.Event()
        self._ended = False

    def start(self) -> None:
        """Begin; the first look comes at once."""
        self._news.set()
        for work in (self._look_on, self._listen):
            threading.Thread(target=work, daemon=True).start()

    def look_again(self) -> None:
        """Look as soon as possible."""
        self._news.set()

    def stop(self) -> None:
        """End both threads, the next time that they wake."""
        self._ended = True
        self._news.set()

    def _look_on(self) -> None:
        ctx: Context | None = None
        while not self._ended:
            self._news.wait()
            self._news.clear()
            if self._ended:
                break
            try:
                ctx = ctx or Context(self._cwd, os.environ, person=True)
                ctx.notes.clear()
                self._on_look(self._looker.look(ctx))
            except Exception as error:  # noqa: BLE001 - told on the screen, whatever it was; the next look may succeed
                self._on_trouble(error.message if isinstance(error, WoodwindError) else str(error))
                if ctx:
                    ctx.close()
                ctx = None
                time.sleep(_RETRY)
        if ctx:
            ctx.close()

    def _listen(self) -> None:
        told = False
        while not self._ended:
            try:
                with Connection() as daemon:
                    daemon.send(request("subscribe", since=None, project=""))
                    daemon.receive(5)
                    if told:
                        self._on_trouble("")
                    told = False
                    self._news.set()  # something may have happened while nobody listened
                    while not self._ended:
                        daemon.receive(None)
                        self._news.set()
            except WoodwindError as gone:
                if told or not isinstance(gone, DaemonGone):
                    time.sleep(_RETRY)
                if not ensure_daemon(os.environ):
                    time.sleep(_WITHOUT_DAEMON)
                    self._news.set()
                elif told:
                    self._on_trouble("the daemon has gone: starting it again")
                told = True
