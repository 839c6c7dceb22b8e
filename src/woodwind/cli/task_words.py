"""The words that say what a worker is to do: a text, a file, or a ticket; shared by `ww new` and `ww brief`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from woodwind.model.errors import UsageError
from woodwind.model.typed import TYPE_CHECKING
from woodwind.ops.context import Context

if TYPE_CHECKING:  # `ww new` loads these later, while git is at work, or never
    from argparse import ArgumentParser, Namespace

    from woodwind.ops.free_names import Request

MOST_TEXT = 4 << 20


def arguments(parser: "ArgumentParser") -> None:
    """The words for the task, where it comes from, and how to go about it."""
    parser.add_argument(
        "task", nargs="?", default="", help="what to do, in your own words; - reads it from standard input"
    )
    parser.add_argument("--file", metavar="F", help="read the task from a file")
    parser.add_argument("--issue", metavar="N", default="", help="work on the GitHub issue with this number")
    parser.add_argument(
        "--pr", metavar="N", default="", help="review the GitHub pull request with this number, in its own commits"
    )
    parser.add_argument("--github", metavar="N", default="", help="the same as --issue or --pr, as --type says")
    parser.add_argument("--type", choices=("issue", "pr"), default="", help="what --github N is; otherwise an issue")
    parser.add_argument(
        "--continue", dest="goes_on", action="store_true", help="with --pr: go on with its work, instead of a review"
    )
    parser.add_argument("--jira", metavar="KEY", default="", help="work on a Jira ticket, such as SHOP-12")
    parser.add_argument("--bead", metavar="ID", default="", help="work on a ticket of beads (bd or br)")
    parser.add_argument(
        "--ticket", metavar="S:ID", default="", help="a ticket of any source, such as markdown:TODO.md#fix-login"
    )
    parser.add_argument("--prompt", metavar="TEXT", default="", help="further instructions, besides the task")
    parser.add_argument(
        "--replace", action="store_true", help="let --prompt stand in place of the template's instructions"
    )
    parser.add_argument(
        "--template",
        metavar="T",
        default="",
        help="how to go about it: implement, feature, bugfix, hotfix, review, research, or one of your own",
    )


def origin_of(args: "Namespace") -> str:
    """The ticket that the words name, as in github:7 or github-pr:9; "" for none, an error for two."""
    if args.type and not args.github:
        raise UsageError("--type says what --github N is, and there is no --github")
    named = {
        "--issue": f"github:{args.issue}" if args.issue else "",
        "--pr": f"github-pr:{args.pr}" if args.pr else "",
        "--github": f"github{'-pr' if args.type == 'pr' else ''}:{args.github}" if args.github else "",
        "--jira": f"jira:{args.jira}" if args.jira else "",
        "--bead": f"beads:{args.bead}" if args.bead else "",
        "--ticket": args.ticket,
        "--file": "" if not args.file else "file",
        "a task": "" if not args.task else "text",
    }
    given = [flag for flag, origin in named.items() if origin]
    if len(given) > 1:
        more = " Further instructions for a ticket go into --prompt." if given[-1] == "a task" else ""
        raise UsageError(f"{' and '.join(given)} contradict each other", hint=f"Give one of them.{more}")
    if args.goes_on and not named[given[0] if given else "--pr"].startswith("github-pr:"):
        raise UsageError("--continue goes on with a pull request", hint="ww new --pr N --continue")
    if args.replace and not args.prompt.strip():
        raise UsageError("--replace needs a --prompt that stands in place of the template")
    origin = named[given[0]] if given else ""
    return "" if origin in ("file", "text") else origin


def text_of(args: "Namespace") -> str:
    """The task in the caller's own words, from the command line, a file or standard input."""
    try:
        if args.file:
            with open(args.file, "rb") as file:
                data = file.read(MOST_TEXT + 1)
        elif args.task == "-":
            data = sys.stdin.buffer.read(MOST_TEXT + 1)
        else:
            data = os.fsencode(args.task)
    except OSError as error:
        raise UsageError(f"the task cannot be read from {args.file}: {error.strerror}") from error
    if len(data) > MOST_TEXT:
        raise UsageError(
            f"the task is longer than {MOST_TEXT >> 20} MB", hint="Put the material into a file of the repository."
        )
    return data.decode("utf-8", "replace")


@contextmanager
def asked(ctx: Context, args: "Namespace", request: "Request", origin: str) -> "Iterator[Request]":
    """The request with its ticket and instructions; a pull request's commits are there while the block runs."""
    request = request._replace(template=args.template, prompt=args.prompt, replace=args.replace)
    if not origin:
        yield request
        return
    # The sources cost 40 ms with the HTTP client, and only a ticket needs them.
    from woodwind.ops import tickets

    if origin.startswith("github-pr:"):
        with tickets.pulled(ctx, request, origin.partition(":")[2], goes_on=args.goes_on) as pulled:
            yield pulled
    else:
        yield tickets.of_ticket(request, tickets.fetch(ctx, origin))
