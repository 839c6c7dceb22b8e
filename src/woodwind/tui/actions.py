"""What a verb does: one call of an op, in a thread and with a context of its own; returns what to tell the person."""

import os
import shlex
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any, TypeVar

from woodwind.base.run import run, run_attached
from woodwind.model.errors import NotFound
from woodwind.model.landing import LandRequest
from woodwind.model.review import Comment, FileDiff
from woodwind.model.worker import Worker
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.answer import answer
from woodwind.ops.attach import attach_argv
from woodwind.ops.context import Context
from woodwind.ops.deliver import deliver
from woodwind.ops.diff import work_tree
from woodwind.ops.explain import explain
from woodwind.ops.pause import pause
from woodwind.ops.projects import current
from woodwind.ops.remove import Findings, remove
from woodwind.ops.resume import resume
from woodwind.ops.review import Review, send as send_review
from woodwind.ops.ship import merge, ship
from woodwind.ops.undo import undo
from woodwind.store import events, notices, projects, terminals, workers
from woodwind.tui.review import Reviewing

Ask = Callable[[str], bool]
T = TypeVar("T")


class Actions:
    """The verbs, for the folder that the control plane was opened in. `ask` puts a question of an op to the person."""

    def __init__(self, cwd: str, ask: Ask) -> None:
        self._cwd = cwd
        self._ask = ask

    def ship(self, worker_id: str) -> str:
        """Commit, merge, verify and land a worker, then put it away."""

        def act(ctx: Context, worker: Worker) -> str:
            done = ship(ctx, worker, LandRequest(commit_dirty=True, keep=False))
            return _landed(done) + ("" if done["removed"] or done["url"] else ", and was kept")

        return self._with(worker_id, act)

    def merge(self, worker_id: str) -> str:
        """Land a worker's commits and keep it."""
        return self._with(worker_id, lambda ctx, w: _landed(merge(ctx, w, LandRequest())))

    def send(self, worker_id: str, text: str) -> str:
        """Give an agent a message."""

        def act(ctx: Context, worker: Worker) -> str:
            deliver(ctx, worker, text)
            return f"{worker.name} got it"

        return self._with(worker_id, act)

    def answer(self, worker_id: str, text: str, question: str) -> str:
        """Answer the question that was shown, and no other."""

        def act(ctx: Context, worker: Worker) -> str:
            answer(ctx, worker, text, question=question)
            return f"{worker.name} got its answer"

        return self._with(worker_id, act)

    def pause(self, worker_id: str) -> str:
        """Interrupt an agent."""

        def act(ctx: Context, worker: Worker) -> str:
            pause(ctx, worker)
            return f"{worker.name} is paused"

        return self._with(worker_id, act)

    def resume(self, worker_id: str) -> str:
        """Bring an agent back to work."""
        return self._with(worker_id, lambda ctx, w: f"{w.name} was {resume(ctx, w)['how']}")

    def remove(self, worker_id: str) -> str:
        """Park a worker whole."""
        return self._with(worker_id, lambda ctx, w: f"{remove(ctx, w, force=True)['name']} was removed")

    def what_goes(self, worker_id: str) -> str:
        """What a removal would put away, a line each."""
        return self._with(worker_id, lambda ctx, w: "\n".join(Findings(ctx, w).reasons))

    def dismiss(self, event: int) -> str:
        """Put a notice away."""
        with closing(Context(self._cwd, os.environ)) as ctx:
            notices.dismiss(ctx.store, event)
        return ""

    def undo(self, event: int) -> str:
        """Take back the landing or removal that an event told of, in its own project."""
        with closing(Context(self._cwd, os.environ)) as here:
            [row] = events.since(here.store, event - 1, limit=1)
            known = projects.find(here.store, row.project)
        folder = known[0].removesuffix("/.git") if known else self._cwd
        with closing(Context(folder, os.environ, person=True, confirm=self._ask)) as ctx:
            done = undo(ctx, current(ctx), row.data.get("landing") or row.data.get("removal") or "")
            parts = [f"{done['landing']['name']} is out of {done['landing']['target']}"] if done["landing"] else []
            parts += [f"{done['restored']['name']} is back"] if done["restored"] else []
            return "\n".join([", ".join(parts), *ctx.notes])

    def explain(self, worker_id: str) -> str:
        """Which evidence gave a worker its status."""
        return self._with(worker_id, lambda ctx, w: "\n".join(explained(explain(ctx, w))))

    def reviewing(self, worker_id: str) -> Reviewing:
        """The calls of a review of this worker."""

        def load() -> tuple[list[FileDiff], list[Comment]]:
            def act(ctx: Context, worker: Worker) -> tuple[list[FileDiff], list[Comment]]:
                review = Review(ctx, worker)
                return review.files(), review.comments()

            return self._there(worker_id, act)

        def comment(place: str, text: str) -> None:
            self._there(worker_id, lambda ctx, w: Review(ctx, w).comment(place, text))

        def send() -> int:
            return self._there(worker_id, lambda ctx, w: send_review(ctx, w, Review(ctx, w)))

        return Reviewing(load, comment, send)

    def conflicted(self, worker_id: str) -> list[str]:
        """The files of a worker's worktree that have conflicts in them."""

        def act(ctx: Context, worker: Worker) -> list[str]:
            tree = work_tree(ctx, worker)
            return [os.path.join(tree.path, path) for path in tree.changes().unmerged]

        return self._there(worker_id, act)

    def edit(self, files: list[str]) -> None:
        """Open files in the person's editor, on this terminal."""
        words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        run_attached([*words, *files])

    def terminal_of(self, worker_id: str) -> tuple[Mux, Pane] | None:
        """A worker's terminal as it is now; None when it has none."""
        with closing(Context(self._cwd, os.environ)) as ctx:
            terminal = terminals.find(ctx.store, worker_id)
        mux = muxes.at(terminal.server) if terminal else None
        pane = next(iter(mux.panes(worker_id)), None) if mux else None
        return (mux, pane) if mux and pane else None

    def attach(self, worker_id: str) -> str:
        """Bring the person to a worker's terminal; returns when they are back, or at once inside the same tmux."""

        def act(ctx: Context, worker: Worker) -> str:
            argv, env = attach_argv(ctx, worker)
            if "switch-client" in argv:
                run(argv, env=env)
            else:
                run_attached(argv, env=env)
            return ""

        return self._with(worker_id, act)

    def switches(self, worker_id: str) -> bool:
        """Whether attaching switches the tmux client around us, and needs no terminal of its own."""
        return bool(self._with(worker_id, lambda ctx, w: "yes" if "switch-client" in attach_argv(ctx, w)[0] else ""))

    def _with(self, worker_id: str, act: Callable[[Context, Worker], str]) -> str:
        """What `act` tells about a worker, with the remarks that were made on the way."""

        def noted(ctx: Context, worker: Worker) -> str:
            words = act(ctx, worker)
            return "\n".join([words, *ctx.notes])

        return self._there(worker_id, noted)

    def _there(self, worker_id: str, act: Callable[[Context, Worker], T]) -> T:
        """What `act` gives for a worker, called in the worker's own folder so that its project's settings hold."""
        with closing(Context(self._cwd, os.environ)) as here:
            worker = workers.find(here.store, worker_id)
        if worker is None:
            raise NotFound("the worker is not there any more", code="no_worker")
        folder = worker.worktree.path if os.path.isdir(worker.worktree.path) else self._cwd
        with closing(Context(folder, os.environ, person=True, confirm=self._ask)) as ctx:
            return act(ctx, worker)


def _landed(done: Mapping[str, Any]) -> str:
    if done["url"]:
        return f"{done['name']} has a pull request: {done['url']}"
    return f"{done['name']} landed in {done['target']}"


def explained(data: Mapping[str, Any]) -> list[str]:
    """The evidence for a status, a line each."""
    lines = [f"{data['status']}  {data['detail']}", ""]
    for head, reasons in (("because", data["reasons"]), ("ignored", data["ignored"])):
        for reason in reasons:
            told = f"{head}  {reason['source']} told “{reason['tells']}” at {_clock(reason['at'])}"
            lines.append(f"{told}: {reason['why']}" if reason["why"] else told)
    return lines


def _clock(at: str) -> str:
    """The time of day here for an ISO time."""
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S") if at else "a time that is not known"
