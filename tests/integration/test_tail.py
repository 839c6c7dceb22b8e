"""Following what a pane prints: it is told at once, and nothing stays behind, whenever the follower leaves."""

import os
import subprocess
from pathlib import Path

import pytest

from woodwind.muxes.tmux import tail
from woodwind.muxes.tmux.server import socket_path
from woodwind.muxes.tmux.tail import Tail
from woodwind.testing.sandbox import Sandbox


@pytest.fixture
def folder(sandbox: Sandbox) -> Path:
    found = sandbox.root / "it's a folder"
    found.mkdir()
    return found


def readers_and_writers(folder: Path) -> list[str]:
    """The processes that hold a pipe in the folder, or were told of one, other than this one."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal() or int(process.name) == os.getpid():
            continue
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            held = [os.readlink(file) for file in (process / "fd").iterdir()]
        except OSError:
            continue  # it has just ended
        if folder.name in words or any(str(folder) in path for path in held):
            found.append(words)
    return found


def test_what_a_pane_prints_is_told_and_nothing_stays_behind(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = sandbox.run_in_pane("cat")
    monkeypatch.setenv("TMUX_TMPDIR", sandbox.env["TMUX_TMPDIR"])
    follower = Tail(socket_path("woodwind"), pane, str(folder))
    assert follower.open()
    other = Tail(socket_path("woodwind"), pane, str(folder))
    assert not other.open(), "somebody pipes it already"

    def printed() -> bool:
        sandbox.type_in(pane, "hello")
        try:
            return bool(os.read(follower.fileno(), 100))
        except BlockingIOError:
            return False

    sandbox.wait_for(printed, what="the output")
    assert follower.drain()
    follower.close()
    other.close()
    sandbox.wait_for(lambda: not readers_and_writers(folder), what="the end of what was started")
    assert list(folder.iterdir()) == []
    assert sandbox.fact(pane, "pane_pipe") == "0"


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_a_shell_that_comes_after_its_reader_left_ends_at_once(
    folder: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def ask(_: str, *words: str) -> list[str]:
        asked.append(words)
        return ["0"]

    monkeypatch.setattr(tail, "ask", ask)
    follower = Tail("socket", "%1", str(folder))
    assert follower.open()
    [command] = [words[-1] for words in asked if "-O" in words]
    if how == "closed":
        follower.close()
    else:
        os.close(follower.fileno())
    before = sorted(folder.rglob("*"))
    done = subprocess.run(
        ["sh", "-c", command.replace("##", "#")], input=b"printed\n", timeout=60, capture_output=True, check=False
    )
    assert done.returncode != 0
    assert sorted(folder.rglob("*")) == before


def test_what_a_killed_follower_left_is_swept_and_what_a_live_one_has_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "ask", lambda *_: ["0"])
    ended = subprocess.Popen(["true"])
    ended.wait()
    for name in (f"tail-{ended.pid}-abc", f"tail-{ended.pid}-def-gone", f"tail-{os.getppid()}-abc", "socket"):
        (folder / name).mkdir()
        os.mkfifo(folder / name / "pipe")
    follower = Tail("socket", "%1", str(folder))
    assert follower.open()
    follower.close()
    assert sorted(path.name for path in folder.iterdir()) == ["socket", f"tail-{os.getppid()}-abc"]
