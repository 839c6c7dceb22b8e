"""Tickets as the beginning of work: fetched from their source, and made into what `create` is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from woodwind.base.run import RunFailed
from woodwind.git import pulling
from woodwind.model import naming
from woodwind.model.errors import UsageError, WoodwindError
from woodwind.model.templates import REVIEW
from woodwind.model.text import one_line
from woodwind.model.ticket import Ticket, tidy
from woodwind.ops.brief import project_folder
from woodwind.ops.context import Context
from woodwind.ops.free_names import Request
from woodwind.tickets.base import Source
from woodwind.tickets.github import GitHub, PullRequest
from woodwind.tickets.registry import source


def source_of(ctx: Context, name: str) -> Source:
    """The source of tickets of this name, for the current project."""
    return source(name, project_folder(ctx), ctx.environ, timeout=ctx.loaded_config.config.tickets.timeout or 30)


def fetch(ctx: Context, origin: str) -> Ticket:
    """The ticket that an origin such as `github:7`, `jira:SHOP-12` or `markdown:TODO.md#fix-login` names."""
    name, sign, id = origin.rpartition("#" if origin.startswith("markdown:") else ":")
    if not sign or not name or not id:
        raise UsageError(
            f"{one_line(origin, 80)!r} names no ticket", hint="For example: github:7, or markdown:TODO.md#fix-login"
        )
    if name == "github-pr":
        return pull_request(ctx, id).ticket
    ctx.say(f"asking {name} for {id}")
    return tidy(source_of(ctx, name).fetch(id))


def of_ticket(request: Request, ticket: Ticket) -> Request:
    """The request for work on a ticket."""
    if ticket.state == "closed":
        request = request._replace(extra=(*request.extra, ("Note", "The ticket is closed already: see why first.")))
    return request._replace(task=ticket.title, ticket=ticket)


def pull_request(ctx: Context, number: str) -> PullRequest:
    """A pull request as GitHub tells of it."""
    ctx.say(f"asking GitHub for pull request {number}")
    found = source_of(ctx, "github")
    assert isinstance(found, GitHub)
    return found.pull_request(number)


def of_pull_request(request: Request, pull: PullRequest, *, goes_on: bool, fork_point: str = "") -> Request:
    """The request for a review of a pull request, or for going on with it."""
    ticket = pull.ticket
    base = one_line(pull.base_branch, 100)
    change = f"The pull request wants to go into `{base}`."
    if fork_point:
        change += f" It left it at {fork_point[:12]}: `git log {fork_point[:12]}..HEAD` lists its commits, and "
        change += f"`git diff {fork_point[:12]} HEAD` shows all of it."
    if goes_on and pull.from_fork:
        change += " Your commits go on top of it, on your own branch; its fork is not ours to push to."
    elif goes_on:
        head = one_line(pull.head_branch, 100)
        change += f" Your commits go on top of it; from outside they are pushed to its branch `{head}`."
    return request._replace(
        task=ticket.title,
        ticket=ticket,
        # The fork's own name for its branch never becomes one of ours: it may be `main`.
        naming=f"pr {ticket.id} {ticket.title}",
        prefix="pr" if request.prefix is None else request.prefix,
        kind="implementation" if goes_on else "review",
        template=request.template or ("" if goes_on else REVIEW),
        untrusted=pull.from_fork,
        extra=(*request.extra, ("The pull request", change)),
    )


@contextmanager
def pulled(ctx: Context, request: Request, number: str, *, goes_on: bool) -> Iterator[Request]:
    """The request for a pull request whose commits are there, under a private ref, while the block runs."""
    if request.base or request.in_place:
        raise UsageError("a pull request has its own commits: --base and --in-place do not go with it")
    pull = pull_request(ctx, number)
    remote = pulling.remote_of(ctx.repo.common, pull.repository)
    base = _plain_branch(pull.base_branch)
    ctx.say(f"fetching pull request {pull.ticket.id} from {remote}")
    try:
        with pulling.Pulled(ctx.repo.common, remote, pull.ticket.id, base) as got:
            if got.head != pull.head_commit:
                ctx.notes.append(f"pull request {pull.ticket.id} has moved on just now: it is at {got.head[:10]}")
            asked = of_pull_request(request, pull, goes_on=goes_on, fork_point=got.fork_point)
            # Landing runs the project's checks on it: for a stranger's code a person has to say where it goes.
            lands = goes_on and not asked.untrusted and pulling.has_branch(ctx.repo.common, base)
            target = base if lands else ""
            if asked.untrusted:
                ctx.notes.append(
                    "it is from a fork: nothing of it is installed or run, and its files for agents are left out; "
                    "an agent that reads it can still be talked to by it, so look at what it asks you for"
                )
            yield asked._replace(base=got.head, target=target)
    except RunFailed as error:
        if "fetch" not in error.done.argv:
            raise
        raise pulling.explain(error, remote, pull.ticket.id) from error


def _plain_branch(name: str) -> str:
    try:
        return naming.check_branch(name)
    except WoodwindError:
        return ""
