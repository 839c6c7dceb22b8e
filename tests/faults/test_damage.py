"""A damaged, lost or foreign store: found out, set aside with all its bytes, and rebuilt from git and tmux."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from woodwind.store.db import SCHEMA
from woodwind.testing.evidence import database, leftovers, manifest, rows, work_of
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import finish, names, new_worker, start

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
FLIPS = 500 if LONG else 8
WRITER_KILLS = 1000 if LONG else 20


class Stage:
    """Two projects: one with a running, a dirty, a parked and a pruned worker, one with a single worker."""

    def __init__(self, box: Sandbox, repo: Path) -> None:
        self.box = box
        self.repo = repo
        self.other = make_repo(box.home / "second")
        shutil.copy(repo / "woodwind.toml", self.other / "woodwind.toml")
        with (self.other / ".git" / "info" / "exclude").open("a") as exclude:
            exclude.write("woodwind.toml\n")
        self.tree = new_worker(box, repo, "running")
        self.dirty = new_worker(box, repo, "dirty")
        commit(self.dirty, "Mine", {"mine.txt": "mine\n"})
        (self.dirty / "notes.txt").write_text("untracked\n")
        for name in ("pruned", "parked"):
            (new_worker(box, repo, name) / "notes.txt").write_text(f"of {name}\n")
            box.ww("rm", name, "--force", "--yes", cwd=repo, check=True)
            if name == "pruned":
                box.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
        new_worker(box, self.other, "elsewhere")
        self.before = self.seen()
        self.good = {path: path.read_bytes() for path in database(box).parent.glob("woodwind.db*") if path.is_file()}

    def seen(self) -> list[tuple[str, ...]]:
        """The workers of all projects as `ww ls --all` shows them, without what is derived anew."""
        listed = self.box.ww("ls", "--all", "--json", cwd=self.repo, check=True).json["data"]
        kept = "id name branch path title agent phase project created_at".split()
        return sorted(tuple(str(worker[key]) for key in kept) for worker in listed)

    def check(self) -> None:
        """All that was there is there: workers, terminals, worktrees, trash."""
        assert self.seen() == self.before
        listed = self.box.ww("ls", "--json", cwd=self.repo, check=True).json["data"]
        assert [worker["status"] for worker in listed] == ["unknown", "unknown"], listed
        assert (self.dirty / "notes.txt").read_text() == "untracked\n"
        trash = self.box.ww("trash", "ls", "--json", cwd=self.repo, check=True).json["data"]
        assert sorted((entry["name"], entry["pruned"]) for entry in trash) == [("parked", False), ("pruned", True)]
        assert leftovers(self.box, self.repo) == []

    def check_restorable(self) -> None:
        for name in ("parked", "pruned"):
            [back] = self.box.ww("restore", name, "--json", cwd=self.repo, check=True).json["data"]
            assert Path(back["path"], "notes.txt").read_text() == f"of {name}\n"
        self.box.ww("rm", "dirty", "--force", "--yes", cwd=self.repo, check=True)
        self.box.ww("restore", "dirty", cwd=self.repo, check=True)
        assert (self.dirty / "notes.txt").read_text() == "untracked\n"

    def reset(self) -> None:
        """The store as it was before the damage."""
        folder = database(self.box).parent
        for path in folder.glob("woodwind.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path, data in self.good.items():
            path.write_bytes(data)
            path.chmod(0o600)


@pytest.fixture
def stage(sandbox: Sandbox, repo: Path) -> Stage:
    return Stage(sandbox, repo)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 3)


def truncate_to_a_page(path: Path) -> None:
    os.truncate(path, 4096)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def zero_a_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:8192] = bytes(4096)
    path.write_bytes(data)


def zero_all(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def text_instead(path: Path) -> None:
    path.write_text("This was a database once.\n" * 200)


def another_database(path: Path, version: int = SCHEMA) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE recipe (name TEXT)")
        db.execute(f"PRAGMA user_version = {version}")


def another_older_database(path: Path) -> None:
    another_database(path, version=1)


def spoil_schema(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE worker", b"CREATE TABLE wirker"))


def rename_column(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"    branch TEXT", b"    brench TEXT"))


def forget_version(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[60:64] = bytes(4)
    path.write_bytes(data)


DAMAGES: list[Callable[[Path], None]] = [
    truncate, truncate_to_a_page, zero_a_page, zero_all, text_instead, another_database,
    another_older_database, spoil_schema, rename_column,
    forget_version,
]  # fmt: skip


def test_every_damage_is_found_and_mended(stage: Stage) -> None:
    path = database(stage.box)
    for damage in DAMAGES:
        stage.reset()
        damage(path)
        spoilt = path.read_bytes()
        first = stage.box.ww("ls", "--all", cwd=stage.repo)
        if first.code:  # found only by a query: the next command finds the store gone
            assert "it was set aside" in first.stderr, (damage, first)
            assert "Run the command again" in first.stderr
        stage.check()
        [folder] = path.parent.glob("woodwind.db.damaged-*")
        assert folder.joinpath("woodwind.db").read_bytes() == spoilt, damage
        said = first.stderr if first.code == 0 else ""
        assert first.code or ("damaged" in said and f"what was there is in {folder}" in said), first
    stage.check_restorable()


@pytest.mark.parametrize("lose", ["all", "database", "emptied"])
def test_a_lost_store_is_made_anew(stage: Stage, lose: str) -> None:
    path = database(stage.box)
    if lose == "emptied":
        empty(path)
    else:
        for file in path.parent.glob("woodwind.db*") if lose == "all" else [path]:
            file.unlink()
    said = stage.box.ww("ls", "--all", cwd=stage.repo, check=True).stderr
    assert "rebuilt from git: 5 workers found" in said
    stage.check()
    stage.check_restorable()


@pytest.mark.timeout(3600 if LONG else 120)
def test_flipped_bits(stage: Stage) -> None:
    """Found out, or harmless to what is in the rows' own fields; in no case is a worktree touched."""
    path = database(stage.box)
    chance = random.Random(7)
    trees = manifest(stage.repo.parent / f"{stage.repo.name}.worktrees")
    for _ in range(FLIPS):
        stage.reset()
        data = bytearray(path.read_bytes())
        for _ in range(8):
            data[chance.randrange(100, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        first = stage.box.ww("ls", "--all", "--json", cwd=stage.repo)
        if first.code:
            assert first.json["error"]["code"] in ("store_damaged", "row_damaged"), first
        for words in (["ls", "--all"], ["trash", "ls"]):
            done = stage.box.ww(*words, cwd=stage.repo)
            assert "bug in Woodwind" not in done.stderr + done.stdout, done
        assert manifest(stage.repo.parent / f"{stage.repo.name}.worktrees") == trees
    stage.reset()
    stage.check()


def test_a_newer_store_is_left_alone(stage: Stage) -> None:
    path = database(stage.box)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    for words in (["ls"], ["ls", "--all"], ["rm", "running", "--yes"], ["new", "More"], ["trash", "ls"]):
        refused = stage.box.ww(*words, cwd=stage.repo)
        assert refused.code == 1
        assert "was written by a newer Woodwind (schema 99" in refused.stderr
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*damaged*"))
    assert stage.tree.is_dir()


@pytest.mark.parametrize("damage", ["delete", "truncate", "flip", "zero"])
def test_a_spoilt_log_of_writes(stage: Stage, damage: str) -> None:
    """What a killed process had committed is in the -wal file only; with that spoilt, git still knows."""
    path = database(stage.box)
    wal = Path(f"{path}-wal")
    holder = sqlite3.connect(path)
    holder.execute("SELECT count(*) FROM worker").fetchone()
    try:
        tree = new_worker(stage.box, stage.repo, "late")
        stage.box.ww("rm", "running", "--yes", cwd=stage.repo, check=True)
        stage.box.ww("restore", "parked", cwd=stage.repo, check=True)
        copies = {file: file.read_bytes() for file in (path, wal)}
    finally:
        holder.close()
    for file, data in copies.items():
        file.write_bytes(data)
    Path(f"{path}-shm").unlink(missing_ok=True)
    assert wal.stat().st_size > 0
    if damage == "delete":
        wal.unlink()
    elif damage == "truncate":
        os.truncate(wal, 100)
    else:
        spoilt = bytearray(wal.read_bytes())
        page = bytes(byte ^ 8 for byte in spoilt[32 : 32 + 4096])
        spoilt[32 : 32 + 4096] = bytes(4096) if damage == "zero" else page
        wal.write_bytes(spoilt)
    assert "late" in names(stage.box, stage.repo)
    stage.box.ww("trash", "ls", cwd=stage.repo, check=True)
    assert sorted(names(stage.box, stage.repo)) == ["dirty", "late", "parked"]
    assert tree.is_dir()
    stage.box.ww("restore", "running", cwd=stage.repo, check=True)
    assert leftovers(stage.box, stage.repo) == []


def test_a_damaged_record_is_written_again(stage: Stage) -> None:
    admins = stage.repo / ".git" / "worktrees"
    for text in ("{", "", "[]", '{"id": 7}', "null"):
        record = admins / "dirty" / "woodwind.json"
        good = record.read_text()
        record.write_text(text)
        before = work_of(stage.dirty)
        [shown] = stage.box.ww("show", "dirty", "--json", cwd=stage.repo, check=True).json["data"]
        assert shown["folder_missing"] is False
        assert record.read_text() == good, text
        assert work_of(stage.dirty) == before
    stage.check()


def test_a_damaged_record_and_no_store(stage: Stage) -> None:
    """Nobody knows any more whose worktree it is; it stays as it is, and the others come back."""
    before = work_of(stage.dirty)
    (stage.repo / ".git" / "worktrees" / "dirty" / "woodwind.json").write_text('{"version": 1, "id": "w')
    database(stage.box).unlink()
    assert names(stage.box, stage.repo) == ["running"]
    assert work_of(stage.dirty) == before


def test_records_that_contradict_each_other(stage: Stage) -> None:
    """A copied git directory gives two records of one worker, and a hand-made one may take a name twice."""
    admins = stage.repo / ".git" / "worktrees"
    text = (admins / "running" / "woodwind.json").read_text()
    [(running,)] = rows(stage.box, "SELECT id FROM worker WHERE name = 'running'")
    shutil.copytree(admins / "running", admins / "copy")
    (admins / "dirty" / "woodwind.json").write_text(text.replace(running, "wanotherworker"))
    database(stage.box).unlink()
    listed = names(stage.box, stage.repo)
    assert len(listed) == 2
    assert "running" in listed
    assert (stage.dirty / "notes.txt").exists()


def test_foreign_files_are_no_obstacle(stage: Stage) -> None:
    state = database(stage.box).parent
    (state / "projects" / "a folder").mkdir()
    (state / "projects" / "pgarbage").write_bytes(b"\xff\xfe\0nothing")
    (state / "projects" / "pempty").touch()
    (state / "projects" / "pgone").write_text("/nowhere/at/all/.git")
    (state / "workers" / "stray").mkdir(parents=True)
    (state / "locks" / "stray").touch()
    admins = stage.repo / ".git" / "worktrees"
    (admins / "a file").touch()
    database(stage.box).unlink()
    assert stage.seen() == stage.before
    (admins / "a file").unlink()
    stage.check()


def test_many_commands_find_the_damage_at_once(stage: Stage) -> None:
    path = database(stage.box)
    for _ in range(3):
        stage.reset()
        text_instead(path)
        spoilt = path.read_bytes()
        together = [start(stage.box, stage.repo, "ls", "--all") for _ in range(6)]
        for process in together:
            code, said = finish(process)
            assert code == 0, said
        stage.check()
        [folder] = path.parent.glob("woodwind.db.damaged-*")
        assert (folder / "woodwind.db").read_bytes() == spoilt


WRITER = """
import sys
from woodwind.store.db import open_store
store = open_store(sys.argv[1])
n = int(sys.argv[2])
while True:
    with store.transaction() as db:
        db.execute("INSERT INTO event (project, worker, at, kind, data) VALUES ('p', 'w', ?, 'k', '{}')", (n,))
    print(n, flush=True)
    n += 1
"""


@pytest.mark.timeout(3600 if LONG else 120)
def test_no_acknowledged_row_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "woodwind.db"
    chance = random.Random(11)
    acknowledged: set[int] = set()
    for _ in range(WRITER_KILLS):
        first = max(acknowledged, default=-1) + 1000
        with writer(path, first) as process:
            assert process.stdout
            for _ in range(chance.randrange(1, 40)):
                acknowledged.add(int(process.stdout.readline()))
            process.send_signal(signal.SIGKILL)
            acknowledged |= {int(line) for line in process.stdout if line.endswith("\n")}
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kept = {row[0] for row in db.execute("SELECT at FROM event")}
    assert acknowledged - kept == set()
    assert len(acknowledged) >= WRITER_KILLS


@contextlib.contextmanager
def writer(path: Path, first: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", WRITER, str(path), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process


def test_the_stage_itself(stage: Stage) -> None:
    stage.check()
    stage.check_restorable()
    assert git(stage.repo, "fsck", "--no-dangling", "--no-progress") == ""
