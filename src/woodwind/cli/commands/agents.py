"""The parser and picture of `ww agents`.

No agent is started for it: what is shown is what Woodwind knows about each, and where its program was found.
"""

from argparse import ArgumentParser, Namespace

from woodwind.base.run import not_found
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.model.typed import Any
from woodwind.ops.agents import entries, entry
from woodwind.ops.context import Context

EXAMPLES = ["ww agents", "ww agents codex", "ww agents --json"]
HEADS = ["AGENT", "FROM", "CHECKED WITH", "PERMISSIONS", "MODEL", "HEADLESS", "RESUME", "INSTALLED"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("name", metavar="AGENT", nargs="?", default="", help="show one agent in detail")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Look for the programs."""
    return Outcome(entry(ctx, args.name) if args.name else entries(ctx), notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """A table, or all about one agent."""
    if isinstance(outcome.data, dict):
        _detail(outcome.data, screen)
        return
    rows, styles = [], []
    for agent in outcome.data:
        model = "yes" if agent["model_in_terminal"] else _yes(agent["model"], "headless")
        able = [model, _yes(agent["headless"]), _yes(agent["resume"])]
        permissions = " ".join(agent["permissions"])
        rows.append([agent["name"], agent["origin"], _checked(agent), permissions, *able, agent["path"] or "no"])
        styles.append({0: "bold", 7: "green"} if agent["installed"] else dict.fromkeys(range(len(HEADS)), "dim"))
    screen.table(HEADS, rows, styles=styles)


def _detail(agent: dict[str, Any], screen: Screen) -> None:
    origin = f"the package {agent['package']}" if agent["package"] else agent["origin"]
    changed = agent["configured"] and agent["origin"] != "configuration"
    asks = ", ".join(agent["permissions"])
    if agent["default_permissions"]:
        asks += f"; {agent['default_permissions']} where nothing else is said"
    if agent["cannot_commit_with"]:
        asks += f"; it cannot commit by itself with {' and '.join(agent['cannot_commit_with'])}"
    model = f"yes, of {' or '.join(agent['providers'])}" if agent["providers"] else _yes(agent["model"])
    lines = {
        "agent": screen.paint(agent["name"], "bold"),
        "from": origin + (", changed in the configuration" if changed else ""),
        "installed": agent["path"] or f"no: {not_found(agent['command'])}",
        "install": "" if agent["installed"] else agent["install"],
        "checked with": _checked(agent),
        "prompt": agent["prompt"],
        "plan mode": _yes(agent["plan"]),
        "model": model if agent["model_in_terminal"] or not agent["model"] else f"{model}, only without a terminal",
        "thinking": ", ".join(agent["thinking"]) or "no",
        "permissions": asks,
        "headless": _yes(agent["headless"]),
        "resume": _yes(agent["resume"]),
        "variables": ", ".join(agent["pass_env"]),
    }
    for name, value in lines.items():
        if value:
            screen.line(f"{name:<13} {value}")


def _yes(it_is: bool, word: str = "yes") -> str:
    return word if it_is else "no"


def _checked(agent: dict[str, Any]) -> str:
    return agent["checked"] or "not checked"
