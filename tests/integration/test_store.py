"""The store: made by many at once, refused when newer, and set aside when damaged."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from woodwind.model.errors import WoodwindError
from woodwind.store.db import SCHEMA, Damaged, Store, is_whole, open_store, set_aside

OPEN = "import sys; from woodwind.store.db import open_store; open_store(sys.argv[1]).close()"


def test_eight_processes_make_one_store(tmp_path: Path) -> None:
    for n in range(3):
        path = tmp_path / str(n) / "woodwind.db"
        together = [
            subprocess.Popen([sys.executable, "-c", OPEN, str(path)], stderr=subprocess.PIPE, text=True)
            for _ in range(8)
        ]
        complaints = [process.communicate(timeout=60)[1] for process in together]
        assert [process.returncode for process in together] == [0] * 8, complaints
        with contextlib.closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_maker_that_died_at_once_is_made_good(tmp_path: Path) -> None:
    path = tmp_path / "woodwind.db"
    path.touch(0o600)
    open_store(str(path)).close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("SELECT count(*) FROM worker").fetchone() == (0,)


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "woodwind.db"
    open_store(str(path)).close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    before = path.read_bytes()
    with pytest.raises(WoodwindError, match=f"newer Woodwind .schema {SCHEMA + 1}, this one knows {SCHEMA}") as refusal:
        open_store(str(path))
    assert refusal.value.code == "store_newer"
    assert not isinstance(refusal.value, Damaged)
    assert path.read_bytes() == before


def test_a_store_whose_version_was_lost_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "woodwind.db"
    open_store(str(path)).close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 0")
    with pytest.raises(Damaged):
        open_store(str(path))


def test_a_renamed_column_is_damage(tmp_path: Path) -> None:
    """SQLite's own check finds nothing wrong with it, and every command would fail."""
    path = tmp_path / "woodwind.db"
    open_store(str(path)).close()
    assert is_whole(str(path))
    data = path.read_bytes()
    assert b"    branch TEXT NOT NULL" in data
    path.write_bytes(data.replace(b"    branch TEXT NOT NULL", b"    brbnch TEXT NOT NULL"))
    assert not is_whole(str(path))


@pytest.mark.parametrize(
    "content", [b"hello, this is a text file\n" * 500, b"\0" * 8192, b"SQLite format 3\0" + b"\xff" * 4080]
)
def test_another_file_in_its_place_is_damage(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "woodwind.db"
    path.write_bytes(content)
    with pytest.raises(Damaged):
        open_store(str(path))
    folder = set_aside(str(path))
    assert not path.exists()
    assert Path(folder, "woodwind.db").read_bytes() == content


def test_each_damaged_file_gets_its_own_folder(tmp_path: Path) -> None:
    path = tmp_path / "woodwind.db"
    for n in range(3):
        path.write_bytes(b"%d" % n)
        Path(f"{path}-wal").write_bytes(b"wal %d" % n)
        folder = Path(set_aside(str(path)))
        assert (folder / "woodwind.db").read_bytes() == b"%d" % n
        assert (folder / "woodwind.db-wal").read_bytes() == b"wal %d" % n
    assert set_aside(str(path)) == ""
    assert len(list(tmp_path.glob("woodwind.db.damaged-*"))) == 3


EVENT = "INSERT INTO event (project, worker, at, kind, data) VALUES ('p', 'w', ?, 'k', ?)"


def add_events(store: Store, *data: str) -> None:
    with store.transaction() as db:
        for n, each in enumerate(data):
            db.execute(EVENT, (n if each else None, each))


def test_a_failed_transaction_leaves_the_store_usable(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "woodwind.db"))
    with pytest.raises(sqlite3.IntegrityError):
        add_events(store, "first", "")
    add_events(store, "second")
    assert store.db.execute("SELECT data FROM event").fetchall() == [("second",)]
    store.close()


def test_a_full_store_leaves_it_usable(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "woodwind.db"))
    pages = store.db.execute("PRAGMA page_count").fetchone()[0]
    store.db.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        add_events(store, "x" * 100_000)
    store.db.execute(f"PRAGMA max_page_count = {pages + 1000}")
    add_events(store, "fits")
    assert store.db.execute("SELECT data FROM event").fetchall() == [("fits",)]
    store.close()


def test_an_unreadable_store_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "woodwind.db"
    path.mkdir()
    with pytest.raises(WoodwindError) as refusal:
        open_store(str(path))
    assert refusal.value.code == "not_writable"
    assert os.path.isdir(path)
