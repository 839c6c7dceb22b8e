"""Words reach tmux unchanged, whatever is in them: tried on a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from woodwind.muxes.tmux.control import Control, TmuxError, literal, quote
from woodwind.testing.sandbox import Sandbox

CASES = [
    "",
    "plain",
    "two words",
    "it's",
    'say "hi"',
    "''",
    "a;b",
    "end;",
    ";",
    "\\",
    "back\\slash\\n",
    "$HOME ${HOME} $(touch x) `touch x`",
    "#(touch x) #{pid} ##",
    "~",
    "~root",
    "%if",
    "{ braces }",
    "# comment",
    "line\nbreak\r\ttab",
    "\x01\x1b[31m\x7f",
    "中文 é 👩\u200d💻",
    "\u202ebidi",
    "-t",
    "--",
    "x" * 20_000,
]


@pytest.fixture(scope="module")
def tmux() -> Iterator[tuple[Sandbox, Control]]:
    with Sandbox() as sandbox:
        sandbox.tmux("new-session", "-d", "-s", "one", "-x", "80", "-y", "24", "tail -f /dev/null")
        socket = sandbox.tmux("display-message", "-p", "#{socket_path}")
        control = Control(socket, ["attach-session", *Control.FLAGS, "-t", "=one:"], env=sandbox.env)
        yield sandbox, control
        control.close()


@pytest.mark.parametrize("text", CASES)
def test_a_word_comes_back_unchanged(tmux: tuple[Sandbox, Control], text: str) -> None:
    assert kept(tmux, text) == text


def kept(tmux: tuple[Sandbox, Control], text: str) -> str:
    """`text` after tmux parsed it as a word, kept it as the content of a buffer, and wrote that to a file."""
    sandbox, control = tmux
    if not text:
        return ""
    control.command("set-buffer", "-b", "word", "--", text)
    control.command("save-buffer", "-b", "word", str(sandbox.root / "word"))
    return (sandbox.root / "word").read_bytes().decode()


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_word_comes_back_unchanged(tmux: tuple[Sandbox, Control], text: str) -> None:
    assert kept(tmux, text) == text


@pytest.mark.parametrize("text", ["#(touch {canary})", "##(touch {canary})", "a#(touch {canary})#", "#{{pid}}", "#"])
def test_nothing_runs_where_tmux_expands_formats(tmux: tuple[Sandbox, Control], tmp_path: Path, text: str) -> None:
    text = text.format(canary=tmp_path / "canary")
    assert tmux[1].command("display-message", "-p", literal(text)) == [text]
    assert not (tmp_path / "canary").exists()


def test_a_refused_command_says_what_tmux_said_and_the_next_one_works(tmux: tuple[Sandbox, Control]) -> None:
    with pytest.raises(TmuxError, match="unknown command"):
        tmux[1].command("no-such-command")
    with pytest.raises(TmuxError, match="can't find pane"):
        tmux[1].command("kill-pane", "-t", "%999")
    assert tmux[1].command("display-message", "-p", "still here") == ["still here"]


def test_a_server_that_goes_away_is_told() -> None:
    with Sandbox() as sandbox:
        sandbox.tmux("new-session", "-d", "-s", "one", "tail -f /dev/null")
        socket = sandbox.tmux("display-message", "-p", "#{socket_path}")
        control = Control(socket, ["attach-session", "-t", "=one:"], env=sandbox.env)
        sandbox.tmux("kill-server")
        with pytest.raises(TmuxError) as told:
            control.command("display-message", "-p", "x")
        assert told.value.code == "tmux_gone"
        control.close()


def test_a_word_that_ends_in_a_semicolon_opens_a_session(tmp_path: Path) -> None:
    folder = tmp_path / "odd;"
    folder.mkdir()
    with Sandbox() as sandbox:
        socket = Path(sandbox.env["TMUX_TMPDIR"], "s")
        opening = [
            "new-session",
            *Control.FLAGS,
            "-P",
            "-F",
            "#{pane_id}",
            "-c",
            str(folder),
            "--",
            "tail",
            "-f",
            "/dev/null",
        ]
        control = Control(str(socket), opening, env=sandbox.env)
        [path] = control.command("display-message", "-p", "-t", control.opened[0], "#{pane_start_path}")
        control.close()
        assert path == str(folder)


def test_quote_is_one_word_without_a_line_end() -> None:
    assert quote("a\nb") == "'a'\"\\012\"'b'"
    assert "\n" not in quote("\n" * 5)
