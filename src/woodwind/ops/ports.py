"""The block of ports that each worker has for itself, for as long as it lives."""

import _socket  # `socket` on top of it would cost every `ww new` 2 ms
import errno
import sqlite3

from woodwind.model.errors import Refused
from woodwind.model.ports import is_free, starts
from woodwind.ops.context import Context
from woodwind.store import environments


def give(ctx: Context, db: sqlite3.Connection, worker: str) -> dict[str, str]:
    """Reserve a block that nobody has, inside a transaction; return the variables that tell of it."""
    port, ports = _choose(ctx, db, worker)
    environments.insert(db, worker, port=port, ports=ports)
    return _variables(port, ports)


def variables(ctx: Context, worker: str) -> dict[str, str]:
    """The variables that tell a worker's programs which ports are theirs."""
    found = environments.find(ctx.store, worker)
    if found:
        return _variables(found.port, found.ports)
    with ctx.store.transaction() as db:  # a store that was rebuilt: the hash most often gives the same block again
        return give(ctx, db, worker)


def reclaim(ctx: Context, db: sqlite3.Connection, worker: str) -> None:
    """Give a worker that comes back another block when its own was given to somebody else, inside a transaction."""
    found = environments.find(ctx.store, worker)
    if found and found.ports and not is_free(found.port, found.ports, environments.blocks(db, but=worker)):
        port, ports = _choose(ctx, db, worker)
        environments.set_ports(db, worker, port, ports)
        ctx.notes.append(f"its ports were given to another worker meanwhile: they now begin at {port}")


def _variables(port: int, ports: int) -> dict[str, str]:
    return {"WOODWIND_PORT": str(port), "WOODWIND_PORTS": str(ports)} if ports else {}


def _choose(ctx: Context, db: sqlite3.Connection, worker: str) -> tuple[int, int]:
    config = ctx.loaded_config.config.environment
    if not config.ports:
        return 0, 0
    first, last = max(1, config.port_from), min(65535, config.port_to)
    taken = environments.blocks(db, but=worker)
    for start in starts(worker, first, last, config.ports):
        if is_free(start, config.ports, taken) and all(map(_is_unused, range(start, start + config.ports))):
            return start, config.ports
    raise Refused(
        f"there are no {config.ports} free ports in a row between {first} and {last}",
        code="no_ports",
        hint="Prune the trash, or widen port_from and port_to, or set ports = 0, in [environment].",
    )


def _is_unused(port: int) -> bool:
    """Whether a server could listen on the port now."""
    for family, address in ((_socket.AF_INET, "0.0.0.0"), (_socket.AF_INET6, "::")):
        try:
            one = _socket.socket(family, _socket.SOCK_STREAM)
        except OSError:
            continue  # a machine without IPv6
        try:
            if family == _socket.AF_INET6:
                one.setsockopt(_socket.IPPROTO_IPV6, _socket.IPV6_V6ONLY, 1)
            one.bind((address, port))
        except OSError as error:
            if family == _socket.AF_INET or error.errno == errno.EADDRINUSE:
                return False
        finally:
            one.close()
    return True
