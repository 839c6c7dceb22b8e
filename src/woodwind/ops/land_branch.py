"""A run's own branch, landed on its base: merged in a lane, verified there, and only then does the base move."""

from woodwind.base.failpoints import failpoint
from woodwind.git import merging
from woodwind.git.branches import branch_tip
from woodwind.git.remote import push
from woodwind.git.targets import TargetMoved
from woodwind.model.errors import NotFound, Refused, WoodwindError
from woodwind.model.landing import MOST_TRIES, listed
from woodwind.ops.context import Context
from woodwind.ops.land import Conflict, move_target
from woodwind.ops.landable import tip_of_target
from woodwind.ops.preflight import require_own_landing
from woodwind.ops.verify import landing_config, lane_of, require_passed, verify
from woodwind.store import events


def land_branch(ctx: Context, project: str, branch: str, base: str, *, verify_it: bool) -> str:
    """The commit of the base that has all of the branch; what was done before is found and not done again."""
    common = ctx.repo.common
    for name in (branch, base):
        if not branch_tip(common, name):
            raise NotFound(f"the branch {name} is not there any more", code="no_target")
    tip = branch_tip(common, branch)
    settings = landing_config(ctx).land
    require_own_landing(ctx, f"Open one for {branch}, by hand or with `gh pr create`.")
    with lane_of(ctx, project, tip) as lane:
        for _ in range(MOST_TRIES):
            onto = tip_of_target(ctx, settings.via, settings.remote, base)
            if merging.is_ancestor(common, tip, onto):
                _follow(ctx, base, onto, branch)
                return onto
            merged = merging.merge(lane, onto, tip, method="merge", strategy="", message=f"Merge branch '{branch}'\n")
            if merged.conflicts:
                hint = f"Nothing has moved. Merge {base} into {branch} by hand, then `ww run resume`."
                raise Conflict(f"{branch} conflicts with {base} in {listed(merged.conflicts)}", hint=hint)
            if verify_it:
                verification = verify(ctx, project, merged.commit, lane=lane)
                if verification.command:
                    require_passed(verification, branch)
            failpoint("land_branch.before_move")
            try:
                if settings.via == "local":
                    move_target(ctx, base, onto, merged.commit, why=f"landed {branch}")
                else:
                    push(lane, settings.remote, base, merged.commit)
            except TargetMoved:
                continue
            failpoint("land_branch.after_move")
            _follow(ctx, base, merged.commit, branch)
            data = {"landing": "", "target": base, "from": onto, "to": merged.commit, "branch": branch}
            with ctx.store.transaction() as db:
                events.append(db, project=project, worker="", kind="landing.done", data=data)
            return merged.commit
    raise Refused(f"{base} moved {MOST_TRIES} times while {branch} was being verified", code="target_moved")


def _follow(ctx: Context, base: str, commit: str, branch: str) -> None:
    """After a push, the local branch goes along where that is safe."""
    local = branch_tip(ctx.repo.common, base)
    if local == commit:
        return
    try:
        move_target(ctx, base, local, commit, why=f"landed {branch}")
    except WoodwindError as error:
        ctx.notes.append(f"your own {base} stays where it is: {error.message}")
