"""`ww show`: all that is known about one worker."""

from woodwind.base.clock import from_ms
from woodwind.git import branches
from woodwind.model.text import clean
from woodwind.model.typed import Any
from woodwind.model.worker import Worker
from woodwind.muxes import registry as muxes
from woodwind.ops.context import Context
from woodwind.ops.environment import environment_of
from woodwind.ops.listing import told_question, told_turn
from woodwind.ops.observe import look
from woodwind.ops.remove import Findings
from woodwind.store import listing, turns

LAST_WORDS = 12
TURNS = 20


def show(ctx: Context, worker: Worker) -> dict[str, Any]:
    """Task, status, work and last words of a worker."""
    row = next(r for r in listing.rows(ctx.store, worker.project) if r.id == worker.id)
    sight = look(ctx, [row])[row.id]
    pane = sight.pane
    words = muxes.at(row.server).text(pane, lines=LAST_WORDS) if pane else ""
    tree = worker.worktree
    findings = Findings(ctx, worker)
    return {
        "id": worker.id,
        "name": worker.name,
        "status": sight.verdict.status.value,
        "detail": sight.verdict.detail,
        "since": from_ms(sight.since).isoformat(),
        "question": told_question(sight),
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
        "forecast": listing.collisions(ctx.store, worker.project).get(worker.id, []),
        "commits": [] if findings.missing else branches.commits_since(findings.admin, tree.base_commit),
        "turns": [
            {**(told_turn(turn) or {}), "text": turn.text} for turn in turns.of_worker(ctx.store.db, worker.id, TURNS)
        ],
        "last_words": clean(words).splitlines(),
    }
