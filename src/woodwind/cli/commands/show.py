"""The parser and picture of `ww show`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import STATUS_COLOURS, Screen
from woodwind.model.outcome import Outcome
from woodwind.model.text import one_line
from woodwind.model.typed import Any
from woodwind.model.worker import HEADLESS
from woodwind.ops.address import find_workers
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.show import show

EXAMPLES = ["ww show add-greeting", "ww show --json -"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Look."""
    project = current(ctx)
    return Outcome([show(ctx, worker) for worker in find_workers(ctx, project, args.names)], notes=ctx.notes)


def _environment(environment: dict[str, Any], name: str) -> dict[str, str]:
    """The ports, and how the preparation went, where there is anything to say."""
    first, count = environment["port"], environment["ports"]
    facts = {"ports": f"{first} to {first + count - 1}"} if count else {}
    if environment["state"] != "none":
        detail = f": {environment['detail']}" if environment["detail"] else ""
        log = "" if environment["state"] == "done" else f" (ww log {name} --environment)"
        facts["install"] = environment["state"].replace("_", " ") + detail + log
    return facts


def render(outcome: Outcome, screen: Screen) -> None:
    """One block per worker."""
    for n, w in enumerate(outcome.data):
        if n:
            screen.line()
        status = screen.paint(w["status"], STATUS_COLOURS[w["status"]])
        screen.line(f"{screen.paint(w['name'], 'bold')}  {status}  {w['detail']}")
        base = f"{w['base_branch'] or 'a commit'} at {w['base_commit'][:10]}"
        facts = {
            "task": w["title"],
            "agent": w["agent"],
            "branch": f"{w['branch']}, from {base}",
            "folder": w["path"],
            "terminal": "none: headless" if w["launch"] == HEADLESS else f"a {w['launch']}",
            "id": w["id"],
            **_environment(w["environment"], w["name"]),
        }
        if w["origin"]:
            facts["ticket"] = " ".join(filter(None, (w["origin"], w["url"])))
        if w["untrusted"]:
            facts["trust"] = "none: it works on a fork's code"
        if w["forecast"]:
            facts["collides"] = f"with {', '.join(w['forecast'])}"
        for label, value in facts.items():
            screen.line(f"  {screen.paint(f'{label:<9}', 'dim')} {value}")
        if w["folder_missing"]:
            screen.line(screen.paint("  its folder is missing: it was deleted from outside", "red"))
        for reason in w["work"]:
            screen.line(f"  {screen.paint('work     ', 'dim')} {reason}")
        for commit in w["commits"]:
            screen.line(f"  {screen.paint(commit['commit'][:10], 'yellow')} {commit['subject']}")
        for turn in w["turns"][-5:]:
            words = ": ".join(filter(None, (turn["state"], one_line(turn["why"] or turn["last_words"], 100))))
            screen.line(f"  {screen.paint('turn     ', 'dim')} {one_line(turn['text'], 50) or turn['kind']} → {words}")
        if w["last_words"]:
            screen.line(screen.paint("  last words", "dim"))
            for line in w["last_words"]:
                screen.line(f"  {screen.paint('│', 'dim')} {line}")
