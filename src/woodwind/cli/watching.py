"""`ww ls --watch`: a line per change, for people and screen readers, or for scripts with the cursor to go on from."""

import json
import sys
from datetime import datetime
from typing import Any

from woodwind.base.clock import now
from woodwind.cli.screen import STATUS_COLOURS, Screen
from woodwind.daemon.client import subscribe
from woodwind.model.text import one_line
from woodwind.ops.context import Context
from woodwind.ops.happenings import happened, named
from woodwind.ops.listing import list_workers
from woodwind.store import events

VERSION = 1
# What people are told of each kind of event: the words after the name, with what the event says in its data.
_WORDS = {
    "worker.created": "was created",
    "worker.removed": "was removed",
    "worker.restored": "came back",
    "worker.resumed": "was started again",
    "worker.paused": "was paused",
    "worker.not_started": "could not be started: {error}",
    "turn.submitted": "got work: {text}",
    "turn.done": "is done: {last_words}",
    "turn.failed": "failed: {error}",
    "turn.interrupted": "was interrupted",
    "turn.committed": "was committed for",
    "landing.done": "was landed on {target}",
    "landing.failed": "could not be landed: {why}",
    "landing.undone": "had its landing undone",
    "queue.dropped": "left the landing queue: {why}",
    "forecast.appeared": "will conflict with {with}",
    "forecast.cleared": "conflicts with nobody any more",
}


def watch(ctx: Context, screen: Screen, *, everywhere: bool, as_json: bool, since: int | None) -> None:
    """Print what is there, then each change as it happens; ends only by Ctrl-C."""
    project = "" if everywhere else ctx.known_project
    cursor = events.newest(ctx.store) if since is None else since
    listed = list_workers(ctx, everywhere=everywhere).data
    if as_json:
        if since is None:
            _print({"version": VERSION, "kind": "list", "cursor": cursor, "workers": listed})
    else:
        for worker in listed:
            screen.line(sentence(screen, now().isoformat(), worker["name"], worker["status"], worker["detail"]))
        if not listed:
            screen.line("No workers yet; they are shown as they come.")
    sys.stdout.flush()
    for event in subscribe(cursor, project=project, environ=ctx.environ):
        told = named(ctx, event)
        if as_json:
            _print({"version": VERSION, **told})
        elif line := told_line(screen, told):
            screen.line(line)
            sys.stdout.flush()


def catch_up(ctx: Context, *, everywhere: bool, since: int) -> dict[str, Any]:
    """What happened after a cursor, once, with the cursor for the next call."""
    list_workers(ctx, everywhere=everywhere)  # takes in what agents told while nobody listened
    return happened(ctx, since, everywhere=everywhere)


def told_line(screen: Screen, event: dict[str, Any]) -> str:
    """One event for a person; "" for what only programs want to know."""
    data, name = event["data"], event["name"] or event["project_name"]
    if event["kind"] == "status.changed":
        was = f"was {data['from']}" if data.get("from") else ""
        detail = ", ".join(filter(None, (one_line(str(data.get("detail", ""))), was)))
        return sentence(screen, event["at"], name, str(data.get("to", "")), detail)
    words = _WORDS.get(event["kind"])
    if words is None:
        if not event["kind"].startswith(("run.", "task.")):
            return ""
        words = event["kind"].replace(".", " ")
    facts = {key: one_line(", ".join(map(str, v)) if isinstance(v, list) else str(v)) for key, v in data.items()}
    return f"{_clock(event['at'])} {screen.paint(name, 'bold')} {_filled(words, facts)}"


def sentence(screen: Screen, at: str, name: str, status: str, detail: str) -> str:
    """Who does what, since when, and why we say so."""
    told = screen.paint(status, STATUS_COLOURS.get(status, "dim"))
    return f"{_clock(at)} {screen.paint(name, 'bold')} is {told}" + (f" ({detail})" if detail else "")


def _filled(words: str, facts: dict[str, str]) -> str:
    head, brace, key = words.partition("{")
    if not brace:
        return words
    value = facts.get(key.rstrip("}"), "")
    return head + value if value else head.rstrip(": ")


def _clock(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")


def _print(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(text.encode("utf-8", "replace").decode() + "\n")
    sys.stdout.flush()
