"""A block of ours in somebody's file: put in, changed, and taken out so that the file is as it was."""

import itertools

import pytest

from woodwind.model.errors import Refused
from woodwind.model.marked_block import drop, put

FILES = [None, "", "\n", "set -g mouse on\n", "no end", "a\r\nb", "# >>> other >>>\nx\n# <<< other <<<\n", "x\n\n\n"]


@pytest.mark.parametrize("text", FILES)
def test_taken_out_the_file_is_as_it_was(text: str | None) -> None:
    for order in itertools.permutations(("keys", "status")):
        with_it = text
        for name in order:
            with_it = put(with_it, name, f"body of {name}\n")
        assert with_it is not None
        assert all(f"body of {name}\n" in with_it for name in order)
        assert drop(with_it, ("keys", "status")) == text


def test_an_earlier_block_is_replaced_in_its_place() -> None:
    text = put("before\n", "keys", "old\n") + "after\n"
    assert put(text, "keys", "new\n") == text.replace("old", "new")
    assert drop(put(text, "keys", "new\n"), ("keys",)) == "before\nafter\n"


def test_what_a_person_added_to_a_file_that_was_made_for_the_block_stays() -> None:
    assert drop(put(None, "keys", "x\n") + "mine\n", ("keys",)) == "mine\n"


def test_a_block_without_an_end_is_left_to_the_person() -> None:
    with pytest.raises(Refused):
        drop("# >>> woodwind keys >>>\nx\n", ("keys",))


def test_marks_in_the_middle_of_a_line_are_no_block() -> None:
    text = "echo '# >>> woodwind keys >>>\n'\n"
    assert drop(text, ("keys",)) == text
