"""Read-only facts about a repository, most of them without starting a process."""

import os
import time
from functools import cached_property

from woodwind.git.call import Asked, git
from woodwind.model.errors import NotFound, Refused, WoodwindError

_FRESH = 0.1  # seconds


class Repo:
    """A repository as seen from a folder in it.

    `common` is the git directory that all worktrees share, `top` the checkout that the folder is in ("" in a
    bare repository), `main_top` the main checkout ("" where there is none), `prefix` the folder below `top`.
    """

    __slots__ = ("common", "git_dir", "main_top", "prefix", "top")

    def __init__(self, git_dir: str, common: str, top: str, main_top: str, prefix: str) -> None:
        self.git_dir = git_dir
        self.common = common
        self.top = top
        self.main_top = main_top
        self.prefix = prefix

    @property
    def home(self) -> str:
        """The folder that people call the repository: its main checkout, or the bare repository itself."""
        return self.main_top or self.common

    @property
    def name(self) -> str:
        """A short name, from the folder."""
        folder = self.home
        if os.path.basename(folder) in (".git", ".bare"):
            folder = os.path.dirname(folder)
        name = os.path.basename(folder)
        return name.removesuffix(".git") or "repo"


def locate(folder: str) -> Repo:
    """The repository that `folder` is in; NotFound when it is in none."""
    folder = os.path.realpath(folder)
    here = folder
    while True:
        dot_git = os.path.join(here, ".git")
        if os.path.isdir(dot_git) and _is_git_dir(dot_git):
            return _repo(dot_git, here, folder)
        if os.path.isfile(dot_git):
            git_dir = _read_gitfile(dot_git)
            if not os.path.isdir(git_dir):
                raise WoodwindError(
                    f"{here} is a worktree whose repository is gone: {git_dir}",
                    code="broken_worktree",
                    hint="If the repository was moved, run `git worktree repair` in it.",
                )
            return _repo(git_dir, here, folder)
        if _is_git_dir(here):
            return _repo(here, "", folder)
        parent = os.path.dirname(here)
        if parent == here:
            raise NotFound(
                f"{folder} is not in a git repository",
                code="no_repository",
                hint="Go to a repository, or make one: git init",
            )
        here = parent


def _is_git_dir(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "HEAD")) and all(
        os.path.isdir(os.path.join(path, d)) for d in ("objects", "refs")
    )


def _read_gitfile(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read().strip()
    target = text.removeprefix("gitdir:").strip()
    return os.path.normpath(os.path.join(os.path.dirname(path), target))


def _repo(git_dir: str, top: str, folder: str) -> Repo:
    common = git_dir
    pointer = os.path.join(git_dir, "commondir")
    if os.path.isfile(pointer):
        with open(pointer, encoding="utf-8", errors="surrogateescape") as file:
            common = os.path.normpath(os.path.join(git_dir, file.read().strip()))
    common = os.path.realpath(common)
    if git_dir == common or os.path.realpath(git_dir) == common:
        main_top = top
    else:
        main_top = os.path.dirname(common) if os.path.basename(common) == ".git" else ""
    prefix = os.path.relpath(folder, top) if top and folder != top else ""
    return Repo(git_dir, common, top, main_top, prefix)


class Refs:
    """The local branches with their commits, and the remote's default branch.

    Git begins to list them at once, and is waited for when they are first looked at.
    """

    def __init__(self, repo: Repo) -> None:
        self._listing = Asked(
            "--git-dir", repo.common, "for-each-ref", "--format=%(objectname) %(refname) %(symref)",
            "refs/heads", "refs/remotes/origin/HEAD",
        )  # fmt: skip
        self._asked_at = time.monotonic()

    @property
    def fresh(self) -> bool:
        """Whether git was asked just now: what is older may lack what a person did meanwhile."""
        return time.monotonic() - self._asked_at < _FRESH

    @cached_property
    def _listed(self) -> dict[str, tuple[str, str]]:
        """(commit, what it points to) of each ref."""
        lines = (line.split(" ", 2) for line in self._listing.answer().text.splitlines())
        return {ref: (commit, target) for commit, ref, target in lines}

    @cached_property
    def branches(self) -> dict[str, str]:
        """The commit of each local branch."""
        local = {ref: commit for ref, (commit, _) in self._listed.items() if ref.startswith("refs/heads/")}
        return {ref.removeprefix("refs/heads/"): commit for ref, commit in local.items()}

    @property
    def default(self) -> str:
        """The remote's default branch, or "" where that is not known."""
        _, target = self._listed.get("refs/remotes/origin/HEAD", ("", ""))
        return target.removeprefix("refs/remotes/origin/")


def current_branch(repo: Repo) -> str:
    """The branch that is checked out in the folder's own worktree, or "" when HEAD is detached."""
    return git("--git-dir", repo.git_dir, "symbolic-ref", "--quiet", "--short", "HEAD", ok=(0, 1)).text.strip()


def commit_of(repo: Repo, ref: str) -> str:
    """The commit that `ref` names, or ""."""
    if ref.startswith(("-", "^")):
        return ""
    done = git("--git-dir", repo.git_dir, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


def base_for(repo: Repo, refs: Refs, wanted: str) -> tuple[str, str]:
    """(base branch, base commit) for what the user asked for; the branch is "" for a bare commit."""
    if wanted == "@":
        branch = current_branch(repo)
        commit = commit_of(repo, "HEAD")
        if commit:
            return branch, commit
    elif wanted in refs.branches:
        return wanted, refs.branches[wanted]
    elif wanted:
        commit = commit_of(repo, wanted)
        if not commit:
            raise NotFound(
                f"there is no branch, tag or commit {wanted!r} to start from",
                code="no_base",
                hint="`git branch --all` lists the branches.",
            )
        is_remote = commit_of(repo, f"refs/remotes/{wanted}") != ""
        return (wanted if is_remote else ""), commit
    if not refs.branches and not commit_of(repo, "HEAD"):
        raise Refused(
            "the repository has no commit yet, so there is nothing to start from",
            code="no_commit",
            hint="Make the first commit: git commit --allow-empty -m 'Start'",
        )
    for branch in (refs.default, "main", "master", "trunk"):
        if branch in refs.branches:
            return branch, refs.branches[branch]
    branch = current_branch(repo)
    if branch in refs.branches:
        return branch, refs.branches[branch]
    if len(refs.branches) == 1:
        return next(iter(refs.branches.items()))
    raise Refused(
        "the repository has no branch that is plainly its default",
        code="no_default_branch",
        hint="Say what to start from: --base BRANCH, or set `base` in [new].",
    )
