"""Which colours the terminal gets: asked for, or found out by asking the terminal for its background."""

import os
import re
import select
import sys
import termios
import time
import tty
from collections.abc import Mapping

CHOICES = ("auto", "dark", "light", "dark-ansi", "light-ansi")
# Names of Textual's own themes. The ansi ones use the terminal's palette, whatever its user made of it.
_THEMES = {"dark": "textual-dark", "light": "textual-light", "dark-ansi": "ansi-dark", "light-ansi": "ansi-light"}
_PATIENCE = 0.15
_ANSWER = re.compile(rb"\x1b\]11;rgb:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")


def theme_for(choice: str, environ: Mapping[str, str], *, background: str = "") -> str:
    """The name of the theme for a choice; `auto` follows `background`, the terminal's answer or COLORFGBG.

    With NO_COLOR it is always one that paints no background of its own.
    """
    if choice == "auto":
        choice = "light" if (background or from_variable(environ)) == "light" else "dark"
    if environ.get("NO_COLOR"):
        choice = f"{choice.removesuffix('-ansi')}-ansi"
    return _THEMES[choice]


def from_variable(environ: Mapping[str, str]) -> str:
    """`light` or `dark` by COLORFGBG, `foreground;background` as some terminals set it; "" where it tells nothing."""
    last = environ.get("COLORFGBG", "").rpartition(";")[2]
    if not last.isdecimal():
        return ""
    return "light" if int(last) in (7, *range(9, 16)) else "dark"


def from_answer(answer: bytes) -> str:
    """`light` or `dark` by a terminal's answer about its background colour; "" where it is none."""
    found = _ANSWER.search(answer)
    if not found:
        return ""
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return "light" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "dark"


def ask_terminal(patience: float = _PATIENCE) -> str:
    """`light` or `dark` as the terminal tells within so many seconds; "" where it does not."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM", "dumb") == "dumb":
        return ""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    answer, deadline = b"", time.monotonic() + patience
    try:
        tty.setcbreak(fd)
        # The second question is one that every terminal answers: with its answer there is nothing more to wait for.
        os.write(sys.stdout.fileno(), b"\x1b]11;?\x1b\\\x1b[c")
        while (left := deadline - time.monotonic()) > 0 and not re.search(rb"\x1b\[\?[0-9;]*c", answer):
            if not select.select([fd], [], [], left)[0]:
                break
            answer += os.read(fd, 1024)
    except OSError:
        return ""
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)
    return from_answer(answer)
