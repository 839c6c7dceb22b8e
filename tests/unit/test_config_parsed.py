"""What a configuration file holds is remembered, and never longer than it holds that."""

import os
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from woodwind.config import parsed


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often a file was really parsed; its last change always seems a while ago."""
    (tmp_path / "state" / "woodwind").mkdir(parents=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ahead = time.time_ns() + 60_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: ahead)
    load: Callable[[Any], dict[str, Any]] = tomllib.load
    found: list[str] = []

    def counted(file: Any) -> dict[str, Any]:
        found.append(file.name)
        return load(file)

    monkeypatch.setattr(tomllib, "load", counted)
    return found


TEXT = '[new]\nagent = "x"\n[trash]\ndays = 3\n[agents.a]\nargs = ["ü", "%"]\nenv = { A = "1" }\n'


def test_a_file_is_parsed_once_and_gives_the_same_again(tmp_path: Path, reads: list[str]) -> None:
    path = tmp_path / "a%b.toml"
    path.write_text(TEXT, encoding="utf-8")
    first = parsed.tables_of(str(path))
    assert first == tomllib.loads(TEXT)
    assert parsed.tables_of(str(path)) == first
    assert len(reads) == 1


def test_a_change_is_seen_though_size_and_time_are_the_same(tmp_path: Path, reads: list[str]) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[trash]\ndays = 3\n", encoding="utf-8")
    before = path.stat()
    parsed.tables_of(str(path))
    other = tmp_path / "b.toml"
    other.write_text("[trash]\ndays = 4\n", encoding="utf-8")
    os.replace(other, path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert parsed.tables_of(str(path)) == {"trash": {"days": 4}}
    assert len(reads) == 2


def test_a_file_that_was_just_changed_is_not_remembered(
    tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[trash]\n", encoding="utf-8")
    changed = path.stat().st_ctime_ns
    monkeypatch.setattr(time, "time_ns", lambda: changed + 1)
    for _ in range(2):
        parsed.tables_of(str(path))
    assert len(reads) == 2


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[]", b'{"stamp": 1}', b"\xff\xfe\x00"])
def test_what_is_remembered_may_be_damaged_or_gone(tmp_path: Path, reads: list[str], rubbish: bytes) -> None:
    path = tmp_path / "a.toml"
    path.write_text(TEXT, encoding="utf-8")
    parsed.tables_of(str(path))
    (kept,) = (tmp_path / "state" / "woodwind" / "parsed").iterdir()
    kept.write_bytes(rubbish)
    assert parsed.tables_of(str(path)) == tomllib.loads(TEXT)
    kept.unlink()
    assert parsed.tables_of(str(path)) == tomllib.loads(TEXT)
    assert len(reads) == 3


def test_what_json_cannot_hold_is_parsed_each_time(tmp_path: Path, reads: list[str]) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[new]\nday = 2020-01-01\n", encoding="utf-8")
    assert parsed.tables_of(str(path)) == parsed.tables_of(str(path))
    assert len(reads) == 2
