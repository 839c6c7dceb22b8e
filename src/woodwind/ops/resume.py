"""`ww resume`: go on with a paused agent, or start an exited one again in its own conversation."""

import sqlite3
import uuid
from collections.abc import Mapping
from typing import Any

from woodwind.agents import registry as agents
from woodwind.agents.base import Agent, Start
from woodwind.base.clock import now, to_ms
from woodwind.model.brief import GO_ON, POINTER
from woodwind.model.choice import parse_model
from woodwind.model.errors import Refused, UsageError, WoodwindError
from woodwind.model.status import Phase
from woodwind.model.turn import BRIEF, START_UNDONE, State, superseded
from woodwind.model.worker import HEADLESS, SHELL, Worker
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Mux, Pane
from woodwind.ops import ports
from woodwind.ops.brief import bring_back
from woodwind.ops.context import Context
from woodwind.ops.deliver import deliver, wait_until_quiet
from woodwind.ops.inside import require_folder
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.keep_turn import keep_turn
from woodwind.ops.launch import Launch, first_turn, launch_of, open_pane, start_pane
from woodwind.ops.terminal import find_pane, is_ours, keep_text
from woodwind.store import events, operations, terminals, turns, workers


def resume(ctx: Context, worker: Worker, *, message: str = "", fresh: bool = False) -> dict[str, Any]:
    """Bring a worker's agent back to work; return how."""
    with worker_lock(worker.id):
        current = workers.find(ctx.store, worker.id)
        if current and current.phase == Phase.QUEUED:
            raise Refused(
                f"{worker.name} was not started yet: it waits for room",
                code="queued",
                hint="It starts by itself as others end; [limits] says how many may run.",
            )
        found = find_pane(ctx, worker.id)
        alive = found is not None and not found[1].dead and is_ours(ctx, worker.id, found[1])
        if not alive:
            _start_again(ctx, worker, found, message, fresh)
            return {"name": worker.name, "id": worker.id, "how": "fresh" if fresh else "restarted"}
        if current is None or current.phase != Phase.PAUSED:
            hint = "`ww send` gives it a message."
            if worker.launch == HEADLESS:
                hint = f"`ww log {worker.name} --follow` shows its output until it exits."
            raise Refused(f"{worker.name} is running already", code="running", hint=hint)
        with ctx.store.transaction() as db:
            workers.set_phase(db, worker.id, Phase.RUNNING)
            events.append(
                db, project=worker.project, worker=worker.id, kind="worker.resumed", data={"how": "continued"}
            )
    if message:
        deliver(ctx, worker, message)
    return {"name": worker.name, "id": worker.id, "how": "continued"}


def _start_again(ctx: Context, worker: Worker, found: tuple[Mux, Pane] | None, message: str, fresh: bool) -> None:
    require_folder(ctx, worker)
    if worker.agent == SHELL and message:
        raise UsageError(f"{worker.name} has a shell and no agent, so there is nobody to tell")
    if found and not found[1].dead:
        raise Refused(
            f"another program runs in the terminal of {worker.name}",
            code="not_the_agent",
            hint=f"Leave it first: ww attach {worker.name}",
        )
    agent = None if worker.agent == SHELL else agents.find(worker.agent, ctx.loaded_config.config.agents)
    session = str(uuid.uuid4()) if fresh else worker.agent_session
    headless = worker.launch == HEADLESS
    start = Start(
        # A leading - would make the agent take the message for an option.
        prompt=(f" {message}" if message.startswith("-") else message)
        or (POINTER if fresh else GO_ON if headless else ""),
        session=session,
        resume=not fresh,
        plan=worker.plan,
        model=parse_model(worker.model),
        permissions=worker.permissions,
        repository=ctx.repo.home,
        headless=headless,
        untrusted=worker.untrusted,
    )
    start_program(ctx, worker, agent, start, found)


def start_program(
    ctx: Context, worker: Worker, agent: Agent | None, start: Start, found: tuple[Mux, Pane] | None
) -> None:
    """Start a worker's program in the terminal that it had, or in a new one; the caller holds the worker's lock."""
    bring_back(worker)
    automated = worker.automated and not ctx.person
    how = launch_of(ctx, agent, start, worker=worker.id, project=worker.project, automated=automated)
    how.env.update(ports.variables(ctx, worker.id))
    mux: Mux
    if found:
        mux = found[0]
    elif start.headless:
        mux = muxes.headless()
    else:
        config = ctx.loaded_config.config.tmux
        mux, remarks = muxes.choose(config.server, config.socket, muxes.Surroundings(ctx.environ))
        ctx.notes += remarks
    args = {"worker": worker.id, "project": worker.project, "session": start.session, "new_pane": not found}
    with ctx.store.transaction() as db:
        turn = first_turn(db, worker.project, worker.id, how, State.SENDING)
        args["turn"] = turn.id if turn else ""
        row = operations.begin(db, project=worker.project, worker=worker.id, kind=Resume.kind, args=args)
    operation = Resume(ctx, args)
    operation.worker, operation.mux, operation.how = worker, mux, how
    operation.pane = found[1] if found else None
    carry_out(ctx, operation, row)
    if agent and agent.prompt == "paste" and start.prompt and operation.pane and not start.headless:
        wait_until_quiet(mux, operation.pane)
        deliver(ctx, worker, start.prompt, kind=BRIEF)


class Resume:
    """The journalled operation behind `ww resume`. After a crash the new terminal is closed again."""

    kind = "resume"
    finish_from = ""

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args
        self.worker: Worker | None = None
        self.mux: Mux | None = None
        self.how: Launch | None = None
        self.pane: Pane | None = None
        self.terminal: terminals.Terminal | None = None

    def steps(self) -> list[Step]:
        return [Step("terminal", self._open, self._close), Step("agent", self._start, self._close)]

    def _open(self) -> None:
        if not self.pane:
            assert self.mux
            assert self.worker
            self.pane = open_pane(self.ctx, self.mux, self.worker)

    def _start(self) -> None:
        assert self.mux
        assert self.how
        assert self.pane
        assert self.worker
        self.terminal = start_pane(self.ctx, self.mux, self.pane, self.how, self.worker.name)

    def _close(self) -> None:
        """Close what was opened for it, and keep what it shows; where nothing was started yet, it stays as it was."""
        found = find_pane(self.ctx, self.args["worker"])
        if found and (self.args["new_pane"] or not found[1].dead):
            keep_text(self.args["worker"], *found)
            found[0].kill(found[1])

    def commit(self, db: sqlite3.Connection) -> None:
        if not self.terminal:
            raise WoodwindError("a resume without a terminal cannot be done")
        terminals.save(db, self.args["worker"], self.terminal)
        workers.set_phase(db, self.args["worker"], Phase.RUNNING)
        workers.set_agent_session(db, self.args["worker"], self.args["session"])
        self._settle_turns(db, State.RUNNING, "")
        before = turns.of_worker(db, self.args["worker"])
        for turn in superseded(before, self.terminal.nonce, to_ms(now())):
            keep_turn(db, self.args["project"], self.args["worker"], turn)
        data = {"how": "restarted", "session": self.args["session"]}
        events.append(db, project=self.args["project"], worker=self.args["worker"], kind="worker.resumed", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        self._settle_turns(db, State.INTERRUPTED, START_UNDONE)

    def _settle_turns(self, db: sqlite3.Connection, state: State, why: str) -> None:
        """Say what became of the turn that it was started with, unless the agent itself has told by now."""
        waits = State.SENDING if state is State.RUNNING else None
        for turn in turns.of_worker(db, self.args["worker"]):
            if turn.id == self.args.get("turn") and turn.is_open and (waits is None or turn.state is waits):
                ended = 0 if state is State.RUNNING else to_ms(now())
                settled = turn._replace(state=state, why=why, ended_at=ended)
                keep_turn(db, self.args["project"], self.args["worker"], settled)
