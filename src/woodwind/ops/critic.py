"""The critic: asked before work lands or a worker goes away. Where it cannot look, it says no."""

from typing import Any

from woodwind.config.sizes import parse_size
from woodwind.git import branches, checkouts
from woodwind.git.added import added_lines, added_sizes
from woodwind.model.critic import BLOCK, CHECKS, Facts, Finding, criticise, needs_person
from woodwind.model.errors import NeedsPerson, Refused, WoodwindError
from woodwind.model.forecast import files_text, swapped
from woodwind.model.text import clean, one_line
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.diff import work_tree
from woodwind.ops.forecast import refresh, snapshot_now, trial_merges
from woodwind.ops.remove import Findings
from woodwind.ops.verify import landing_config
from woodwind.store import denials, forecasts, workers


def judge(ctx: Context, worker: Worker, verb: str, *, target: str = "", force: bool = False) -> list[Finding]:
    """The critic's warnings; Refused where it blocks, NeedsPerson where it has done so too often.

    A person at the terminal may overrule it; with `force` nothing is looked at.
    """
    if force:
        return []
    findings = look(ctx, worker, verb, target=target)
    blocking = [f for f in findings if f.level == BLOCK]
    if not blocking:
        with ctx.store.transaction() as db:
            denials.end_row(db, worker.project, worker.id)
        return findings
    text = "; ".join(told(f) for f in blocking[:5]) + (f"; and {len(blocking) - 5} more" if len(blocking) > 5 else "")
    if verb != "delete" and ctx.confirm and ctx.confirm(f"The critic is against it: {text}\nGo on all the same?"):
        with ctx.store.transaction() as db:
            denials.forgive(db, worker.project, worker.id)
        return findings
    raise _denied(ctx, worker, verb, text)


def _denied(ctx: Context, worker: Worker, verb: str, text: str) -> WoodwindError:
    with ctx.store.transaction() as db:
        denials.add(db, worker.project, worker.id)
    in_a_row, _ = denials.count(ctx.store, worker.project, worker.id)
    _, in_all = denials.count(ctx.store, worker.project)
    done = {"delete": "removed", "merge": "merged", "ship": "shipped"}[verb]
    message = f"{worker.name} was not {done}: {text}"
    if not ctx.person and needs_person(in_a_row, in_all):
        return NeedsPerson(
            f"{message}. The critic has said no {in_a_row} times in a row here, {in_all} times in this project",
            code="denied_too_often",
            hint=f"Stop trying and ask the person who runs Woodwind: ww {_command(verb)} {worker.name}, at a terminal.",
        )
    if verb == "delete":
        hint = "Nothing was changed. --force removes it all the same; `ww restore` brings everything back."
        return Refused(message, code="has_work", hint=hint)
    hint = f"Nothing was changed. Mend it and try again; `ww critic {verb} {worker.name}` looks without trying."
    return Refused(message, code="critic", hint=hint)


def _command(verb: str) -> str:
    return "rm" if verb == "delete" else verb


def told(finding: Finding) -> str:
    """A finding in a line, with its place."""
    where = f"{finding.path}:{finding.line}: " if finding.line else f"{finding.path}: " if finding.path else ""
    return one_line(where + finding.message, 200)


def look(ctx: Context, worker: Worker, verb: str, *, target: str = "") -> list[Finding]:
    """What the critic finds, blocking first; where it cannot look, that blocks."""
    try:
        settings = landing_config(ctx)
        levels = {name: getattr(settings.critic, name) for name in CHECKS}
        facts = _removal_facts(ctx, worker) if verb == "delete" else _landing_facts(ctx, worker, verb, target)
        size = parse_size(settings.critic.large_size)
        return criticise(facts._replace(large_size=facts.large_size if size is None else size), levels)
    except (WoodwindError, OSError, ValueError) as error:
        if isinstance(error, WoodwindError) and error.code == "no_folder" and verb == "delete":
            return []
        why = error.message if isinstance(error, WoodwindError) else str(error)
        return [Finding("critic", BLOCK, f"the critic could not look at it: {one_line(why, 200)}")]


def _removal_facts(ctx: Context, worker: Worker) -> Facts:
    found = Findings(ctx, worker)
    return Facts("delete", target=worker.worktree.base_branch, put_away=found.reasons)


def _landing_facts(ctx: Context, worker: Worker, verb: str, target: str) -> Facts:
    common, place = ctx.repo.common, worker.worktree
    target = target or place.base_branch
    tree = work_tree(ctx, worker)
    onto = (branches.branch_tip(common, target) if target else "") or place.base_commit
    changes = tree.changes()
    head = tree.head()
    trial = trial_merges(ctx, worker.project)
    trial.prepare()
    tip = snapshot_now(ctx, worker) if verb == "ship" and changes else head
    base = tree.git("merge-base", onto, head, ok=(0, 1)).strip() or onto
    return Facts(
        verb,
        target=target,
        uncommitted=changes.tracked,
        untracked=changes.untracked,
        conflicted=changes.unmerged,
        under_way=checkouts.under_way(tree.admin),
        ahead=int(tree.git("rev-list", "--count", head, "--not", onto, "--")),
        added=added_lines(trial.git, base, tip),
        sizes=added_sizes(trial.git, base, tip),
        collides_with=_collisions(ctx, worker),
    )


def _collisions(ctx: Context, worker: Worker) -> list[tuple[str, str]]:
    names = {w.id: w.name for w in workers.of_project(ctx.store, worker.project)}
    found = []
    for c in forecasts.collisions(ctx.store, worker.project):
        if c.worker == worker.id:
            found.append((names.get(c.other, c.other) if c.other else c.target, files_text(c.files)))
        elif c.other == worker.id:
            found.append((names.get(c.worker, c.worker), files_text(swapped(c.files))))
    return [(clean(who), clean(files)) for who, files in found]


def report(ctx: Context, worker: Worker, verb: str) -> dict[str, Any]:
    """What the critic would say, without counting it; with a forecast of this moment."""
    refresh(ctx, worker.project)
    findings = look(ctx, worker, verb)
    in_a_row, in_all = denials.count(ctx.store, worker.project, worker.id)
    return {
        "name": worker.name,
        "id": worker.id,
        "verb": verb,
        "blocked": any(f.level == BLOCK for f in findings),
        "findings": [f.data() for f in findings],
        "denials": {"in_a_row": in_a_row, "in_all": in_all},
    }
