"""Verification of a commit by the project's own command, in a lane, on exactly its files."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping

from woodwind.base import paths
from woodwind.base.clock import new_id
from woodwind.base.failpoints import failpoint
from woodwind.base.files import make_private_dir
from woodwind.base.run import find_program
from woodwind.config.load import load, project_file
from woodwind.config.schema import Config
from woodwind.git import lanes
from woodwind.git.lanes import Lane
from woodwind.git.targets import checkouts_of
from woodwind.git.worktrees import read_record
from woodwind.model.errors import Refused, TimedOut, WoodwindError
from woodwind.model.landing import LOCK_FILES, LandRequest, Verification
from woodwind.model.project_type import VARIABLES, detect
from woodwind.ops.context import Context
from woodwind.ops.free_names import worktree_path
from woodwind.store import landings

_MOST_KEPT = 20_000_000
# What tells a program about the worker that called, not about the files that are verified.
_NOT_PASSED_ON = ("WOODWIND_WORKER", "WOODWIND_SPOOL", "WOODWIND_FAILPOINT")


def landing_config(ctx: Context) -> Config:
    """The configuration that landings follow: the main checkout's, not that of the worktree that is to land.

    A bare repository has none: there it is that of the person's worktree, which a worker's base is checked out in.
    """
    repo = ctx.repo
    top = repo.main_top
    if not top:
        record = read_record(repo.git_dir)
        if record is None:
            return ctx.loaded_config.config
        found = checkouts_of(repo.common, str(record.get("base_branch", "")))
        top = next((place.path for place in found if not read_record(place.git_dir)), "")
    if repo.top == top:
        return ctx.loaded_config.config
    return load(project_file(top, top) if top else "").config


def lanes_beside(ctx: Context) -> str:
    """The folder that the project's worktrees are in, beside which its lanes are."""
    return os.path.dirname(worktree_path(ctx.repo, ctx.loaded_config.config.new.path, "lane", "lane"))


@contextlib.contextmanager
def lane_of(ctx: Context, project: str, commit: str, *, number: int = 1) -> Iterator[Lane]:
    """Hold one of the project's lanes; waits while somebody else does."""
    if lanes.in_use(project, number):
        ctx.say("waiting for another landing to end")
    with lanes.taken(ctx.repo.common, project, lanes_beside(ctx), commit, number=number) as lane:
        yield lane


def verify(ctx: Context, project: str, commit: str, *, lane: Lane, command: str | None = None) -> Verification:
    """Whether a commit passes the project's checks; a tree that passed with the same environment is not run again."""
    settings = landing_config(ctx).verify
    command = settings.command if command is None else command
    if not command:
        return Verification(passed=False, command="", why="there is no command that verifies")
    tree = lanes.tree_of(lane.common, commit)
    environment = environment_key(lane.common, commit, settings.setup)
    known = landings.passed(ctx.store, project, tree, command, environment)
    if known is not None:
        return Verification(passed=True, command=command, output_path=known, reused=True)
    with _output(ctx) as (path, sink):
        lane.check_out(commit)
        why = _prepare(ctx, lane, commit, settings.setup, environment, sink)
        if not why:
            ctx.say(f"verifying: {command}")
            failpoint("verify.before_command")
            ended = lane.run(
                ["sh", "-c", command], env=_variables(ctx, project, commit), sink=sink, timeout=settings.timeout or None
            )
            failpoint("verify.after_command")
            if ended.timed_out:
                why = f"it did not end within {settings.timeout} second{'' if settings.timeout == 1 else 's'}"
            elif ended.code:
                why = f"it ended with {how(ended.code)}"
        if why:
            sink(f"\n{command}: {why}\n".encode())
            return Verification(passed=False, command=command, output_path=path, why=why)
    landings.set_passed(ctx.store, project, tree, command, environment, path)
    return Verification(passed=True, command=command, output_path=path)


def how(code: int) -> str:
    """An exit status in words."""
    if code == 127:
        return "status 127: a program that it calls was not found"
    return f"status {code}" if code >= 0 else f"signal {-code}"


def environment_key(common: str, commit: str, setup: str, env: Mapping[str, str] | None = None) -> str:
    """What an environment depends on: the command that makes it, and every lock file of the commit."""
    found = lanes.blobs_named(common, commit, LOCK_FILES, env)
    return hashlib.sha256("\n".join([setup, *found]).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _prepare(ctx: Context, lane: Lane, commit: str, setup: str, key: str, sink: Callable[[bytes], None]) -> str:
    """Make the lane's environment where it is not that of the commit; why it could not be made, or "".

    Without a setup command, what the kinds of project in it need is installed; the checks themselves show whether
    that was enough.
    """
    if lane.environment == key:
        return ""
    lane.set_environment("")
    env = _variables(ctx, "", commit)
    whole = True
    if setup:
        ctx.say(f"setting up: {setup}")
        ended = lane.run(["sh", "-c", setup], env=env, sink=sink, timeout=3600)
        if ended.timed_out or ended.code:
            return f"the setup ({setup}) " + ("did not end" if ended.timed_out else f"ended with {how(ended.code)}")
    elif landing_config(ctx).environment.install == "auto":
        for install in detect(os.listdir(lane.path)):
            whole &= all(_install(ctx, lane, install.tool, list(words), env, sink) for words in install.commands)
    if whole:
        lane.set_environment(key)
    lane.check_out(commit)  # what it wrote into tracked files is not part of the commit
    return ""


def _install(
    ctx: Context, lane: Lane, tool: str, words: list[str], env: Mapping[str, str], sink: Callable[[bytes], None]
) -> bool:
    program = os.path.join(lane.path, words[0]) if os.path.dirname(words[0]) else find_program(words[0])
    if not program or not os.path.exists(program):
        sink(f"{words[0]} is not installed, so its packages are not either\n".encode())
        return False
    ctx.say(f"setting up: {' '.join(words)}")
    ended = lane.run([program, *words[1:]], env={**env, **VARIABLES.get(tool, {})}, sink=sink, timeout=3600)
    return not ended.timed_out and ended.code == 0


def _variables(ctx: Context, project: str, commit: str) -> dict[str, str]:
    env = {k: v for k, v in ctx.environ.items() if not k.startswith("GIT_") and k not in _NOT_PASSED_ON}
    return {**env, "WOODWIND_PROJECT": project, "WOODWIND_VERIFY": commit}


@contextlib.contextmanager
def _output(ctx: Context) -> Iterator[tuple[str, Callable[[bytes], None]]]:
    """A new file that keeps the output, and what to call with each piece of it, which the caller sees too."""
    folder = os.path.join(paths.state_dir(), "landings")
    make_private_dir(folder)
    path = os.path.join(folder, f"{new_id('v')}.log")
    try:
        file = open(path, "xb", buffering=0, opener=lambda p, flags: os.open(p, flags, 0o600))  # noqa: SIM115
    except OSError as error:
        raise WoodwindError(f"the output cannot be kept in {path}: {error.strerror}", code="not_writable") from error
    kept = 0

    def sink(chunk: bytes) -> None:
        nonlocal kept
        if kept < _MOST_KEPT:
            file.write(chunk)
            kept += len(chunk)
        ctx.show(chunk.decode("utf-8", "replace"))

    with file:
        yield path, sink


def may_go_unverified(ctx: Context, project: str, request: LandRequest) -> None:
    """Make sure that somebody wants a landing without verification, where there is no command; asked once."""
    if not request.verify or landing_config(ctx).verify.command:
        return
    answered = landings.unverified_allowed(ctx.store, project)
    if answered is None and ctx.confirm:
        question = "This project has no [verify] command, so nothing tests what lands. Land without, from now on?"
        answered = ctx.confirm(question)
        if answered:
            landings.allow_unverified(ctx.store, project, allowed=True)
    if not answered:
        raise Refused(
            "nothing would test what lands: this project has no [verify] command",
            code="no_verify_command",
            hint='Set `command` in [verify] of woodwind.toml, such as "make test"; or say --no-verify.',
        )


def require_passed(verification: Verification, what: str) -> None:
    """An error that tells how a verification failed, unless it passed."""
    if verification.passed:
        return
    kind = TimedOut if "did not end" in verification.why else WoodwindError
    raise kind(
        f"{what} was not landed: `{verification.command}` failed on the merged files: {verification.why}",
        code="not_verified",
        hint=f"Nothing has moved. All of its output: {verification.output_path}",
    )


def last_lines(path: str, lines: int = 15) -> str:
    """The end of a kept output, or "" when there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - 20_000))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])
