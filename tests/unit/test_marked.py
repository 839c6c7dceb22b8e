"""Blocks and whole files of ours: what was put in comes out again, byte for byte."""

import pytest
from hypothesis import given, strategies as st

from woodwind.model import marked
from woodwind.model.errors import Refused


@given(st.one_of(st.none(), st.binary().filter(lambda data: b"woodwind:" not in data)))
def test_a_block_goes_in_and_comes_out_without_a_trace(data: bytes | None) -> None:
    added = marked.with_block(data, "## Ours\n\nText\n")
    assert marked.has_block(added)
    assert added.startswith(data or b"")
    assert marked.without_block(added, "x") == data


@pytest.mark.parametrize("data", [b"", b"a", b"a\n", b"a\r\n", b"a\r\nb", b"a\n\n", b"\n"])
def test_what_the_user_wrote_around_it_stays(data: bytes) -> None:
    added = marked.with_block(data, "Ours")
    assert marked.without_block(added + b"later\n", "x") == data + b"later\n"
    assert marked.without_block(b"before\n" + added, "x") == b"before\n" + data


def test_a_file_that_was_made_for_the_block_stays_when_something_else_is_in_it() -> None:
    assert marked.without_block(marked.with_block(None, "Ours") + b"mine\n", "x") == b"mine\n"


@pytest.mark.parametrize(
    "data", [marked.BEGIN + b" -->\nx", marked.BEGIN + b" -->" + marked.BEGIN + b" -->" + marked.END]
)
def test_damaged_marks_are_not_guessed_at(data: bytes) -> None:
    with pytest.raises(Refused, match="damaged"):
        marked.without_block(data, "AGENTS.md")


def test_a_whole_file_tells_whether_it_was_changed() -> None:
    data = marked.sealed("# Skill\n\nText")
    assert marked.is_unchanged(data)
    assert not marked.is_unchanged(data.replace(b"Text", b"More"))
    assert not marked.is_unchanged(b"# Mine\n")
    assert not marked.is_unchanged(b"")
