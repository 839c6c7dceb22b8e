"""Whatever is done to a worktree, in whatever order: no removal loses a byte, or takes dirty work unasked."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from woodwind.testing.evidence import leftovers, work_of
from woodwind.testing.repo import git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import names, new_worker

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
EXAMPLES = 10_000 if LONG else 8

NAMES = ["README.md", "src/app.py", "new.txt", "deep/er/file", "two\nlines", "-rf", "src", "kept.secret"]
POINTS = {
    "rm": "remove.before_save remove.after_save remove.after_stop move.after_rename remove.after_park",
    "prune": "purge.before_save purge.after_save purge.before_delete delete.after_rename purge.after_delete",
    "restore": "restore.before_branch restore.after_files restore.before_place move.after_rename restore.after_place",
}

name = st.sampled_from(NAMES)
write = st.tuples(st.just("write"), name, st.binary(max_size=40), st.sampled_from([0o644, 0o755, 0o600]))
link = st.tuples(st.just("link"), name, st.sampled_from(["README.md", "nowhere", "src"]))
delete = st.tuples(st.just("delete"), name)
stage = st.tuples(st.just("stage"), name)
simple = st.sampled_from([("commit",), ("reset",), ("detach",), ("remove",), ("force",), ("restore",), ("prune",)])
killed = st.sampled_from([("kill", verb, point) for verb, points in POINTS.items() for point in points.split()])
steps = st.lists(st.one_of(write, write, link, delete, stage, simple, simple, killed), min_size=3, max_size=8)


class Case:
    """One worker, and what is known of its work: what it is while it is there, what it was when it was removed."""

    def __init__(self, box: Sandbox, repo: Path, worker: str) -> None:
        self.box, self.repo, self.worker = box, repo, worker
        self.tree = new_worker(box, repo, worker)
        self.commits: set[str] = set()
        self.parked: dict[str, object] | None = None
        self.kept: dict[str, object] = {}
        self.pruned = False

    def ww(self, *words: str, failpoint: str = "", may_refuse: bool = False) -> int:
        done = self.box.ww(*words, cwd=self.repo, env={"WOODWIND_FAILPOINT": failpoint})
        assert done.code in (0, 1 if may_refuse else 0, -9 if failpoint else 0), done
        assert "a bug in" not in done.stderr, done
        return done.code

    def step(self, kind: str, *words: object) -> None:
        if kind in ("remove", "force", "restore", "prune", "kill"):
            getattr(self, kind)(*words)
        elif self.parked is None:
            getattr(self, kind)(*words)
            self.commits.add(git(self.tree, "rev-parse", "HEAD"))

    def write(self, file: str, data: bytes, mode: int) -> None:
        path = self.place(file)
        if path:
            path.write_bytes(data)
            path.chmod(mode)

    def link(self, file: str, target: str) -> None:
        path = self.place(file)
        if path:
            path.symlink_to(target)

    def delete(self, file: str) -> None:
        self.place(file)

    def place(self, file: str) -> Path | None:
        """Where a file can be written: whatever was there is gone; None where a file or link is in its way."""
        path = self.tree / file
        parents = [self.tree / parent for parent in list(Path(file).parents)[:-1]]
        if any(parent.is_symlink() or parent.is_file() for parent in parents):
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        self.box.run("rm", "-rf", "--", str(path), check=True)
        return path

    def stage(self, file: str) -> None:
        if os.path.lexists(self.tree / file) and not (self.tree / file).parent.is_symlink():
            git(self.tree, "add", "--force", "--", file)

    def commit(self) -> None:
        git(self.tree, "commit", "--quiet", "--allow-empty", "--message=Some work")

    def reset(self) -> None:
        git(self.tree, "reset", "--quiet", "--soft", "main")

    def detach(self) -> None:
        git(self.tree, "checkout", "--quiet", "--detach")

    def remove(self) -> None:
        if self.parked is not None:
            return
        dirty = git(self.tree, "status", "--porcelain") != "" or git(self.tree, "rev-list", "main..HEAD") != ""
        before = self.look()
        if self.ww("rm", self.worker, "--yes", may_refuse=True) == 0:
            assert not dirty, "dirty work was removed unasked"
            self.parked = before
        else:
            assert dirty or self.has_commits()
            assert self.look() == before

    def has_commits(self) -> bool:
        branch = git(self.repo, "for-each-ref", "--format=%(refname)", "--no-merged", "main", "refs/heads")
        return bool(branch)

    def look(self) -> dict[str, object]:
        self.kept = work_of(self.tree, ignored=False)
        return work_of(self.tree)

    def force(self, failpoint: str = "") -> None:
        if self.parked is None:
            before = self.look()
            self.ww("rm", self.worker, "--force", "--yes", failpoint=failpoint)
            if self.worker in names(self.box, self.repo):
                assert failpoint
                assert work_of(self.tree) == before
            else:
                self.parked, self.pruned = before, False

    def prune(self, failpoint: str = "") -> None:
        if self.parked is not None and not self.pruned:
            self.ww("trash", "prune", self.worker, "--yes", failpoint=failpoint)
            entries = self.box.ww("trash", "ls", "--json", cwd=self.repo, check=True).json["data"]
            self.pruned = next(entry["pruned"] for entry in entries if entry["name"] == self.worker)
            assert self.pruned or failpoint

    def restore(self, failpoint: str = "") -> None:
        if self.parked is None:
            return
        self.ww("restore", self.worker, failpoint=failpoint)
        if self.worker not in names(self.box, self.repo):
            assert failpoint
            return
        if self.pruned:
            assert work_of(self.tree, ignored=False) == self.kept
        else:
            assert work_of(self.tree) == self.parked
        self.parked, self.pruned = None, False

    def kill(self, verb: str, point: str) -> None:
        {"rm": self.force, "prune": self.prune, "restore": self.restore}[verb](point)

    def end(self) -> None:
        """Removed and pruned for good, all commits that ever were are still held by a ref."""
        self.force()
        self.prune()
        assert leftovers(self.box, self.repo) == []
        assert self.commits <= set(git(self.repo, "rev-list", "--all").splitlines())
        branches = git(self.repo, "for-each-ref", "--format=%(refname)", "refs/heads").splitlines()
        for branch in branches:
            if branch != "refs/heads/main":
                git(self.repo, "update-ref", "-d", branch)


class Place:
    """A repository for one example after the other; after one that failed, a new one."""

    def __init__(self) -> None:
        self.box: Sandbox | None = None

    def open(self) -> tuple[Sandbox, Path]:
        if self.box:
            return self.box, self.box.home / "project"
        self.box = Sandbox()
        repo = make_repo(self.box.home / "project", files={"README.md": "# Project\n", "src/app.py": "print()\n"})
        (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n*.secret\n")
        toy = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
        (repo / "woodwind.toml").write_text(toy)
        return self.box, repo

    def close(self) -> None:
        if self.box:
            self.box.close()
            self.box = None


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    here = Place()
    yield here
    here.close()


@pytest.mark.timeout(0 if LONG else 120)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=not LONG,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # an example takes seconds: making a failing one shorter would take an hour
)
@given(sequence=steps)
def test_no_sequence_loses_anything(place: Place, sequence: list[tuple[object, ...]]) -> None:
    box, repo = place.open()
    case = Case(box, repo, f"worker-{os.urandom(4).hex()}")
    try:
        for kind, *words in sequence:
            case.step(str(kind), *words)
        case.end()
    except BaseException:
        place.close()
        raise
