"""Screen rules: the engine, and the files that come with it."""

from pathlib import Path

import pytest

from woodwind.agents import screens
from woodwind.model.errors import WoodwindError
from woodwind.model.reading import Tells

FILES = sorted(Path(screens.__file__).with_name("screens").glob("*.toml"))
HEAD = "Rehearsal agent\n  folder: /src/hello\n› Read .woodwind/brief.md and do the task that it describes.\n"
# What the rehearsal agent shows, what that tells, and the text that belongs to it.
SHOWN = [
    (HEAD + "⠹ Working… 3s (Ctrl-C interrupts)\n› ", Tells.WORKING, ""),
    (HEAD + "● running a command (Ctrl-C interrupts)\n› half a draft", Tells.WORKING, ""),
    (HEAD + "? Shall I?\n  1. Yes  2. No\n› ", Tells.ASKING, "Shall I?"),
    (HEAD + "? Allow write a.txt? (y/n/a for always)\n› y", Tells.ASKING, "Allow write a.txt? (y/n/a for always)"),
    (HEAD + "? Shall I?\n  1. Yes  2. No\n› 1\nDone.\n›", Tells.IDLE, ""),
    (HEAD + "✗ no luck\n›", Tells.FAILED, "no luck"),
    (HEAD + "⊘ interrupted\n›\n\n\n", Tells.INTERRUPTED, ""),
    (HEAD + "⊘ interrupted\nDone.\n› next", Tells.IDLE, ""),
    (HEAD + "Done.", None, ""),
    ("", None, ""),
]


@pytest.mark.parametrize("screen, tells, text", SHOWN)
def test_the_rehearsal_agents_screens(screen: str, tells: Tells | None, text: str) -> None:
    rules = screens.rules_of("rehearsal")
    assert rules
    found = screens.read(rules, screen)
    assert (found.tells if found else None, found.text if found else "") == (tells, text)


def test_a_draft_is_what_stands_in_the_input_line() -> None:
    rules = screens.rules_of("rehearsal")
    assert rules
    assert screens.draft_of(rules, HEAD + "Done.\n› half a thought") == "half a thought"
    assert screens.draft_of(rules, HEAD + "Done.\n›") == ""
    assert screens.draft_of(rules, "") == ""
    assert screens.draft_of(screens.Rules((), None), "› x") == ""


def test_the_first_rule_decides_unless_it_does_not_hold() -> None:
    table = {
        "rule": [
            {"name": "box", "tells": "asking", "match": "^│ (?P<text>.*) │$", "unless": "^done", "todo": "Press 1"},
            {"name": "any", "tells": "idle", "match": ".", "lines": 1},
        ]
    }
    rules = screens.parse(table)
    assert screens.read(rules, "│ Trust \x1b[31mit? │\n") == (Tells.ASKING, "Trust it? — Press 1", "box")
    assert screens.read(rules, "│ Trust it? │\ndone") == (Tells.IDLE, "", "any")


@pytest.mark.parametrize(
    "rule, problem",
    [
        ({"name": "x", "tells": "levitating", "match": "."}, "levitating"),
        ({"name": "x", "tells": "idle", "match": "("}, "cannot be used"),
        ({"name": "x", "tells": "idle"}, "match"),
        ({"name": "x", "tells": "idle", "match": ".", "mach": "."}, "unknown keys: mach"),
    ],
)
def test_a_rule_that_is_wrong_is_named(rule: dict[str, str], problem: str) -> None:
    with pytest.raises(WoodwindError, match=r"rule 1 \(x\)") as caught:
        screens.parse({"rule": [rule]})
    assert problem in caught.value.message
    with pytest.raises(WoodwindError, match="unknown keys"):
        screens.parse({"rules": []})


def test_agents_without_rules() -> None:
    assert screens.rules_of("nobody") is None
    assert screens.rules_of("../screens/rehearsal") is None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_can_be_used(path: Path) -> None:
    rules = screens.rules_of(path.stem)
    assert rules
    assert rules.rules
