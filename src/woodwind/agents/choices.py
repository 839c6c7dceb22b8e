"""The numbered choices that a question on a screen offers, and the keys that take one. Pure.

How many there are, and which number means what, differs from question to question: a fixed key would now and then
grant far more than was meant.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

_LINE = re.compile(r"^[ \t│]*(?:\S )?[ \t]*(\d)\. (.+?)(?: \((\w+)\))?[ \t│]*$", re.MULTILINE)
_ALWAYS = re.compile(r"don.t ask again|always allow|allow .*\b(?:session|always)\b|allow all", re.IGNORECASE)
# A choice that changes how the agent runs is no answer to the question.
_MODE = re.compile(r"\bmode\b", re.IGNORECASE)
_KEYS = {"esc": "Escape", "enter": "Enter", "tab": "Tab"}


class Choice(NamedTuple):
    """One line of a list of choices."""

    number: str
    label: str
    key: str = ""  # tmux's name of the key that the line itself names


def choices(screen: str) -> list[Choice]:
    """The choices of the last list on the screen, in order."""
    found: list[Choice] = []
    for number, label, key in _LINE.findall(screen):
        if number == "1":
            found = []
        found.append(Choice(number, label, _KEYS.get(key, key if len(key) == 1 else "")))
    return found


def keys_for(answer: str, screen: str) -> Sequence[str]:
    """The keys for allow, always or deny; () where the question has no such choice."""
    for choice in choices(screen):
        yes, no = choice.label.startswith(("Yes", "Allow")), choice.label.startswith("No")
        always = bool(_ALWAYS.search(choice.label)) and not _MODE.search(choice.label)
        plain = yes and not always and not _MODE.search(choice.label)
        if (answer == "allow" and plain) or (answer == "always" and yes and always) or (answer == "deny" and no):
            return (choice.key or choice.number,)
    return ()
