"""How every landing and every taking back begins and ends: its row and its operation, written down as one."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from woodwind.git.lanes import Lane
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.landing import LandRequest
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import carry_out
from woodwind.ops.landable import Landable
from woodwind.ops.landing_steps import Land, tell
from woodwind.store import landings, operations, workers
from woodwind.store.landings import Landing

L = TypeVar("L", bound=Land)


def free_to_land(ctx: Context, worker: Worker) -> Worker:
    """The worker as it is now; an error when another command has it, or it is gone. The caller holds its lock."""
    current = workers.find(ctx.store, worker.id)
    if current is None or current.phase in (Phase.REMOVED, Phase.CREATING, Phase.LANDING):
        raise Refused(f"{worker.name} cannot land now: it is {current.phase if current else 'gone'}", code="busy")
    return current


def begin_worker(
    ctx: Context,
    kind: type[L],
    worker: Worker,
    facts: Landable,
    request: LandRequest,
    *,
    beside: Callable[[sqlite3.Connection, Landing], None] | None = None,
    **args: Any,
) -> L:
    """Begin the landing of a worker, whose phase says so from here on."""
    landing = landings.begun(
        worker.id,
        project=worker.project,
        name=worker.name,
        target=facts.target,
        via=facts.via,
        remote=facts.remote,
        method=facts.method,
        tip=facts.tip,
        previous_phase=worker.phase,
    )

    def also(db: sqlite3.Connection) -> None:
        workers.set_phase(db, worker.id, Phase.LANDING)
        if beside:
            beside(db, landing)

    tree = {"path": facts.tree.path, "admin": facts.tree.admin}
    operation = begin(ctx, kind, landing, request, beside=also, **tree, **args)
    operation.subject = worker
    return operation


def begin_undo(
    ctx: Context,
    kind: type[L],
    landing: Landing,
    request: LandRequest,
    *,
    known: Mapping[str, str] | None = None,
    step: str = "",
    **args: Any,
) -> L:
    """Begin to take a landing back; `known` is what can be told of that before it is begun."""
    worker = workers.find(ctx.store, landing.worker)
    undoing = landings.begun(
        landing.worker,
        project=landing.project,
        name=worker.name if worker else landing.name,
        target=landing.target,
        via=landing.via,
        remote=landing.remote,
        method=landing.method,
        kind="undo",
        undoes=landing.id,
        previous_phase=worker.phase if worker else "",
        **(known or {}),
    )
    operation = begin(ctx, kind, undoing, request, step=step, undoes=landing.id, **args)
    operation.subject = worker
    return operation


def begin(
    ctx: Context,
    kind: type[L],
    landing: Landing,
    request: LandRequest,
    *,
    step: str = "",
    beside: Callable[[sqlite3.Connection], None] | None = None,
    **args: Any,
) -> L:
    """Write a landing and its operation down in one transaction, with what else is to be written `beside` them."""
    about: dict[str, Any] = {"landing": landing.id, "worker": landing.worker, "project": landing.project}
    about |= {"common": ctx.repo.common, "request": list(request), **args}
    with ctx.store.transaction() as db:
        landings.add(db, landing)
        if beside:
            beside(db)
        row = operations.begin(
            db, project=landing.project, worker=landing.worker, kind=kind.kind, args=about, step=step
        )
    operation = kind(ctx, about)
    operation.row = row
    return operation


def carry_through(ctx: Context, operation: Land, lane: Lane) -> Landing:
    """Do what was begun, in a lane; the landing as it ended. Where it fails, the landing tells why."""
    operation.lane = lane
    try:
        carry_out(ctx, operation, operation.begun)
    except (WoodwindError, OSError) as error:
        tell_failure(ctx, operation.landing, error)
        raise
    return operation.landing


def tell_failure(ctx: Context, landing: Landing, error: WoodwindError | OSError) -> None:
    """Record why a landing came to nothing."""
    if landing.state == "done":
        return  # it failed at something after its target had moved
    why = error.message if isinstance(error, WoodwindError) else str(error)
    with ctx.store.transaction() as db:
        landings.change(db, landing.id, why=why)
        tell(db, landing, "landing.failed", {"landing": landing.id, "target": landing.target, "why": why})
