"""The rehearsal agent's pure parts: its script language, its keys, its command line."""

from __future__ import annotations

import pytest

from woodwind.testing.rehearsal import options
from woodwind.testing.rehearsal.keys import Key, KeyReader
from woodwind.testing.rehearsal.script import VERBS, Action, ScriptError, parse
from woodwind.testing.rehearsal.terminal import one_line, printable


@pytest.mark.parametrize(
    "source, expected",
    [
        ("say hello  there", Action("say", text="hello  there")),
        (r"say a\nb\tc\\n", Action("say", text="a\nb\tc\\n")),
        ("think 0.5", Action("think", amount=0.5)),
        (r"write a/b.txt one\ntwo\n", Action("write", path="a/b.txt", text="one\ntwo\n")),
        ("write empty.txt", Action("write", path="empty.txt")),
        ('write "a b.txt" text', Action("write", path="a b.txt", text="text")),
        ("append log.txt more", Action("append", path="log.txt", text="more")),
        ("delete old.txt", Action("delete", path="old.txt")),
        ("delete 'old file.txt'", Action("delete", path="old file.txt")),
        ("replace a.py x = 1 => x = 2", Action("replace", path="a.py", text="x = 1", new="x = 2")),
        ("replace a.py gone =>", Action("replace", path="a.py", text="gone", new="")),
        (r"replace a.py a\nb => c\nd", Action("replace", path="a.py", text="a\nb", new="c\nd")),
        ("replace a a => b => c", Action("replace", path="a", text="a", new="b => c")),
        ("run git log -1 'a b' \"c\"", Action("run", argv=("git", "log", "-1", "a b", "c"))),
        ("run echo $HOME; ls", Action("run", argv=("echo", "$HOME;", "ls"))),
        ("commit Fix: it", Action("commit", text="Fix: it")),
        ("ask Tabs or spaces?", Action("ask", text="Tabs or spaces?")),
        ("permit rm -rf build", Action("permit", text="rm -rf build")),
        ("flood 1000", Action("flood", amount=1000)),
        ("fail out of tokens", Action("fail", text="out of tokens")),
        ("exit 7", Action("exit", amount=7)),
        ("die", Action("die")),
        ("hang", Action("hang")),
    ],
)
def test_each_action_is_understood(source: str, expected: Action) -> None:
    assert parse(f"rehearse: {source}") == [expected]


def test_the_table_above_knows_every_verb() -> None:
    mark = next(mark for mark in test_each_action_is_understood.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    assert {action.verb for _, action in mark.args[1]} == set(VERBS)


@pytest.mark.parametrize(
    "source, reason",
    [
        ("dance", "unknown action 'dance'"),
        ("", "unknown action ''"),
        ("Say hi", "unknown action 'Say'"),
        ("say", "say needs a text"),
        ("think long", "think needs a number of seconds, but got 'long'"),
        ("think -1", "think needs"),
        ("think inf", "think needs"),
        ("think nan", "think needs"),
        ("write", "write needs a path"),
        ('write "open text', "does not end"),
        ("delete a b", "delete takes one path"),
        ("replace a.py old new", "replace needs PATH OLD => NEW"),
        ("replace a.py => new", "replace needs PATH OLD => NEW"),
        ("run 'open", "cannot be split"),
        ("run", "run needs a command"),
        ("flood many", "flood needs a whole number"),
        ("exit 256", "from 0 to 255"),
        ("exit -1", "exit needs"),
        ("die now", "takes nothing after it"),
    ],
)
def test_a_wrong_line_is_named(source: str, reason: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse(f"# Task\n\nrehearse: {source}\n")
    assert reason in str(caught.value)
    assert str(caught.value).startswith("line 3: ")


@pytest.mark.parametrize(
    "line, found",
    [
        ("rehearse: say x", True),
        ("  rehearse: say x", True),
        ("> rehearse: say x", True),
        (">> rehearse: say x", True),
        ("- rehearse: say x", True),
        ("> - rehearse: say x", True),
        ("* rehearse: say x", True),
        ("12. rehearse: say x", True),
        ("rehearse: say x\r", True),
        ("rehearse:say x", False),
        ("please rehearse: say x", False),
        ("`rehearse: say x`", False),
        ("rehearsal: say x", False),
    ],
)
def test_script_lines_are_found_in_markdown(line: str, found: bool) -> None:
    assert parse(f"before\n{line}\nafter") == ([Action("say", text="x")] if found else [])


def test_actions_keep_their_order() -> None:
    assert [action.verb for action in parse("rehearse: hang\ntext\nrehearse: die\n> rehearse: say x")] == [
        "hang",
        "die",
        "say",
    ]


def test_an_answer_fills_fields_and_adds_none() -> None:
    action = parse("rehearse: run touch {answer}")[0]
    assert action.with_answer("a b; c").argv == ("touch", "a b; c")
    assert action.with_answer(None).argv == ("touch", "{answer}")
    assert parse("rehearse: write f.txt {answer}")[0].with_answer(r"x\n").text == r"x\n"


KEYS: list[tuple[bytes, list[Key]]] = [
    (b"hi\r", [("text", "hi"), ("enter", "")]),
    (b"a\x7f\x15\x03\x04", [("text", "a"), ("backspace", ""), ("kill", ""), ("interrupt", ""), ("end", "")]),
    ("größe".encode(), [("text", "größe")]),
    (b"\x1b[200~one\rtwo\r\nthree\x1b[201~\r", [("paste", "one\ntwo\nthree"), ("enter", "")]),
    (b"\x1b[200~\x03\x1b[31mred\x1b[201~", [("paste", "\x03\x1b[31mred")]),
    (b"\x1b[A\x1b[1;5C\x1bOPx", [("text", "x")]),
    (b"\x1b\x03", [("interrupt", "")]),
    (b"\x1b[\x03", [("interrupt", "")]),
    (b"\x1b\x1b[Ax", [("text", "x")]),
]


@pytest.mark.parametrize("data, expected", KEYS)
def test_keys_come_out_of_whole_input(data: bytes, expected: list[Key]) -> None:
    assert KeyReader().feed(data) == expected


@pytest.mark.parametrize("data, expected", KEYS)
def test_keys_come_out_of_single_bytes(data: bytes, expected: list[Key]) -> None:
    reader = KeyReader()
    keys: list[Key] = []
    for byte in data:
        for kind, text in reader.feed(bytes([byte])):
            # Typed text comes letter by letter here; a paste must still be one.
            if kind == "text" and keys and keys[-1][0] == "text":
                keys[-1] = ("text", keys[-1][1] + text)
            else:
                keys.append((kind, text))
    assert keys == expected


def test_the_escape_key_alone_swallows_nothing() -> None:
    reader = KeyReader()
    assert reader.feed(b"\x1b") == []
    assert reader.in_escape
    reader.drop_escape()
    assert reader.feed(b"hello") == [("text", "hello")]
    assert not reader.in_escape


def test_outside_text_cannot_drive_the_terminal() -> None:
    assert printable("a\x1b]2;title\x07b\x9b31mc\r\nd\te\x00\udc80") == "a]2;titleb31mc\nd\te"
    assert one_line(" a\n b\x1b ", 80) == "a b"
    assert one_line("x" * 100, 80) == "x" * 79 + "…"


def test_the_command_line_is_read() -> None:
    found = options.parse(["--resume", "abc", "--model=m1", "--plan", "--ask-edits", "-p", "--", "--prompt"])
    assert (found.session_id, found.resume, found.model) == ("abc", True, "m1")
    assert (found.plan, found.ask_edits, found.print, found.prompt) == (True, True, True, "--prompt")
    assert options.parse(["--version"]).info == "rehearsal 1.0"


@pytest.mark.parametrize("argv", [["--resume"], ["--nonsense"], ["two", "prompts"], ["--model="]])
def test_a_wrong_command_line_is_refused(argv: list[str]) -> None:
    with pytest.raises(options.UsageError):
        options.parse(argv)
