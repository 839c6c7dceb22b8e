"""Starting a program in a worker's terminal: at first, and again at a resume."""

import contextlib
import os
import sqlite3
import sys
from collections.abc import Mapping

from woodwind.agents.base import Agent, Start
from woodwind.base import paths
from woodwind.base.clock import new_id, now, to_ms
from woodwind.base.files import is_inside, make_private_dir
from woodwind.base.processes import start_time
from woodwind.base.spool import hook_command
from woodwind.model import naming
from woodwind.model.turn import BRIEF, State, Turn
from woodwind.model.typed import NamedTuple
from woodwind.model.worker import Worker
from woodwind.muxes import registry as muxes
from woodwind.muxes.base import Mux, Pane, Program
from woodwind.ops.context import Context
from woodwind.ops.keep_turn import keep_turn
from woodwind.store import allowed, turns
from woodwind.store.terminals import Terminal


class Launch(NamedTuple):
    """A program with its variables. Only the names of those that are passed on are ever stored."""

    argv: list[str]
    env: dict[str, str]
    unset: list[str]
    names: list[str]
    nonce: str = ""  # tells the events of this start from those of any other
    prompt: str = ""  # what it is told by these words, and begins with
    files: Mapping[str, str] = {}  # what the agent's events need, for the worker's run folder
    stream: str = ""  # where it serves its events

    @property
    def program(self) -> Program:
        """What is started in a terminal."""
        return Program(self.argv, self.env, self.unset)


def launch_of(ctx: Context, agent: Agent | None, start: Start, *, worker: str, project: str, automated: bool) -> Launch:
    """The agent's program, or a shell for None, with variables read from the caller's environment now."""
    env = {
        "PATH": ctx.environ.get("PATH", os.defpath),
        "WOODWIND_WORKER": worker,
        "WOODWIND_PROJECT": project,
        "WOODWIND_SOCKET": paths.socket(),
    }
    unset = [] if automated else ["WOODWIND_AUTOMATED"]
    if automated:
        env["WOODWIND_AUTOMATED"] = "1"
    if agent is None:
        return Launch([ctx.environ.get("SHELL") or "/bin/sh"], env, unset, [])
    if not agent.commits.get(start.permissions, True):
        # Without -P it would import what lies in the worktree under the name of a module: anybody's code.
        start = start._replace(turn_command=(sys.executable, "-P", "-m", "woodwind", "__turn-ended"))
    nonce = new_id("")
    spool = paths.spool_dir(worker)
    start = start._replace(
        hook=hook_command(spool, nonce),
        run_dir=paths.run_dir(worker),
        allowed=allowed.tools(ctx.store, project, agent.name),
    )
    if agent.streams:
        start = start._replace(port=_free_port())
    env["WOODWIND_SPOOL"] = spool
    env.update(agent.variables(start))
    names = list(dict.fromkeys(agent.pass_env))
    for name in names:
        if name in ctx.environ:
            env[name] = ctx.environ[name]
        elif name not in env:
            unset.append(name)
    prompt = start.prompt if start.headless or agent.prompt in ("argument", "flag") else ""
    return Launch(
        agent.argv(start), env, unset, names, nonce, prompt, agent.event_files(start), agent.stream_url(start)
    )


def first_turn(db: sqlite3.Connection, project: str, worker: str, how: Launch, state: State) -> Turn | None:
    """The turn that a start begins with, where it is told something, written down inside a transaction."""
    if not how.prompt:
        return None
    at = to_ms(now())
    turn = Turn(new_id("t"), turns.next_number(db, worker), BRIEF, how.prompt, state, "", how.nonce, at)
    keep_turn(db, project, worker, turn)
    return turn


def _free_port() -> int:
    """A port of this machine that nobody uses now; its agent takes it a moment later."""
    import _socket  # 0.4 ms, for the few agents that need one

    probe = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
    finally:
        probe.close()


def folder_of(worker: Worker) -> str:
    """Where the agent starts: the subfolder that `ww new` was called in, or the worktree's top."""
    top = worker.worktree.path
    folder = os.path.normpath(os.path.join(top, worker.folder))
    # On another base the subfolder may be missing, or a link that leads elsewhere.
    inside = os.path.isdir(folder) and is_inside(os.path.realpath(folder), os.path.realpath(top))
    return folder if inside else top


def session_name(ctx: Context, worker: Worker) -> str:
    """What a worker's own session is called: plain ASCII, because tmux interprets other characters."""
    return f"{naming.ascii_slug(ctx.repo.name, 'repo')}-{naming.ascii_slug(worker.name, worker.id)}"


def open_pane(ctx: Context, mux: Mux, worker: Worker, program: Program | None = None) -> Pane:
    """A terminal for the worker, in a session of its own or a window of the caller's; a placeholder for None."""
    about = {"worker": worker.id, "project": worker.project, "folder": folder_of(worker)}
    around = muxes.Surroundings(ctx.environ)
    # A window needs a session to be in; at a resume the caller may be outside of tmux, or on another server.
    if worker.launch == "window" and around.socket == mux.server:
        name = naming.ascii_slug(worker.name, worker.id)
        return mux.open_window(**about, name=name, session=around.session, program=program)
    return mux.open_session(**about, name=session_name(ctx, worker), program=program)


def open_and_start(ctx: Context, mux: Mux, worker: Worker, how: Launch) -> Terminal:
    """A new terminal with the program in it, made in one call; a note is left when it exits at once."""
    _prepare(worker.id, how)
    return _started(ctx, mux, open_pane(ctx, mux, worker, how.program), how, worker.name)


def start_pane(ctx: Context, mux: Mux, pane: Pane, how: Launch, name: str) -> Terminal:
    """Start the program in a terminal that is there; a note is left when it exits at once."""
    _prepare(pane.worker, how)
    return _started(ctx, mux, mux.start(pane, how.program), how, name)


def _started(ctx: Context, mux: Mux, pane: Pane, how: Launch, name: str) -> Terminal:
    if pane.dead:
        how_it_ended = pane.exit_status or "a status that is not known"
        ctx.notes.append(f"the agent of {name} exited at once with {how_it_ended}: see `ww log {name}`")
    return Terminal(mux.server, pane.pid, start_time(pane.pid), how.names, how.nonce, how.stream)


def _prepare(worker: str, how: Launch) -> None:
    """Make the spool that the agent's events go to, and write the files that make it hand them on."""
    if not how.nonce:
        return
    make_private_dir(paths.spool_dir(worker))
    folder = paths.run_dir(worker)
    make_private_dir(folder)
    for name, text in how.files.items():
        place = os.path.join(folder, os.path.basename(name))
        # Renamed into place, because an earlier start of the agent may still read the old one. Not made durable:
        # the next start writes it again.
        with open(f"{place}.new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{place}.new", place)


def drop_run_files(worker: str) -> None:
    """Delete a worker's spool and the files of its starts, once nothing of it can run any more."""
    import shutil  # 3 ms, for what is rare

    for folder in (paths.spool_dir(worker), paths.run_dir(worker)):
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(paths.worker_dir(worker))  # stays while something else is kept there
