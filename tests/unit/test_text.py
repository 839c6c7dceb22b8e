"""Text from outside is made safe before it is stored, shown or put into a name."""

import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from woodwind.model.brief import BriefFacts, build
from woodwind.model.text import clean, fit, one_line, width


@pytest.mark.parametrize(
    "text, cleaned",
    [
        ("plain", "plain"),
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]0;title\x1b\\after", "after"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1b[31", ""),
        ("\x1b[31\nnext", "\nnext"),
        ("\x1b]0;never ended\nnext", "\nnext"),
        ("\x1b", ""),
        ("\x1bcreset", "reset"),
        ("\x1b\x1b[31mx", "[31mx"),
        ("nul\0bel\x07del\x7f", "nulbeldel"),
        ("c1\x9b31m", "c131m"),
        ("\u202eevil\u202c \u2066x\u2069", "evil x"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("tab\tkept", "tab\tkept"),
        ("\udc80half", "half"),
        ("中文 é 👩\u200d💻", "中文 é 👩\u200d💻"),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


_HOSTILE = st.text(st.sampled_from("ab\x1b[]0;m\x07\\P\n\r\t\0\x9b\u202e\ud800中"), max_size=40) | st.text(max_size=80)


@given(_HOSTILE)
@settings(max_examples=400, deadline=None)
def test_what_was_cleaned_has_no_control_character_and_stays_so(text: str) -> None:
    done = clean(text)
    assert clean(done) == done
    assert not [c for c in done if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    done.encode()


@given(_HOSTILE, st.integers(1, 30))
@settings(max_examples=300, deadline=None)
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert line == line.strip()


@given(st.text(st.sampled_from("ab中e\u0301👩\u200d"), max_size=30), st.integers(1, 20))
@settings(max_examples=300, deadline=None)
def test_fit_never_takes_more_columns(text: str, columns: int) -> None:
    assert width(fit(text, columns)) <= columns
    if width(text) <= columns:
        assert fit(text, columns) == text


@pytest.mark.parametrize("text, columns", [("abc", 3), ("中文", 4), ("e\u0301", 1), ("", 0)])
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns


def test_the_brief_holds_the_task_without_escapes() -> None:
    text = build(BriefFacts(task="do \x1b[31mthis\0\n\nand `that`", branch="feat/x", base="main"))
    assert "do this\n\nand `that`" in text
    assert "`feat/x`" in text
    assert "`main`" in text
