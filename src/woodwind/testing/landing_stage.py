"""A repository in which landings are cut short: its checkout has edits of every kind, which none of them may touch."""

from __future__ import annotations

import contextlib
import sqlite3

from woodwind.testing.evidence import database, leftovers, rows, work_of
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import new_worker

COMMANDS = {
    "checked-out": ("merge", "one"),
    "elsewhere": ("merge", "one", "--into", "other"),
    "dirty": ("ship", "two", "--yes"),
    "undo": ("undo",),
    "revert": ("undo",),
}


class Stage:
    """A repository whose checkout has edits of every kind, and two workers with something to land."""

    def __init__(self, many: int = 0) -> None:
        """`many` is how many more files a landing brings, so that git is often met in the middle of writing them."""
        self.box = Sandbox()
        files = {"README.md": "# Project\n", "app.py": "print()\n", "mine.py": "mine\n"}
        self.repo = make_repo(self.box.home / "project", files=files)
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n*.secret\n")
        (self.repo / "woodwind.toml").write_text(
            '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
            "[verify]\ncommand = \"git rev-parse 'HEAD^{tree}' >> ~/verified; touch written.txt\"\n"
        )
        self.one = new_worker(self.box, self.repo, "one")
        more = {f"many/{n}.txt": f"{n}\n" * 50 for n in range(many)}
        commit(self.one, "One", {"app.py": "print('one')\n", "one.txt": "one\n", **more})
        (self.one / "key.secret").write_text("ignored\n")
        self.two = new_worker(self.box, self.repo, "two")
        self.base = git(self.repo, "rev-parse", "main")
        git(self.repo, "branch", "other", self.base)
        (self.repo / "README.md").write_text("edited\n")
        (self.repo / "mine.py").write_text("staged\n")
        git(self.repo, "add", "mine.py")
        (self.repo / "mine.py").write_text("and edited\n")
        (self.repo / "notes.txt").write_text("untracked\n")
        (self.repo / "key.secret").write_text("ignored\n")
        self.work = work_of(self.one)
        self.verified = self.box.home / "verified"
        self.fresh()

    def ww(self, *words: str, failpoint: str = "", check: bool = False) -> Result:
        """How a `ww` command ended in the repository."""
        return self.box.ww(*words, cwd=self.repo, env={"WOODWIND_FAILPOINT": failpoint}, check=check)

    def fresh(self) -> None:
        """Back to where nothing has landed and nothing was verified."""
        self.verified.write_text("")
        forget(self.box)

    def prepare(self, command: str) -> None:
        """Bring everything to where the command begins."""
        if command == "dirty":
            (self.two / "two.txt").write_text("two\n")
        if command in ("undo", "revert"):
            self.ww("merge", "one", check=True)
        if command == "revert":
            git(self.repo, "commit", "-q", "--allow-empty", "-m", "Later", "--only")

    def target(self, command: str) -> str:
        """The commit that the command's target is at."""
        return git(self.repo, "rev-parse", "other" if command == "elsewhere" else "main")

    def is_done(self, command: str) -> bool:
        """Whether the command's effect is there."""
        tip = self.target(command)
        if command in ("undo", "revert"):
            return "one.txt" not in git(self.repo, "ls-tree", "--name-only", tip).split()
        return tip != self.base

    def check(self, command: str, before: str) -> None:
        """The target is before or after and verified, the checkout and the workers lost nothing, nothing is left."""
        assert leftovers(self.box, self.repo, branches=("main", "other")) == []
        tip = self.target(command)
        tree = git(self.repo, "rev-parse", f"{tip}^{{tree}}")
        assert tip in (before, self.base) or tree in self.verified.read_text().split()
        assert (self.repo / "README.md").read_text() == "edited\n"
        assert (self.repo / "mine.py").read_text() == "and edited\n"
        assert git(self.repo, "show", ":mine.py") == "staged"
        assert (self.repo / "notes.txt").read_text() == "untracked\n"
        assert (self.repo / "key.secret").read_text() == "ignored\n"
        status = git(self.repo, "status", "--porcelain").splitlines()
        assert status == [" M README.md", "MM mine.py", "?? notes.txt"]
        assert work_of(self.one) == self.work
        assert rows(self.box, "SELECT name FROM worker WHERE phase = 'landing'") == []
        assert rows(self.box, "SELECT id FROM landing WHERE state = 'running'") == []

    def bring_back(self, command: str) -> None:
        """Undo the command's effect."""
        if command == "dirty":
            self.ww("undo", check=True)
            assert (self.two / "two.txt").read_text() == "two\n"
            git(self.two, "reset", "-q", "--hard", self.base)
        elif command == "checked-out":
            self.ww("undo", check=True)
        elif command == "elsewhere":
            git(self.repo, "update-ref", "refs/heads/other", self.base)
        elif command == "revert":
            git(self.repo, "update-ref", "refs/heads/main", self.base)
            assert git(self.repo, "status", "--porcelain", "-uno").splitlines() == [" M README.md", "MM mine.py"]
        assert self.target(command) == self.base
        self.fresh()


def forget(box: Sandbox) -> None:
    """Forget what has landed and what has passed, so that it is done and run again."""
    with contextlib.closing(sqlite3.connect(database(box), timeout=20)) as db:
        db.execute("DELETE FROM verification")
        db.execute("DELETE FROM landing")
        db.commit()
