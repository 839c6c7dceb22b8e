"""Pictures of runs and loops, shared by their commands."""

import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from woodwind.cli.screen import Screen, age
from woodwind.model.text import clean, one_line

COLOURS = {
    "working": "blue",
    "starting": "cyan",
    "collecting": "cyan",
    "landing": "cyan",
    "landed": "green",
    "done": "green",
    "nothing": "green",
    "ready": "yellow",
    "held": "yellow",
    "pausing": "yellow",
    "failed": "red",
    "timed_out": "red",
    "blocked": "dim",
    "dropped": "dim",
    "waiting": "dim",
    "running": "blue",
    "paused": "yellow",
    "stopped": "yellow",
    "finished": "green",
}


def show_list(rows: list[dict[str, Any]], screen: Screen) -> None:
    """A table of runs."""
    if not rows:
        screen.line("No runs here. Start one: ww run PLAN.toml, or ww loop start --epics EPIC")
        return
    now = time.time()
    cells, styles = [], []
    for row in rows:
        since = age(now - datetime.fromisoformat(row["created_at"]).timestamp())
        progress = f"{row['done']}/{row['tasks']}" + (f", {row['needs_you']} need you" if row["needs_you"] else "")
        cells.append([row["id"], row["kind"], row["state"], progress, row["target"], since, row["title"]])
        styles.append({0: "bold", 2: COLOURS.get(row["state"], "dim")})
    screen.table(["RUN", "KIND", "STATE", "DONE", "ONTO", "AGE", "GOAL"], cells, styles=styles)


def show_status(data: dict[str, Any], screen: Screen) -> None:
    """A run's head and a line per task."""
    state = screen.paint(data["state"], COLOURS.get(data["state"], "dim"))
    why = f" ({data['why']})" if data["why"] else ""
    screen.line(f"{screen.paint(data['id'], 'bold')} {state}{why}: {data['title']}, onto {data['target']}")
    if data["breaker"]["open"]:
        screen.line(
            screen.paint(f"  The agents' service fails, so nothing new begins: {data['breaker']['why']}", "yellow")
        )
    for epic, problem in data["trackers"].items():
        screen.line(screen.paint(f"  The tracker of {epic} does not answer: {problem}", "yellow"))
    rows, styles = [], []
    for task in data["tasks"]:
        rest = (task["question"] and f"asks: {task['question']}") or task["why"] or task["title"]
        held = " (left alone)" if task["attached"] else ""
        rows.append([task["id"], task["state"] + held, task["worker"], one_line(rest, 300)])
        styles.append({1: COLOURS.get(task["state"], "dim")})
    if rows:
        screen.table(["TASK", "STATE", "WORKER", ""], rows, styles=styles)


def show_report(data: dict[str, Any], screen: Screen) -> None:
    """What landed, and what needs a person."""
    screen.line(f"{screen.paint(data['id'], 'bold')} {data['state']}: {data['title']}, onto {data['target']}")
    for entry in data["landed"]:
        commit = f" {entry['commit'][:10]}" if entry["commit"] else ""
        screen.line(f"  {screen.paint('✓', 'green')} {entry['id']}{screen.paint(commit, 'dim')}  {entry['title']}")
    for entry in data["needs_you"]:
        what = f"asks: {entry['question']}" if entry["question"] else f"{entry['state']}: {entry['why']}"
        screen.line(f"  {screen.paint('✗', 'red')} {entry['id']}  {one_line(what, 300)}")
        for line in entry["output"].splitlines()[-5:]:
            screen.line(screen.paint(f"      {line}", "dim"))
        if entry["worker"]:
            verb = "ship" if entry["state"] == "ready" else "attach"
            screen.line(screen.paint(f"      ww {verb} {entry['worker']}", "dim"))
    for kind in ("blocked", "dropped"):
        for entry in data[kind]:
            screen.line(f"  {screen.paint('·', 'dim')} {entry['id']}  {kind}: {one_line(entry['why'], 300)}")
    if data["open"]:
        screen.line(f"  still open: {', '.join(data['open'])}")
    if data["needs_you"] and data["state"] != "running":
        screen.line(screen.paint(f"  Once you have set it right: ww run resume {data['id']}", "dim"))


_WORDS = {
    "task.started": "started",
    "task.landed": "landed",
    "task.failed": "failed",
    "task.retried": "is tried again",
    "task.ready": "is done, and waits for you to ship it",
    "task.held": "waits for its agent's service",
    "task.dropped": "dropped",
    "run.finished": "finished",
    "run.stopped": "stopped",
    "run.paused": "paused",
    "run.resumed": "goes on",
}


def event_line(kind: str, data: dict[str, Any]) -> str:
    """One line about an event of a run; "" for one that is not worth a line."""
    words = _WORDS.get(kind, "")
    if not words:
        return ""
    if kind == "task.landed" and data.get("state") == "nothing":
        words = "had nothing to do"
    elif kind == "task.failed" and data.get("state") in ("timed_out", "blocked"):
        words = "ran out of time, and is paused" if data["state"] == "timed_out" else "cannot begin"
    why = one_line(str(data.get("why", "")), 200)
    told = kind in ("task.failed", "task.retried", "task.held", "task.dropped") and why
    return f"{data.get('task') or data.get('run')} {words}{f': {why}' if told else ''}"


def follow(events: Iterator[dict[str, Any]], run: str, *, quiet: bool) -> None:
    """Print a line per change of a run until it ends."""
    for event in events:
        data = event["data"]
        if data.get("run") != run:
            continue
        text = event_line(event["kind"], data)
        if text and not quiet:
            sys.stdout.write(f"{time.strftime('%H:%M:%S')}  {clean(text)}\n")
            sys.stdout.flush()
        if event["kind"] in ("run.finished", "run.stopped"):
            return
