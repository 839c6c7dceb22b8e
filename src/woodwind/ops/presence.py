"""Whether a person is at a worker's terminal: then automation leaves it alone."""

from collections.abc import Iterable

from woodwind.model.errors import WoodwindError
from woodwind.muxes import registry as muxes
from woodwind.ops.context import Context
from woodwind.store import terminals


def with_person(ctx: Context, workers: Iterable[str]) -> set[str]:
    """Those of the workers that a person has before them now."""
    wanted = set(workers)
    found: set[str] = set()
    for server in terminals.servers(ctx.store) if wanted else ():
        mux = muxes.at(server)
        try:
            windows = mux.watched()
            if windows:
                found |= {pane.worker for pane in mux.panes() if pane.window in windows}
        except WoodwindError:
            continue  # a server that just went away shows nothing to anybody
    return found & wanted
