"""The parser and picture of `ww ls`."""

import time
from datetime import datetime

from woodwind.cli.numbers import whole
from woodwind.cli.screen import STATUS_COLOURS, Screen, age
from woodwind.model.outcome import Outcome
from woodwind.model.text import one_line
from woodwind.model.typed import TYPE_CHECKING, Any
from woodwind.ops.context import Context
from woodwind.ops.listing import list_workers

if TYPE_CHECKING:  # see cli/plain.py
    from argparse import ArgumentParser, Namespace

EXAMPLES = ["ww ls", "ww ls --all", "ww ls --json", "ww ls --watch", "ww ls --json --since 42"]


def arguments(parser: "ArgumentParser") -> None:
    """The command's words."""
    parser.add_argument("-a", "--all", action="store_true", help="the workers of every project")
    parser.add_argument("-w", "--watch", action="store_true", help="go on with a line for each change, until Ctrl-C")
    parser.add_argument(
        "--since",
        type=whole("--since", 0),
        metavar="CURSOR",
        help="what happened after the event with this number (0: all); with --watch, go on from there",
    )


def run(ctx: Context, args: "Namespace") -> Outcome:
    """List them, or tell what happens to them."""
    if args.watch or args.since is not None:
        return _happenings(ctx, args)
    outcome = list_workers(ctx, everywhere=args.all)
    if any(worker["phase"] == "queued" for worker in outcome.data):
        # The daemon, which starts them, may have died with the machine. The way to it costs 3 ms to import.
        from woodwind.daemon.client import ensure_daemon

        ensure_daemon(ctx.environ)
    for worker in outcome.data:
        if worker["environment"] and worker["environment"]["state"] == "pending":
            # Whoever made it may have died before its preparation began. Rare, and it imports much.
            from woodwind.ops.environment import start

            start(worker["id"], ctx.environ)
    return outcome


def _happenings(ctx: Context, args: "Namespace") -> Outcome:
    # 15 ms to import, which the list itself does not need.
    from woodwind.cli.defaults import configured
    from woodwind.cli.watching import catch_up, watch

    if not args.watch:
        return Outcome(catch_up(ctx, everywhere=args.all, since=args.since), notes=ctx.notes)
    screen = Screen("never" if args.json else configured("color", "auto"))
    watch(ctx, screen, everywhere=args.all, as_json=args.json, since=args.since)
    return Outcome({})


def _told(w: dict[str, Any], now: float) -> str:
    """The status in a few words: how the last turn ended, how the agent exited, since when, whether it is paused."""
    if w["phase"] == "queued":
        return "queued"
    how = f" {w['detail']}" if w["status"] == "exited" and w["detail"].startswith("with ") else ""
    words = f"{w['status']}{how}"
    if w["status"] == "ready" and w["turn"] and w["turn"]["state"] in ("done", "failed", "interrupted"):
        words = w["turn"]["state"]
    if w["since"] and w["status"] in ("ready", "asking", "working", "exited"):
        words += f" {age(now - datetime.fromisoformat(w['since']).timestamp())}"
    return words + (", paused" if w["phase"] == "paused" else "") + _environment(w["environment"])


def _says(w: dict[str, Any]) -> str:
    """What the agent wants from a person, or why its turn failed, before its task."""
    if w["status"] == "asking":
        return f"waiting for you: {w['question']['text'] if w['question'] else w['detail']} — "
    failed = w["status"] in ("ready", "exited") and w["turn"] and w["turn"]["state"] == "failed"
    return f"failed: {one_line(w['turn']['why'])} — " if failed else ""


def _environment(environment: dict[str, str] | None) -> str:
    """What is to be said about its environment: that it is on its way, or did not come to be."""
    if not environment:
        return ""
    if environment["state"] in ("pending", "running"):
        return ", installing"
    # What happened, and not what is missing: somebody may have installed it by hand since.
    return f", install {environment['state'].replace('_', ' ')}"


def render(outcome: Outcome, screen: Screen) -> None:
    """A table, or what to do when there is nothing to show."""
    workers = outcome.data
    if isinstance(workers, dict):
        from woodwind.cli.watching import told_line  # as above

        for line in filter(None, (told_line(screen, event) for event in workers.get("events", []))):
            screen.line(line)
        return
    if not workers:
        screen.line('No workers here. Start one: ww new "What to do"')
        return
    now = time.time()
    everywhere = "project_name" in workers[0]
    rows, styles = [], []
    for w in workers:
        told = _told(w, now)
        since = age(now - datetime.fromisoformat(w["created_at"]).timestamp()) if w["created_at"] else "?"
        collides = f"collides with {', '.join(w['forecast'])} — " if w["forecast"] else ""
        out = f"fell out of the queue: {one_line(w['dropped'], 80)} — " if w["dropped"] else ""
        rows.append(
            [
                *([w["project_name"]] if everywhere else []),
                w["name"],
                told,
                w["agent"] if w["permissions"] == "ask" else f"{w['agent']} ({w['permissions']})",
                w["branch"],
                since,
                _says(w) + out + collides + w["title"],
            ]
        )
        styles.append({everywhere + 0: "bold", everywhere + 1: STATUS_COLOURS.get(w["status"], "dim")})
    heads = [*(["PROJECT"] if everywhere else []), "NAME", "STATUS", "AGENT", "BRANCH", "AGE", "TASK"]
    screen.table(heads, rows, styles=styles)
