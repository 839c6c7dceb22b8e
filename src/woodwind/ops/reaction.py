"""What an agent does after keys were pressed in its terminal: awaited, and then written down as seen."""

import time
from collections.abc import Callable

from woodwind.agents import registry as agents, screens
from woodwind.base import spool
from woodwind.base.clock import now, to_ms
from woodwind.model.reading import Reading, Seen, Tells
from woodwind.model.status import Status
from woodwind.model.verdict import STATUS_OF
from woodwind.model.worker import Worker
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.ops.deliver import sight_of
from woodwind.store import readings, terminals

PATIENCE = 20.0
_LOOK_EVERY = 0.1
_LINES = 60
# A terminal that shows nothing which can be read, and has been still for so long, has taken the keys.
_STILL = 1.5


def await_reaction(
    ctx: Context,
    worker: Worker,
    mux: Mux,
    pane: Pane,
    gone: Callable[[Status], bool],
    patience: float = PATIENCE,
    *,
    answered: str = "",
    since: int = 0,
) -> bool:
    """Whether the agent left the state that it was in, as its terminal shows or as it tells by itself.

    `gone` says of a status whether it is another than the one that the keys were to end. An agent that has asked
    something else than `answered` has left it too, between two looks. `since` is when the keys were pressed, if
    not now.
    """
    agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
    rules = screens.rules_of(agent.name)
    pressed = since or spool.now().up
    shown, still, changed = mux.text(pane, lines=_LINES), time.monotonic(), False
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        sight = sight_of(ctx, worker)
        if sight.verdict.status is Status.EXITED or sight.pane is None:
            return True
        events = readings.of_starts(ctx.store, spool.now().boot, (worker.id,)).get(worker.id, readings.Known()).events
        if events and events[-1].up >= pressed:
            last = events[-1].reading
            if gone(STATUS_OF[last.tells]) or (answered and last.tells is Tells.ASKING and last.question != answered):
                return True
        title = agent.status_from_title(sight.pane.title)
        text = mux.text(pane, lines=_LINES)
        on_screen = screens.read(rules, text) if rules and not title else None
        if title or on_screen:
            status = title[0] if title else STATUS_OF[on_screen.tells] if on_screen else Status.UNKNOWN
            if gone(status):
                return True
        elif text != shown:
            shown, still, changed = text, time.monotonic(), True
        elif changed and time.monotonic() - still > _STILL:
            return True
        time.sleep(_LOOK_EVERY)
    return False


def shows_work(ctx: Context, worker: Worker, mux: Mux, pane: Pane) -> bool:
    """Whether the agent's terminal shows now that it works."""
    agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
    rules, sight = screens.rules_of(agent.name), sight_of(ctx, worker)
    title = agent.status_from_title(sight.pane.title) if sight.pane and not sight.pane.dead else None
    if title or sight.pane is None:
        return title is not None and title[0] is Status.WORKING
    on_screen = screens.read(rules, mux.text(pane, lines=_LINES)) if rules else None
    return on_screen is not None and STATUS_OF[on_screen.tells] is Status.WORKING


def write_reading(ctx: Context, worker: Worker, tells: Tells, clock: spool.Stamp, question: str = "") -> None:
    """Write down what our keys brought about, at the time of their press: what the agent told since comes after it."""
    terminal = terminals.find(ctx.store, worker.id)
    reading = Reading(tells, to_ms(now()), "delivery", question=question)
    with ctx.store.transaction() as db:
        readings.insert(db, worker.id, Seen(reading, clock.boot, clock.up, 0, terminal.nonce if terminal else ""))
