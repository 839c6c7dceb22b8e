"""What daemon and clients say to each other: JSON objects, one a line, over a Unix socket.

The daemon greets first. A client sends one request, which carries its own version and schema. The daemon answers with
one object, or, to `subscribe`, with one object per event for as long as the connection lasts.
"""

import json

from woodwind import __version__
from woodwind.model.typed import Any
from woodwind.store.db import SCHEMA
from woodwind.store.events import EventRow

# Longer requests are nobody's.
MOST_REQUEST = 1 << 16


def greeting(pid: int) -> dict[str, Any]:
    """What the daemon says first."""
    return {"woodwind": __version__, "schema": SCHEMA, "pid": pid}


def request(op: str, **words: Any) -> dict[str, Any]:
    """What a client asks for."""
    return {"op": op, "version": __version__, "schema": SCHEMA, **words}


def is_newer(version: object, schema: object) -> bool:
    """Whether the other side is newer than we are; what makes no sense is not."""
    if not isinstance(version, str) or not isinstance(schema, int):
        return False
    return (schema, _parts(version)) > (SCHEMA, _parts(__version__))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() else 0 for part in version.split("."))


def event_object(event: EventRow) -> dict[str, Any]:
    """An event as it goes over the socket."""
    return event._asdict()


def line(value: dict[str, Any]) -> bytes:
    """An object as it goes over the socket."""
    return json.dumps(value).encode() + b"\n"


def parse(text: bytes) -> dict[str, Any]:
    """The object in a line; ValueError for anything else."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found
