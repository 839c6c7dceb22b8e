"""What the kernel tells us."""

import os
import select
import subprocess
from pathlib import Path

import pytest

from woodwind.base.watch import End, Folders


def is_readable(fd: int, timeout: float = 60) -> bool:
    return bool(select.select([fd], [], [], timeout)[0])


def test_a_file_that_was_written_to_its_end_is_told(tmp_path: Path) -> None:
    folders = Folders()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        assert folders.add(name, str(tmp_path / name))
    with (tmp_path / "a" / "file").open("w") as file:
        file.write("half")
        file.flush()
        assert not is_readable(folders.fileno(), 0)
    assert is_readable(folders.fileno())
    assert folders.read() == ({"a"}, False)
    assert not is_readable(folders.fileno(), 0)
    (tmp_path / "moved").write_text("")
    (tmp_path / "moved").rename(tmp_path / "b" / "moved")
    assert is_readable(folders.fileno())
    assert folders.read() == ({"b"}, False)
    folders.close()


def test_a_folder_that_goes_away_is_told_and_can_be_watched_again(tmp_path: Path) -> None:
    folders = Folders()
    place = tmp_path / "a"
    assert not folders.add("a", str(place))
    for _ in range(2):
        place.mkdir()
        assert folders.add("a", str(place))
        assert folders.add("a", str(place))
        place.rmdir()
        assert is_readable(folders.fileno())
        assert folders.read() == ({"a"}, False)
    folders.close()


def test_a_folder_that_is_let_go_is_silent(tmp_path: Path) -> None:
    folders = Folders()
    folders.add("a", str(tmp_path))
    folders.remove("a")
    folders.remove("a")
    (tmp_path / "file").write_text("")
    assert folders.read() == (set(), False)
    folders.close()


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    folders = Folders()
    assert not folders.add("a", str(tmp_path / "link"))
    folders.close()


def test_the_end_of_a_process_is_told() -> None:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    end = End(process.pid)
    assert not is_readable(end.fileno(), 0)
    process.communicate(b"")
    assert is_readable(end.fileno())
    end.close()
    with pytest.raises(ProcessLookupError):
        End(process.pid)
    assert os.path.exists("/proc/self/fd")
