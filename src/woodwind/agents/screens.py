"""What an agent's screen tells: rules in screens/NAME.toml, matched against the last lines. Pure but for the file.

A rule matches structure (frames, selectors, the input line), not prose. Each file has:

    draft = 'REGEX'          where the input line is; its group is what is typed there and not sent yet
    [[rule]]
    name = "permission"      for `ww explain`
    tells = "asking"         what it tells, as in woodwind.model.reading
    match = 'REGEX'          over the last lines, ^ and $ at each of them; its group `text` is what belongs to it
    unless = 'REGEX'         the rule does not hold where this matches too (may be left out)
    lines = 20               how many of the last lines are looked at (20)
    todo = "Press 1"         for a dialog at first use: what a person has to do (may be left out)

The first rule that holds decides.
"""

import functools
import os
import re

from woodwind.model.errors import WoodwindError
from woodwind.model.reading import Tells
from woodwind.model.text import clean
from woodwind.model.typed import Any, NamedTuple

_FOLDER = os.path.join(os.path.dirname(__file__), "screens")
_LINES = 20
_LONGEST = 500
_KEYS = {"name", "tells", "match", "unless", "lines", "todo"}


class Rule(NamedTuple):
    """One rule of an agent's screens."""

    name: str
    tells: Tells
    match: re.Pattern[str]
    unless: re.Pattern[str] | None
    lines: int
    todo: str


class Rules(NamedTuple):
    """All rules of one kind of agent, in order."""

    rules: tuple[Rule, ...]
    draft: re.Pattern[str] | None


class Shown(NamedTuple):
    """What a screen tells, by which rule."""

    tells: Tells
    text: str
    rule: str


@functools.cache
def rules_of(agent: str) -> Rules | None:
    """The rules for an agent's screens; None where it has none."""
    if not agent.replace("-", "").replace("_", "").isalnum():
        return None
    try:
        with open(os.path.join(_FOLDER, f"{agent}.toml"), "rb") as file:
            import tomllib  # 5 ms, and most commands look at no screen

            return parse(tomllib.load(file))
    except FileNotFoundError:
        return None


def parse(table: dict[str, Any]) -> Rules:
    """Rules from what a file holds; an error names the rule that is wrong."""
    rules = []
    for number, entry in enumerate(table.get("rule", []), 1):
        where = f"rule {number} ({entry.get('name', 'without a name')})"
        if unknown := set(entry) - _KEYS:
            raise WoodwindError(f"{where} has unknown keys: {', '.join(sorted(unknown))}")
        try:
            unless = re.compile(entry["unless"], re.MULTILINE) if "unless" in entry else None
            match = re.compile(entry["match"], re.MULTILINE)
            lines = int(entry.get("lines", _LINES))
            rules.append(Rule(entry["name"], Tells(entry["tells"]), match, unless, lines, entry.get("todo", "")))
        except (KeyError, ValueError, TypeError, re.error) as error:
            raise WoodwindError(f"{where} cannot be used: {error}") from error
    if unknown := set(table) - {"rule", "draft"}:
        raise WoodwindError(f"screen rules have unknown keys: {', '.join(sorted(unknown))}")
    draft = table.get("draft")
    return Rules(tuple(rules), re.compile(draft, re.MULTILINE) if draft else None)


def read(rules: Rules, screen: str) -> Shown | None:
    """What a screen tells; None where no rule holds."""
    lines = _lines(screen)
    for rule in rules.rules:
        part = "\n".join(lines[-rule.lines :])
        found = rule.match.search(part)
        if not found or (rule.unless and rule.unless.search(part)):
            continue
        words = " ".join(clean(found.groupdict().get("text") or "").split())
        text = " — ".join(filter(None, (words[:_LONGEST], rule.todo)))
        return Shown(rule.tells, text, rule.name)
    return None


def draft_of(rules: Rules, screen: str) -> str:
    """What is typed in the input line and not sent yet; "" where there is nothing, or no telling."""
    if not rules.draft:
        return ""
    found = None
    for found in rules.draft.finditer("\n".join(_lines(screen))):  # noqa: B007 - the last one counts
        pass
    return (found[1] or "").strip() if found else ""


def has_input_line(rules: Rules, screen: str) -> bool:
    """Whether the input line is seen, whatever stands in it."""
    return bool(rules.draft and rules.draft.search("\n".join(_lines(screen))))


def _lines(screen: str) -> list[str]:
    return [line.rstrip() for line in screen.rstrip().split("\n")]
