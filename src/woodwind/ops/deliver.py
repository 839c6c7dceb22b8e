"""Bringing a text to an agent's terminal: as one paste, then Enter, until the agent has taken it.

Never into a shell, a question or a dead pane. The turn is written down before the paste, so that a delivery which died
halfway can be explained.
"""

import time

from woodwind.agents import registry as agents, screens
from woodwind.agents.base import Agent
from woodwind.base import paths
from woodwind.base.clock import new_id, now, to_ms
from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked, locked
from woodwind.base.processes import environment_of
from woodwind.model.errors import Refused, TimedOut, UsageError
from woodwind.model.status import Phase, Status
from woodwind.model.text import clean, one_line
from woodwind.model.turn import MESSAGE, State, Turn, same_prompt
from woodwind.model.typed import NamedTuple
from woodwind.model.worker import SHELL, Worker
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.ops.keep_turn import keep_turn
from woodwind.ops.observe import Sight, look
from woodwind.ops.terminal import is_ours, require_terminal
from woodwind.store import listing, terminals, turns, workers

# The code of the error where a message was typed, and nothing shows that the agent took it.
NOT_CONFIRMED = "not_confirmed"
# Some agents lose an Enter that comes within 50 ms of a paste; after 0.3 s none did.
BEFORE_ENTER = 0.3
MOST_TEXT = 1 << 20
# How long an agent may take until it can be written to, and until it has taken what it was given.
READY_PATIENCE = 60.0
TAKEN_PATIENCE = 30.0
# An Enter that nothing on the screen answered within this time was swallowed.
_AGAIN_AFTER = 2.0
_LOOK_EVERY = 0.1
_UNREADABLE = 0.5
_DRAWING = 1.0
_LINES = 60
_LAST = 60  # so much of a message's last line is looked for on the screen


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
    return mux, pane


def sight_of(ctx: Context, worker: Worker) -> Sight:
    """What a worker is doing now."""
    row = next(row for row in listing.rows(ctx.store, worker.project) if row.id == worker.id)
    return look(ctx, [row])[row.id]


def deliver(ctx: Context, worker: Worker, text: str, *, kind: str = MESSAGE) -> str:
    """Give an agent a message and return the id of its turn, once the agent has taken it."""
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
            _await_input(ctx, worker)
            turn = _deliver(ctx, worker, mux, pane, message, kind)
            current = workers.find(ctx.store, worker.id)
            if current and current.phase == Phase.PAUSED:
                with ctx.store.transaction() as db:
                    workers.set_phase(db, worker.id, Phase.RUNNING)
            return turn
    except Locked:
        raise Refused(f"another message is being delivered to {worker.name}", code="busy", hint="Try again.") from None


def _await_input(ctx: Context, worker: Worker) -> None:
    """Wait until the agent is up; Refused when it shows a question, which the message would answer."""
    deadline = time.monotonic() + READY_PATIENCE
    while True:
        status = sight_of(ctx, worker).verdict
        if status.status is Status.ASKING:
            raise Refused(
                f"{worker.name} is asking a question: {one_line(status.detail, 200)}",
                code="asking",
                hint=f"A message would be taken for the answer. Answer it: ww answer {worker.name} allow|deny|TEXT",
            )
        if status.status is Status.EXITED:
            raise Refused(
                f"{worker.name} has exited {status.detail}".rstrip(),
                code="exited",
                hint=f"Start it again: ww resume {worker.name}",
            )
        if status.status is not Status.STARTING or time.monotonic() > deadline:
            return
        ctx.say(f"waiting for {worker.name} to start")
        time.sleep(_LOOK_EVERY)


class _Delivery(NamedTuple):
    """One delivery that is under way."""

    worker: Worker
    agent: Agent
    mux: Mux
    pane: Pane
    turn: Turn
    before: Status
    text: str  # as it was pasted
    untouched: str  # what the terminal showed before


def _deliver(ctx: Context, worker: Worker, mux: Mux, pane: Pane, message: str, kind: str) -> str:
    agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
    terminal = terminals.find(ctx.store, worker.id)
    before = sight_of(ctx, worker).verdict.status
    draft = _draft(agent, mux, pane)
    with ctx.store.transaction() as db:
        number, nonce = turns.next_number(db, worker.id), terminal.nonce if terminal else ""
        turn = Turn(new_id("t"), number, kind, message, State.SENDING, "", nonce, to_ms(now()))
        turns.save(db, worker.id, turn)
    failpoint("deliver.after_turn")
    if draft:
        ctx.notes.append(f"somebody had typed in the terminal of {worker.name}; the message stands after: {draft}")
    text = f"\n{message}" if draft else message
    untouched = mux.text(pane, lines=_LINES)
    mux.paste(pane, text)
    failpoint("deliver.after_paste")
    time.sleep(BEFORE_ENTER)
    if screens.rules_of(agent.name):
        _see_typed(mux, pane, text, untouched)
    shown = _drawn(mux, pane)
    mux.press(pane, "Enter")
    failpoint("deliver.after_enter")
    _await_taken(ctx, _Delivery(worker, agent, mux, pane, turn, before, text, untouched), shown)
    return turn.id


def _see_typed(mux: Mux, pane: Pane, text: str, untouched: str) -> None:
    """Paste again while nothing on the screen has changed: some agents draw their input line before they listen."""
    began = pasted = time.monotonic()
    while mux.text(pane, lines=_LINES) == untouched and time.monotonic() - began < TAKEN_PATIENCE:
        if time.monotonic() - pasted > _AGAIN_AFTER:
            pasted = time.monotonic()
            mux.paste(pane, text)
        time.sleep(_LOOK_EVERY)


def _drawn(mux: Mux, pane: Pane) -> str:
    """What the terminal shows once it is drawn: twice the same, or after a second."""
    shown, began = mux.text(pane, lines=_LINES), time.monotonic()
    while time.monotonic() - began < _DRAWING:
        time.sleep(_LOOK_EVERY / 2)
        again = mux.text(pane, lines=_LINES)
        if again == shown:
            break
        shown = again
    return shown


def _await_taken(ctx: Context, delivery: _Delivery, shown: str) -> None:
    """Wait until the agent has taken it, and press Enter again where the first was swallowed."""
    worker, mux, pane, turn = delivery.worker, delivery.mux, delivery.pane, delivery.turn
    began = pressed = time.monotonic()
    while True:
        sight = sight_of(ctx, worker)
        current = turns.find(ctx.store, turn.id)
        if current and current.state is not State.SENDING:
            return
        waited = time.monotonic() - began
        if not delivery.agent.tells_submits and _seems_taken(delivery, sight, shown, waited):
            _settle(ctx, worker, turn._replace(state=State.RUNNING))
            return
        if sight.verdict.status is Status.EXITED or waited > TAKEN_PATIENCE:
            why = "it was typed, and the agent did not tell that it took it"
            if _settle(ctx, worker, turn._replace(state=State.UNKNOWN, ended_at=to_ms(now()), why=why)):
                raise _not_taken(worker, sight)
            return
        quiet = sight.verdict.status in (Status.READY, Status.UNKNOWN)
        if quiet and time.monotonic() - pressed > _AGAIN_AFTER:
            pressed = time.monotonic()
            now_shown = mux.text(pane, lines=_LINES)
            # Only where nothing has answered the first one: a second might answer a question by accident.
            if now_shown == shown or _draft(delivery.agent, mux, pane):
                mux.press(pane, "Enter")
            elif _was_lost(delivery, now_shown):
                mux.paste(pane, delivery.text)
                time.sleep(BEFORE_ENTER)
                mux.press(pane, "Enter")
        time.sleep(_LOOK_EVERY)


def _seems_taken(delivery: _Delivery, sight: Sight, shown: str, waited: float) -> bool:
    """Whether the terminal of an agent that tells nothing shows that it took the message."""
    if sight.verdict.status is Status.WORKING and delivery.before is not Status.WORKING:
        return True
    if delivery.agent.keeps_record and delivery.before is not Status.WORKING:
        return _is_recorded(delivery)
    rules = screens.rules_of(delivery.agent.name)
    if rules and rules.draft:
        return not _draft(delivery.agent, delivery.mux, delivery.pane)
    # Of a program that shows nothing that could be read, no more can be known than that it was typed.
    return waited > _UNREADABLE or delivery.mux.text(delivery.pane, lines=_LINES) != shown


def _is_recorded(delivery: _Delivery) -> bool:
    """Whether the message stands in the agent's own record; where that cannot be read, whether it was sent off."""
    tree, pane = delivery.worker.worktree, delivery.pane
    told = delivery.agent.recorded(environment_of(pane.pid), tree.path, delivery.turn.begun_at)
    if told is None:
        return not _draft(delivery.agent, delivery.mux, pane)
    return any(same_prompt(delivery.turn.text, prompt) for prompt in told.prompts)


def _was_lost(delivery: _Delivery, shown: str) -> bool:
    """Whether the input line is shown without the message, which is not above it: a starting agent may draw it anew."""
    rules = screens.rules_of(delivery.agent.name)
    if not rules or not delivery.agent.keeps_record or not screens.has_input_line(rules, shown):
        return False
    last = delivery.text.rstrip().splitlines()[-1].strip()[:_LAST]
    return shown.count(last) <= delivery.untouched.count(last)


def _settle(ctx: Context, worker: Worker, settled: Turn) -> bool:
    """Write down what became of a turn, unless the agent itself has told meanwhile; whether it had not."""
    with ctx.store.transaction() as db:
        if turns.state_of(db, settled.id) is not State.SENDING:
            return False
        keep_turn(db, worker.project, worker.id, settled)
    return True


def _not_taken(worker: Worker, sight: Sight) -> TimedOut:
    ended = f", which has exited {sight.verdict.detail}" if sight.verdict.status is Status.EXITED else ""
    return TimedOut(
        f"the message was typed into the terminal of {worker.name}{ended}, but nothing shows that the agent took it",
        code=NOT_CONFIRMED,
        hint=f"It may stand in its input line. Look: ww attach {worker.name}",
    )


def _draft(agent: Agent, mux: Mux, pane: Pane) -> str:
    """What stands in the agent's input line, as far as its screen can be read."""
    rules = screens.rules_of(agent.name)
    return one_line(screens.draft_of(rules, mux.text(pane, lines=_LINES)), 80) if rules and rules.draft else ""


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
