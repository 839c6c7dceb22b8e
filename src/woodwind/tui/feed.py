"""What there is to show, looked at anew whenever the daemon tells that something happened."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable

from woodwind.daemon.client import Connection, DaemonGone, ensure_daemon
from woodwind.daemon.protocol import request
from woodwind.model.errors import WoodwindError
from woodwind.ops.context import Context
from woodwind.ops.overview import Looker, Overview
from woodwind.tui.due import Due

_RETRY = 0.5
_ANSWER = 5.0
_LOCKED = 2000  # milliseconds
_LATE = "the daemon does not start (see `ww daemon logs`): the rows are some seconds old"
# Where no daemon may run, somebody has to look: as seldom as a person still calls live.
_WITHOUT_DAEMON = 2.0
# After a look a rest as long as it took, and no longer than this: many events at once are one look.
_LONGEST_REST = 0.25


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
        self._troubles: dict[str, str] = {}
        self._due = Due()
        self._then: deque[Callable[[], None]] = deque()
        self._news = threading.Event()
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin; the first look comes at once."""
        self.look_again()
        for work in (self._look_on, self._listen):
            threading.Thread(target=work, daemon=True).start()

    def look_again(self, then: Callable[[], None] | None = None) -> None:
        """Look at everything as soon as possible; `then` is called, in a thread, when that was shown or has failed."""
        self._due.everything()  # first: a look that is not about everything must not answer for `then`
        if then:
            self._then.append(then)
        self._news.set()

    def stop(self) -> None:
        """End both threads, the next time that they wake."""
        self._ended.set()
        self._news.set()

    def _trouble(self, with_what: str, words: str) -> None:
        """Tell what is wrong with one of the two; "" when it is right again."""
        if self._troubles.get(with_what, "") != words:
            self._troubles[with_what] = words
            self._on_trouble("; ".join(filter(None, self._troubles.values())))

    def _look_on(self) -> None:
        ctx: Context | None = None
        while not self._ended.is_set():
            if not self._news.wait(self._due.patience):
                self._due.everything()
            if self._ended.is_set():
                break
            self._news.clear()
            began = time.monotonic()
            then = [self._then.popleft() for _ in range(len(self._then))]
            workers = self._due.take(began, self._looker.shown)
            try:
                ctx = ctx or self._context()
                ctx.notes.clear()
                seen = self._looker.look(ctx) if workers is None else self._looker.look_at(ctx, workers)
                self._due.has_remarks = bool(seen.notes)
                self._on_look(seen)
                self._trouble("look", "")
                _call_all(then)
                self._ended.wait(min(_LONGEST_REST, time.monotonic() - began))
            except Exception as error:  # noqa: BLE001 - told on the screen, whatever it was; the next look may succeed
                self._trouble("look", error.message if isinstance(error, WoodwindError) else str(error))
                if ctx:
                    ctx.close()
                ctx = None
                _call_all(then)
                self._ended.wait(_RETRY)
                self.look_again()
        if ctx:
            ctx.close()

    def _context(self) -> Context:
        ctx = Context(self._cwd, os.environ, person=True)
        # What a look finds out is written down by the daemon too: no need to wait long for a store that is locked.
        ctx.store.db.execute(f"PRAGMA busy_timeout = {_LOCKED}")
        return ctx

    def _listen(self) -> None:
        met, next_start, is_late = False, 0.0, False
        while not self._ended.is_set():
            try:
                with Connection() as daemon:
                    daemon.send(request("subscribe", since=None, project=""))
                    daemon.receive(_ANSWER)
                    met, next_start, is_late = True, 0.0, False
                    self._trouble("daemon", "")
                    self.look_again()  # something may have happened while nobody listened
                    while not self._ended.is_set():
                        event = daemon.receive(None)
                        self._due.after(str(event.get("kind", "")), str(event.get("worker", "")))
                        self._news.set()
            except DaemonGone:
                if self._ended.is_set():
                    return
                if met and not is_late:
                    self._trouble("daemon", "the daemon has gone: starting it again")
                if time.monotonic() < next_start:
                    self._ended.wait(_RETRY / 5)
                    continue
                if next_start:
                    is_late = True
                    self._trouble("daemon", _LATE)
                    self.look_again()
                if ensure_daemon(os.environ):
                    next_start = time.monotonic() + _ANSWER
                else:
                    self._ended.wait(_WITHOUT_DAEMON)
                    self.look_again()
            except WoodwindError as error:  # it is there, and does not answer
                self._trouble("daemon", error.message)
                self._ended.wait(_RETRY)


def _call_all(calls: list[Callable[[], None]]) -> None:
    """Make these calls, each once, whatever comes after."""
    while calls:
        calls.pop(0)()
