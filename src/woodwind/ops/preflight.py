"""Whether a run can go well: agents installed, what they may do decided, room on the disk, the base green."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from woodwind.agents import registry as agents
from woodwind.agents.logins import login_seen
from woodwind.base.run import find_program
from woodwind.config.sizes import show_size
from woodwind.git.branches import branch_tip
from woodwind.model.errors import Refused, WoodwindError
from woodwind.ops.context import Context
from woodwind.ops.verify import landing_config, lane_of, lanes_beside, verify
from woodwind.store import landings, projects

_LEAST_ROOM = 200 << 20


class Finding(NamedTuple):
    """One thing that was looked at. `ok` is None where it cannot be known, which does not stop a run."""

    what: str
    ok: bool | None
    detail: str
    hint: str = ""


def preflight(
    ctx: Context, project: str, *, used: Sequence[str], base: str, verified: bool, headless: bool = False
) -> list[Finding]:
    """Everything that can be known before a run begins; the slow part, verification, comes last."""
    found = [*_programs(ctx, used), *_logins(ctx, used)]
    if not headless and not find_program("tmux"):
        found.append(Finding("tmux", False, "it is not installed", "Install tmux, for example: apt install tmux"))
    found.append(_room(ctx))
    if verified and all(finding.ok is not False for finding in found):
        found.append(_base(ctx, project, base))
    return found


def require(found: Sequence[Finding]) -> None:
    """An error for the first thing that stands in the way."""
    bad = [finding for finding in found if finding.ok is False]
    if bad:
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise Refused(
            f"the run would not go well: {bad[0].what}: {bad[0].detail}{more}",
            code="preflight",
            hint=bad[0].hint or "--skip-preflight starts it all the same.",
        )


def require_own_landing(ctx: Context, hint: str) -> None:
    """An error where work lands by pull requests, which only others can merge."""
    if landing_config(ctx).land.via == "pr":
        why = 'this project lands by pull requests ([land] via = "pr"), which a run cannot merge by itself'
        raise Refused(why, code="pull_requests_only", hint=hint)


def require_permissions(ctx: Context, project: str, agent: str, flag: str) -> str:
    """What an agent may do without asking; refused where nobody has said so, because nobody is there to be asked."""
    settings = ctx.loaded_config.config.agents.get(agent)
    chosen = flag or (settings.permissions if settings else "") or projects.permissions(ctx.store, project)
    if not chosen:
        raise Refused(
            f"nobody has said what {agent} may do without asking",
            code="no_permissions",
            hint=f"Say --permissions auto (or ask, or bypass), or set `permissions` in [agents.{agent}] of your own "
            "configuration.",
        )
    known = agents.find(agent, ctx.loaded_config.config.agents)
    if chosen not in known.permissions:
        raise known.cannot(f"run with permissions {chosen!r}", f"Use --permissions {' or '.join(known.permissions)}.")
    return chosen


def _programs(ctx: Context, used: Sequence[str]) -> list[Finding]:
    found = []
    for name in used:
        try:
            program = agents.find(name, ctx.loaded_config.config.agents).require_program()
            found.append(Finding(f"agent {name}", True, program))
        except WoodwindError as error:
            found.append(Finding(f"agent {name}", False, error.message, error.hint))
    return found


def _logins(ctx: Context, used: Sequence[str]) -> list[Finding]:
    found = []
    for name in used:
        seen = login_seen(name, ctx.environ)
        if seen is not None:
            there, sign = seen
            detail = f"{sign} is there" if there else f"no {sign} is there: start it once by hand and log in"
            found.append(Finding(f"login of {name}", True if there else None, detail))
    return found


def _room(ctx: Context) -> Finding:
    folder = lanes_beside(ctx)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    stat = os.statvfs(folder)
    free = stat.f_bavail * stat.f_frsize
    ok = free >= _LEAST_ROOM
    return Finding("disk", ok, f"{show_size(free)} free at {folder}", "" if ok else "Make room: ww trash prune")


def _base(ctx: Context, project: str, base: str) -> Finding:
    """The project's checks pass on what the tasks start from: otherwise no task could land."""
    if not landing_config(ctx).verify.command:
        if landings.unverified_allowed(ctx.store, project):
            return Finding("verification", None, "this project has no [verify] command, and you allowed that")
        hint = 'Set `command` in [verify] of woodwind.toml, such as "make test"; or say verify = false in the plan.'
        return Finding("verification", False, "this project has no [verify] command", hint)
    tip = branch_tip(ctx.repo.common, base)
    ctx.say(f"verifying {base}")
    with lane_of(ctx, project, tip) as lane:
        done = verify(ctx, project, tip, lane=lane)
    if done.passed:
        return Finding("verification", True, f"`{done.command}` passes on {base}")
    hint = f"All of its output: {done.output_path}. Nothing could land on a base that fails."
    return Finding("verification", False, f"`{done.command}` fails on {base}: {done.why}", hint)
