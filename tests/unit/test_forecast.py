"""Pure parts of the forecast: merge bases from a graph, lines of a conflict, git's answers."""

import pytest

from woodwind.git.forecasting import parse_answers
from woodwind.model.forecast import Histories, conflict_lines, files_text, ranges_text

# r is older than the graph: a - b - c and a - d; m merges c and d; x stands alone.
GRAPH = {"a": ["r"], "b": ["a"], "c": ["b"], "d": ["a"], "m": ["c", "d"], "n": ["d", "c"], "x": ["r"]}


@pytest.mark.parametrize(
    "one,other,expected",
    [
        ("c", "d", ("a",)),
        ("c", "c", ("c",)),
        ("c", "b", ("b",)),
        ("m", "d", ("d",)),
        ("m", "n", ("c", "d")),
        ("c", "x", ("r",)),
        ("r", "c", ("r",)),
    ],
)
def test_merge_bases(one: str, other: str, expected: tuple[str, ...]) -> None:
    histories = Histories(GRAPH, ["r"])
    assert histories.bases(one, other) == histories.bases(other, one) == expected


MERGED = """\
a
<<<<<<< one
b1
b2
=======
B
>>>>>>> two
c
new from two
d
<<<<<<< one
=======
E
>>>>>>> two
"""


def test_conflict_lines_are_those_of_each_sides_own_file() -> None:
    one, other = conflict_lines(MERGED, "a\nb1\nb2\nc\nd\n", "a\nB\nc\nnew from two\nd\nE\n")
    assert one == ((2, 3), (5, 5))
    assert other == ((2, 2), (6, 6))


@pytest.mark.parametrize("merged", ["", "a\nb\n", "<<<<<<< one\nx\n", "=======\n>>>>>>> x\n"])
def test_text_without_a_whole_conflict_has_no_lines(merged: str) -> None:
    assert conflict_lines(merged, "x\n", "y\n") == ((), ())


def test_answers_are_read_whole_or_not_at_all() -> None:
    clean = b"1\0T1\0\0"
    conflict = (
        b"0\0T2\x00100644 B1 1\tf\x00100644 B2 2\tf\x00100644 B3 3\tf\0\0"
        b"1\0f\0Auto-merging\0Auto-merging f\n\x001\0f\0CONFLICT (contents)\0CONFLICT (content)\n\0\0"
    )
    gone = b"0\0T3\x00100644 B1 1\tg\x00100644 B3 3\tg\0\x001\0g\0CONFLICT (modify/delete)\0text\n\0\0"
    answers = parse_answers(clean + conflict + gone)
    assert [(a.tree, {p: f.kind for p, f in a.files.items()}) for a in answers] == [
        ("T1", {}),
        ("T2", {"f": "content"}),
        ("T3", {"g": "modify/delete"}),
    ]
    assert (answers[1].files["f"].ours, answers[1].files["f"].theirs) == ("B2", "B3")
    whole = clean + gone
    for end in range(len(clean), len(whole) - 1):
        assert [a.tree for a in parse_answers(whole[:end])] == ["T1"]


def test_texts() -> None:
    assert ranges_text([[1, 1], [3, 5]]) == "1, 3-5"
    files = [{"path": p, "one_lines": [[2, 3]] if p == "a" else []} for p in "abcde"]
    assert files_text(files) == "a:2-3, b, c and 2 more"
