"""Words reach tmux unchanged, whatever is in them: tried on a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from woodwind.muxes.tmux.client import TmuxError, literal, quote, tell
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
def tmux() -> Iterator[tuple[Sandbox, str]]:
    """A sandbox, and the socket of a tmux server in it."""
    with Sandbox() as sandbox:
        sandbox.tmux("new-session", "-d", "-s", "one", "-x", "80", "-y", "24", "tail -f /dev/null")
        yield sandbox, sandbox.tmux("display-message", "-p", "#{socket_path}")


def kept(tmux: tuple[Sandbox, str], text: str) -> str:
    """`text` after tmux parsed it as a word, kept it as the content of a buffer, and wrote that to a file."""
    sandbox, socket = tmux
    if not text:
        return ""
    file = sandbox.root / "word"
    tell(socket, ("set-buffer", "-b", "word", "--", text), ("save-buffer", "-b", "word", str(file)))
    return file.read_bytes().decode()


@pytest.mark.parametrize("text", CASES)
def test_a_word_comes_back_unchanged(tmux: tuple[Sandbox, str], text: str) -> None:
    assert kept(tmux, text) == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_word_comes_back_unchanged(tmux: tuple[Sandbox, str], text: str) -> None:
    assert kept(tmux, text) == text


@pytest.mark.parametrize("text", ["#(touch {canary})", "##(touch {canary})", "a#(touch {canary})#", "#{{pid}}", "#"])
def test_nothing_runs_where_tmux_expands_formats(tmux: tuple[Sandbox, str], tmp_path: Path, text: str) -> None:
    text = text.format(canary=tmp_path / "canary")
    assert tell(tmux[1], ("display-message", "-p", literal(text))) == [text]
    assert not (tmp_path / "canary").exists()


def test_a_refused_command_says_what_tmux_said_and_ends_the_rest(tmux: tuple[Sandbox, str]) -> None:
    sandbox, socket = tmux
    with pytest.raises(TmuxError, match="unknown command"):
        tell(socket, ("no-such-command",))
    with pytest.raises(TmuxError, match="can't find pane") as told:
        tell(socket, ("kill-pane", "-t", "%999"), ("rename-session", "-t", "=one", "two"))
    assert told.value.code == "tmux"
    assert sandbox.tmux("list-sessions", "-F", "#{session_name}") == "one"
    assert tell(socket, ("display-message", "-p", "a"), ("display-message", "-p", "b")) == ["a", "b"]


def test_a_server_that_is_not_there_is_told_and_not_started(tmp_path: Path) -> None:
    with Sandbox() as sandbox:
        socket = Path(sandbox.env["TMUX_TMPDIR"], "s")
        with pytest.raises(TmuxError) as told:
            tell(str(socket), ("display-message", "-p", "x"), env=sandbox.env)
        assert told.value.code == "tmux_gone"
        assert not socket.exists()


def test_words_are_not_in_the_process_list(tmux: tuple[Sandbox, str]) -> None:
    # run-shell keeps the client waiting, so that its command line can be looked at meanwhile.
    secret = "hidden-word-4711"
    sandbox, socket = tmux
    look = f"grep -a -l hidden-wor[d]-4711 /proc/[0-9]*/cmdline 2>/dev/null | wc -l > {sandbox.root}/seen"
    tell(socket, ("set-environment", "-t", "=one", "SECRET", secret), ("run-shell", look))
    assert (sandbox.root / "seen").read_text().strip() == "0"


def test_a_folder_that_ends_in_a_semicolon(tmp_path: Path) -> None:
    folder = tmp_path / "odd;"
    folder.mkdir()
    with Sandbox() as sandbox:
        socket = Path(sandbox.env["TMUX_TMPDIR"], "s")
        place = ("-P", "-F", "#{pane_start_path}", "-c", str(folder))
        session = ("new-session", "-d", *place, "--", "tail", "-f", "/dev/null")
        assert tell(str(socket), session, env=sandbox.env, start=True) == [str(folder)]


def test_quote_is_one_word_without_a_line_end() -> None:
    assert quote("a\nb") == "'a'\"\\012\"'b'"
    assert "\n" not in quote("\n" * 5)
