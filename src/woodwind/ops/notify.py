"""Telling people: what happened goes into the outbox with the cursor, and from there to each way once.

A letter is handed over by a small shell that makes a folder with the letter's id and then becomes the program. Making a
folder succeeds once, whoever tries and whoever is killed meanwhile; so a letter is neither lost nor told twice.
"""

import contextlib
import json
import os
from collections.abc import Sequence

from woodwind.base import paths
from woodwind.base.clock import days_ago, from_ms, now, to_ms
from woodwind.base.failpoints import failpoint
from woodwind.base.files import make_private_dir
from woodwind.base.run import find_program, run
from woodwind.config.schema import Notify
from woodwind.model.errors import WoodwindError
from woodwind.model.notice import notice_of
from woodwind.muxes import registry as muxes
from woodwind.muxes.tmux.messages import clients, message
from woodwind.ops.context import Context
from woodwind.store import events, outbox, projects, terminals, workers
from woodwind.store.events import EventRow
from woodwind.store.outbox import Letter

READER = "notify"
_TMUX = "tmux:"
# Whoever was away for longer reads `ww ls`, not yesterday's messages.
_OLD_MS = 60 * 60 * 1000
_KEPT_DAYS = 7
_PATIENCE = 30.0
_HANDED_BEFORE = 75
_HAND_OVER = f'mkdir -- "$1" 2>/dev/null || exit {_HANDED_BEFORE}; shift; exec "$@"'


def take_events(ctx: Context) -> int:
    """Put what people are to be told of new events into the outbox; return how many letters that were."""
    count = 0
    while new := events.since(ctx.store, outbox.cursor(ctx.store, READER)):
        count += _take(ctx, new)
        failpoint("notify.after_take")
    return count


def _take(ctx: Context, new: list[EventRow]) -> int:
    settings = ctx.loaded_config.config.notify
    ways = _ways(ctx, settings) if settings.on else []
    names = projects.names(ctx.store)
    count = 0
    with ctx.store.transaction() as db:
        for event in new:
            name = workers.name_of(ctx.store, event.worker) if event.worker else ""
            notice = notice_of(event.kind, event.data, name or event.worker)
            if notice is None or notice.kind not in settings.events:
                continue
            content = {
                "kind": notice.kind,
                "text": notice.text,
                "worker": event.worker,
                "name": name,
                "project": event.project,
                "project_name": names.get(event.project, ""),
                "event": event.kind,
                "cursor": event.seq,
                "at": from_ms(event.at).isoformat(),
            }
            for way in ways:
                outbox.add(db, event=event.seq, way=way, worker=event.worker, at=event.at, content=content)
                count += 1
        outbox.set_cursor(db, READER, new[-1].seq)
    return count


def _ways(ctx: Context, settings: Notify) -> list[str]:
    found = ["desktop"] if settings.desktop and _desktop_program() else []
    if settings.command:
        found.append("command")
    if settings.tmux:
        headless = muxes.headless().server
        found += [f"{_TMUX}{server}" for server in sorted(terminals.servers(ctx.store)) if server != headless]
    return found


def hand_out(ctx: Context) -> list[str]:
    """Tell people what waits; return what went wrong on the way."""
    letters = outbox.waiting(ctx.store)
    problems: list[str] = []
    if letters:
        make_private_dir(paths.outbox_dir())
    for letter in letters:
        state, problem = _hand_over(ctx, letter)
        if problem:
            problems.append(problem)
        if state:
            failpoint("notify.after_hand_over")
            outbox.set_state(ctx.store, letter.id, state)
            failpoint("notify.after_mark")
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(paths.outbox_dir(), letter.id))
    _tidy(ctx)
    return problems


def _hand_over(ctx: Context, letter: Letter) -> tuple[str, str]:
    """What became of a letter ("" when it still waits), and what went wrong."""
    settings = ctx.loaded_config.config.notify
    if not settings.on or to_ms(now()) - letter.at > _OLD_MS or (settings.quiet and _is_watched(ctx, letter.worker)):
        return "dropped", ""
    argv, data = _program(settings, letter)
    if not argv:
        return "dropped", ""
    marker = os.path.join(paths.outbox_dir(), letter.id)
    failpoint("notify.before_hand_over")
    try:
        words = ["sh", "-c", _HAND_OVER, "sh", marker, *argv]
        done = run(words, input=data, timeout=_PATIENCE, ok=None, env=ctx.environ)
    except WoodwindError as error:
        return ("failed" if os.path.isdir(marker) else ""), error.message
    if done.code == _HANDED_BEFORE:
        return ("sent", "") if os.path.isdir(marker) else ("", f"{marker} cannot be made")
    if done.code:
        return "failed", f"{letter.way.partition(':')[0]}: {done.complaint or f'exit status {done.code}'}"
    return "sent", ""


def _program(settings: Notify, letter: Letter) -> tuple[Sequence[str], bytes]:
    """The program that tells it, with its input; none where nobody is there any more."""
    text = str(letter.content["text"])
    title = f"Woodwind: {letter.content['project_name']}" if letter.content["project_name"] else "Woodwind"
    if letter.way == "command" and settings.command:
        return ["sh", "-c", settings.command], json.dumps(letter.content | {"id": letter.id}).encode() + b"\n"
    if letter.way == "desktop":
        program = _desktop_program()
        if os.path.basename(program) == "notify-send":
            urgency = "critical" if letter.content["kind"] == "asking" else "normal"
            return [program, "--app-name=Woodwind", f"--urgency={urgency}", "--", title, text], b""
        return ([program, "-title", title, "-message", text] if program else []), b""
    if letter.way.startswith(_TMUX) and settings.tmux:
        server = letter.way.removeprefix(_TMUX)
        attached = clients(server)
        return message(server, attached, text) if attached else ([], b"")
    return [], b""


def _desktop_program() -> str:
    return find_program("notify-send") or find_program("terminal-notifier")


def _is_watched(ctx: Context, worker: str) -> bool:
    """Whether somebody looks at this worker's terminal right now."""
    terminal = terminals.find(ctx.store, worker) if worker else None
    if terminal is None or terminal.server == muxes.headless().server:
        return False
    return any(client.worker == worker for client in clients(terminal.server))


def _tidy(ctx: Context) -> None:
    """Forget what was settled long ago, and the marks of letters that are settled."""
    outbox.forget(ctx.store, to_ms(days_ago(_KEPT_DAYS)))
    try:
        marks = os.listdir(paths.outbox_dir())
    except FileNotFoundError:
        return
    if marks:
        open_letters = {letter.id for letter in outbox.waiting(ctx.store)}
        for mark in marks:
            if mark not in open_letters:
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.join(paths.outbox_dir(), mark))
