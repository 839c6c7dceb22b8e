"""Merges, rebases and squashes in a lane, with the repository's own hooks; conflicts are told by file."""

import os
from typing import NamedTuple

from woodwind.base.failpoints import failpoint
from woodwind.git.call import git
from woodwind.git.lanes import Lane, tree_of
from woodwind.git.tree import Tree
from woodwind.model.errors import Refused

_NOBODY = ("-c", "user.name=Woodwind", "-c", "user.email=woodwind@localhost")
# What the user's configuration must not add to a merge in a lane.
_PLAIN = (
    "-c", "rerere.enabled=false", "-c", "rebase.updateRefs=false", "-c", "rebase.autoSquash=false",
    "-c", "rebase.autoStash=false", "-c", "merge.autoStash=false",
)  # fmt: skip


class Merged(NamedTuple):
    """What came of a merge: a commit, or the files in conflict with what git says about them.

    `empty` tells that there was nothing in it: the commit's tree is that of what it was merged into.
    """

    commit: str = ""
    conflicts: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    empty: bool = False


def merge(
    lane: Lane, onto: str, tip: str, *, method: str = "merge", strategy: str = "", message: str = "Merge"
) -> Merged:
    """Merge, rebase or squash `tip` onto `onto` in a lane; `strategy` ours keeps onto's side, theirs the tip's."""
    failpoint("merge.before")
    side = (f"--strategy-option={strategy}",) if strategy else ()
    who = identity(lane.tree)
    if method == "rebase":
        lane.check_out(tip)
        words = ("rebase", "--merge", "--no-fork-point", "--empty=drop", *side, onto)
        code, said = lane.git_with_hooks(*_PLAIN, *who, *words)
    else:
        lane.check_out(onto)
        how = ("--squash",) if method == "squash" else ("--no-ff", "--no-edit", f"--message={message}")
        words = ("merge", "--no-stat", "--no-autostash", *how, *side, tip)
        code, said = lane.git_with_hooks(*_PLAIN, *who, *words)
    failpoint("merge.in_lane")
    conflicts = _unmerged(lane) if code else ()
    if conflicts:
        messages = tuple(line for line in said.splitlines() if line.startswith("CONFLICT"))
        return Merged(conflicts=conflicts, messages=messages)
    if method == "squash" and code == 0:
        if lane.tree.git("write-tree").strip() == tree_of(lane.common, onto):
            return Merged(commit=onto, empty=True)
        _commit(lane, who, message, said)
    elif code:
        if method == "rebase" or not os.path.exists(os.path.join(lane.admin, "MERGE_HEAD")) or not _restaged(lane):
            raise _stopped(method, said)
        _commit(lane, who, "", said)
    _take_in_what_hooks_wrote(lane, who)
    commit = lane.tree.head()
    return Merged(commit=commit, empty=tree_of(lane.common, commit) == tree_of(lane.common, onto))


def revert(lane: Lane, onto: str, old: str, new: str, *, message: str) -> Merged:
    """One commit on top of `onto` that takes back what the landing from `old` to `new` brought."""
    lane.check_out(onto)
    who = identity(lane.tree)
    # The landing's whole change at once: `new` as the base, `old` as the other side.
    before, after = tree_of(lane.common, new), tree_of(lane.common, old)
    words = ("merge-recursive", before, "--", "HEAD", after)
    lane.tree.git(*_PLAIN, *who, *words, ok=None)
    failpoint("merge.in_lane")
    conflicts = _unmerged(lane)
    if conflicts:
        return Merged(conflicts=conflicts)
    if lane.tree.git("write-tree").strip() == tree_of(lane.common, onto):
        return Merged(commit=onto, empty=True)
    _commit(lane, who, message, "")
    _take_in_what_hooks_wrote(lane, who)
    return Merged(commit=lane.tree.head())


def identity(tree: Tree) -> tuple[str, ...]:
    """The options that name a committer where the user has named none."""
    return () if tree.git("config", "user.email", ok=(0, 1)).strip() else _NOBODY


def _unmerged(lane: Lane) -> tuple[str, ...]:
    entries = lane.tree.git("ls-files", "--unmerged", "-z").split("\0")
    return tuple(sorted({entry.split("\t", 1)[1] for entry in entries if "\t" in entry}))


def _commit(lane: Lane, who: tuple[str, ...], message: str, said: str) -> None:
    """Commit what is staged; a hook that refuses because it rewrote files gets a second chance with those."""
    words = ("commit", "--quiet", *((f"--message={message}",) if message else ("--no-edit",)))
    code, output = lane.git_with_hooks(*_PLAIN, *who, *words)
    if code and _restaged(lane):
        code, output = lane.git_with_hooks(*_PLAIN, *who, *words)
    if code:
        raise _stopped("commit", output or said)


def _restaged(lane: Lane) -> bool:
    """Stage what hooks rewrote; whether there was any."""
    if not lane.tree.git("diff", "--name-only", "-z"):
        return False
    lane.tree.git("add", "--update")
    return True


def _take_in_what_hooks_wrote(lane: Lane, who: tuple[str, ...]) -> None:
    """A hook that rewrites files and says nothing: what it wrote belongs to the commit that it ran for."""
    if _restaged(lane):
        code, output = lane.git_with_hooks(*_PLAIN, *who, "commit", "--quiet", "--amend", "--no-edit")
        if code:
            raise _stopped("commit", output)


def _stopped(what: str, said: str) -> Refused:
    lines = [line for line in said.splitlines() if line.strip()]
    return Refused(
        f"the {what} was stopped: " + ("\n".join(lines[-12:]) or "git gave no reason"),
        code="merge_stopped",
        hint="A hook of this repository may have refused it. Nothing has landed.",
    )


def preview(common: str, onto: str, tip: str, objects: str) -> Merged:
    """What a merge would come to, without a worktree; what it writes goes to the folder `objects`."""
    env = {"GIT_OBJECT_DIRECTORY": objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(common, "objects")}
    words = ("merge-tree", "--write-tree", "--name-only", "-z", "--messages", onto, tip)
    done = git("--git-dir", common, *words, ok=(0, 1), env=env)
    tree, *rest = done.text.split("\0")
    if done.code == 0:
        return Merged(commit=tree, empty=tree == tree_of(common, onto))
    files = rest[: rest.index("")] if "" in rest else rest
    told = [
        line.strip() for part in rest for line in part.splitlines() if line.startswith("CONFLICT") and "): " in line
    ]
    return Merged(conflicts=tuple(sorted(set(files))), messages=tuple(told))


def is_ancestor(common: str, commit: str, of: str) -> bool:
    """Whether `of` has `commit` in its history."""
    return git("--git-dir", common, "merge-base", "--is-ancestor", commit, of, ok=(0, 1)).code == 0


def merge_base(common: str, one: str, other: str) -> str:
    """Where two histories parted, or "" when they never met."""
    return git("--git-dir", common, "merge-base", one, other, ok=(0, 1)).text.strip()


def is_in_by_patch(common: str, tip: str, target: str) -> bool:
    """Whether what `tip` changed is in the target by other commits: each by itself, or all squashed into one."""
    base = merge_base(common, tip, target)
    if not base:
        return False
    picked = git("--git-dir", common, "cherry", target, tip, ok=None)
    if picked.code == 0 and picked.text and all(line.startswith("- ") for line in picked.text.splitlines()):
        return True
    # Both sides by plumbing: how the user likes to read diffs would tell one change from itself.
    words = ("diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--full-index")
    whole = git("--git-dir", common, *words, base, tip, "--").stdout
    mine = git("--git-dir", common, "patch-id", "--stable", input=whole).text.split()[:1] if whole else []
    since = git("--git-dir", common, "rev-list", "--no-merges", f"{base}..{target}", "--").stdout
    patches = git("--git-dir", common, *words, "--stdin", input=since).stdout
    theirs = git("--git-dir", common, "patch-id", "--stable", input=patches).text if patches else ""
    return bool(mine) and mine[0] in {line.split()[0] for line in theirs.splitlines() if line}


def commits_between(common: str, old: str, new: str, most: int = 200) -> list[dict[str, str]]:
    """The commits that `new` has and `old` has not, newest first."""
    words = ("log", f"--max-count={most}", "--format=%H%x00%s", f"{old}..{new}", "--")
    lines = git("--git-dir", common, *words).text.splitlines()
    return [dict(zip(("commit", "subject"), line.split("\0", 1), strict=True)) for line in lines if "\0" in line]


def marked_files(common: str, base: str, tip: str) -> list[str]:
    """The files in which the commits since `base` left conflict markers, as `git diff --check` finds them."""
    done = git("--git-dir", common, "-c", "core.whitespace=-trailing-space,-space-before-tab,-blank-at-eol,"
               "-blank-at-eof", "diff", "--check", "--no-renames", base, tip, "--", ok=None)  # fmt: skip
    found = {
        line.removesuffix(": leftover conflict marker").rpartition(":")[0]
        for line in done.text.splitlines()
        if line.endswith(": leftover conflict marker")
    }
    # A heading underlined with seven signs is no conflict: one has both of its ends.
    return sorted(path for path in found if _has_both_ends(git(
        "--git-dir", common, "cat-file", "blob", f"{tip}:{path}", ok=None).stdout))  # fmt: skip


def _has_both_ends(data: bytes) -> bool:
    lines = data.split(b"\n")
    return any(line.startswith(b"<<<<<<<") for line in lines) and any(line.startswith(b">>>>>>>") for line in lines)


def marked_on_disk(top: str, changed: list[str]) -> list[str]:
    """Those of these files of a worktree that hold conflict markers."""
    found = []
    for path in changed:
        full = os.path.join(top, path)
        if os.path.isfile(full) and not os.path.islink(full) and os.path.getsize(full) < 10_000_000:
            with open(full, "rb") as file:
                if _has_both_ends(file.read()):
                    found.append(path)
    return found
