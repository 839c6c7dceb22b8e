"""Every check of the critic over facts, and what makes a person needed."""

import pytest

from woodwind.git.added import _parse
from woodwind.model.critic import CHECKS, Facts, Line, criticise, needs_person

SHIP = Facts("ship", target="main", ahead=1)
# Put together here, so that the repository itself holds nothing that looks like a key.
AWS = "AKIA" + "Q7ZRT2LPW4MNB8KD"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ANTHROPIC = "sk-ant-" + "api03-" + "Zx9" * 12
KEY = "-----BEGIN " + "OPENSSH PRIVATE KEY-----"


def found(facts: Facts, **levels: str) -> list[tuple[str, str]]:
    return [(f.check, f.level) for f in criticise(facts, levels)]


def line(text: str, path: str = "app.py") -> Facts:
    return SHIP._replace(added=[Line(path, 7, text)])


@pytest.mark.parametrize(
    "facts,expected",
    [
        (SHIP, []),
        (SHIP._replace(ahead=0), [("empty", "block")]),
        (SHIP._replace(ahead=0, untracked=["new"]), []),
        (SHIP._replace(uncommitted=["a"]), []),
        (Facts("merge", ahead=1, uncommitted=["a"], untracked=["b"]), [("uncommitted", "block")] * 2),
        (Facts("merge", untracked=["b"]), [("uncommitted", "block"), ("empty", "block")]),
        (SHIP._replace(conflicted=["a"], under_way="MERGE_HEAD"), [("unmerged", "block")] * 2),
        (SHIP._replace(collides_with=[("other", "a.py:3")]), [("overlaps", "warn")]),
        (SHIP._replace(sizes={"a": 5, "b": 21 << 20}), [("large", "block")]),
        (SHIP._replace(sizes={"b": 21 << 20}, large_size=0), []),
        (Facts("delete", put_away=["1 commit not in main"]), [("unmerged", "block")]),
        (Facts("delete"), []),
    ],
)
def test_checks(facts: Facts, expected: list[tuple[str, str]]) -> None:
    assert found(facts) == expected


@pytest.mark.parametrize(
    "text,check",
    [
        ("<<<<<<< HEAD", "markers"),
        (">>>>>>> feat/other", "markers"),
        ("||||||| merged common ancestors", "markers"),
        ("<<<<<<<", "markers"),
        ("=======", ""),
        ("<<<<<<<<<<<<", ""),
        ("    <<<<<<< quoted in a text", ""),
        (f"key = '{AWS}'", "secrets"),
        ("key = 'AKIAIOSFODNN7EXAMPLE'", ""),
        (f"TOKEN={GITHUB}", "secrets"),
        ("token = os.environ['GITHUB_TOKEN']", ""),
        ("ghp_" + "x" * 36, ""),
        (ANTHROPIC, "secrets"),
        (KEY, "secrets"),
        ("-----BEGIN PUBLIC KEY-----", ""),
        ("password = 'hunter2'", ""),
        ("task-ant-colony-simulation-of-a-long-name-which-goes-on", ""),
        ("    breakpoint()", "debug"),
        ("import pdb; pdb.set_trace()", "debug"),
        ("x = set_breakpoint()", ""),
        ("# DO NOT COMMIT", "debug"),
        ("print('hello')", ""),
    ],
)
def test_lines(text: str, check: str) -> None:
    assert [f.check for f in criticise(line(text), {})] == ([check] if check else [])


@pytest.mark.parametrize(
    "path,text,is_found",
    [
        ("a.js", "  debugger;", True),
        ("a.py", "debugger;", False),
        ("a.ts", "describe.only('x', () => {", True),
        ("a.ts", "console.log('served')", False),
        ("a.rs", "dbg!(x);", True),
        ("a.rb", "binding.pry", True),
        ("notes.md", "call breakpoint() to stop", False),
    ],
)
def test_debug_code_by_language(path: str, text: str, is_found: bool) -> None:
    assert bool(criticise(line(text, path), {})) is is_found


def test_a_secret_is_named_by_its_place_and_never_repeated() -> None:
    (finding,) = criticise(line(f"key = '{AWS}'"), {})
    assert (finding.path, finding.line) == ("app.py", 7)
    assert AWS not in str(finding)


def test_levels_change_a_finding_or_silence_its_check() -> None:
    facts = line("breakpoint()")._replace(sizes={"b": 21 << 20})
    assert found(facts) == [("large", "block"), ("debug", "warn")]
    assert found(facts, debug="block", large="off") == [("debug", "block")]
    assert found(facts, **dict.fromkeys(CHECKS, "off")) == []


def test_no_level_makes_a_removal_lose_work() -> None:
    facts = Facts("delete", put_away=["1 commit not in main"])
    assert found(facts, unmerged="off") == [("unmerged", "block")]


@pytest.mark.parametrize("in_a_row,in_all,asked", [(1, 1, False), (2, 19, False), (3, 3, True), (1, 20, True)])
def test_denials(in_a_row: int, in_all: int, asked: bool) -> None:
    assert needs_person(in_a_row, in_all) is asked


def test_added_lines_of_a_diff() -> None:
    diff = """\
diff --git a.py a.py
index 1..2 100644
--- a.py
+++ a.py
@@ -3,0 +4,2 @@ def f():
+one
+++ two
@@ -9 +11 @@
-gone
+three
diff --git "od\\303\\244 d" "od\\303\\244 d"
new file mode 100644
--- /dev/null
+++ "od\\303\\244 d"
@@ -0,0 +1 @@
+four
\\ No newline at end of file
"""
    assert list(_parse(diff)) == [
        Line("a.py", 4, "one"),
        Line("a.py", 5, "++ two"),
        Line("a.py", 11, "three"),
        Line("odä d", 1, "four"),
    ]
