"""Which multiplexer server a worker's terminal is on."""

import os
from collections.abc import Mapping

from woodwind.base import paths
from woodwind.base.run import find_program
from woodwind.model.errors import UsageError
from woodwind.muxes.base import HEADLESS, Mux
from woodwind.muxes.tmux.client import missing_tmux
from woodwind.muxes.tmux.server import Server, socket_path


class Surroundings:
    """The tmux that a command was called in, if any: its socket, and a target in its session."""

    __slots__ = ("session", "socket")

    def __init__(self, environ: Mapping[str, str]) -> None:
        socket, _, rest = environ.get("TMUX", "").partition(",")
        number = rest.rpartition(",")[2]
        self.socket = os.path.realpath(socket) if socket and os.path.exists(socket) else ""
        pane = environ.get("TMUX_PANE", "")
        known = pane if pane[:1] == "%" and pane[1:].isdecimal() else f"${number}" if number.isdecimal() else ""
        self.session = known if self.socket else ""


def own_socket(name: str) -> str:
    """The socket of our private server."""
    return socket_path(name)


def headless() -> Mux:
    """What runs without a terminal."""
    return at(HEADLESS + paths.headless_dir())


def at(server: str) -> Mux:
    """The server that a worker's terminal was started on."""
    if not server.startswith(HEADLESS):
        return Server(server)
    from woodwind.muxes.headless import Headless  # 0.3 ms, where something runs without a terminal

    return Headless(server.removeprefix(HEADLESS))


def choose(kind: str, own_name: str, around: Surroundings) -> tuple[Server, list[str]]:
    """The server for new terminals, with remarks where it is not the one that was asked for."""
    if not find_program("tmux"):
        raise missing_tmux()  # now, and not once there is something to undo, for which tmux is needed too
    own = Server(own_socket(own_name), private=True)
    if kind == "own" or (kind == "auto" and not around.socket):
        return own, []
    if not around.socket:
        raise UsageError(
            'tmux.server is "user", but this terminal is not in tmux',
            hint='Start tmux first, or set [tmux] server = "auto".',
        )
    if around.socket == own.server:
        return own, []
    user = Server(around.socket)
    if user.option("exit-unattached") == "on":
        return own, ["your tmux server ends when you detach (exit-unattached): the private server is used instead"]
    return user, []
