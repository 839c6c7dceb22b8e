"""People at a tmux server: who is attached, what they look at, and a line on their screens."""

import os
from typing import NamedTuple

from woodwind.model.errors import MissingTool
from woodwind.muxes.tmux.client import TmuxError, ask, literal, quote
from woodwind.muxes.tmux.server import TAG

# How long a message stays on the status line.
_SHOWN_MS = "6000"


class Client(NamedTuple):
    """Somebody's terminal at the server, and the worker whose pane it shows; "" for none of ours."""

    name: str
    worker: str


def clients(socket: str) -> list[Client]:
    """The terminals that are attached to a server; none when it does not run."""
    if not os.path.exists(socket):
        return []
    try:
        lines = ask(socket, "list-clients", "-F", f"#{{client_control_mode}}|#{{{TAG}}}|#{{client_name}}")
    except (TmuxError, MissingTool):
        return []
    parts = [line.split("|", 2) for line in lines]
    return [Client(name, worker) for control, worker, name in (p for p in parts if len(p) == 3) if control != "1"]


def message(socket: str, to: list[Client], text: str) -> tuple[list[str], bytes]:
    """The program, and its input, that shows a line to these clients; nothing in it is expanded."""
    plain = literal(text).replace("%", "%%")
    words = [("display-message", "-c", client.name, "-d", _SHOWN_MS, plain) for client in to]
    script = "\n".join(" ".join([verb, *map(quote, rest)]) for verb, *rest in words)
    return ["tmux", "-u", "-N", "-S", socket, "source-file", "-"], os.fsencode(f"{script}\n")
