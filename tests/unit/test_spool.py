"""The hook command: one new file per event, whatever the surroundings, and no failure that an agent could see."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from woodwind.base import spool

NONCE = "abcdefgh2345"


def fire(command: str, payload: bytes, **more: object) -> int:
    done = subprocess.run(["sh", "-c", command], input=payload, check=False, env={"PATH": os.defpath}, timeout=60)
    return done.returncode


@pytest.mark.parametrize("name", ["spool", 'it\'s a "spool" $HOME', "späne"])
def test_an_event_is_one_new_private_file(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    before = spool.now()
    assert fire(spool.hook_command(str(folder), NONCE), b'{"a": 1}') == 0
    [file] = folder.iterdir()
    assert json.loads(file.read_bytes()) == {"a": 1}
    assert file.stat().st_mode & 0o777 == 0o600
    stamp = spool.stamp_of(file.name)
    assert stamp
    assert (stamp.boot, stamp.nonce) == (before.boot, NONCE)
    assert before.up <= stamp.up <= spool.now().up


def test_it_works_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_BOOT", "/nowhere/boot_id")
    monkeypatch.setattr(spool, "_UPTIME", "/nowhere/uptime")
    assert fire(spool.hook_command(str(tmp_path), NONCE), b"{}") == 0
    [file] = tmp_path.iterdir()
    stamp = spool.stamp_of(file.name)
    assert stamp
    assert stamp.boot == spool.now().boot == "0"
    assert abs(stamp.up - spool.now().up) < 3_600_000


def test_it_works_where_only_the_agent_sees_no_proc(tmp_path: Path) -> None:
    command = spool.hook_command(str(tmp_path), NONCE).replace("/proc/", "/nowhere/")
    assert fire(command, b"{}") == 0
    [file] = tmp_path.iterdir()
    stamp = spool.stamp_of(file.name)
    assert stamp
    assert (stamp.boot, stamp.nonce) == ("0", NONCE)


def test_a_deleted_folder_is_made_again_but_not_that_of_a_worker_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "worker" / "spool"
    command = spool.hook_command(str(folder), NONCE)
    assert fire(command, b"{}") == 0
    assert not folder.parent.exists()
    folder.parent.mkdir()
    assert fire(command, b"{}") == 0
    assert len([*folder.iterdir()]) == 1


def test_it_succeeds_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file")
    assert fire(spool.hook_command(str(tmp_path / "spool"), NONCE), b"{}") == 0
    assert (tmp_path / "spool").read_text() == "a file"


def test_it_never_overwrites_and_never_follows_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    command = spool.hook_command(str(folder), NONCE)
    # All that varies is made constant, so that the second event wants the name of the first.
    fixed = command.replace("$$", "7").replace("${u}", "5.00")
    assert fire(fixed, b'{"first": 1}') == 0
    [file] = folder.iterdir()
    assert fire(fixed, b'{"second": 1}') == 0
    assert json.loads(file.read_bytes()) == {"first": 1}
    file.unlink()
    file.symlink_to(victim)
    assert fire(fixed, b"{}") == 0
    assert victim.read_text() == "precious"


def test_in_a_pipe_and_with_other_shells(tmp_path: Path) -> None:
    command = spool.hook_command(str(tmp_path), NONCE)
    for n, shell in enumerate(("sh", "bash", "zsh"), 1):
        subprocess.run([shell, "-c", f"printf '{{}}' | {command}"], check=True, env={"PATH": os.defpath})
        assert len([*tmp_path.iterdir()]) == n
    assert all(file.read_bytes() == b"{}" for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["", "x", "1_b_5.0_7", "2_b_5.0_7_n", "1_b_five_7_n", "1_b_5.0_pid_n", "1_b_inf_7_n", "1_b_nan_7_n"]
)
def test_names_that_are_not_ours(name: str) -> None:
    assert spool.stamp_of(name) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the machine's own clock is read from /proc")
def test_the_clock_is_the_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 0)  # set back by decades
    first = spool.now()
    assert first.up > 0
    assert spool.now() >= first
