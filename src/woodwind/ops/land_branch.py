"""A run's own branch, landed on its base: merged in a lane, verified there, and only then does the base move."""

from collections.abc import Sequence

from woodwind.git import merging
from woodwind.git.branches import branch_tip
from woodwind.model.errors import NotFound
from woodwind.model.landing import LandRequest, listed
from woodwind.ops.begin_landing import begin, carry_through
from woodwind.ops.context import Context
from woodwind.ops.journal import Step, worker_lock
from woodwind.ops.landable import taken_out, tip_of_target
from woodwind.ops.landing_steps import Conflict, Land
from woodwind.ops.preflight import require_own_landing
from woodwind.ops.verify import landing_config, lane_of
from woodwind.store import landings
from woodwind.store.landings import Landing
from woodwind.store.runs import RunRow


class LandBranch(Land):
    """The landing of a branch that is no worker's: there is no folder of it, and nothing to commit first."""

    kind = "land_branch"

    def steps(self) -> list[Step]:
        return [step for step in super().steps() if step.name != "commit"]

    def _message(self, landing: Landing, subjects: list[str]) -> str:
        return f"Merge branch '{landing.name}'\n"

    def _conflict(self, landing: Landing, files: Sequence[str]) -> Conflict:
        again = f"Merge {landing.target} into {landing.name} by hand, then `ww run resume {landing.run}`."
        said = f"{landing.name} conflicts with {landing.target} in {listed(files)}"
        return Conflict(said, hint=f"Nothing has moved. {again}")

    def _branch(self, landing: Landing) -> str:
        return landing.name


def land_branch(ctx: Context, row: RunRow) -> str:
    """The commit of the run's base that has all of its branch; what was done before is found and not done again."""
    common, branch, base = ctx.repo.common, row.target, str(row.spec["base"])
    for name in (branch, base):
        if not branch_tip(common, name):
            raise NotFound(f"the branch {name} is not there any more", code="no_target")
    require_own_landing(ctx, f"Open one for {branch}, by hand or with `gh pr create`.")
    settings = landing_config(ctx).land
    with worker_lock(row.id):
        tip, onto = branch_tip(common, branch), tip_of_target(ctx, settings.via, settings.remote, base)
        if merging.is_ancestor(common, tip, onto) and taken_out(ctx, row.id, onto) is None:
            return onto
        where = {"target": base, "via": settings.via, "remote": settings.remote, "method": "merge"}
        landing = landings.begun(row.id, project=row.project, name=branch, tip=tip, **where)
        request = LandRequest(verify=bool(row.spec.get("verify", True)))
        with lane_of(ctx, row.project, tip) as lane:
            return carry_through(ctx, begin(ctx, LandBranch, landing, request), lane).new
