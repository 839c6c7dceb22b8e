"""Environment files: their names, and paths rewritten only where they are whole."""

import pytest

from woodwind.model.env_file import is_env_file, rewrite


@pytest.mark.parametrize(
    "name, is_one",
    [(".env", True), (".env.local", True), (".envrc", True), ("env", False), ("a.env", False), (".en", False)],
)
def test_names(name: str, is_one: bool) -> None:
    assert is_env_file(name) == is_one


@pytest.mark.parametrize(
    "before, after",
    [
        ("A=/src/app\n", "A=/wt/one\n"),
        ("A=/src/app/data", "A=/wt/one/data"),
        ("A='/src/app' B=\"/src/app/x\"", "A='/wt/one' B=\"/wt/one/x\""),
        ("PATH=/bin:/src/app/bin:/src/app", "PATH=/bin:/wt/one/bin:/wt/one"),
        ("URL=file:///src/app/db", "URL=file:///wt/one/db"),
        ("URL=sqlite:////src/app/db?x=1", "URL=sqlite:////wt/one/db?x=1"),
        ("/src/app", "/wt/one"),
        # Others that only begin or end alike.
        ("A=/src/app.worktrees/x", "A=/src/app.worktrees/x"),
        ("A=/src/apple", "A=/src/apple"),
        ("A=/home/src/app", "A=/home/src/app"),
        ("A=../src/app", "A=../src/app"),
        ("", ""),
    ],
)
def test_paths_are_rewritten(before: str, after: str) -> None:
    assert rewrite(before.encode(), "/src/app", "/wt/one").decode() == after


def test_bytes_that_are_no_text_stay() -> None:
    assert rewrite(b"A=\xff\x00/src/app\xfe=/src/app", "/src/app", "/w") == b"A=\xff\x00/src/app\xfe=/w"


def test_the_root_is_never_rewritten() -> None:
    assert rewrite(b"A=/src", "/", "/w") == b"A=/src"
