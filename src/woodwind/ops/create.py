"""`ww new`: one worker from nothing to running, or nothing at all."""

import json
import os
import sqlite3
from collections.abc import Mapping

from woodwind.agents.base import Agent, Start
from woodwind.base.clock import new_id, new_uuid, now
from woodwind.base.failpoints import failpoint
from woodwind.base.files import locked
from woodwind.git import branches, worktrees
from woodwind.git.identity import lock_of
from woodwind.git.repo import Refs, base_for
from woodwind.git.tree import Tree
from woodwind.model.brief import FOLDER, POINTER, build
from woodwind.model.choice import parse_model
from woodwind.model.errors import Refused, UsageError
from woodwind.model.status import Phase
from woodwind.model.text import clean, one_line
from woodwind.model.turn import BRIEF, State
from woodwind.model.typed import Any
from woodwind.model.worker import HEADLESS, SHELL, Worker, Worktree
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Mux
from woodwind.ops import environment, ports
from woodwind.ops.brief import choose_template, facts_for, keep, write_folder
from woodwind.ops.context import Context
from woodwind.ops.free_names import Request, free_names
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.launch import Launch, drop_run_files, first_turn, launch_of, open_and_start
from woodwind.ops.limits import room
from woodwind.ops.terminal import known_servers, require_pane
from woodwind.store import environments, events, operations, projects as project_rows, terminals, workers


def create(ctx: Context, project: str, request: Request, agent: Agent | None, refs: Refs | None = None) -> Worker:
    """Make a worker and start its agent (None: a shell); on any failure nothing is left of it.

    `refs` are the branches, where git was asked for them already; unless that was just now, it is asked again.
    """
    if not request.task.strip() and agent is not None:
        raise UsageError("there is no task", hint='Say what to do: ww new "Add a greeting"')
    config = ctx.loaded_config.config
    choose_template(ctx, request)  # one that is not there is told before anything is made
    place = _place(ctx, request)
    headless = place == HEADLESS
    if headless and agent is None:
        raise UsageError("a shell needs a terminal, so it cannot run headless", hint="Leave --headless out.")
    worker_id = request.id or new_id("w")
    start = Start(
        prompt=POINTER,
        session=new_uuid(),
        plan=request.plan,
        model=parse_model(request.model or config.new.model if agent else ""),
        permissions=request.permissions,
        repository=ctx.repo.home,
        headless=headless,
        untrusted=request.untrusted,
    )
    how = launch_of(ctx, agent, start, worker=worker_id, project=project, automated=not ctx.person)
    mux: Mux
    if headless:
        mux, remarks = muxes.headless(), _headless_remarks(start)
    else:
        mux, remarks = muxes.choose(config.tmux.server, config.tmux.socket, _around(ctx))
    ctx.notes += remarks
    if place == "window" and mux.server != _around(ctx).socket:
        place = _no_window(request, remarks)
    wanted = None if request.in_place else environment.wishes(ctx, project, install=request.install)
    with worker_lock(worker_id):
        with room(ctx) as lack:
            if not lack and wanted and wanted.wait:
                lack = "first its environment is prepared ([environment] wait)"
            phase = Phase.QUEUED if lack and agent else Phase.CREATING
            name = agent.name if agent else SHELL
            worker, row = _reserve(ctx, project, request, worker_id, name, place, start.session, phase, refs)
        operation = _kind_of(request)(ctx, row.args)
        how.env.update(ports.variables(ctx, worker_id))
        operation.mux, operation.how, operation.wanted, operation.request = mux, how, wanted, request
        carry_out(ctx, operation, row)
        keep(worker)
        if agent and agent.prompt == "paste" and phase != Phase.QUEUED and not headless:
            from woodwind.ops.deliver import deliver, wait_until_quiet  # 5 ms, for agents that take no argument

            ctx.say("waiting for the agent to take its brief")
            wait_until_quiet(*require_pane(ctx, worker))
            deliver(ctx, worker, POINTER, kind=BRIEF)
    if operation.plan:
        environment.start(worker.id, ctx.environ)
    if phase == Phase.QUEUED:
        ctx.notes.append(f"{worker.name} waits{'' if lack.startswith('first') else ' for room'}: {lack}")
        return worker
    return worker._replace(phase=Phase.RUNNING)


def _around(ctx: Context) -> muxes.Surroundings:
    return muxes.Surroundings(ctx.environ)


def _place(ctx: Context, request: Request) -> str:
    if request.launch == "window" and not _around(ctx).socket:
        raise UsageError(
            "a window needs a tmux session to be in, and this terminal is not in tmux",
            hint="Use -s, or start tmux first.",
        )
    return request.launch or str(getattr(ctx.loaded_config.config.launch, request.kind))


def _headless_remarks(start: Start) -> list[str]:
    if start.permissions != "ask" or start.plan:
        return []
    return ["nobody can answer a headless agent, so what it would ask about is not done: see --permissions"]


def _no_window(request: Request, remarks: list[str]) -> str:
    """A window is possible only on the server that the caller is in."""
    if request.launch == "window":
        why = remarks[0] if remarks else "the configuration puts terminals on the private tmux server"
        raise UsageError(
            f"a window in your session is not possible: {why}",
            hint="Use -s." if remarks else 'Use -s, or set [tmux] server = "auto".',
        )
    return "session"


def _reserve(
    ctx: Context,
    project: str,
    request: Request,
    worker_id: str,
    agent: str,
    place: str,
    session: str,
    phase: Phase,
    refs: Refs | None,
) -> tuple[Worker, operations.OperationRow]:
    """Choose free names and write the worker down, so that nobody else can take them."""
    config = ctx.loaded_config.config.new
    with locked(lock_of(ctx.repo.common)):
        # From before the lock they may lack the branch of another new worker, which the store knows.
        refs = refs if refs and refs.fresh else Refs(ctx.repo)
        base_branch, base_commit = base_for(ctx.repo, refs, request.base or ("@" if request.in_place else config.base))
        base_branch = request.target or base_branch
        name, branch, path = free_names(ctx, project, request, refs)
        worker = Worker(
            id=worker_id,
            project=project,
            name=name,
            title=one_line(request.task) or name,
            task=clean(f"{request.task}\n\n{request.prompt}").strip(),
            kind=request.kind,
            agent=agent,
            model=request.model or config.model,
            permissions=request.permissions,
            launch=place,
            folder=ctx.repo.prefix,
            plan=request.plan,
            in_place=request.in_place,
            automated=not ctx.person,
            made_by=ctx.caller,
            agent_session=session,
            phase=phase,
            created_at=now(),
            worktree=Worktree(path, branch, base_branch, base_commit),
            origin=request.ticket.origin if request.ticket else "",
            url=request.ticket.url if request.ticket else "",
            untrusted=request.untrusted,
        )
        kind = _kind_of(request)
        args = {"worker": worker.record(), "common": ctx.repo.common, "queued": phase == Phase.QUEUED}
        args |= kind.checked_place(ctx)
        last = kind(ctx, args).steps()[-1].name
        with ctx.store.transaction() as db:
            workers.insert(db, worker)
            ports.give(ctx, db, worker_id)
            row = operations.begin(db, project=project, worker=worker_id, kind=kind.kind, args=args, step=last)
    failpoint("create.after_reserve")
    return worker, row


def _kind_of(request: Request) -> "type[Create]":
    if not request.in_place:
        return Create
    from woodwind.ops.create_in_place import CreateInPlace  # 0.3 ms, for what is rare

    return CreateInPlace


class Create:
    """The journalled operation behind `ww new`. After a crash it is undone: no half-made worker stays."""

    kind = "create"
    finish_from = ""

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.common: str = args["common"]
        self.queued: bool = args["queued"]
        self.worker = Worker.from_record(args["worker"], phase=Phase.CREATING)
        self.tree = self.worker.worktree
        self.mux: Mux | None = None
        self.how: Launch | None = None
        self.request: Request | None = None
        self.terminal: terminals.Terminal | None = None
        self.wanted: environment.Wishes | None = None
        self.plan: dict[str, Any] = {}

    @staticmethod
    def checked_place(ctx: Context) -> dict[str, Any]:
        """Further arguments about the place that the worker is put into, once it is known to be fit for one."""
        return {}

    def place_steps(self) -> list[Step]:
        """The steps that give the worker its branch, folder and brief."""
        return [
            Step("branch", self._make_branch, self._drop_branch),
            Step("worktree", self._add_worktree, self._discard_worktree),
            Step("checkout", self._checkout),
            Step("environment", self._equip),
            Step("brief", self._write_brief),
        ]

    def steps(self) -> list[Step]:
        place = self.place_steps()
        if self.queued:
            return place
        return [*place, Step("terminal", self._open_terminal, self._close_terminal)]

    def _make_branch(self) -> None:
        branches.make_branch(self.common, self.tree.branch, self.tree.base_commit, self.worker.id)

    def _drop_branch(self) -> None:
        branches.drop_made_branch(self.common, self.tree.branch, self.tree.base_commit, self.worker.id)

    def _add_worktree(self) -> None:
        with locked(lock_of(self.common)):
            admin = worktrees.add(self.common, path=self.tree.path, branch=self.tree.branch, worker=self.worker.id)
            failpoint("create.in_worktree")
            worktrees.write_record(admin, self.worker.record())

    def _discard_worktree(self) -> None:
        with locked(lock_of(self.common)):
            worktrees.discard_new(self.common, path=self.tree.path, worker=self.worker.id)

    def _checkout(self) -> None:
        self.ctx.say(f"checking out {self.tree.branch}")
        admin = worktrees.admin_of(self.common, self.tree.path)
        if not self.worker.untrusted:
            worktrees.fill(self.tree.path, admin)
            return
        # 2 ms, for pull requests from forks only.
        from woodwind.git.hiding import hide, without_filters
        from woodwind.model.agent_files import sets_up

        worktrees.fill(self.tree.path, admin, options=without_filters(self.common))
        hidden = hide(self.tree.path, admin, sets_up)
        if hidden:
            self.ctx.notes.append(f"left out of its folder: {', '.join(hidden[:5])}{', …' if len(hidden) > 5 else ''}")

    def _equip(self) -> None:
        """What is put there now goes with the worktree; what takes longer begins when the worker is there."""
        if self.wanted:
            tree = Tree(self.tree.path, worktrees.admin_of(self.common, self.tree.path))
            self.plan = environment.equip(self.ctx, tree, self.wanted, untrusted=self.worker.untrusted)

    def _write_brief(self) -> None:
        folder = os.path.join(self.tree.path, FOLDER)
        if os.path.lexists(folder):
            raise Refused(
                f"the repository has a {FOLDER} of its own in {self.tree.base_branch or self.tree.base_commit}",
                code="folder_exists",
                hint=f"Woodwind keeps the brief there: remove {FOLDER} from the repository.",
            )
        self._fill_brief()

    def _fill_brief(self) -> None:
        assert self.request
        base = self.tree.base_branch or self.tree.base_commit
        facts = facts_for(self.ctx, self.request, branch=self.tree.branch, base=base, folder=self.tree.path)
        facts = facts._replace(extra=(*facts.extra, *environment.section(self.plan, self.worker.id)))
        text = build(facts._replace(task=facts.task.strip() or ("" if facts.ticket else self.worker.title)))
        write_folder(self.tree.path, text)

    def _open_terminal(self) -> None:
        assert self.mux
        assert self.how
        self.ctx.say("opening its terminal")
        self.terminal = open_and_start(self.ctx, self.mux, self.worker, self.how)

    def _close_terminal(self) -> None:
        for mux in [self.mux] if self.mux else known_servers(self.ctx):
            for pane in mux.panes():
                if pane.worker == self.worker.id:
                    mux.kill(pane)
        drop_run_files(self.worker.id)

    def commit(self, db: sqlite3.Connection) -> None:
        data = {"name": self.worker.name, "branch": self.tree.branch, "agent": self.worker.agent}
        events.append(db, project=self.worker.project, worker=self.worker.id, kind="worker.created", data=data)
        project_rows.name_last(db, self.worker.project, self.worker.id)
        if self.plan:
            environments.set_plan(db, self.worker.id, json.dumps(self.plan))
        if not self.queued:
            assert self.terminal
            workers.set_phase(db, self.worker.id, Phase.RUNNING)
            terminals.save(db, self.worker.id, self.terminal)
            if self.how:
                first_turn(db, self.worker.project, self.worker.id, self.how, State.RUNNING)

    def abandoned(self, db: sqlite3.Connection) -> None:
        workers.delete(db, self.worker.id)
