"""What a person sees: colours only on a terminal, tables by hand, and a progress line that cleans up after itself."""

import os
import sys
import time

from woodwind.cli.report import report
from woodwind.model.text import clean, fit, width

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
STATUS_COLOURS = {
    "asking": "yellow",
    "working": "blue",
    "ready": "green",
    "exited": "red",
    "starting": "cyan",
    "unknown": "dim",
}


class Screen:
    """Standard output and error, for people."""

    def __init__(self, color: str = "auto") -> None:
        self._colors = color == "always" or (color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ)
        self._progress = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._began = 0.0
        self._shown = False

    def paint(self, text: str, *styles: str) -> str:
        """`text` in colours, where there are any."""
        if not self._colors or not styles:
            return text
        return f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m"

    def line(self, text: str = "") -> None:
        """One line of output."""
        sys.stdout.write(self.safe(text) + "\n")

    def safe(self, text: str) -> str:
        """`text` with no escape sequence but our own colours, whoever its words are from."""
        first, *painted = text.split("\x1b[") if self._colors else [text]
        out = clean(first)
        for part in painted:
            codes, end, words = part.partition("m")
            ours = end and codes.replace(";", "").isdecimal()
            out += f"\x1b[{codes}m{clean(words)}" if ours else clean(f"\x1b[{part}")
        return out

    def note(self, text: str) -> None:
        """A remark on standard error."""
        self.end_progress()
        report("note", text)

    def say(self, text: str) -> None:
        """What is being done now: shown on a terminal once the command takes long enough to be noticed."""
        now = time.monotonic()
        self._began = self._began or now
        if self._progress and now - self._began > 0.3:
            sys.stderr.write(f"\r\x1b[K{text} …")
            sys.stderr.flush()
            self._shown = True

    def stream(self, text: str) -> None:
        """Output of another program as it comes, on standard error, with nothing in it that could steer a terminal."""
        self.end_progress()
        sys.stderr.write(clean(text))
        sys.stderr.flush()

    def end_progress(self) -> None:
        """Take the progress line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

    def table(self, heads: list[str], rows: list[list[str]], *, styles: list[dict[int, str]] | None = None) -> None:
        """A table whose last column takes what room is left; `styles` colours single cells."""
        rows = [[clean(cell).replace("\n", " ") for cell in row] for row in rows]
        widths = [max(width(r[i]) for r in [heads, *rows]) for i in range(len(heads))]
        room = columns() - sum(w + 2 for w in widths[:-1])
        widths[-1] = max(10, min(widths[-1], room)) if sys.stdout.isatty() else widths[-1]
        for n, row in enumerate([heads, *rows]):
            cells = []
            for i, cell in enumerate(row):
                text = fit(cell, widths[i])
                padding = " " * (widths[i] - width(text)) if i < len(row) - 1 else ""
                style = (
                    ("dim",) if n == 0 else tuple(s for s in [(styles or [])[n - 1].get(i, "") if styles else ""] if s)
                )
                cells.append(self.paint(text, *style) + padding)
            self.line("  ".join(cells).rstrip())


def columns() -> int:
    """How wide the terminal is; 120 where there is none."""
    try:
        return os.get_terminal_size(1).columns
    except OSError:
        return 120


def age(seconds: float) -> str:
    """A span of time in one short word."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"
