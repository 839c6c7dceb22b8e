"""How tmux is told what to do: commands on a plain client's standard input, where no process list shows them.

Not control mode: tmux 3.3a (and, by reports, later ones) crashes when it has news for its control clients while
one of them is just connecting, and every session of the user's goes with it.
"""

import os
from collections.abc import Mapping, Sequence

from woodwind.base.run import RunFailed, run
from woodwind.model.errors import MissingTool, WoodwindError

# A server that is just starting first loads the user's configuration, plugins and all.
_PATIENCE = 60.0


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


def tell(socket: str, *commands: Sequence[str], env: Mapping[str, str] | None = None, start: bool = False) -> list[str]:
    """What the commands print; they end at the first that tmux refuses. With `start`, a server is started."""
    script = " ; ".join(" ".join([words[0], *map(quote, words[1:])]) for words in commands)
    how = ("start-server", ";") if start else ("-N",)
    argv = ["tmux", "-u", "-S", socket, *how] if start else ["tmux", "-u", *how, "-S", socket]
    return _run([*argv, "source-file", "-"], os.fsencode(f"{script}\n"), env)


def ask(socket: str, *words: str) -> list[str]:
    """What one command prints that has nothing to hide; the words are seen in the process list."""
    return _run(["tmux", "-u", "-N", "-S", socket, *words], b"", None)


def _run(argv: list[str], script: bytes, env: Mapping[str, str] | None) -> list[str]:
    try:
        return run(argv, env=env, input=script, timeout=_PATIENCE).text.splitlines()
    except RunFailed as error:
        complaint = error.done.complaint or error.done.text.strip()  # a mistake in the script is told on the other one
        signs = ("no server", "error connecting", "server exited", "lost server")
        gone = not complaint or any(sign in complaint for sign in signs)
        # No session is left: the server is about to end, or stays without any (`exit-empty off`).
        code = "tmux_gone" if gone else "tmux_empty" if "no current target" in complaint else "tmux"
        raise TmuxError(f"tmux: {complaint or 'the server went away'}", code=code) from None
    except MissingTool:
        raise missing_tmux() from None


def missing_tmux() -> MissingTool:
    """The error for a machine without tmux."""
    return MissingTool("tmux was not found", hint="Install tmux 3.2 or later, for example: apt install tmux")
