"""Names made from tasks, and which names may be asked for."""

import subprocess
import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from woodwind.model import naming
from woodwind.model.errors import UsageError

BAD_EVERYWHERE = [
    "",
    "-x",
    "../x",
    "a b",
    "a\nb",
    "a\0b",
    "a\x1b[31mb",
    "x.lock",
    "x.",
    "\u202ex",
    "a\x9bb",
    "\udc80x",
    "x" * 201,
]


@pytest.mark.parametrize(
    "task, branch, name",
    [
        ("Add a greeting", "feat/add-greeting", "add-greeting"),
        ("Fix the login crash", "fix/login-crash", "fix-login-crash"),
        ("Please fix login", "fix/fix-login", "fix-login"),
        ("Document the API in the README", "docs/document-api-readme", "document-api-readme"),
        ("Write tests for the parser", "test/write-tests-parser", "write-tests-parser"),
        ("Refactor: split the parser", "refactor/split-parser", "refactor-split-parser"),
        ("Bump dependencies", "chore/bump-dependencies", "bump-dependencies"),
        ("one two three four five six seven eight", "feat/one-two-three-four-five-six", "one-two-three"),
        ("Don't panic", "feat/dont-panic", "dont-panic"),
        ("to be or", "feat/to-be-or", "to-be-or"),
        ("修复登录页面的崩溃", "feat/修复登录页面的崩溃", "修复登录页面的崩溃"),
        ("Größe ändern", "feat/größe-ändern", "größe-ändern"),
        ("!!! ??? ...", "feat/task", "task"),
        ("", "feat/task", "task"),
        ("a/../b", "feat/b", "b"),
        ("\x1b[31mred\x1b[0m alert", "feat/red-alert", "red-alert"),
        ("\n\n  Second line is the first\nthird", "feat/second-line-first", "second-line-first"),
        ("x" * 200, "feat/" + "x" * 45, "x" * 40),
    ],
)
def test_a_task_becomes_a_branch_and_a_name(task: str, branch: str, name: str) -> None:
    assert naming.branch_for(task) == branch
    assert naming.name_for(task) == name


@pytest.mark.parametrize(
    "prefix, branch", [("", "add-greeting"), ("me", "me/add-greeting"), ("a/b/", "a/b/add-greeting")]
)
def test_a_prefix_replaces_the_kind(prefix: str, branch: str) -> None:
    assert naming.branch_for("Add a greeting", prefix=prefix) == branch


@given(st.text(max_size=500))
@settings(max_examples=400, deadline=None)
def test_whatever_the_task_its_names_are_allowed_short_and_few_words(task: str) -> None:
    name, branch = naming.name_for(task), naming.branch_for(task)
    assert naming.check_name(name) == name
    assert naming.check_branch(branch) == branch
    assert len(name) <= 40
    assert name.count("-") <= 2
    assert len(branch) <= naming.MAX_LENGTH
    assert branch.count("-") <= 5
    assert len(branch.encode()) <= 200


def test_git_agrees_about_generated_branches() -> None:
    @given(st.text(min_size=1, max_size=60))
    @settings(max_examples=40, deadline=None)
    def agree(task: str) -> None:
        branch = naming.branch_for(task)
        assert subprocess.run(["git", "check-ref-format", f"refs/heads/{branch}"], check=False).returncode == 0

    agree()


@given(st.text(st.sampled_from("ab-./@{~^:?*[\\ lock"), max_size=12))
@settings(max_examples=120, deadline=None)
def test_a_branch_that_git_refuses_is_refused(branch: str) -> None:
    done = subprocess.run(["git", "check-ref-format", "--branch", branch], check=False, capture_output=True)
    # What git expands to another branch is no name for a new one.
    if done.returncode == 0 and done.stdout.decode().strip() == branch and branch != "@":
        assert naming.check_branch(branch) == branch
    else:
        with pytest.raises(UsageError):
            naming.check_branch(branch)


@pytest.mark.parametrize("bad", [*BAD_EVERYWHERE, "a/b", "$(touch", "#(touch)", "a'b", 'a"b', ".x", "a:b", "a*b"])
def test_a_name_that_cannot_be_one_says_why(bad: str) -> None:
    with pytest.raises(UsageError, match="cannot be a worker's name") as told:
        naming.check_name(bad)
    assert "\x1b" not in told.value.message
    assert told.value.hint


@pytest.mark.parametrize(
    "bad", [*BAD_EVERYWHERE, "@", "HEAD", "a..b", "a//b", "/a", "a/", ".a", "a/.b", "a~1", "a^", "a:b", "a@{1}"]
)
def test_a_branch_that_cannot_be_one_says_why(bad: str) -> None:
    with pytest.raises(UsageError, match="cannot be a branch name"):
        naming.check_branch(bad)


@pytest.mark.parametrize("good", ["fix-1", "a.b", "日本", "é", "e\u0301", "A_b"])
def test_a_name_that_is_allowed(good: str) -> None:
    assert naming.check_name(good) == good


def test_names_that_look_the_same_are_the_same() -> None:
    assert naming.key("Éa") == naming.key(unicodedata.normalize("NFD", "éA"))
    assert naming.key("straße") == naming.key("STRASSE")
    assert naming.key("fix-1") != naming.key("fix-10")


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_names_for_tmux_are_plain_ascii(text: str) -> None:
    made = naming.ascii_slug(text, "w123")
    assert made
    assert made.isascii()
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not made.startswith("-")
    assert len(made) <= naming.MAX_LENGTH


def test_numbers_begin_at_two() -> None:
    assert [naming.numbered("x", n) for n in (1, 2, 3)] == ["x", "x-2", "x-3"]
