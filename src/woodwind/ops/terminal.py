"""A worker's terminal as it is now: found by its tag, told apart by its process."""

import os

from woodwind.base import paths
from woodwind.base.files import make_private_dir, write_atomic
from woodwind.base.processes import start_time
from woodwind.model.errors import NotFound, Refused, WoodwindError
from woodwind.model.worker import HEADLESS, Worker
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.store import terminals

SCROLLBACK = 20_000


def known_servers(ctx: Context) -> list[Mux]:
    """Every server that a terminal of ours may be on: where some were started, our own, and the caller's."""
    own = muxes.own_socket(ctx.loaded_config.config.tmux.socket)
    sockets = terminals.servers(ctx.store) | {own, muxes.Surroundings(ctx.environ).socket, muxes.headless().server}
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
            hint=f"Its work is safe in {worker.worktree.path}. To start its agent again: ww resume {worker.name}",
        )
    return found


def require_terminal(ctx: Context, worker: Worker, *, why: str) -> tuple[Mux, Pane]:
    """The worker's pane and its server; an error when it has none, or runs headless and cannot do what is wanted."""
    if worker.launch == HEADLESS:
        raise Refused(
            f"{worker.name} runs headless: it has no terminal, so it cannot {why}",
            code="headless",
            hint=f"Read its output: ww log {worker.name} --follow. "
            f"Once it has exited, give it more to do: ww resume {worker.name} --message TEXT",
        )
    return require_pane(ctx, worker)


def keep_text(worker: str, mux: Mux, pane: Pane) -> None:
    """Keep what a terminal shows, before it is closed, for `ww log`; of one that is gone by now there is nothing."""
    try:
        shown = mux.text(pane, lines=SCROLLBACK)
    except WoodwindError:
        if any(other.id == pane.id for other in mux.panes()):
            raise
        return
    folder = paths.worker_dir(worker)
    make_private_dir(folder)
    write_atomic(os.path.join(folder, "terminal.log"), shown.encode("utf-8", "replace"))


def is_ours(ctx: Context, worker: str, pane: Pane) -> bool:
    """Whether the pane still runs the process that we started in it."""
    terminal = terminals.find(ctx.store, worker)
    return terminal is not None and terminal.pid == pane.pid and start_time(pane.pid) == terminal.pid_start
