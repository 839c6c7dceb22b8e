"""Where the agent shows itself: a terminal in raw mode, or plain output where there is none.

Both offer the same few things: `show` a line, `status` (the line that says it works), `title`, and `wait`,
the one place where the program sleeps: it wakes for keys, signals, ended children and given descriptors.
"""

from __future__ import annotations

import os
import re
import select
import signal
import termios
from collections.abc import Callable, Iterable

from woodwind.testing.rehearsal.keys import Key, KeyReader

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# An Esc key and the start of a sequence look alike; a sequence's other bytes come at once.
_ESCAPE_SECONDS = 0.05
_TITLE_LENGTH = 80
_STYLES = {"": "", "dim": "\x1b[2m", "red": "\x1b[31m", "bold": "\x1b[1m", "yellow": "\x1b[33m"}


class Leave(BaseException):
    """The program ends now, from wherever it is: its exit status, and the reason as the hooks name it."""

    def __init__(self, status: int, reason: str = "other") -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


def printable(text: str) -> str:
    """The text without control characters except line ends and tabs: it must not drive the terminal."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n"))


def one_line(text: str, length: int) -> str:
    """The text as one printable line of at most this many characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= length else line[: length - 1] + "…"


class Plain:
    """Plain output, and no keys: for scripts, and wherever there is no terminal."""

    interactive = False

    def __init__(self) -> None:
        self.on_key: Callable[[Key], None] = lambda key: None
        self._wake, writer = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(writer, False)
        # A signal's handler alone would not end a sleep in select; its byte in this pipe does.
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._interrupts = 0
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGTERM, self._terminate)
        signal.signal(signal.SIGHUP, self._terminate)

    def show(self, text: str, style: str = "") -> None:
        """Adds a text to the transcript."""
        self._write((printable(text) + "\n").encode("utf-8", "replace"))

    def raw(self, data: bytes) -> None:
        """Adds bytes to the transcript as they are."""
        self._write(data)

    def status(self, text: str) -> None:
        """Says what is going on now, where there is a place for it."""

    def draft(self, text: str) -> None:
        """Shows what was typed so far, where typing is possible."""

    def title(self, text: str) -> None:
        """Sets the terminal's title, where there is one."""

    def close(self) -> None:
        """Gives the terminal back as it was found."""

    def leaving(self) -> None:
        """Signals no longer count: the program is about to end anyway."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Not SIG_IGN, which the last hook's command would inherit.
            signal.signal(number, lambda number, frame: None)

    def wait(self, seconds: float | None, readers: Iterable[int] = (), writers: Iterable[int] = ()) -> set[int]:
        """The given descriptors that are ready now; empty after the time, a key or a signal."""
        ready = self._select([self._wake, *readers], list(writers), seconds)
        return ready - {self._wake}

    def _select(self, readers: list[int], writers: list[int], seconds: float | None) -> set[int]:
        readable, writable, _ = select.select(readers, writers, [], seconds)
        if self._wake in readable:
            try:
                os.read(self._wake, 4096)
            except BlockingIOError:
                pass
        while self._interrupts:
            self._interrupts -= 1
            self.on_key(("interrupt", ""))
        return {*readable, *writable}

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(1, view) :]
        except BrokenPipeError:
            raise Leave(128 + signal.SIGPIPE) from None
        except OSError:
            raise Leave(128 + signal.SIGHUP) from None

    def _interrupt(self, number: int, frame: object) -> None:
        # Only counted here: a handler may run in the middle of a drawing.
        self._interrupts += 1

    def _terminate(self, number: int, frame: object) -> None:
        # Raised rather than noted, because a write to a terminal that nobody reads would never return.
        self.leaving()
        raise Leave(128 + number)


class Terminal(Plain):
    """A terminal in raw mode: transcript above; at the bottom a status line and the line being typed."""

    interactive = True

    def __init__(self) -> None:
        super().__init__()
        self._keys = KeyReader()
        self._bottom: list[str] = []
        self._drawn = 0
        self._status = ""
        self._draft = ""
        self._found = termios.tcgetattr(0)
        mode = termios.tcgetattr(0)
        mode[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON | termios.ISTRIP | termios.BRKINT)
        # Ctrl-C comes as a key, in order with the rest, and does not reach a command that is running.
        mode[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        # Not "flush": what was typed before the agent had started is kept.
        termios.tcsetattr(0, termios.TCSANOW, mode)
        self._write(b"\x1b[?2004h")

    def show(self, text: str, style: str = "") -> None:
        """Adds a text to the transcript, above the bottom lines."""
        start = _STYLES[style]
        body = start + printable(text) + ("\x1b[0m" if start else "") + "\n"
        self._paint(body.encode("utf-8", "replace"), self._bottom)

    def raw(self, data: bytes) -> None:
        """Adds bytes to the transcript as they are; they should end a line."""
        self._paint(data, self._bottom)

    def status(self, text: str) -> None:
        """Replaces the status line; an empty text removes it."""
        self._status = text
        self._draw_bottom()

    def draft(self, text: str) -> None:
        """Replaces the line being typed."""
        self._draft = text
        self._draw_bottom()

    def title(self, text: str) -> None:
        """Sets the pane's title."""
        self._write(f"\x1b]2;{one_line(text, _TITLE_LENGTH)}\x07".encode("utf-8", "replace"))

    def close(self) -> None:
        """Ends bracketed paste and restores the terminal's mode; never waits for a terminal that is gone."""
        try:
            if select.select([], [1], [], 0.2)[1]:
                self._write(b"\r\n\x1b[?2004l")
            termios.tcsetattr(0, termios.TCSANOW, self._found)
        except (Leave, OSError, termios.error):
            pass

    def wait(self, seconds: float | None, readers: Iterable[int] = (), writers: Iterable[int] = ()) -> set[int]:
        """The given descriptors that are ready now; keys that came meanwhile have gone to `on_key`."""
        escape = self._keys.in_escape
        if escape:
            seconds = _ESCAPE_SECONDS if seconds is None else min(seconds, _ESCAPE_SECONDS)
        ready = self._select([self._wake, 0, *readers], list(writers), seconds)
        if 0 in ready:
            try:
                data = os.read(0, 65536)
            except OSError:
                data = b""
            if not data:
                raise Leave(128 + signal.SIGHUP)
            for key in self._keys.feed(data):
                self.on_key(key)
        elif escape and not ready:
            self._keys.drop_escape()
        return ready - {self._wake, 0}

    def _draw_bottom(self) -> None:
        width = max(8, os.get_terminal_size(1).columns - 1)
        typed = _tail(printable(self._draft).replace("\n", "⏎").replace("\t", " "), width - 2)
        lines = [one_line(self._status, width)] if self._status else []
        lines.append(f"› {typed}")
        if lines != self._bottom or self._drawn != len(lines):
            self._paint(b"", lines)

    def _paint(self, body: bytes, bottom: list[str]) -> None:
        # One write, so that no half-drawn screen is ever seen.
        up = f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else ""
        erase = f"\r{up}\x1b[J" if self._drawn else ""
        self._bottom, self._drawn = bottom, len(bottom)
        self._write(erase.encode() + body + "\n".join(bottom).encode("utf-8", "replace"))


def _tail(text: str, width: int) -> str:
    # Anything that may be two cells wide counts as two, so that the line never wraps.
    for start in range(len(text) - 1, -1, -1):
        width -= 1 if ord(text[start]) < 0x1100 else 2
        if width < 1:
            return "…" + text[start + 1 :]
    return text
