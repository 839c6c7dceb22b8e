"""The headless multiplexer on real processes: what ends, what is kept, and what is never started."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from woodwind.base.processes import group_runs, is_running, start_time
from woodwind.model.errors import Refused, WoodwindError
from woodwind.muxes import headless, registry
from woodwind.muxes.base import Pane, Program
from woodwind.muxes.headless import Headless
from woodwind.testing.sandbox import Sandbox

Start = Callable[..., Pane]


@pytest.fixture
def mux(tmp_path: Path) -> Iterator[Headless]:
    made = Headless(str(tmp_path / "headless"))
    yield made
    for pane in made.panes():
        made.kill(pane)


@pytest.fixture
def start(mux: Headless, tmp_path: Path) -> Start:
    def begin(*argv: str, worker: str = "w1", env: dict[str, str] | None = None) -> Pane:
        opened = mux.open_session(worker=worker, project="p1", name="x", folder=str(tmp_path))
        return mux.start(opened, Program(argv, {"PATH": os.environ["PATH"], **(env or {})}, ["UNWANTED"]))

    return begin


def the(mux: Headless, worker: str = "w1") -> Pane:
    [pane] = [p for p in mux.panes() if p.worker == worker]
    return pane


def until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(mux: Headless, worker: str = "w1") -> str:
    until(lambda: the(mux, worker).dead)
    return the(mux, worker).exit_status


def facts(mux: Headless, worker: str = "w1") -> dict[str, object]:
    found = json.loads(Path(mux.folder, worker, "pane.json").read_text())
    assert isinstance(found, dict)
    return found


def group_of(mux: Headless) -> int:
    return int(str(facts(mux)["parent"]))


def wait_for_line(mux: Headless, text: str) -> None:
    until(lambda: text in mux.text(the(mux), lines=50))


@pytest.mark.parametrize(
    "script, how",
    [
        ("exit 0", "status 0"),
        ("exit 7", "status 7"),
        ("kill -9 $$", "signal 9"),
        ("kill -TERM $$", "signal 15"),
        ("exit 255", "status 255"),
    ],
)
def test_how_it_ended_is_kept(mux: Headless, start: Start, script: str, how: str) -> None:
    start("sh", "-c", script)
    assert ended(mux) == how
    assert Path(mux.folder, "w1", "status").read_text() == f"{how}\n"


def test_a_program_that_runs(mux: Headless, start: Start, tmp_path: Path) -> None:
    pane = start(sys.executable, "-c", "import os; print(os.getcwd(), os.getpid(), flush=True); input()")
    assert ended(mux) == "status 1"  # there is nothing to read: standard input is empty
    shown = mux.text(the(mux), lines=50)
    assert shown.startswith(f"{tmp_path} {pane.pid}\n")
    assert "EOFError" in shown
    assert (pane.worker, pane.project, pane.title) == ("w1", "p1", "")


def test_the_pane_is_the_program_itself(mux: Headless, start: Start) -> None:
    pane = start("sleep", "100")
    assert not pane.dead
    # Its process is known a moment before the shell in it has become the program.
    until(lambda: Path(f"/proc/{pane.pid}/comm").read_text().strip() == "sleep")
    assert registry.at(mux.server).panes()[0].pid == pane.pid


def test_words_and_variables_arrive_as_they_are(
    mux: Headless, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UNWANTED", "1")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -v")
    hostile = ["$(touch hacked)", "`id`", "'; exit 9; '", "", "-n", "a\nb", "*", "ü\t"]
    program = tmp_path / "a=b"
    program.write_text(f"#!{sys.executable}\nimport os, sys\nprint(repr(sys.argv[1:]), dict(os.environ))\n")
    program.chmod(0o755)
    start(str(program), *hostile, env={"SECRET": "s3cret $(id)"})
    assert ended(mux) == "status 0"
    shown = mux.text(the(mux), lines=50)
    assert repr(hostile) in shown
    assert "'SECRET': 's3cret $(id)'" in shown
    assert "'GIT_SSH_COMMAND': 'ssh -v'" in shown
    assert "UNWANTED" not in shown
    assert "GIT_DIR" not in shown
    assert not (tmp_path / "hacked").exists()


def test_no_signal_is_ignored_in_the_program(mux: Headless, start: Start) -> None:
    before = {n: signal.signal(n, signal.SIG_IGN) for n in (signal.SIGHUP, signal.SIGINT)}
    try:
        start("grep", "SigIgn", "/proc/self/status")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert ended(mux) == "status 0"
    assert int(mux.text(the(mux), lines=1).split()[1], 16) & 0b111 == 0


def test_a_program_that_cannot_start(mux: Headless, start: Start, tmp_path: Path) -> None:
    start(str(tmp_path / "missing"))
    assert ended(mux) == "status 127"
    assert "not found" in mux.text(the(mux), lines=5)


def test_a_folder_that_is_gone(mux: Headless) -> None:
    pane = mux.open_session(worker="w1", project="p1", name="x", folder="/nonexistent")
    with pytest.raises(WoodwindError, match="could not be started in /nonexistent"):
        mux.start(pane, Program(["true"], {}))
    mux.kill(pane)
    assert mux.panes() == []


def test_an_argument_that_is_too_long(mux: Headless, start: Start) -> None:
    with pytest.raises(WoodwindError, match="true cannot be started"):
        start("true", "x" * (1 << 18))


def test_kill_ends_the_whole_group_and_leaves_nothing(
    mux: Headless, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("sh", "-c", "sleep 100 & sleep 100")
    group = group_of(mux)
    monkeypatch.setattr(headless, "GRACE", 60)
    began = time.monotonic()
    mux.kill(the(mux))
    assert time.monotonic() - began < 30, "it waits for no longer than the group needs"
    assert not group_runs(group)
    assert mux.panes() == []
    assert os.listdir(mux.folder) == []


def test_what_ignores_the_polite_request_is_killed(mux: Headless, start: Start) -> None:
    start("sh", "-c", "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo up; while :; do sleep 1; done")
    wait_for_line(mux, "up")
    group = group_of(mux)
    mux.end(the(mux))
    assert not group_runs(group)
    assert the(mux).exit_status == "signal 9"


def test_after_a_polite_end_the_program_s_own_status_is_known(mux: Headless, start: Start) -> None:
    start("sh", "-c", "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done")
    wait_for_line(mux, "up")
    mux.end(the(mux))
    assert the(mux).exit_status == "status 3"
    assert mux.text(the(mux), lines=1) == "bye\n"


def test_a_killed_parent(mux: Headless, start: Start) -> None:
    pane = start("sleep", "100")
    parent, begun = group_of(mux), start_time(group_of(mux))
    os.kill(parent, signal.SIGKILL)
    while is_running(parent, begun):
        time.sleep(0.01)
    # The program runs on, and that is what is told.
    assert not the(mux).dead
    os.kill(pane.pid, signal.SIGKILL)
    assert ended(mux) == ""
    mux.kill(the(mux))
    assert mux.panes() == []


def test_a_status_that_is_just_being_written_is_waited_for(mux: Headless, start: Start) -> None:
    pane = start("sleep", "100")
    os.kill(group_of(mux), signal.SIGSTOP)
    os.kill(pane.pid, signal.SIGTERM)
    threading.Timer(0.1, os.kill, (group_of(mux), signal.SIGCONT)).start()
    while is_running(pane.pid, str(facts(mux)["pid_start"])):
        time.sleep(0.01)
    assert (the(mux).dead, the(mux).exit_status) == (True, "signal 15")


def test_a_program_whose_parent_was_killed_can_still_be_ended(mux: Headless, start: Start) -> None:
    start("sh", "-c", "sleep 100 & sleep 100")
    group = group_of(mux)
    os.kill(group, signal.SIGKILL)
    mux.kill(the(mux))
    assert not group_runs(group)


def test_another_process_with_the_same_number_is_left_alone(mux: Headless, start: Start) -> None:
    start("true")
    ended(mux)
    with subprocess.Popen(["sleep", "100"], start_new_session=True) as other:
        place = Path(mux.folder, "w1", "pane.json")
        # Start times are told in hundredths of a second, and `true` may have begun in the same one.
        earlier = {"parent_start": "1", "pid_start": "1"}
        place.write_text(json.dumps(facts(mux) | {"parent": other.pid, "pid": other.pid} | earlier))
        (Path(mux.folder) / "w1" / "status").unlink()
        assert the(mux).dead
        mux.kill(the(mux))
        assert other.poll() is None
        other.kill()


def test_nothing_starts_when_the_starter_dies_before_it_is_written_down(tmp_path: Path) -> None:
    script = f"""
import os
from woodwind.muxes.base import Program
from woodwind.muxes.headless import Headless
mux = Headless({str(tmp_path / "h")!r})
pane = mux.open_session(worker="w1", project="p1", name="x", folder={str(tmp_path)!r})
mux._write = lambda worker, facts: os.kill(os.getpid(), 9)
mux.start(pane, Program(["touch", "started"], {{"PATH": os.environ["PATH"]}}))
"""
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    time.sleep(0.3)
    assert not (tmp_path / "started").exists()


def test_a_second_run_continues_the_log(mux: Headless, start: Start) -> None:
    start("sh", "-c", "echo one; exit 1")
    assert ended(mux) == "status 1"
    again = mux.start(the(mux), Program(["sh", "-c", "echo two; sleep 100"], {"PATH": os.environ["PATH"]}))
    assert not again.dead
    wait_for_line(mux, "two")
    assert mux.text(the(mux), lines=50) == "one\ntwo\n"


def test_several_at_once(mux: Headless, start: Start) -> None:
    for n in range(5):
        start("sh", "-c", f"exit {n}", worker=f"w{n}")
    assert [ended(mux, f"w{n}") for n in range(5)] == [f"status {n}" for n in range(5)]


def test_only_the_end_of_a_huge_log_is_read(mux: Headless, start: Start) -> None:
    start("true")
    ended(mux)
    with open(Path(mux.folder, "w1", "log"), "wb") as log:
        log.truncate(5 << 30)  # a hole: it takes no room on disk
        log.seek(0, os.SEEK_END)
        log.write(b"\none\r\ntwo\nthr\xffee")
    began = time.process_time()  # whatever else the machine does
    assert mux.text(the(mux), lines=3) == "one\ntwo\nthr\ufffdee\n"
    assert len(mux.text(the(mux), lines=10)) <= 17 << 20
    assert time.process_time() - began < 2


@pytest.mark.parametrize("data, lines, shown", [
    (b"", 5, ""), (b"a", 5, "a\n"), (b"a\nb\n", 1, "b\n"), (b"a\n\n", 2, "a\n\n"), (b"\n" * 9, 2, "\n\n"),
])  # fmt: skip
def test_the_last_lines(mux: Headless, start: Start, data: bytes, lines: int, shown: str) -> None:
    start("true")
    ended(mux)
    Path(mux.folder, "w1", "log").write_bytes(data)
    assert mux.text(the(mux), lines=lines) == shown


def test_watching(mux: Headless, start: Start, tmp_path: Path) -> None:
    start("sh", "-c", "until [ -e go ]; do sleep 0.02; done; echo hi; until [ -e end ]; do sleep 0.02; done")
    with mux.watch(the(mux)) as watching:
        assert not watching.wait(0.1)
        (tmp_path / "go").touch()
        assert watching.wait(60)
        assert mux.text(the(mux), lines=5) == "hi\n"
        (tmp_path / "end").touch()
        assert watching.wait(60)
        assert the(mux).dead
        assert not watching.wait(0.05)


def test_what_needs_a_terminal_is_refused(mux: Headless, start: Start) -> None:
    pane = start("sleep", "100")
    for ask in (
        lambda: mux.paste(pane, "x"),
        lambda: mux.press(pane, "Enter"),
        lambda: mux.own_session(pane, name="x"),
        lambda: mux.attach_argv(pane, inside=False),
        lambda: mux.open_window(worker="w2", project="p", name="x", folder="/", session=""),
    ):
        with pytest.raises(Refused) as refused:
            ask()
        assert "ww log" in refused.value.hint
    assert [p.worker for p in mux.panes()] == ["w1"]


def test_damaged_folders_are_passed_over(mux: Headless, start: Start) -> None:
    start("true")
    for name, text in (("empty", None), ("torn", '{"worker"'), ("list", "[]"), ("other", '{"worker": "w1"}')):
        place = Path(mux.folder, name)
        place.mkdir()
        if text is not None:
            (place / "pane.json").write_text(text)
    Path(mux.folder, "file").touch()
    assert [p.worker for p in mux.panes()] == ["w1"]


def test_a_sandbox_ends_what_runs_headless() -> None:
    with Sandbox() as box:
        mux = Headless(f"{box.env['XDG_STATE_HOME']}/woodwind/headless")
        opened = mux.open_session(worker="w1", project="p", name="x", folder=str(box.home))
        mux.start(opened, Program(["sleep", "100"], {"PATH": os.environ["PATH"]}))
        group = group_of(mux)
        assert group_runs(group)
    assert not group_runs(group)
