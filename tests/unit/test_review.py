"""Differences by file and line, and where a comment's line stands by now."""

import pytest

from woodwind.model.review import Comment, located, message, parse_diff

DIFF = """\
diff --git app.py app.py
index 1..2 100644
--- app.py
+++ app.py
@@ -1,3 +1,3 @@ def f():
 same
-old
+new
--- not a header
diff --git old name.py new name.py
similarity index 90%
rename from old name.py
rename to new name.py
index 1..2 100644
--- old name.py\t
+++ new name.py\t
@@ -5 +5,2 @@
+five
 six
diff --git gone gone
deleted file mode 100644
index 1..0
--- gone
+++ /dev/null
@@ -1 +0,0 @@
-bye
\\ No newline at end of file
diff --git pic.png pic.png
new file mode 100644
index 0..1
Binary files /dev/null and pic.png differ
"""


def test_a_difference_is_read_by_file_and_line() -> None:
    app, renamed, gone, picture = parse_diff(DIFF)
    assert [(line.kind, line.old, line.new, line.text) for line in app.hunks[0].lines] == [
        ("same", 1, 1, "same"),
        ("removed", 2, 0, "old"),
        ("added", 0, 2, "new"),
        ("removed", 3, 0, "-- not a header"),
    ]
    assert (app.path, app.status, app.counts, app.hunks[0].where) == ("app.py", "changed", (1, 2), "def f():")
    assert (renamed.old_path, renamed.path, renamed.status) == ("old name.py", "new name.py", "renamed")
    assert [line.new for line in renamed.hunks[0].lines] == [5, 6]
    assert (gone.path, gone.status, gone.counts) == ("gone", "deleted", (0, 1))
    assert (picture.path, picture.status, picture.binary) == ("pic.png", "added", True)
    assert parse_diff("") == []


COMMENT = Comment(1, "app.py", 2, "x = 1", "why?")


@pytest.mark.parametrize(
    "lines,now",
    [
        (["a", "x = 1"], 2),
        (["a", "b", "x = 1"], 3),
        (["x = 1", "b", "x = 1"], 0),
        (["a", "b"], 0),
        ([], 0),
        (None, 0),
    ],
)
def test_a_comment_follows_its_line(lines: list[str] | None, now: int) -> None:
    assert located(COMMENT, lines).now == now


def test_the_message_quotes_places_and_lines() -> None:
    moved = COMMENT._replace(now=9, text="first\nsecond\x1b[31m")
    text = message([moved, COMMENT._replace(id=2)], "feat/x")
    assert text.startswith("Review of your work on feat/x: 2 comments.")
    assert "1. app.py:9\n   > x = 1\n   first\n   second\n" in text
    assert "2. app.py:2 (this line has changed since)\n   > x = 1\n   why?\n" in text
