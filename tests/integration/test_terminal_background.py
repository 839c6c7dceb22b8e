"""Asking a terminal for its background: one that answers, one that talks nonsense, one that is silent."""

import os
import pty
import subprocess
import sys
import threading

import pytest

from woodwind.tui.themes import from_answer, from_variable, theme_for

ASK = "import sys; from woodwind.tui.themes import ask_terminal; print(f'<{ask_terminal(float(sys.argv[1]))}>')"
DEVICE = b"\x1b[?62;22c"
LIGHT, DARK = b"\x1b]11;rgb:ffff/fafa/f0f0\x1b\\", b"\x1b]11;rgb:1c1c/1c1c/1c1c\x07"


class Terminal:
    """A pseudo-terminal that gives the same answer to whatever asks it."""

    def __init__(self, answer: bytes) -> None:
        self._ours, self._theirs = pty.openpty()
        self._answer = answer
        self.heard = b""

    def ask(self, patience: str) -> str:
        """What `ask_terminal` finds out in this terminal."""
        argv = [sys.executable, "-c", ASK, patience]
        env = {**os.environ, "TERM": "xterm-256color"}
        process = subprocess.Popen(argv, stdin=self._theirs, stdout=self._theirs, stderr=self._theirs, env=env)
        os.close(self._theirs)
        answering = threading.Thread(target=self._talk)
        answering.start()
        assert process.wait(60) == 0
        answering.join(60)
        os.close(self._ours)
        return self.heard.rpartition(b"<")[2].partition(b">")[0].decode()

    def _talk(self) -> None:
        asked = False
        while b">" not in self.heard.rpartition(b"<")[2]:
            try:
                self.heard += os.read(self._ours, 1024)
            except OSError:  # the program has ended
                return
            if not asked and b"\x1b]11;?" in self.heard:
                asked = True
                os.write(self._ours, self._answer)


@pytest.mark.parametrize(
    "answer, found",
    [
        (LIGHT + DEVICE, "light"),
        (DARK + DEVICE, "dark"),
        (DEVICE, ""),
        (b"\x1b]11;rgb:zz/zz/zz\x1b\\hello" + DEVICE, ""),
        (b"\xff\xfe\x00nonsense", ""),
        (b"", ""),
    ],
)
def test_a_terminal_is_asked_and_never_waited_for_long(answer: bytes, found: str) -> None:
    # Who has said what it is has nothing more to say: only the others let the time pass.
    assert Terminal(answer).ask("60" if DEVICE in answer else "0.1") == found


def test_without_a_terminal_nobody_is_asked() -> None:
    done = subprocess.run([sys.executable, "-c", ASK, "60"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert done.stdout == b"<>\n"


@pytest.mark.parametrize("answer, found", [(LIGHT, "light"), (DARK, "dark"), (b"\x1b]11;rgb:/", ""), (b"", "")])
def test_answers_are_read(answer: bytes, found: str) -> None:
    assert from_answer(answer) == found


@pytest.mark.parametrize(
    "value, found",
    [("15;0", "dark"), ("0;15", "light"), ("0;default;7", "light"), ("x", ""), ("", ""), ("0;8", "dark")],
)
def test_colorfgbg_is_read(value: str, found: str) -> None:
    assert from_variable({"COLORFGBG": value}) == found


def test_themes() -> None:
    assert theme_for("auto", {}) == "textual-dark"
    assert theme_for("auto", {"COLORFGBG": "0;15"}) == "textual-light"
    assert theme_for("auto", {"COLORFGBG": "0;15"}, background="dark") == "textual-dark"
    assert theme_for("light-ansi", {}, background="dark") == "ansi-light"
