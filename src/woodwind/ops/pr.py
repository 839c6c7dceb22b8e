"""`ww pr`: a worker's branch is pushed, and a pull request opened for it, or the open one brought up to date."""

from typing import Any, NamedTuple

from woodwind.git import merging, pulling, remote
from woodwind.git.targets import TargetMoved
from woodwind.model import naming
from woodwind.model.errors import Refused
from woodwind.model.landing import LandRequest, pull_request_body
from woodwind.model.text import one_line
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.critic import judge, told
from woodwind.ops.journal import worker_lock
from woodwind.ops.landable import look
from woodwind.ops.landing_steps import commit_dirty
from woodwind.ops.verify import landing_config, lane_of
from woodwind.store import events, landings
from woodwind.tickets import github
from woodwind.tickets.pull_requests import Opened, PullRequests, owner_of


class PullRequest(NamedTuple):
    """What was asked for; "" means: made from the task."""

    target: str = ""
    title: str = ""
    body: str = ""
    draft: bool = False
    commit_dirty: bool = False


def pull_request(ctx: Context, worker: Worker, wanted: PullRequest) -> dict[str, Any]:
    """Push the worker's branch and open its pull request; a second time, the push brings the first one up to date."""
    settings = landing_config(ctx).land
    hub = PullRequests(ctx.repo.home, ctx.environ)
    with worker_lock(worker.id):
        pull = None if wanted.target else _continued(hub, worker)
        request = LandRequest(target=wanted.target, message=wanted.title, commit_dirty=wanted.commit_dirty)
        facts = look(ctx, worker, request, via="pr")
        warnings = judge(ctx, worker, "ship" if wanted.commit_dirty else "merge", target=facts.target)
        ctx.notes += [f"{worker.name}: {told(finding)}" for finding in warnings]
        tip = commit_dirty(ctx, worker, facts.tree, facts.changes, request) or facts.tip
        branch = naming.check_branch(pull.head_branch) if pull else worker.worktree.branch
        to = pulling.remote_of(ctx.repo.common, pull.repository) if pull else settings.remote
        owner = owner_of(remote.url_of(ctx.repo.common, to))
        with lane_of(ctx, worker.project, tip) as lane:
            lane.check_out(tip)  # a pre-push hook looks at the files that it is about
            ctx.say(f"pushing {branch} to {to}")
            try:
                remote.push(lane, to, branch, tip)
            except TargetMoved:
                raise Refused(
                    f"{to} has commits on {branch} that {worker.name} has not",
                    code="diverged",
                    hint="Nothing was changed. Let its agent pull them first.",
                ) from None
        ctx.say("asking GitHub")
        found = Opened(int(pull.ticket.id), pull.ticket.url) if pull else hub.of_branch(owner, branch)
        opened = found or hub.open(
            owner,
            branch,
            facts.target,
            one_line(wanted.title or worker.title or worker.task, 120) or branch,
            wanted.body or pull_request_body(worker, merging.commits_between(ctx.repo.common, facts.onto, tip)),
            draft=wanted.draft,
        )
        if found is None:
            _record(ctx, worker, facts.target, to, tip, opened.url)
    return {
        "name": worker.name,
        "branch": branch,
        "target": facts.target,
        "number": opened.number,
        "url": opened.url,
        "existed": found is not None,
        "tip": tip,
    }


def _continued(hub: PullRequests, worker: Worker) -> github.PullRequest | None:
    """The open pull request that the worker goes on with, to whose branch its commits belong; None for any other."""
    source, _, number = worker.origin.partition(":")
    if source != "github-pr" or worker.kind == "review":
        return None
    pull = hub.pull_request(number)
    if pull.ticket.state == "closed":
        return None
    if pull.from_fork:
        raise Refused(
            f"pull request {number} is from a fork, to which we do not push",
            code="from_fork",
            hint=f"Push {worker.worktree.branch} there yourself, or open one of its own: "
            f"ww pr {worker.name} --into BRANCH",
        )
    return pull


def _record(ctx: Context, worker: Worker, target: str, to: str, tip: str, url: str) -> None:
    row = landings.begun(
        worker.id, project=worker.project, name=worker.name, target=target, via="pr", remote=to, kind="pr",
        state="done", tip=tip, new=tip, output=url,
    )  # fmt: skip
    with ctx.store.transaction() as db:
        landings.add(db, row)
        data = {"url": url, "target": target, "commit": tip}
        events.append(db, project=worker.project, worker=worker.id, kind="pr.opened", data=data)
