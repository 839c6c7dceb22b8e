"""A full disk, under the repository and under the state folder: a clear error, nothing corrupt, and on it goes."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, refs_of, work_of
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import names, new_worker

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
SIZES = [random.Random(n).randrange(0, 3_000_000) for n in range(100)] if LONG else [0, 40_000, 400_000]


@pytest.fixture
def small_disk(sandbox: Sandbox) -> Iterator[Path]:
    """A file system of 64 MB in the sandbox."""
    folder = sandbox.home / "small"
    folder.mkdir()
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("a disk that is really full needs root, to mount a small tmpfs")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        for socket in Path(sandbox.env["TMUX_TMPDIR"]).rglob("woodwind"):
            sandbox.run("tmux", "-S", str(socket), "kill-server")
        sandbox.wait_for(lambda: not subprocess.run(["umount", str(folder)], check=False).returncode, what="umount")


def fill_up(folder: Path, *, leave: int = 0) -> Path:
    """Fill the file system until only `leave` bytes are free."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        size = 1 << 20
        while size >= 512:
            try:
                if file.write(bytes(size)) < size:
                    raise OSError
            except OSError:
                size //= 2
        os.truncate(ballast, max(0, ballast.stat().st_size - leave))
    return ballast


def toy(repo: Path) -> None:
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
    config = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
    (repo / "woodwind.toml").write_text(config)


def is_clear(failed: Result) -> None:
    """One error that names the cause, and no trace of a bug."""
    assert failed.code == 1, failed
    assert failed.stderr.startswith("ww: "), failed
    said = failed.stderr.lower()
    assert any(word in said for word in ("space left", "disk is full", "is the disk full")), failed
    assert "traceback" not in said
    assert "a bug" not in said


@pytest.mark.timeout(3600 if LONG else 120)
def test_the_repository_is_full(sandbox: Sandbox, small_disk: Path) -> None:
    repo = make_repo(small_disk / "project", files={f"{n}.txt": f"{n}\n" * 400 for n in range(300)})
    toy(repo)
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"mine.txt": "mine\n"})
    (tree / "big.bin").write_bytes(random.Random(1).randbytes(1_500_000))
    before, refs = work_of(tree), refs_of(repo)
    for leave in SIZES:
        ballast = fill_up(small_disk, leave=leave)
        made = sandbox.ww("new", "More", "--name", "more", cwd=repo)
        if made.code:
            is_clear(made)
        removed = sandbox.ww("rm", "worker-one", "--force", "--yes", cwd=repo)
        if removed.code:
            is_clear(removed)
            assert work_of(tree) == before
        listed = sandbox.ww("ls", cwd=repo)
        assert listed.code == 0, listed
        ballast.unlink()
        assert git(repo, "fsck", "--no-dangling", "--no-progress") == ""
        sandbox.ww("ls", cwd=repo, check=True)
        assert leftovers(sandbox, repo) == []
        assert ("worker-one" in names(sandbox, repo)) == bool(removed.code)
        assert ("more" in names(sandbox, repo)) == (not made.code)
        if made.code:
            sandbox.ww("new", "More", "--name", "more", cwd=repo, check=True)
        sandbox.ww("rm", "more", "--yes", cwd=repo, check=True)
        sandbox.ww("trash", "prune", "more", "--yes", cwd=repo, check=True)
        if removed.code:
            sandbox.ww("rm", "worker-one", "--force", "--yes", cwd=repo, check=True)
        sandbox.ww("restore", "worker-one", cwd=repo, check=True)
        assert (work_of(tree), refs_of(repo)) == (before, refs)
        git(repo, "gc", "--quiet", "--prune=now")


@pytest.mark.timeout(3600 if LONG else 120)
def test_a_prune_into_a_full_repository_deletes_nothing(sandbox: Sandbox, small_disk: Path) -> None:
    repo = make_repo(small_disk / "project")
    toy(repo)
    tree = new_worker(sandbox, repo)
    (tree / "notes.txt").write_text("mine\n")
    before = work_of(tree)
    sandbox.ww("rm", "worker-one", "--force", "--yes", cwd=repo, check=True)
    parked = tree.parent / ".woodwind-trash"
    with (next(parked.iterdir()) / "later.bin").open("wb") as file:
        file.write(random.Random(2).randbytes(2_000_000))
    ballast = fill_up(small_disk, leave=200_000)
    failed = sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo)
    is_clear(failed)
    assert "Nothing was removed" in failed.stderr
    ballast.unlink()
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    (tree / "later.bin").unlink()
    assert work_of(tree) == before


@pytest.mark.timeout(3600 if LONG else 120)
def test_the_state_folder_is_full(sandbox: Sandbox, repo: Path, small_disk: Path) -> None:
    sandbox.env["XDG_STATE_HOME"] = str(small_disk / "state")
    tree = new_worker(sandbox, repo)
    (tree / "notes.txt").write_text("mine\n")
    before, refs = work_of(tree), refs_of(repo)
    for leave in SIZES:
        ballast = fill_up(small_disk, leave=leave // 50)
        for words in (["new", "More", "--name", "more"], ["rm", "worker-one", "--force", "--yes"]):
            done = sandbox.ww(*words, cwd=repo)
            if done.code:
                is_clear(done)
        ballast.unlink()
        sandbox.ww("ls", cwd=repo, check=True)
        assert leftovers(sandbox, repo) == []
        listed = names(sandbox, repo)
        if "more" in listed:
            sandbox.ww("rm", "more", "--yes", cwd=repo, check=True)
            sandbox.ww("trash", "prune", "more", "--yes", cwd=repo, check=True)
        if "worker-one" not in listed:
            sandbox.ww("restore", "worker-one", cwd=repo, check=True)
        assert (work_of(tree), refs_of(repo)) == (before, refs)


@pytest.mark.timeout(3600 if LONG else 120)
def test_a_landing_on_a_full_disk_moves_nothing_and_goes_through_later(sandbox: Sandbox, small_disk: Path) -> None:
    repo = make_repo(small_disk / "project", files={"mine.txt": "mine\n"})
    toy(repo)
    tree = new_worker(sandbox, repo)
    (tree / "big.bin").write_bytes(random.Random(3).randbytes(3_000_000))
    commit(tree, "Big")
    base, before = git(repo, "rev-parse", "main"), work_of(tree)
    for leave in SIZES:
        ballast = fill_up(small_disk, leave=leave)
        failed = sandbox.ww("merge", "worker-one", "--no-verify", cwd=repo)
        moved = git(repo, "rev-parse", "main") != base
        ballast.unlink()
        if failed.code:
            assert failed.code == 1, failed
            assert "traceback" not in failed.stderr.lower()
            assert not moved, failed
        sandbox.ww("ls", cwd=repo, check=True)
        assert leftovers(sandbox, repo) == []
        assert git(repo, "status", "--porcelain") == ""
        sandbox.ww("merge", "worker-one", "--no-verify", cwd=repo, check=bool(failed.code))
        assert work_of(tree) == before
        sandbox.ww("undo", cwd=repo, check=True)
        assert git(repo, "rev-parse", "main") == base
    assert git(repo, "fsck", "--no-dangling", "--no-progress") == ""
