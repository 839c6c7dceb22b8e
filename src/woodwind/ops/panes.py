"""The terminals of workers on all of their servers: listed once for many, read by one call each. Hot, as `ww ls` is."""

import contextlib
from collections.abc import Collection, Mapping, Sequence

from woodwind.base.processes import start_time
from woodwind.model.errors import WoodwindError
from woodwind.model.typed import NamedTuple
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Pane
from woodwind.store.listing import Listed

_SCREEN_LINES = 60


class Panes(NamedTuple):
    """A list of the panes on some servers, by worker, and the time of day at which it was asked for."""

    servers: Collection[str]
    of: Mapping[str, Pane]
    wall: int


def panes_of(servers: set[str], worker: str = "") -> dict[str, Pane]:
    """The live panes by worker, over all of these servers; only of one, where it is named."""
    return {pane.worker: pane for server in sorted(servers) for pane in muxes.at(server).panes(worker)}


def panes_for(rows: Sequence[Listed], listed: Panes | None) -> Panes:
    """The panes of these workers: as listed, where every agent in it still runs, and otherwise asked for now."""
    servers = {row.server for row in rows if row.server}
    if listed and all(_still_runs(row, listed.of.get(row.id)) for row in rows if row.server in listed.servers):
        rest = servers.difference(listed.servers)
        return Panes(servers, {**listed.of, **panes_of(rest)} if rest else listed.of, listed.wall)
    return Panes(servers, panes_of(servers, rows[0].id if len(rows) == 1 else ""), 0)


def _still_runs(row: Listed, pane: Pane | None) -> bool:
    return pane is not None and not pane.dead and row.pid == pane.pid and start_time(pane.pid) == row.pid_start


def screens_of(wanted: Sequence[tuple[Listed, Pane]]) -> dict[str, str]:
    """The text on each of these workers' screens, by one call per server."""
    found: dict[str, str] = {}
    for server in sorted({row.server for row, _ in wanted}):
        panes = [pane for row, pane in wanted if row.server == server]
        mux = muxes.at(server)
        try:
            found |= mux.texts(panes, lines=_SCREEN_LINES)
        except WoodwindError as error:
            if error.code not in ("tmux", "tmux_empty", "tmux_gone"):
                raise
            # One of them has just gone, perhaps with all the rest: the others are read one by one.
            for pane in panes:
                with contextlib.suppress(WoodwindError):
                    found[pane.worker] = mux.text(pane, lines=_SCREEN_LINES)
    return found
