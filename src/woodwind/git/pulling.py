"""The commits of a pull request, fetched without touching any branch of the user's."""

import os
import re

from woodwind.base.processes import start_time
from woodwind.base.run import RunFailed
from woodwind.git.call import git
from woodwind.model.errors import NotFound, WoodwindError

_REFS = "refs/woodwind/pr"
_PATIENCE = 300.0  # seconds for a fetch


def remote_of(common: str, repository: str) -> str:
    """The name of the remote that leads to `host/owner/name`; NotFound when none does."""
    told = git("--git-dir", common, "config", "--get-regexp", r"^remote\..*\.url$", ok=(0, 1)).text
    for line in told.splitlines():
        key, _, url = line.partition(" ")
        if _place(url) == repository.lower():
            return key.removeprefix("remote.").removesuffix(".url")
    raise NotFound(
        f"no remote of this repository leads to {repository}",
        code="no_remote",
        hint=f"git remote add upstream https://{repository}.git",
    )


def _place(url: str) -> str:
    """host/owner/name of an address, however it is written."""
    match = re.fullmatch(r"(?:[a-z+]+://)?(?:[^@/]+@)?([^:/]+)(?::\d+(?=/))?[:/]/?(.+?)(?:\.git)?/?", url.strip())
    return f"{match[1]}/{match[2]}".lower() if match else ""


class Pulled:
    """A pull request's head under a private ref, for as long as the block; a branch may be made at it meanwhile."""

    def __init__(self, common: str, remote: str, number: str, base_branch: str) -> None:
        self.common = common
        self.remote = remote
        ours = f"{_REFS}/{os.getpid()}-{start_time(os.getpid()) or 0}/{number}"
        self.wanted = {f"{ours}/head": f"refs/pull/{number}/head"}
        if base_branch:
            self.wanted[f"{ours}/base"] = f"refs/heads/{base_branch}"
        self.head = ""
        self.fork_point = ""  # the last commit of the base that the head has; "" when that is not known

    def __enter__(self) -> "Pulled":
        """Fetch it."""
        _drop_left_over(self.common)
        try:
            self._get()
        except BaseException:
            self._drop()
            raise
        return self

    def _get(self) -> None:
        try:
            self._fetch(list(self.wanted.items()))
        except RunFailed:
            self._fetch(list(self.wanted.items())[:1])  # the branch that it was for may be gone
        head, *base = self.wanted
        self.head = git("--git-dir", self.common, "rev-parse", "--verify", f"{head}^{{commit}}").text.strip()
        for ref in base:
            done = git("--git-dir", self.common, "merge-base", head, ref, ok=(0, 1, 128))
            self.fork_point = done.text.strip() if done.code == 0 else ""

    def _fetch(self, refs: list[tuple[str, str]]) -> None:
        # An empty refmap: the user's own remote branches stay where they are, too.
        words = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", "--quiet")
        wanted = [f"+{theirs}:{ours}" for ours, theirs in refs]
        git("--git-dir", self.common, "fetch", *words, "--", self.remote, *wanted, timeout=_PATIENCE)

    def __exit__(self, *_: object) -> None:
        """Take the refs away again; what a branch was made at stays."""
        self._drop()

    def _drop(self) -> None:
        for ref in self.wanted:
            git("--git-dir", self.common, "update-ref", "-d", ref, ok=None)


def _drop_left_over(common: str) -> None:
    """Take away what a fetch left that was killed: the ref names its process, which is gone."""
    for ref in git("--git-dir", common, "for-each-ref", "--format=%(refname)", _REFS).text.splitlines():
        pid, _, started = ref.removeprefix(f"{_REFS}/").partition("/")[0].partition("-")
        if not pid.isdecimal() or (start_time(int(pid)) or "0") != started:
            git("--git-dir", common, "update-ref", "-d", ref, ok=None)


def has_branch(common: str, branch: str) -> bool:
    """Whether there is a local branch of this name."""
    words = ("show-ref", "--verify", "--quiet", f"refs/heads/{branch}")
    return bool(branch) and git("--git-dir", common, *words, ok=(0, 1, 128)).code == 0


def explain(error: RunFailed, remote: str, number: str) -> WoodwindError:
    """The error for a pull request that could not be fetched."""
    why = " ".join((error.done.complaint or error.message).split())
    return WoodwindError(
        f"the commits of pull request {number} cannot be fetched from {remote}: {why}",
        code="not_fetched",
        hint=f"Does `git fetch {remote}` work?",
    )
