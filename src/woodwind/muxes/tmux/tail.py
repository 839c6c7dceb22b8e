"""Being told at once when a pane prints, without asking it again and again and without control mode."""

import contextlib
import os
import tempfile

from woodwind.base.processes import start_time
from woodwind.model.errors import WoodwindError
from woodwind.muxes.tmux.client import ask, literal


class Tail:
    """A pane's output as it comes: `fileno` becomes readable, `drain` empties it. Nothing where somebody pipes it."""

    def __init__(self, socket: str, pane: str, folder: str) -> None:
        self._socket = socket
        self._pane = pane
        self._parent = folder
        self._folder = ""
        self._fd = -1

    def open(self) -> bool:
        """Begin; False when the pane has a pipe of its user's already, or is gone."""
        try:
            if ask(self._socket, "display-message", "-p", "-t", self._pane, "#{pane_pipe}") != ["0"]:
                return False
            _sweep(self._parent)
            self._folder = tempfile.mkdtemp(prefix=f"tail-{os.getpid()}-", dir=self._parent)
            pipe = os.path.join(self._folder, "pipe")
            os.mkfifo(pipe, 0o600)
            self._fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            # A shell of tmux's reads this: the path is made of our own letters, and what is odd in it is quoted.
            quoted = "'" + pipe.replace("'", "'\\''") + "'"
            # To open a pipe for writing waits for a reader, and we may be gone by then; for both it never does. Then
            # only the writing end is kept, so that the shell's cat ends with its reader.
            command = f"exec 3<>{quoted} && exec cat >{quoted} 3>&-"
            ask(self._socket, "pipe-pane", "-O", "-t", self._pane, literal(command))
        except (OSError, WoodwindError):
            self.close()
            return False
        return True

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._fd

    def drain(self) -> bool:
        """Take all that was printed; False when the pipe has ended."""
        try:
            while data := os.read(self._fd, 1 << 16):
                if len(data) < 1 << 16:
                    return True
        except BlockingIOError:
            return True
        return False

    def close(self) -> None:
        """End it; the pane is as it was."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            with contextlib.suppress(WoodwindError):
                ask(self._socket, "pipe-pane", "-t", self._pane)
        if self._folder:
            _delete(self._folder)
            self._folder = ""


def _delete(folder: str) -> None:
    # Under another name first: a shell that comes late finds nothing, and cannot make a file in its place.
    gone = folder if folder.endswith("-gone") else f"{folder}-gone"
    with contextlib.suppress(OSError):
        os.rename(folder, gone)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(gone, "pipe"))
    with contextlib.suppress(OSError):
        os.rmdir(gone)


def _sweep(parent: str) -> None:
    """Delete what followers left behind that were killed."""
    for name in os.listdir(parent):
        process = name.split("-")[1] if name.startswith("tail-") else ""
        if process.isdecimal() and not start_time(int(process)):
            _delete(os.path.join(parent, name))
