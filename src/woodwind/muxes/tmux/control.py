"""One control-mode connection: commands in, their replies out, in order."""

import os
import time
from collections.abc import Mapping, Sequence

from woodwind.base.run import Conversation
from woodwind.model.errors import TimedOut, WoodwindError

# A server that is just starting first loads the user's configuration, plugins and all.
_PATIENCE = 30.0


class TmuxError(WoodwindError):
    """tmux refused a command, or went away."""

    code = "tmux"


def quote(word: str) -> str:
    """`word` so that tmux's own parser reads it back unchanged: no expansion, no line end, no separator."""
    out = []
    for ch in word:
        if ch == "'":
            out.append("'\"'\"'")
        elif ch < " " or ch == "\x7f":
            out.append(f"'\"\\{ord(ch):03o}\"'")
        else:
            out.append(ch)
    return "'" + "".join(out) + "'"


def literal(text: str) -> str:
    """`text` for a place where tmux expands formats: `#(…)` there would run a command."""
    return text.replace("#", "##")


def _argument(word: str) -> str:
    """`word` for tmux's own command line, where a semicolon at a word's end would end the command."""
    return f"{word[:-1]}\\;" if word.endswith(";") else word


class Control:
    """A connection that was opened by a command which attaches it to a session of ours.

    It asks for no pane output and takes no part in sizing, so nobody notices it.
    """

    FLAGS = ("-E", "-f", "no-output,ignore-size")

    def __init__(self, socket: str, opening: Sequence[str], *, env: Mapping[str, str]) -> None:
        words = [_argument(word) for word in opening]
        self._talk = Conversation(["tmux", "-u", "-S", socket, "-C", *words], env=env, with_complaints=True)
        self._stray: list[str] = []
        try:
            self.opened = self._reply()
        except BaseException:
            self._talk.close()
            raise

    def command(self, *words: str) -> list[str]:
        """The lines that a command prints; TmuxError when tmux refuses it."""
        line = " ".join([words[0], *(quote(w) for w in words[1:])]) + "\n"
        try:
            self._talk.send(os.fsencode(line))
        except BrokenPipeError:
            raise self._gone() from None
        return self._reply()

    def _reply(self) -> list[str]:
        begin = b""
        body: list[str] = []
        while True:
            line = self._talk.line(_PATIENCE)
            if line is None:
                raise self._gone()
            if not begin:
                if line.startswith(b"%begin "):
                    begin = line[7:]
                elif not line.startswith(b"%"):
                    self._stray.append(os.fsdecode(line))
            elif line == b"%end " + begin:
                return body
            elif line == b"%error " + begin:
                raise TmuxError(f"tmux: {' '.join(body) or 'command refused'}")
            else:
                body.append(os.fsdecode(line))

    def _gone(self) -> TmuxError:
        return TmuxError("tmux: " + (" ".join(self._stray) or "the server went away"), code="tmux_gone")

    def close(self) -> None:
        """Detach."""
        self._talk.close()


class Watch:
    """A second connection that is told when a pane prints; only for a pane that someone looks at."""

    def __init__(self, socket: str, session: str, pane: str) -> None:
        flags = ("-E", "-f", "ignore-size,read-only")
        self._talk = Conversation(["tmux", "-u", "-S", socket, "-C", "attach-session", *flags, "-t", session])
        self._wanted = f"%output {pane} ".encode()

    def wait(self, timeout: float) -> bool:
        """Whether the pane printed within `timeout` seconds; False also when the server has gone."""
        deadline = time.monotonic() + timeout
        try:
            while (left := deadline - time.monotonic()) > 0:
                line = self._talk.line(left)
                if line is None:
                    return False
                if line.startswith(self._wanted):
                    return True
        except TimedOut:
            pass
        return False

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self._talk.close()
