"""`--dry-run`: what a landing would do, found out without changing anything."""

import os
import tempfile
from typing import Any

from woodwind.git import merging, targets
from woodwind.git.call import git
from woodwind.git.tree import Tree
from woodwind.model.critic import BLOCK
from woodwind.model.errors import Refused
from woodwind.model.landing import LandRequest, listed
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.critic import look as look_critically, told
from woodwind.ops.landable import Landable, look, taken_out
from woodwind.ops.verify import environment_key, landing_config
from woodwind.store import landings


def plan(ctx: Context, worker: Worker, request: LandRequest) -> dict[str, Any]:
    """The steps of a landing in words, up to what it would stop at."""
    facts = look(ctx, worker, request)
    common, onto = ctx.repo.common, facts.onto
    again = _to_bring_back(ctx, worker, facts)
    steps: list[str] = []
    problems = denials = _denials(ctx, worker, request, facts)
    if facts.changes:
        found = [*facts.changes.tracked, *facts.changes.untracked]
        steps.append(f"commit {len(found)} {'file' if len(found) == 1 else 'files'}: {listed(found)}")
    with tempfile.TemporaryDirectory(prefix="ww-") as objects:
        tip = _tip(facts, objects, common)
        merged = merging.preview(common, onto, tip, objects)
        changed = _changed(common, onto, merged.commit, objects) if merged.commit else []
        if again:  # what comes back with it is merged only then
            changed = sorted({*changed, *_changed(common, again.old, again.new, objects)})
            merged = merged._replace(commit="", empty=False)
        commits = len(merging.commits_between(common, onto, facts.tip)) + bool(facts.changes)
        if facts.via == "pr":
            steps += [
                f"push {worker.worktree.branch} to {facts.remote}",
                f"open a pull request into {facts.target}, or bring the one that is there up to date",
            ]
        else:
            if again:
                steps.append(f"take back {again.new[:10]}, which took its work out of {facts.target}")
            if commits or not again:
                steps.append(f"{facts.method} {commits} {'commit' if commits == 1 else 'commits'} into {facts.target}")
            problems = denials + _merge_problems(request, facts, merged, steps)
            moves = _move(common, facts, onto, changed, problems)  # an obstacle there is found before verification
            if not problems:
                steps.append(_verification(ctx, worker, request, merged, objects, problems))
            if not problems:
                steps += moves
    if not request.keep and facts.via != "pr" and not problems:
        steps.append("stop the agent and park its worktree")
    return {
        "name": worker.name,
        "target": facts.target,
        "method": facts.method,
        "via": facts.via,
        "from": onto,
        "conflicts": list(merged.conflicts),
        "files": changed,
        "steps": [step for step in steps if step and not denials],  # the critic is asked before anything is done
        "problems": problems,
    }


def _to_bring_back(ctx: Context, worker: Worker, facts: Landable) -> landings.Landing | None:
    """The undo whose commit a landing would revert first; None where there is none, or the branch went on from it."""
    found = taken_out(ctx, worker.id, facts.onto)
    if not found or facts.via == "pr":
        return None
    is_in = not facts.changes and merging.is_ancestor(ctx.repo.common, facts.tip, facts.onto)
    return found if is_in or not merging.is_ancestor(ctx.repo.common, found.new, facts.tip) else None


def _denials(ctx: Context, worker: Worker, request: LandRequest, facts: Landable) -> list[str]:
    """What the critic would not let pass; it is not counted as a try."""
    if not facts.changes and merging.is_ancestor(ctx.repo.common, facts.tip, facts.onto):
        return []  # what lands once more after an undo is not judged again
    verb = "ship" if request.commit_dirty else "merge"
    found = look_critically(ctx, worker, verb, target=facts.target)
    return [f"the critic is against it: {told(finding)}" for finding in found if finding.level == BLOCK]


def _merge_problems(request: LandRequest, facts: Landable, merged: merging.Merged, steps: list[str]) -> list[str]:
    if merged.conflicts and request.strategy:
        side = facts.target if request.strategy == "ours" else "the worker"
        steps.append(f"settle the conflicts in {listed(merged.conflicts)} by the side of {side}")
    elif merged.conflicts:
        return [f"conflicts in {listed(merged.conflicts)}"]
    return [f"all of it is in {facts.target} already"] if merged.empty else []


def _tip(facts: Landable, objects: str, common: str) -> str:
    """The commit that would be merged: the worker's, or one made in `objects` with what is not committed yet."""
    if not facts.changes:
        return facts.tip
    index = os.path.join(objects, "index")
    env = _private(common, objects) | {"GIT_INDEX_FILE": index}
    words = facts.tree.words()
    git(*words, "read-tree", "HEAD", env=env)
    git(*words, "add", "--all", env=env)
    tree = git(*words, "write-tree", env=env).text.strip()
    who = merging.identity(facts.tree)
    return git(*who, "--git-dir", common, "commit-tree", "-p", facts.tip, "-m", "dry run", tree, env=env).text.strip()


def _private(common: str, objects: str) -> dict[str, str]:
    return {"GIT_OBJECT_DIRECTORY": objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(common, "objects")}


def _changed(common: str, onto: str, tree: str, objects: str) -> list[str]:
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", onto, tree)
    return [p for p in git("--git-dir", common, *words, env=_private(common, objects)).text.split("\0") if p]


def _verification(
    ctx: Context, worker: Worker, request: LandRequest, merged: merging.Merged, objects: str, problems: list[str]
) -> str:
    settings = landing_config(ctx).verify
    if not request.verify:
        return "NOT verify it (--no-verify)"
    if not settings.command:
        if landings.unverified_allowed(ctx.store, worker.project):
            return "NOT verify it: there is no [verify] command"
        if ctx.confirm:
            return "ask whether it may land without being verified: there is no [verify] command"
        problems.append("nothing would test it: there is no [verify] command, and --no-verify was not said")
        return ""
    if merged.commit:
        key = environment_key(ctx.repo.common, merged.commit, settings.setup, env=_private(ctx.repo.common, objects))
        if landings.passed(ctx.store, worker.project, merged.commit, settings.command, key) is not None:
            return f"not run `{settings.command}` again: the same files have passed"
    return f"run `{settings.command}` on the merged files"


def _move(common: str, facts: Landable, onto: str, changed: list[str], problems: list[str]) -> list[str]:
    if facts.via != "local":
        return [f"push it to {facts.remote}/{facts.target}"]
    try:
        place = targets.the_checkout(common, facts.target)
    except Refused as refusal:
        problems.append(refusal.message)
        return []
    if place is None:
        return [f"move {facts.target} from {onto[:10]}; it is checked out nowhere"]
    changes = Tree(place.path, place.git_dir).changes()
    tracked = {*changes.tracked}
    in_way = sorted({*(p for p in changed if p in tracked), *targets.unknown_at(place, changed)})
    if in_way:
        problems.append(f"{place.path} has these in the way: {listed(in_way)}")
    return [f"fast-forward {facts.target} in {place.path}"]
