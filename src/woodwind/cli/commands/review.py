"""The parser and picture of `ww review`.

Everything since the worker left its target, uncommitted and untracked files included, with the numbers of the lines.
Comments on lines are collected, and go to the agent as one message with --send.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.pager import page
from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.model.text import clean
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.review import Review, clear, send

EXAMPLES = [
    "ww review add-greeting",
    'ww review add-greeting --comment app.py:12 "This can be None"',
    "ww review add-greeting --list",
    "ww review add-greeting --send",
]
_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "same": (" ", "")}


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)
    parser.add_argument(
        "-c", "--comment", nargs=2, action="append", default=[], metavar=("FILE:LINE", "TEXT"),
        help="keep a comment on a line, as numbered in the worker's file; may be repeated",
    )  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-l", "--list", action="store_true", help="only the comments that are kept")
    what.add_argument("--send", action="store_true", help="send all comments to the agent as one message")
    what.add_argument("--clear", action="store_true", help="forget all comments")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Look, comment, or send; on a terminal in the user's own pager."""
    worker = find_worker(ctx, current(ctx), args.name)
    if args.clear:
        return Outcome({"name": worker.name, "cleared": clear(ctx, worker)}, notes=ctx.notes)
    review = Review(ctx, worker)
    for place, text in args.comment:
        review.comment(place, text)
    if args.send:
        return Outcome({"name": worker.name, "sent": send(ctx, worker, review)}, notes=ctx.notes)
    if args.list or args.comment:
        comments = [comment.data() for comment in review.comments()]
        return Outcome({"name": worker.name, "comments": comments}, notes=ctx.notes)
    return Outcome({**review.data(), "paged": ctx.person}, notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """The files, or the comments, or how many of them went."""
    data = outcome.data
    if "sent" in data or "cleared" in data:
        verb = "sent" if "sent" in data else "cleared"
        screen.line(f"{data[verb]} comment{'' if data[verb] == 1 else 's'} {verb}.")
    elif "files" not in data:
        for comment in data["comments"]:
            screen.line("\n".join(_comment(comment, screen)))
        if not data["comments"]:
            screen.line("No comments are kept.")
    else:
        lines = [line for file in data["files"] for line in _file(file, data["comments"], screen)]
        text = "\n".join(lines) if lines else "Nothing has changed."
        if data["paged"]:
            page(screen.safe(text) + "\n")
        else:
            screen.line(text)


def _file(file: dict[str, Any], comments: list[dict[str, Any]], screen: Screen) -> list[str]:
    name = file["path"] if file["status"] != "renamed" else f"{file['old_path']} → {file['path']}"
    status = "" if file["status"] == "changed" else f"{file['status']}, "
    counts = "binary" if file["binary"] else f"+{file['added']} -{file['removed']}"
    lines = [screen.paint(f"{clean(name)}  ({status}{counts})", "bold")]
    here = [c for c in comments if c["path"] == file["path"]]
    for hunk in file["hunks"]:
        lines.append(screen.paint(f"  ⋯ {clean(hunk['where'])}".rstrip(), "cyan"))
        for line in hunk["lines"]:
            sign, style = _SIGNS[line["kind"]]
            number = str(line["new"] or "").rjust(5)
            lines.append(screen.paint(f"{number} {sign}{clean(line['text'])}", *([style] if style else [])))
            lines += [text for c in here if c["now"] and c["now"] == line["new"] for text in _comment(c, screen)]
    shown = {line["new"] for hunk in file["hunks"] for line in hunk["lines"]}
    lines += [text for c in here if c["now"] not in shown or not c["now"] for text in _comment(c, screen)]
    return [*lines, ""]


def _comment(comment: dict[str, Any], screen: Screen) -> list[str]:
    where = f"{clean(comment['path'])}:{comment['now'] or comment['line']}"
    moved = " (the line has changed since)" if comment["changed"] else ""
    head = screen.paint(f"      ▸ {where}{moved}: {clean(comment['code']).strip()}", "yellow")
    return [head, *(f"        {line}" for line in clean(comment["text"]).splitlines())]
