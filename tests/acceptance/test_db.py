"""`ww db`: the store's health, size and copies."""

import contextlib
import sqlite3
from pathlib import Path

from woodwind.testing.evidence import database, rows
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import names, new_worker


def change(box: Sandbox, sql: str, *values: object) -> None:
    with contextlib.closing(sqlite3.connect(database(box), timeout=20, isolation_level=None)) as db:
        db.execute(sql, values)


def test_health(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    plain = sandbox.ww("db", cwd=sandbox.home, check=True)  # needs no repository
    assert str(database(sandbox)) in plain.stdout
    assert "1 worker" in plain.stdout
    assert "whole" in plain.stdout
    for words in (("health",), ("health", "--check")):
        data = sandbox.ww("db", *words, "--json", check=True).json["data"]
        assert data["path"] == str(database(sandbox))
        assert data["size"] == database(sandbox).stat().st_size
        assert (data["rows"]["project"], data["rows"]["worker"], data["rows"]["terminal"]) == (1, 1, 1)
        assert data["problems"] == []
    # A writer that is still there: what it wrote is not in the file yet, and counts.
    with contextlib.closing(sqlite3.connect(database(sandbox), isolation_level=None)) as db:
        db.execute("INSERT INTO event (project, worker, at, kind, data) VALUES ('p', 'w', 0, 'x', ?)", ("y" * 500_000,))
        assert database(sandbox).stat().st_size < 500_000
        assert sandbox.ww("db", "--json", check=True).json["data"]["size"] > 500_000


def test_check_finds_what_a_quick_look_does_not(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    with contextlib.closing(sqlite3.connect(database(sandbox), isolation_level=None)) as db:
        # An index that does not fit its table: every page is whole by itself.
        db.execute("PRAGMA writable_schema = ON")
        sql = "SELECT sql FROM sqlite_master WHERE name = 'worker_name'"
        [(index,)] = db.execute(sql).fetchall()
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'worker_name'", (index.replace("= 0", "= 1"),))
    found = sandbox.ww("db", "health", "--check", "--json", cwd=repo)
    assert found.code == 1
    assert "worker_name" in " ".join(found.json["data"]["problems"])
    assert sandbox.ww("db", "health", "--check", cwd=repo).code == 1


def test_vacuum_counts_what_is_not_in_the_file_yet(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    with contextlib.closing(sqlite3.connect(database(sandbox))) as another:  # while it is open, nothing is moved over
        another.execute("SELECT count(*) FROM worker").fetchone()
        change(
            sandbox,
            f"INSERT INTO event (project, worker, at, kind, data) VALUES ('p', 'w', 0, 'x', '{'y' * 1_000_000}')",
        )
        data = sandbox.ww("db", "vacuum", "--json", check=True).json["data"]
    assert data["before"] >= data["after"] > 1_000_000


def test_vacuum_gives_room_back(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
    change(
        sandbox,
        f"{sql} INSERT INTO event (project, worker, at, kind, data) SELECT 'p', 'w', 0, 'x', '{'y' * 200}' FROM n",
    )
    sandbox.ww("db", "purge", "--days", "1", check=True)
    data = sandbox.ww("db", "vacuum", "--json", check=True).json["data"]
    assert data["before"] > 1_000_000
    assert data["after"] < data["before"] / 2
    assert data["after"] == database(sandbox).stat().st_size
    assert names(sandbox, repo) == ["worker-one"]


def test_purge_keeps_workers_and_what_is_under_way(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    new_worker(sandbox, repo, "worker-two")
    sandbox.ww("rm", "worker-two", "--yes", cwd=repo, check=True)
    facts = "'o-running', project, id, 'unknown', '{}', '', 'running', 0, 0"
    change(sandbox, f"INSERT INTO operation SELECT {facts} FROM worker LIMIT 1")
    kept = {
        table: rows(sandbox, f"SELECT * FROM {table}")
        for table in ("project", "worker", "worktree", "terminal", "removal")
    }
    large = sandbox.ww("db", "purge", "--days", "999999999999", "--json", check=True).json["data"]
    assert (large["events"], large["operations"]) == (0, 0)
    data = sandbox.ww("db", "purge", "--days", "0", "--json", check=True).json["data"]
    assert data["events"] >= 3
    assert data["operations"] == 3
    assert rows(sandbox, "SELECT * FROM event") == []
    assert rows(sandbox, "SELECT id, state FROM operation") == [("o-running", "running")]
    assert {table: rows(sandbox, f"SELECT * FROM {table}") for table in kept} == kept
    for words in (("purge",), ("purge", "--days", "-1"), ("health", "--days", "1"), ("vacuum", "file"), ("purge", "x")):
        assert sandbox.ww("db", *words).code == 2, words


def test_backup(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    target = sandbox.home / "copies" / "store.db"
    missing = sandbox.ww("db", "backup", str(target))
    assert missing.code == 1
    assert "cannot be written" in missing.stderr
    target.parent.mkdir()
    done = sandbox.ww("db", "backup", "copies/store.db", "--json", check=True)
    assert done.json["data"] == {"action": "backup", "file": str(target), "size": target.stat().st_size}
    assert target.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in target.parent.iterdir()] == ["store.db"]
    with contextlib.closing(sqlite3.connect(target)) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert copy.execute("SELECT name FROM worker").fetchall() == [("worker-one",)]
    # It is a store that can be worked with.
    before = target.read_bytes()
    again = sandbox.ww("db", "backup", str(target))
    assert again.code == 1
    assert "exists already, and was left alone" in again.stderr
    assert target.read_bytes() == before
    assert sandbox.ww("ls", "--json", cwd=repo, env={"WOODWIND_DB": str(target)}, check=True).json["data"]
    own = sandbox.ww("db", "backup", "--json", check=True).json["data"]["file"]
    assert Path(own).is_relative_to(database(sandbox).parent / "backups")
    second = sandbox.ww("db", "backup", "--json", check=True).json["data"]["file"]
    assert second != own


def test_another_store(sandbox: Sandbox, repo: Path) -> None:
    other = sandbox.home / "deep" / "other.db"
    env = {"WOODWIND_DB": str(other)}
    words = ("new", "Work", "--name", "worker-one")
    sandbox.ww(*words, cwd=repo, env=env, check=True)
    assert other.is_file()
    assert not database(sandbox).exists()
    data = sandbox.ww("db", "health", "--json", cwd=repo, env=env, check=True).json["data"]
    assert (data["path"], data["rows"]["worker"]) == (str(other), 1)
    assert sandbox.ww("doctor", "--json", cwd=repo, env=env, check=True).json["data"]["mended"] == []
