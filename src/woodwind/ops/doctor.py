"""`ww doctor`: what is missing, wrong or left over; each with what a fix would do, and proof before it does it."""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from woodwind.agents import registry as agents
from woodwind.base import paths
from woodwind.base.run import find_program, run
from woodwind.git import worktrees
from woodwind.git.call import git
from woodwind.model.errors import TimedOut, WoodwindError
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.muxes.base import Mux, Pane
from woodwind.ops.context import Context
from woodwind.ops.journal import recover, worker_lock
from woodwind.ops.purge import prunable, purge
from woodwind.ops.rebuild import adopt
from woodwind.ops.terminal import known_servers
from woodwind.store import operations, upkeep, workers
from woodwind.store.removals import Removal

_NEEDED = {"git": ("--version", (2, 38)), "tmux": ("-V", (3, 2))}


class Finding(NamedTuple):
    """Something that a person should know. `fix` says what would be done; "" means that only they can."""

    check: str
    level: str  # problem, leftover, warning
    message: str
    fix: str = ""
    mend: Callable[[], None] | None = None


def examine(ctx: Context, project: str) -> list[Finding]:
    """All findings for this machine and this project; for "" those of the machine alone."""
    found: list[Finding] = []
    of_project = (_unfinished, _lost_workers, _missing_folders, _terminals, _trash) if project else ()
    for check in (_tools, _store, *of_project, _versions, *((_code,) if project else ())):
        try:
            found += check(ctx, project)
        except (WoodwindError, OSError, sqlite3.Error) as error:
            found.append(Finding(check.__name__.strip("_"), "problem", f"this could not be checked: {error}"))
    return found


def mend(findings: list[Finding]) -> list[dict[str, Any]]:
    """Carry out every fix; return what became of each."""
    done = []
    for finding in findings:
        if finding.mend:
            try:
                finding.mend()
                done.append({"check": finding.check, "message": finding.fix, "ok": True})
            except (WoodwindError, OSError, sqlite3.Error) as error:
                done.append({"check": finding.check, "message": f"{finding.fix}: {error}", "ok": False})
    return done


def _version(text: str) -> tuple[int, ...]:
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in found.groups() if part) if found else ()


def _tools(ctx: Context, project: str) -> Iterator[Finding]:
    for name, (flag, least) in _NEEDED.items():
        wanted = ".".join(map(str, least))
        if not find_program(name):
            yield Finding("tools", "problem", f"{name} is missing; {wanted} or later is needed")
            continue
        have = run([name, flag], ok=None, timeout=10).text.strip()
        if _version(have) and _version(have) < least:
            yield Finding("tools", "problem", f"{have} is too old; {wanted} or later is needed")


def _store(ctx: Context, project: str) -> Iterator[Finding]:
    for problem in upkeep.problems(ctx.store, thorough=True):
        yield Finding("store", "problem", f"the store {ctx.store.path}: {problem}")
    mode = os.stat(paths.state_dir()).st_mode & 0o077
    if mode:
        text = f"{paths.state_dir()} can be read by others"
        yield Finding("store", "problem", text, "make it private", lambda: os.chmod(paths.state_dir(), 0o700))


def _unfinished(ctx: Context, project: str) -> Iterator[Finding]:
    for row in operations.running(ctx.store, project):
        text = f"the {row.kind} of worker {row.worker} is unfinished: under way, or its process died"
        yield Finding("operations", "leftover", text, "finish or undo it", partial(_settle, ctx, project))


def _settle(ctx: Context, project: str) -> None:
    recover(ctx, project)


def _lost_workers(ctx: Context, project: str) -> Iterator[Finding]:
    """Worktrees that carry a record of this project, and that the store does not know."""
    for admin in worktrees.admin_dirs(ctx.repo.common):
        record = worktrees.read_record(admin)
        if record and record.get("project") == project and not workers.find(ctx.store, str(record.get("id"))):
            path = worktrees.path_of(admin)
            fix = "take it into the store again"
            text = f"the worktree {path} belongs to worker {record.get('name')!r}, which the store does not know"
            yield Finding("worktrees", "leftover", text, fix, partial(_adopt, ctx, project))


def _adopt(ctx: Context, project: str) -> None:
    adopt(ctx, ctx.store, project, ctx.repo.common)


def _missing_folders(ctx: Context, project: str) -> Iterator[Finding]:
    for worker in workers.of_project(ctx.store, project):
        if not os.path.isdir(worker.worktree.path):
            text = (
                f"the folder of {worker.name} is gone: {worker.worktree.path}; its branch is {worker.worktree.branch}"
            )
            yield Finding(
                "worktrees", "problem", f"{text}. `ww rm {worker.name} --force` and `ww restore` make it anew"
            )


def _terminals(ctx: Context, project: str) -> Iterator[Finding]:
    """Terminals that carry this project's tag, and whose worker is removed or unknown."""
    for mux in known_servers(ctx):
        for pane in mux.panes():
            if pane.project != project:
                continue
            worker = workers.find(ctx.store, pane.worker)
            if worker is None or worker.phase == Phase.REMOVED:
                who = worker.name if worker else pane.worker
                text = f"a terminal of {who} is still there, though the worker is {'removed' if worker else 'unknown'}"
                yield Finding("terminals", "leftover", text, "close it", partial(_close, ctx, mux, pane))


def _close(ctx: Context, mux: Mux, pane: Pane) -> None:
    """Close a terminal that nobody owns, after making sure that this is still so."""
    with worker_lock(pane.worker):
        owner = workers.find(ctx.store, pane.worker)
        still = [p for p in mux.panes() if (p.id, p.worker, p.project) == (pane.id, pane.worker, pane.project)]
        if still and (owner is None or owner.phase == Phase.REMOVED):
            mux.kill(still[0])


def _trash(ctx: Context, project: str) -> Iterator[Finding]:
    for worker, removal in prunable(ctx, project, everything=False):
        text = f"{worker.name} has been in the trash longer than [trash] allows"
        fix = "save its files under a ref and delete the folder"
        yield Finding("trash", "leftover", text, fix, partial(_purge, ctx, worker, removal))


def _purge(ctx: Context, worker: Worker, removal: Removal) -> None:
    purge(ctx, worker, removal)


def _versions(ctx: Context, project: str) -> Iterator[Finding]:
    """Agents in use whose program is newer than what their adapter was checked with."""
    used = {w.agent for w in workers.of_project(ctx.store, project)}
    for agent in agents.installed(ctx.loaded_config.config.agents, ctx.notes):
        if not agent.checked or (used and agent.name not in used):
            continue
        try:
            told = run([agent.program(), "--version"], ok=None, timeout=10).text.strip()
        except (TimedOut, OSError) as error:
            yield Finding("agents", "warning", f"{agent.name} does not tell its version: {error}")
            continue
        if _version(told) > _version(agent.checked):
            text = f"{agent.name} is {told}; its adapter was checked with {agent.checked}, so details may differ"
            yield Finding("agents", "warning", text)


# Settings whose values git runs, as git spells them.
_RUNS = (
    r"^(core\.(hookspath|fsmonitor|sshcommand|pager|editor)|diff\.external|diff\..*\.(command|textconv)"
    r"|filter\..*\.(clean|smudge|process)|merge\..*\.driver)$"
)


def _code(ctx: Context, project: str) -> Iterator[Finding]:
    """Configuration inside the repository that makes programs run."""
    top = ctx.repo.top or ctx.repo.main_top
    for name, what in (
        (".mcp.json", "starts MCP servers"),
        (".codex/config.toml", "configures Codex"),
        (".claude/settings.json", "may hold hooks"),
        (".gemini/settings.json", "may hold hooks"),
        (".pi", "holds extensions"),
    ):
        path = os.path.join(top, name)
        if top and os.path.exists(path) and (name != ".claude/settings.json" or _has_hooks(path)):
            yield Finding("code", "warning", f"{name} in this repository {what}: agents started here may run it")
    words = ("config", "--local", "--includes", "--null", "--get-regexp", _RUNS)
    for entry in git("--git-dir", ctx.repo.common, *words, ok=None).text.split("\0"):
        key, _, value = entry.partition("\n")
        if value and value not in ("false", "true"):
            yield Finding("code", "warning", f"this repository's git configuration has {key} = {value}, which git runs")
    for name, source in sorted(ctx.loaded_config.sources.items()):
        if name.startswith("agents.") and name.endswith(".command") and source.endswith("woodwind.toml"):
            yield Finding("code", "warning", f"{source} defines {name}: `ww new` with that agent runs it")


def _has_hooks(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "hooks" in json.load(file)
    except (OSError, ValueError):
        return True
