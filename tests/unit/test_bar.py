"""The line at the bottom of the control plane: what gives way where room is short."""

import re

import pytest
from textual.content import Content

from woodwind.model.sections import Verb
from woodwind.tui.bar import bar
from woodwind.tui.preview import last_lines

READY = (Verb.SHIP, Verb.REVIEW, Verb.MERGE, Verb.ATTACH, Verb.SEND, Verb.EXPLAIN, Verb.REMOVE)
VERBS = " ⏎ S ship  r review  m merge  a attach  s send  e explain  x remove"
ALL = f"{VERBS}  ? help · n new · / filter · q quit · v preview"

WIDTHS = [
    (len(ALL), ALL),
    (len(ALL) - 1, ALL.removesuffix(" · v preview")),
    (80, f"{VERBS}  ? help"),
    (40, " ⏎ S ship  r review  m merge  ? help"),
    (5, " ⏎ S ship  ? help"),
]


@pytest.mark.parametrize("columns, shown", WIDTHS)
def test_as_much_as_fits(columns: int, shown: str) -> None:
    assert Content.from_markup(bar(READY, "", columns)).plain == shown


def test_every_part_can_be_clicked() -> None:
    actions = re.findall(r"@click=app\.([^\]]+)\]", bar((Verb.ATTACH, Verb.PAUSE), "", 200))
    assert actions == ["verb('attach')", "verb('pause')", "help", "new", "filter", "quit", "preview"]


def test_without_a_row_it_says_so() -> None:
    assert Content.from_markup(bar((), "no workers: n starts one", 80)).plain.startswith(" no workers: n starts one")


SCREENS = [
    ("one\ntwo\n\n\n", 5, ["one", "two"]),
    ("one\n\n\nfour\n", 4, ["one", "", "", "four"]),
    ("one\n\n\n\n\nlast\n", 3, ["one", "", "last"]),
    ("one\n\n\n\ntwo\n\nlast", 3, ["two", "", "last"]),
    ("\n\n\n\nlast", 2, ["last"]),
    ("", 3, [""]),
]


@pytest.mark.parametrize("captured, room, shown", SCREENS)
def test_a_terminal_is_shown_from_its_end_without_empty_space(captured: str, room: int, shown: list[str]) -> None:
    assert last_lines(captured, room) == shown
