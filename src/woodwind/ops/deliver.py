"""Bringing a text to an agent's terminal: as one paste, then Enter; never into a shell, a question or a dead pane."""

import time

from woodwind.agents import registry as agents
from woodwind.base import paths
from woodwind.base.files import Locked, locked
from woodwind.model.errors import Refused, UsageError
from woodwind.model.status import Phase, Status
from woodwind.model.text import clean
from woodwind.model.worker import SHELL, Worker
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.ops.terminal import is_ours, require_terminal
from woodwind.store import workers

# Some agents lose an Enter that comes within 50 ms of a paste; after 0.3 s none did.
_BEFORE_ENTER = 0.3
MOST_TEXT = 1 << 20


def check_takes_input(ctx: Context, worker: Worker) -> tuple[Mux, Pane]:
    """The pane of an agent that can be written to; Refused when it has exited, asks, or is not the agent."""
    mux, pane = require_terminal(ctx, worker, why="be sent a message")
    if worker.agent == SHELL:
        raise Refused(
            f"{worker.name} has a shell and no agent, which would run the message",
            code="not_the_agent",
            hint=f"To run a command in its folder: ww exec {worker.name} -- COMMAND",
        )
    if pane.dead:
        raise Refused(
            f"{worker.name} has exited with {pane.exit_status or 'an unknown status'}",
            code="exited",
            hint=f"Start it again: ww resume {worker.name}",
        )
    if not is_ours(ctx, worker.id, pane):
        raise Refused(
            f"another program runs in the terminal of {worker.name}, not its agent",
            code="not_the_agent",
            hint=f"Look at it: ww attach {worker.name}",
        )
    told = agents.find(worker.agent, ctx.loaded_config.config.agents).status_from_title(pane.title)
    if told and told[0] is Status.ASKING:
        raise Refused(
            f"{worker.name} is asking a question: {told[1]}",
            code="asking",
            hint=f"A message would be taken for the answer. Answer it: ww attach {worker.name}",
        )
    return mux, pane


def deliver(ctx: Context, worker: Worker, text: str) -> None:
    """Paste a message into the agent's terminal and press Enter."""
    message = clean(text).strip()
    if not message:
        raise UsageError("the message is empty")
    if len(message.encode()) > MOST_TEXT:
        raise UsageError(
            f"the message is longer than {MOST_TEXT >> 20} MB", hint="Put it into a file and name the file."
        )
    try:
        with locked(paths.lock_file(f"{worker.id}.delivery"), wait=False):
            mux, pane = check_takes_input(ctx, worker)
            paste_and_enter(mux, pane, message)
            current = workers.find(ctx.store, worker.id)
            if current and current.phase == Phase.PAUSED:
                with ctx.store.transaction() as db:
                    workers.set_phase(db, worker.id, Phase.RUNNING)
    except Locked:
        raise Refused(f"another message is being delivered to {worker.name}", code="busy", hint="Try again.") from None


def paste_and_enter(mux: Mux, pane: Pane, text: str) -> None:
    """One paste, a moment for the program to take it, and Enter."""
    mux.paste(pane, text)
    time.sleep(_BEFORE_ENTER)
    mux.press(pane, "Enter")


def wait_until_quiet(mux: Mux, pane: Pane, *, quiet: float = 1.0, patience: float = 30) -> None:
    """Wait until a program that was just started has drawn itself and then changed nothing for a while."""
    began = since = time.monotonic()
    shown = ""
    with mux.watch(pane) as watch:
        while time.monotonic() - began < patience:
            text = mux.text(pane, lines=200)
            if text != shown:
                shown, since = text, time.monotonic()
            elif text.strip() and time.monotonic() - since >= quiet:
                return
            watch.wait(0.25)
