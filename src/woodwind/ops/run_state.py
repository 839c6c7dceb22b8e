"""A run in the store: changed by one step at a time, whoever wants it, and found in the surroundings that it needs."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from woodwind.base import paths
from woodwind.base.clock import id_for, now, to_ms
from woodwind.base.failpoints import failpoint
from woodwind.base.files import locked
from woodwind.model.errors import NotFound, Refused
from woodwind.model.run import Decision, Happened, Run, Task, What
from woodwind.model.schedule import step
from woodwind.ops.context import Context
from woodwind.store import landings, projects, runs
from woodwind.store.db import Store
from woodwind.store.runs import RunRow


class Known:
    """A run as it was last read or written, so that it need not be read again while nobody else changes it."""

    __slots__ = ("row", "run")

    def __init__(self, row: RunRow, run: Run) -> None:
        self.row = row
        self.run = run


def read(store: Store, run: str, known: Known | None = None) -> Known:
    """A run as it stands now."""
    if known and runs.revision(store, run) == known.row.revision:
        return known
    return Known(*runs.load(store, run))


def change(
    store: Store,
    run: str,
    events: Sequence[Happened],
    *,
    known: Known | None = None,
    specs: Mapping[str, Mapping[str, Any]] | None = None,
    seen: bool = False,
) -> tuple[Known, list[Decision]]:
    """Take one step: what happened, in; the run as it then stands, durably, and what is to be done, out.

    What was only `seen` does not count for a run that was stopped meanwhile: its agents were interrupted by that.
    """
    with locked(paths.lock_file(f"run-{run}")):
        before = read(store, run, known)
        if seen and before.run.state not in runs.LIVE:
            return before, []
        after, decisions = step(before.run, events, to_ms(now()))
        failpoint("run.before_save")
        if after != before.run or specs:
            fresh = {task: spec for task, spec in (specs or {}).items() if task not in before.run.tasks}
            runs.save(store, before.row, before.run, after, fresh)
            row = before.row._replace(state=after.state, why=after.why, revision=before.row.revision + 1)
            before = Known(row, after)
        failpoint("run.after_save")
    return before, decisions


def heed_undone(store: Store, run: str) -> None:
    """Let a run know that the landing of its own branch was taken back, where it does not yet."""
    ended = (one for one in landings.of_worker(store, run) if one.state in ("done", "undone"))
    last = next(ended, None)
    closing = [task.id for task in read(store, run).run.tasks.values() if task.closing and not task.lane]
    if last and last.kind == "undo":
        why = f"its landing on {last.target} was undone"
        change(store, run, [Happened(What.UNDONE, task, text=why) for task in closing])


def worker_id(run: str, task: Task) -> str:
    """The id of a task's worker, the same whoever asks; in a loop, that of its lane."""
    return id_for("w", run, task.lane or task.id)


@contextlib.contextmanager
def place_of(row: RunRow, environ: Mapping[str, str], store: Store | None = None) -> Iterator[Context]:
    """The surroundings that a run's operations get: the folder that it was started in, or its project's own."""
    folder = row.folder
    if not os.path.isdir(folder):
        with contextlib.closing(Context("/", environ)) as anywhere:
            found = projects.find(anywhere.store, row.project)
        if found is None:
            raise NotFound(f"the project of the run {row.id} is not known any more", code="no_repository")
        folder = os.path.dirname(found[0]) if os.path.basename(found[0]) == ".git" else found[0]
    # What one worker's agent may do says nothing about the run.
    kept = {name: value for name, value in environ.items() if name not in ("WOODWIND_WORKER", "TMUX", "TMUX_PANE")}
    ctx = Context(folder, kept)
    if store:
        ctx.store = store
    try:
        yield ctx
    finally:
        if not store:
            ctx.close()


def check_may_command(ctx: Context, row: RunRow) -> None:
    """Refuse when the caller is an agent that did not begin this run itself."""
    if ctx.caller and ctx.caller != row.spec.get("made_by", ""):
        raise Refused(
            f"worker {ctx.caller} may command only runs that it began itself, not {row.id}",
            code="not_yours",
            hint="Ask the person who runs Woodwind.",
        )


def find_run(ctx: Context, project: str, name: str, *, kind: str = "") -> RunRow:
    """The run that an id, or its beginning, names; for "" the only one that is under way, or the newest."""
    mine = [row for row in runs.listed(ctx.store, project) if not kind or row.kind == kind]
    what = kind if kind == "loop" else "run"
    if name:
        found = [row for row in mine if row.id == name] or [row for row in mine if row.id.startswith(name)]
    else:
        found = [row for row in mine if row.state in runs.LIVE] or mine[:1]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(row.id for row in found)
        raise NotFound(f"several {what}s are meant: {several}", code="no_run", hint="Name one of them.")
    said = f"there is no {what} {name!r} in this project" if name else f"there is no {what} in this project"
    raise NotFound(said, code="no_run", hint="`ww runs` lists them.")
