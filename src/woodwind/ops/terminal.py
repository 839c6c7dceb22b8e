"""A worker's terminal as it is now: found by its tag, told apart by its process."""

from woodwind.base.processes import start_time
from woodwind.model.errors import NotFound
from woodwind.model.worker import Worker
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.store import terminals


def known_servers(ctx: Context) -> list[Mux]:
    """Every server that a terminal of ours may be on: where some were started, our own, and the caller's."""
    own = muxes.own_socket(ctx.loaded_config.config.tmux.socket)
    sockets = terminals.servers(ctx.store) | {own, muxes.Surroundings(ctx.environ).socket}
    return [muxes.at(s) for s in sorted(sockets) if s]


def find_pane(ctx: Context, worker: str) -> tuple[Mux, Pane] | None:
    """The worker's pane and its server, or None when it has no terminal any more."""
    for mux in known_servers(ctx):
        for pane in mux.panes():
            if pane.worker == worker:
                return mux, pane
    return None


def require_pane(ctx: Context, worker: Worker) -> tuple[Mux, Pane]:
    """The worker's pane and its server; an error when it has none."""
    found = find_pane(ctx, worker.id)
    if not found:
        raise NotFound(
            f"{worker.name} has no terminal: it was closed, or its tmux server has ended",
            code="no_terminal",
            hint=f"Its work is safe in {worker.worktree.path}.",
        )
    return found


def is_ours(ctx: Context, worker: str, pane: Pane) -> bool:
    """Whether the pane still runs the process that we started in it."""
    terminal = terminals.find(ctx.store, worker)
    return terminal is not None and terminal.pid == pane.pid and start_time(pane.pid) == terminal.pid_start
