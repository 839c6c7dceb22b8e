"""`ww show`: all that is known about one worker."""

from typing import Any

from woodwind.git import branches
from woodwind.model.text import clean
from woodwind.model.worker import Worker
from woodwind.muxes import registry as muxes
from woodwind.ops.context import Context
from woodwind.ops.environment import environment_of
from woodwind.ops.listing import panes_of, status_of
from woodwind.ops.remove import Findings
from woodwind.store import listing

LAST_WORDS = 12


def show(ctx: Context, worker: Worker) -> dict[str, Any]:
    """Task, status, work and last words of a worker."""
    row = next(r for r in listing.rows(ctx.store, worker.project) if r.id == worker.id)
    pane = panes_of({row.server} - {""}).get(worker.id)
    status, detail = status_of(row, pane)
    words = muxes.at(row.server).text(pane, lines=LAST_WORDS) if pane else ""
    tree = worker.worktree
    findings = Findings(ctx, worker)
    return {
        "id": worker.id,
        "name": worker.name,
        "status": status.value,
        "detail": detail,
        "phase": worker.phase.value,
        "agent": worker.agent,
        "agent_session": worker.agent_session,
        "launch": worker.launch,
        "branch": tree.branch,
        "base_branch": tree.base_branch,
        "base_commit": tree.base_commit,
        "path": tree.path,
        "folder_missing": findings.missing,
        "created_at": worker.created_at.isoformat(),
        "automated": worker.automated,
        "made_by": worker.made_by,
        "kind": worker.kind,
        "origin": worker.origin,
        "url": worker.url,
        "untrusted": worker.untrusted,
        "task": worker.task,
        "title": worker.title,
        "environment": environment_of(ctx, worker.id),
        "work": findings.reasons,
        "commits": [] if findings.missing else branches.commits_since(findings.admin, tree.base_commit),
        "last_words": clean(words).splitlines(),
    }
