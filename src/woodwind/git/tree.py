"""One worktree as git sees it: its commit, and what is not committed in it."""

from collections.abc import Sequence

from woodwind.git.call import git
from woodwind.git.hiding import hide, without_filters
from woodwind.git.worktrees import read_record
from woodwind.model.agent_files import sets_up

# Index modes without a blob of their own: a submodule, and nothing.
_NO_BLOB = ("160000", "000000")


def head_of(admin: str) -> str:
    """The commit that a worktree is on, or "" when its branch has none."""
    done = git("--git-dir", admin, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


class Tree:
    """A worktree addressed by both its folder and its git directory, so that git can never fall back to another one."""

    def __init__(self, path: str, admin: str, *, untrusted: bool | None = None) -> None:
        """`untrusted` is for a worktree whose record is not written yet: otherwise that tells."""
        self.path = path
        self.admin = admin
        self._untrusted = untrusted
        self._options: list[str] | None = None

    @property
    def untrusted(self) -> bool:
        """Whether it holds a stranger's code, of which nothing may be run, nor fed to a program of the user's."""
        if self._untrusted is None:
            self._untrusted = bool((read_record(self.admin) or {}).get("untrusted"))
        return self._untrusted

    def words(self) -> list[str]:
        """The options that make any git call work on this worktree and no other."""
        if self._options is None:
            self._options = without_filters(self.admin) if self.untrusted else []
        return ["-C", self.path, "--git-dir", self.admin, "--work-tree", self.path, *self._options]

    def merge_base(self, commit: str) -> str:
        """Where the worktree left the history of `commit`."""
        return self.git("merge-base", commit, "HEAD", ok=(0, 1)).strip() or commit

    def git(self, *words: str, input: bytes = b"", ok: tuple[int, ...] | None = (0,)) -> str:
        """What git prints in this worktree."""
        return git(*self.words(), *words, input=input, ok=ok).text

    def git_bytes(self, *words: str) -> bytes:
        """What git prints in this worktree, as it is."""
        return git(*self.words(), *words).stdout

    def changes(self, *, submodules: bool = True) -> "Changes":
        """What is not committed in it; a parked worktree's submodules cannot be looked into."""
        options = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
        inside = "none" if submodules else "all"
        done = git(*self.words(), "status", *options, f"--ignore-submodules={inside}")
        warnings = done.stderr.decode("utf-8", "replace").splitlines()
        return Changes(done.text, [line for line in warnings if "could not open directory" in line])

    def refill(self) -> None:
        """Check out the last commit's files into an empty folder, without a word in the reflog; the index is new."""
        git("--git-dir", self.admin, "read-tree", "HEAD")
        self.git("checkout-index", "--all", "--force", "--quiet")
        if self.untrusted:
            hide(self.path, self.admin, sets_up)

    def head(self) -> str:
        """The commit it is on, or "" when its branch has none."""
        return head_of(self.admin)


class Changes:
    """Uncommitted paths by kind, the blobs that only the index holds, and what git complained that it cannot read."""

    def __init__(self, porcelain: str, unread: Sequence[str] = ()) -> None:
        self.unread = unread
        self.staged: list[str] = []
        self.unstaged: list[str] = []
        self.unmerged: list[str] = []
        self.untracked: list[str] = []
        self.index_blobs: list[str] = []
        for entry in porcelain.split("\0"):
            if entry.startswith("1 "):
                # 1 XY sub mH mI mW hH hI path
                fields = entry.split(" ", 8)
                xy, index_mode, index_blob, path = fields[1], fields[4], fields[7], fields[8]
                if xy[0] != ".":
                    self.staged.append(path)
                    if index_mode not in _NO_BLOB:
                        self.index_blobs.append(index_blob)
                if xy[1] != ".":
                    self.unstaged.append(path)
            elif entry.startswith("u "):
                # u XY sub m1 m2 m3 mW h1 h2 h3 path
                fields = entry.split(" ", 10)
                self.unmerged.append(fields[10])
                stages = zip(fields[3:6], fields[7:10], strict=True)
                self.index_blobs += [blob for mode, blob in stages if mode not in _NO_BLOB]
            elif entry.startswith("? "):
                self.untracked.append(entry[2:])

    @property
    def tracked(self) -> list[str]:
        """Tracked paths that differ from the last commit."""
        return sorted({*self.staged, *self.unstaged, *self.unmerged})

    def __bool__(self) -> bool:
        return bool(self.tracked or self.untracked)
