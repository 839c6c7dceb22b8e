"""Operations with several steps: journalled before each, undone when they fail, and settled after a crash."""

import contextlib
import signal
import sqlite3
from collections.abc import Callable, Iterator

from woodwind.base import paths
from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked, locked
from woodwind.model.errors import WoodwindError
from woodwind.model.typed import Protocol
from woodwind.ops.context import Context
from woodwind.store import operations
from woodwind.store.operations import OperationRow

UNDOING = "undo "


class Step:
    """One step: `do` and `undo` can each be repeated, and `undo` works on a half-done `do`.

    Once a `final` step has begun there is no way back: whoever comes next goes on with it.
    """

    __slots__ = ("do", "final", "name", "undo")

    def __init__(
        self, name: str, do: Callable[[], None], undo: Callable[[], None] | None = None, *, final: bool = False
    ) -> None:
        self.name = name
        self.do = do
        self.undo = undo
        self.final = final


class Operation(Protocol):
    """A kind of operation, rebuilt from its journalled arguments."""

    kind: str
    # After a crash in this step or a later one the operation is finished; before it, undone. "" means always undone.
    finish_from: str

    def steps(self) -> list[Step]:
        """The steps in order."""
        ...

    def commit(self, db: sqlite3.Connection) -> None:
        """What the store learns, in the same transaction as the operation's end."""
        ...

    def abandoned(self, db: sqlite3.Connection) -> None:
        """What the store learns when the operation was undone."""
        ...


@contextlib.contextmanager
def worker_lock(worker: str, *, wait: bool = True) -> Iterator[None]:
    """Hold a worker's lifecycle: one operation on it at a time."""
    with locked(paths.lock_file(worker), wait=wait):
        yield


def carry_out(ctx: Context, operation: Operation, row: OperationRow) -> None:
    """Do all steps of an operation that was just journalled; the caller holds the worker's lock."""
    with _hang_up_ignored():
        _carry_out(ctx, operation, row)
    failpoint(f"{operation.kind}.after_commit")


@contextlib.contextmanager
def _hang_up_ignored() -> Iterator[None]:
    """Removing the worker that one runs in closes one's own terminal: the operation still ends."""
    try:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    except ValueError:  # a thread of the daemon, which ignores it anyway
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def _carry_out(ctx: Context, operation: Operation, row: OperationRow) -> None:
    try:
        _do(ctx, operation, row, operation.steps())
    except BaseException:
        if _is_final(operation, row):
            ctx.notes.append(f"the {row.kind} of {row.worker} is half-done; the next command goes on with it")
            raise
        try:
            _undo(ctx, operation, row)
        except (WoodwindError, OSError, sqlite3.Error) as second:
            ctx.notes.append(f"what was begun could not be undone now ({_told(second)}); the next command will do it")
        raise


def _told(error: Exception) -> str:
    """What went wrong and, where that is known, what to do about it."""
    return f"{str(error).rstrip('.')}. {hint}" if (hint := getattr(error, "hint", "")) else str(error)


def _do(ctx: Context, operation: Operation, row: OperationRow, steps: list[Step]) -> None:
    one_way = not operation.finish_from and not any(step.final for step in steps)
    if one_way and row.step != steps[-1].name:
        # After a crash it is undone, whatever step it was in, and the undo of a step that was never begun finds
        # nothing to do: one durable write instead of one before each step.
        operations.intend(ctx.store, row.id, steps[-1].name)
    for step in steps:
        if not one_way:
            operations.intend(ctx.store, row.id, step.name)
        row.step = step.name
        failpoint(f"{operation.kind}.before_{step.name}")
        step.do()
        failpoint(f"{operation.kind}.after_{step.name}")
    with ctx.store.transaction() as db:
        operation.commit(db)
        operations.finish(db, row.id, "done")


def _is_final(operation: Operation, row: OperationRow) -> bool:
    steps = operation.steps()
    names = [step.name for step in steps]
    begun = names.index(row.step) + 1 if row.step in names else 0
    return any(step.final for step in steps[:begun])


def _undo(ctx: Context, operation: Operation, row: OperationRow) -> None:
    if row.step:
        # Best effort: without it a repeated attempt may finish the operation instead, which is safe too.
        with contextlib.suppress(sqlite3.OperationalError):
            operations.intend(ctx.store, row.id, UNDOING + row.step)
    names = [step.name for step in operation.steps()]
    begun = names.index(row.step) + 1 if row.step in names else 0
    for step in reversed(operation.steps()[:begun]):
        if step.undo:
            step.undo()
    with ctx.store.transaction() as db:
        operation.abandoned(db)
        operations.finish(db, row.id, "undone")


def recover(ctx: Context, project: str) -> list[str]:
    """Settle what died halfway; return what was done about each. Operations that are under way are left alone."""
    settled: list[str] = []
    for row in operations.running(ctx.store, project):
        with contextlib.suppress(Locked), worker_lock(row.worker, wait=False):
            still = operations.running(ctx.store, project, row.worker)
            try:
                settled += [_settle(ctx, mine) for mine in still if mine.id == row.id]
            except (WoodwindError, OSError, sqlite3.OperationalError) as error:
                # It stays in the journal for the next command; this one may be about something else.
                ctx.notes.append(
                    f"the {row.kind} of {row.worker} that was cut short could not be settled: {_told(error)}"
                )
    return settled


def _settle(ctx: Context, row: OperationRow) -> str:
    operation = _rebuild(ctx, row)
    names = [step.name for step in operation.steps()]
    undoing = row.step.startswith(UNDOING)
    row.step = row.step.removeprefix(UNDOING)
    reached = names.index(row.step) if row.step in names else -1
    if operation.finish_from and reached >= names.index(operation.finish_from) and not undoing:
        try:
            _do(ctx, operation, row, operation.steps()[reached:])
            return f"finished the {row.kind} of {row.worker} that was cut short"
        except (WoodwindError, OSError) as error:
            if _is_final(operation, row):
                raise
            ctx.notes.append(f"the {row.kind} of {row.worker} could not be finished: {error}")
    _undo(ctx, operation, row)
    return f"undid the {row.kind} of {row.worker} that was cut short"


def _rebuild(ctx: Context, row: OperationRow) -> Operation:
    # The verbs import this module; importing them above would be a cycle.
    from woodwind.ops.kinds import KINDS

    if row.kind not in KINDS:
        raise WoodwindError(
            f"an unfinished operation of kind {row.kind!r} is in the journal, which this Woodwind does not know",
            hint="It was begun by a newer version: use that one to finish it.",
        )
    return KINDS[row.kind](ctx, row.args)
