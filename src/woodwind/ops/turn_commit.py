"""The commit that an agent cannot make itself: its sandbox keeps it from the git directory of its worktree."""

import os
from typing import Any

from woodwind.git import worktrees
from woodwind.git.tree import Tree
from woodwind.model.errors import NotFound, Refused
from woodwind.model.text import clean, one_line
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.store import events, workers

_NOBODY = ("-c", "user.name=Woodwind", "-c", "user.email=woodwind@localhost")


def commit_turn(ctx: Context, worker_id: str, last_words: str) -> dict[str, Any]:
    """Commit all that the agent left uncommitted at the end of a turn; its last words are the message."""
    with worker_lock(worker_id):
        worker = workers.find(ctx.store, worker_id)
        if worker is None:
            raise NotFound(f"there is no worker {worker_id}", code="no_worker")
        if worker.kind == "review":  # it ends in a report: what its agent wrote stays uncommitted, for a person to see
            return {"name": worker.name, "commit": ""}
        admin = worktrees.admin_of_worker(ctx.repo.common, worker.id)
        if not admin or not os.path.isdir(worker.worktree.path):
            raise NotFound(f"the folder of {worker.name} is gone: {worker.worktree.path}", code="no_folder")
        tree = Tree(worker.worktree.path, admin)
        changes = tree.changes()
        if changes.unmerged:
            raise Refused(f"{worker.name} has unmerged files, which nobody but its agent can settle", code="unmerged")
        if not changes:
            return {"name": worker.name, "commit": ""}
        tree.git("add", "--all")
        identity = () if tree.git("config", "user.email", ok=(0, 1)).strip() else _NOBODY
        tree.git(*identity, "commit", "--quiet", "--file=-", input=_message(worker, last_words).encode())
        commit = tree.head()
        with ctx.store.transaction() as db:
            data = {"commit": commit, "files": len(changes.tracked) + len(changes.untracked)}
            events.append(db, project=worker.project, worker=worker.id, kind="turn.committed", data=data)
    return {"name": worker.name, "commit": commit}


def _message(worker: Worker, last_words: str) -> str:
    """The first line as the subject, the rest below it; a first line that is too long stays whole in the body."""
    subject = one_line(last_words, 72) or one_line(worker.title, 72)
    body = clean(last_words).strip()
    return f"{subject}\n\n{body.removeprefix(subject).strip()}\n"
