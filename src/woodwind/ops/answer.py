"""`ww answer`: answer the question that an agent shows, and only that one."""

import time
from collections.abc import Sequence
from typing import Any

from woodwind.agents import registry as agents
from woodwind.agents.base import Agent
from woodwind.base import paths, spool
from woodwind.base.files import Locked, locked
from woodwind.model.errors import Refused, TimedOut, UsageError
from woodwind.model.reading import Tells
from woodwind.model.status import Status
from woodwind.model.text import clean, one_line
from woodwind.model.worker import Worker
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.ops.deliver import BEFORE_ENTER, check_takes_input, sight_of
from woodwind.ops.listing import told_question
from woodwind.ops.reaction import PATIENCE, await_reaction, write_reading
from woodwind.store import allowed, events

CHOICES = ("allow", "always", "deny")
# An agent tells of its question a moment before it has drawn it.
_DRAWN = 5.0
# And some drop the keys of the first moments: how long each press is given before the next.
_PATIENCE = (3.0, 3.0, 5.0)
_LINES = 60


def answer(ctx: Context, worker: Worker, text: str, *, question: str = "") -> dict[str, Any]:
    """Answer an agent's question by a choice or a text; refused where another question is shown by now."""
    reply = clean(text).strip()
    if not reply:
        raise UsageError("the answer is empty", hint=f"ww answer {worker.name} {'|'.join(CHOICES)}|TEXT")
    try:
        with locked(paths.lock_file(f"{worker.id}.delivery"), wait=False):
            return _answer(ctx, worker, reply, question)
    except Locked:
        raise Refused(f"something is being delivered to {worker.name}", code="busy", hint="Try again.") from None


def _answer(ctx: Context, worker: Worker, reply: str, wanted: str) -> dict[str, Any]:
    mux, pane = check_takes_input(ctx, worker)
    agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
    asked = told_question(sight_of(ctx, worker))
    if asked is None:
        raise Refused(
            f"{worker.name} is not asking anything",
            code="not_asking",
            hint=f"To give it a message: ww send {worker.name} TEXT",
        )
    if wanted and wanted != asked["id"]:
        raise Refused(
            f"{worker.name} shows another question by now: {one_line(asked['text'], 200)} ({asked['id']})",
            code="other_question",
            hint="Nothing was answered. Look at it, and answer that one.",
        )
    pressed = spool.now()
    if not _given(ctx, worker, mux, pane, agent, reply, asked["id"], pressed.up):
        raise TimedOut(
            f"{worker.name} still shows its question: {one_line(asked['text'], 200)}",
            code="not_confirmed",
            hint=f"Look at it: ww attach {worker.name}",
        )
    # Where it is the title that asked, the title tells what comes of it, which need not be work.
    if agent.tells_ends or not agent.status_from_title(pane.title):
        write_reading(ctx, worker, Tells.ANSWERED, pressed, asked["id"])
    with ctx.store.transaction() as db:
        if reply == "always" and asked["tool"]:
            allowed.add(db, worker.project, worker.agent, asked["tool"])
        data = {"question": asked["id"], "answer": reply[:500]}
        events.append(db, project=worker.project, worker=worker.id, kind="question.answered", data=data)
    return {"name": worker.name, "id": worker.id, "question": asked, "answer": reply}


def _given(
    ctx: Context, worker: Worker, mux: Mux, pane: Pane, agent: Agent, reply: str, question: str, since: int
) -> bool:
    """Press and type the answer; whether the question is gone. A choice is pressed again while it is still there."""

    def is_gone(patience: float = PATIENCE) -> bool:
        return await_reaction(
            ctx, worker, mux, pane, lambda status: status is not Status.ASKING, patience, answered=question, since=since
        )

    keys = _keys(agent, worker, mux, pane, reply)
    for patience in _PATIENCE:
        if keys:
            mux.press(pane, *keys)
        if reply not in CHOICES:
            mux.paste(pane, reply)
            time.sleep(BEFORE_ENTER)
            mux.press(pane, "Enter")
        if is_gone(patience):
            return True
        still = told_question(sight_of(ctx, worker))
        same = still is not None and still["id"] == question
        if reply not in CHOICES or not same or agent.answer_keys(reply, mux.text(pane, lines=_LINES)) != keys:
            break
    return is_gone()


def _keys(agent: Agent, worker: Worker, mux: Mux, pane: Pane, reply: str) -> Sequence[str]:
    """The keys that take a choice, or go before words, at the question that is shown; an error where it has none."""
    choice = reply in CHOICES
    deadline = time.monotonic() + (_DRAWN if agent.answers else 0)
    while True:
        screen = mux.text(pane, lines=_LINES)
        keys = agent.answer_keys(reply, screen) if choice else agent.words_keys(screen)
        if keys or (keys is not None and not choice):
            return keys
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    found = [name for name in CHOICES if agent.answer_keys(name, screen)]
    if agent.words_keys(screen) is not None:
        found.append("a text")
    known = f"It takes {', '.join(found)}. " if found else ""
    raise agent.cannot(f"be answered {reply[:40]!r} here", f"{known}Look at it: ww attach {worker.name}")
