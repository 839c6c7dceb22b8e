"""`ww attach`: bring a person to a worker's terminal."""

from woodwind.model.errors import UsageError
from woodwind.model.worker import Worker
from woodwind.muxes.registry import Surroundings
from woodwind.ops.context import Context
from woodwind.ops.terminal import require_terminal


def attach_argv(ctx: Context, worker: Worker) -> tuple[list[str], dict[str, str]]:
    """The program to become, with its environment, to be at the worker's terminal."""
    if not ctx.person:
        raise UsageError(
            "attaching needs a person at a terminal", hint=f"An agent or script reads with: ww log {worker.name}"
        )
    mux, pane = require_terminal(ctx, worker, why="be attached to")
    inside = Surroundings(ctx.environ).socket == mux.server
    env = dict(ctx.environ)
    if not inside:
        env.pop("TMUX", None)  # on another server than the one around us: a tmux within tmux
    return mux.attach_argv(pane, inside=inside), env
