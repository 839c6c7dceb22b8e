"""`ww review`: what a worker did, by file and line, and comments on it that go to its agent as one message."""

import os
from typing import Any

from woodwind.git import branches
from woodwind.git.forecasting import TrialMerges
from woodwind.model.errors import NotFound, UsageError
from woodwind.model.review import Comment, FileDiff, located, message, parse_diff
from woodwind.model.text import clean
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.deliver import deliver
from woodwind.ops.diff import work_tree
from woodwind.ops.forecast import snapshot_now, trial_merges
from woodwind.store import reviews

_LONGEST_FILE = 2 << 20


class Review:
    """A worker's work at this moment, uncommitted and untracked files included."""

    def __init__(self, ctx: Context, worker: Worker) -> None:
        self.ctx = ctx
        self.worker = worker
        tree, place = work_tree(ctx, worker), worker.worktree
        self._top = tree.path
        onto = (
            branches.branch_tip(ctx.repo.common, place.base_branch) if place.base_branch else ""
        ) or place.base_commit
        self.base = tree.git("merge-base", onto, "HEAD", ok=(0, 1)).strip() or place.base_commit
        self.trial: TrialMerges = trial_merges(ctx, worker.project)
        self.trial.prepare()
        self.tip = snapshot_now(ctx, worker)

    def files(self) -> list[FileDiff]:
        """What changed since the merge base."""
        words = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--no-prefix")
        large = ("-c", f"core.bigFileThreshold={_LONGEST_FILE}")
        return parse_diff(self.trial.git(*large, *words, "--submodule=short", self.base, self.tip, "--").text)

    def lines(self, path: str) -> list[str] | None:
        """The lines of a file as it is now; None when there is no such file."""
        if not path or "\n" in path:
            return None
        done = self.trial.git("cat-file", "blob", f"{self.tip}:{path}", ok=None)
        return done.text.splitlines() if done.code == 0 else None

    def comments(self) -> list[Comment]:
        """What is collected, with where each line stands now."""
        kept = reviews.of_worker(self.ctx.store, self.worker.id)
        by_path = {path: self.lines(path) for path in {c.path for c in kept}}
        return [located(comment, by_path[comment.path]) for comment in kept]

    def comment(self, place: str, text: str) -> None:
        """Keep a comment on FILE:LINE; an error when there is no such file or line."""
        name, colon, number = place.rpartition(":")
        if not colon or not number.isdecimal() or not name:
            raise UsageError(f"a comment needs a place as FILE:LINE, not {place!r}", hint="For example: app.py:12")
        if not clean(text).strip():
            raise UsageError("the comment is empty")
        path = self._path(name)
        lines = self.lines(path)
        if lines is None:
            raise NotFound(
                f"{self.worker.name} has no file {name}", code="no_such_line", hint="`ww review` shows the files."
            )
        if not 1 <= int(number) <= len(lines):
            has = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
            raise NotFound(
                f"{path} has {has}, not {number}", code="no_such_line", hint="`ww review` numbers the lines."
            )
        reviews.add(self.ctx.store, self.worker.id, path, int(number), lines[int(number) - 1], clean(text).strip())

    def _path(self, name: str) -> str:
        """A path from the worktree's top, whether it was written from there or from the current folder in it."""
        here, top = os.path.realpath(self.ctx.cwd), os.path.realpath(self._top)
        if os.path.isabs(name) or here.startswith(top + "/"):
            full = os.path.normpath(os.path.join(here, name))
            if full.startswith(top + "/") and (os.path.isabs(name) or os.path.lexists(full)):
                return os.path.relpath(full, top)
        return os.path.normpath(name)

    def data(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return {
            "name": self.worker.name,
            "id": self.worker.id,
            "base": self.base,
            "files": [file.data() for file in self.files()],
            "comments": [comment.data() for comment in self.comments()],
        }


def send(ctx: Context, worker: Worker, review: Review) -> int:
    """Send all comments as one message; how many they were. They are kept until the agent has taken it."""
    comments = review.comments()
    if not comments:
        raise NotFound(
            f"there is no comment on {worker.name} to send",
            code="no_comments",
            hint=f'Make one: ww review {worker.name} --comment FILE:LINE "…"',
        )
    deliver(ctx, worker, message(comments, worker.worktree.branch))
    reviews.drop(ctx.store, [comment.id for comment in comments])
    return len(comments)


def clear(ctx: Context, worker: Worker) -> int:
    """Forget all comments; how many they were."""
    kept = reviews.of_worker(ctx.store, worker.id)
    reviews.drop(ctx.store, [comment.id for comment in kept])
    return len(kept)
