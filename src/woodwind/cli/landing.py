"""The options and pictures that the landing commands share."""

from argparse import ArgumentParser, Namespace
from typing import Any

from woodwind.cli.screen import Screen
from woodwind.model.errors import UsageError
from woodwind.model.landing import STRATEGIES, LandRequest
from woodwind.model.outcome import Outcome

# How a landing was verified, in words.
VERIFIED = {
    "passed": "verified",
    "reused": "verified: the same files had passed before",
    "skipped": "NOT verified: --no-verify",
    "none": "NOT verified: there is no [verify] command",
    "before": "where it was before",
}


def landing_arguments(parser: ArgumentParser) -> None:
    """The options of `ww merge` and `ww ship`."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--rebase", action="store_true", help="land its commits anew on top of the target")
    how.add_argument("--squash", action="store_true", help="land all of it as one commit")
    how.add_argument("--merge", action="store_true", help="land by a merge commit, whatever [land] method says")
    parser.add_argument("--into", default="", metavar="BRANCH", help="the target; otherwise what it was cut from")
    parser.add_argument(
        "--strategy",
        choices=STRATEGIES,
        default="",
        help="settle conflicts: ours is the target's side, theirs the worker's",
    )
    parser.add_argument(
        "--leave-conflicts", action="store_true", help="on conflict, merge the target into the worker's own folder"
    )
    parser.add_argument("-m", "--message", default="", metavar="TEXT", help="the message of the landing's own commit")
    parser.add_argument("--no-verify", action="store_true", help="land without running the [verify] command")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen, and do nothing")


def check_request(args: Namespace) -> None:
    """Refuse options that contradict each other."""
    if args.strategy and args.leave_conflicts:
        raise UsageError("--strategy settles conflicts and --leave-conflicts leaves them", hint="Choose one.")


def request_of(args: Namespace, *, commit_dirty: bool = False) -> LandRequest:
    """What the options ask for."""
    method = "rebase" if args.rebase else "squash" if args.squash else "merge" if args.merge else ""
    return LandRequest(
        target=args.into,
        method=method,
        strategy=args.strategy,
        message=args.message,
        verify=not args.no_verify,
        keep=not commit_dirty,
        commit_dirty=commit_dirty,
        leave_conflicts=args.leave_conflicts,
    )


def render_landed(outcome: Outcome, screen: Screen) -> None:
    """What moved, or would, and what did not."""
    for entry in outcome.data["landed"]:
        _landed(entry, screen)
    for entry in outcome.data["plan"]:
        _plan(entry, screen)
    for entry in outcome.data["failed"]:
        screen.line(screen.paint(f"{entry['name']} not landed: {entry['error']}", "red"))
        if entry["hint"]:
            screen.line(screen.paint(f"  {entry['hint']}", "dim"))


def _landed(entry: dict[str, Any], screen: Screen) -> None:
    if entry["url"]:
        screen.line(f"{screen.paint(entry['name'], 'bold')} asks to be landed in {entry['target']}: {entry['url']}")
        return
    commits = f"{entry['commits']} {'commit' if entry['commits'] == 1 else 'commits'}"
    moved = f"{entry['from'][:10]} → {entry['to'][:10]}" + (", pushed" if entry["via"] == "push" else "")
    screen.line(f"{screen.paint(entry['name'], 'bold')} landed in {entry['target']}: {commits}, {moved}")
    loud = entry["verified"] in ("skipped", "none")
    text = f"  {VERIFIED.get(entry['verified'], entry['verified'])}"
    screen.line(screen.paint(text, "yellow" if loud else "dim"))
    if entry["committed"]:
        screen.line(screen.paint(f"  what was not committed is in {entry['committed'][:10]}", "dim"))
    if entry["removed"]:
        screen.line(screen.paint(f"  put away. To have all of it back: ww undo {entry['name']}", "dim"))


def _plan(entry: dict[str, Any], screen: Screen) -> None:
    how = f" ({entry['method']})" if entry["via"] != "pr" else ""
    would = "would land" if entry["via"] != "pr" else "would ask to be landed"
    would = "would not land" if entry["problems"] else would
    screen.line(f"{screen.paint(entry['name'], 'bold')} {would} in {entry['target']}{how}:")
    for line in entry["steps"]:
        screen.line(f"  {line}")
    for line in entry["problems"]:
        screen.line(screen.paint(f"  it would stop: {line}", "red"))
