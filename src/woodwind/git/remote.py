"""Remotes: a branch fetched, a commit pushed by a plain push that never forces."""

from woodwind.base.failpoints import failpoint
from woodwind.base.run import Done
from woodwind.git.call import git
from woodwind.git.lanes import Lane
from woodwind.git.targets import TargetMoved
from woodwind.model.errors import NotFound, Refused, WoodwindError

_PATIENCE = 300.0


def has_remote(common: str, remote: str) -> bool:
    """Whether the repository has a remote of this name."""
    return bool(url_of(common, remote))


def url_of(common: str, remote: str) -> str:
    """Where a remote is, or "" when there is none of this name."""
    return git("--git-dir", common, "config", "--get", f"remote.{remote}.url", ok=None).text.strip()


def fetched(common: str, remote: str, branch: str) -> str:
    """The commit that a remote's branch is at right now, fetched; "" when the remote has no such branch."""
    if not has_remote(common, remote):
        raise NotFound(
            f"this repository has no remote {remote!r}",
            code="no_remote",
            hint="Set `remote` in [land], or add it: git remote add",
        )
    asked = git("--git-dir", common, "ls-remote", "--heads", remote, f"refs/heads/{branch}", ok=None, timeout=_PATIENCE)
    if asked.code:
        raise unreachable(remote, asked)
    if not asked.text.strip():
        return ""
    refspec = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
    done = git("--git-dir", common, "fetch", "--no-tags", "--quiet", remote, refspec, ok=None, timeout=_PATIENCE)
    if done.code:
        raise unreachable(remote, done)
    tracking = f"refs/remotes/{remote}/{branch}"
    return git("--git-dir", common, "rev-parse", "--verify", f"{tracking}^{{commit}}").text.strip()


def unreachable(remote: str, done: Done) -> WoodwindError:
    """The remote could not be asked."""
    return WoodwindError(
        f"the remote {remote} cannot be reached: {done.complaint or f'status {done.code}'}",
        code="remote_unreachable",
        hint="Nothing was pushed.",
    )


def push(lane: Lane, remote: str, branch: str, commit: str) -> None:
    """Push one commit to a branch, without force; TargetMoved when the branch has something that the commit has not.

    The repository's own pre-push hook runs, as for the user.
    """
    failpoint("push.before")
    words = ("push", "--porcelain", "--no-follow-tags", remote, f"{commit}:refs/heads/{branch}")
    code, said = lane.git_with_hooks(*words)
    failpoint("push.after")
    if code == 0:
        return
    lines = [line for line in said.splitlines() if line.startswith("!")]
    told = " ".join(lines) or said.strip()
    if "[rejected]" in told and ("fetch first" in told or "non-fast-forward" in told):
        raise TargetMoved(f"{remote}/{branch} moved meanwhile")
    if "[remote rejected]" in told or "[rejected]" in told or "pre-push" in said:
        raise Refused(
            f"{remote} refused the push to {branch}: {_reason(said)}",
            code="push_refused",
            hint='Nothing has landed. A protected branch takes only pull requests: `via = "pr"` in [land], or ww pr.',
        )
    raise WoodwindError(f"the push to {remote} failed: {_reason(said)}", code="remote_unreachable")


def _reason(said: str) -> str:
    told = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith(("To ", "Done"))]
    return " ".join(" ".join(told[-6:]).split())[:600]
