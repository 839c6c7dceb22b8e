"""What a new worker is called: its name, branch and folder, of which nobody else has any."""

import os
from collections.abc import Sequence

from woodwind.git.repo import Refs, Repo
from woodwind.model import naming
from woodwind.model.errors import Refused, UsageError, WoodwindError
from woodwind.model.text import one_line
from woodwind.model.typed import TYPE_CHECKING, NamedTuple
from woodwind.ops.context import Context
from woodwind.store import workers

if TYPE_CHECKING:  # 0.5 ms, which a task without a ticket need not pay
    from woodwind.model.ticket import Ticket


class Request(NamedTuple):
    """What the user asked for; None and "" mean: as configured."""

    task: str
    name: str = ""
    branch: str = ""
    prefix: str | None = None
    base: str = ""
    launch: str = ""
    kind: str = "implementation"
    model: str = ""
    permissions: str = "ask"
    plan: bool = False
    in_place: bool = False
    install: bool = True
    ticket: "Ticket | None" = None  # what it is about; its title is the task
    template: str = ""  # the protocol by name; "" for the one that fits the task
    prompt: str = ""  # further instructions, or with `replace` all of them
    replace: bool = False
    extra: Sequence[tuple[str, str]] = ()  # further sections of the brief: (heading, text)
    parents: Sequence[str] = ()  # what the tasks before this one did
    words: Sequence[tuple[str, str]] = ()  # further words that a template may use
    naming: str = ""  # what names are made from, instead of the task
    target: str = ""  # the branch that it is for, where its base is a bare commit
    untrusted: bool = False  # its base is a stranger's code
    id: str = ""  # of the worker, where it was chosen before, so that a repeated call finds it


def free_names(ctx: Context, project: str, request: Request, refs: Refs) -> tuple[str, str, str]:
    """A name, branch and folder that nobody has: the ones asked for, or generated ones with a number."""
    config = ctx.loaded_config.config.new
    prefix = request.prefix if request.prefix is not None else None if config.prefix == "auto" else config.prefix
    task = request.naming or request.task
    task = task if naming.words_of(one_line(task, 400)) else request.name or "task"
    wanted_name = naming.check_name(request.name) if request.name else naming.name_for(task)
    wanted_branch = naming.check_branch(request.branch or naming.branch_for(task, prefix=prefix))
    names = workers.taken_names(ctx.store, project)
    held_branches, held_paths = workers.taken_places(ctx.store, project)
    branches = {naming.key(b) for b in refs.branches} | held_branches
    if not request.branch and any(naming.key(wanted_branch).startswith(b + "/") for b in branches):
        # A branch such as `feat` leaves no room for feat/…: git keeps branches as folders.
        wanted_branch = wanted_branch.replace("/", "-")
    for n in range(1, 10_000):
        name = naming.numbered(wanted_name, 1 if request.name else n)
        branch = naming.numbered(wanted_branch, 1 if request.branch else n)
        path = ctx.repo.top if request.in_place else worktree_path(ctx.repo, config.path, name, branch)
        problem = _problem(name, branch, "" if request.in_place else path, names, branches, held_paths)
        if not problem:
            return name, branch, path
        if request.name or request.branch:
            fixed, asked = problem, bool(request.name)
            if (fixed[0] == "branch" and request.branch) or (fixed[0] != "branch" and asked):
                raise Refused(fixed[1], code=f"{fixed[0]}_exists", hint=fixed[2])
    raise WoodwindError(f"no free name was found for {wanted_name!r}")


def _problem(
    name: str, branch: str, path: str, names: set[str], branches: set[str], held_paths: set[str]
) -> tuple[str, str, str] | None:
    """(what is taken, message, hint), or None when all three are free; a path of "" is none to look at."""
    if naming.key(name) in names:
        return (
            "name",
            f"there is a worker {name!r} already",
            "Choose another --name; `ww ls` and `ww trash ls` show those in use.",
        )
    key = naming.key(branch)
    if key in branches:
        return "branch", f"the branch {branch!r} exists already", "Choose another --branch, or leave it out."
    nested = [b for b in branches if b.startswith(key + "/") or key.startswith(b + "/")]
    if nested:
        return (
            "branch",
            f"the branch {branch!r} cannot be beside {nested[0]!r}: git keeps branches as folders",
            "Choose another --branch.",
        )
    if path and (naming.key(path) in held_paths or os.path.lexists(path)):
        return "folder", f"the folder {path} exists already", "Choose another --name, or move the folder away."
    return None


def worktree_path(repo: Repo, template: str, name: str, branch: str) -> str:
    """The folder for a worktree, from the configured template."""
    words = {"repo": repo.name, "branch": branch.replace("/", "-"), "name": name}
    unknown = [w for w in (part.partition("}")[0] for part in template.split("{")[1:]) if w not in words]
    try:
        path = os.path.expanduser(template.format(**words)) if not unknown else ""
    except ValueError:
        unknown = ["}"]
    if unknown:
        raise UsageError(
            f"new.path cannot be used: {template!r} ({unknown[0]!r} is not known)",
            hint="Known are {repo}, {branch} and {name}.",
        )
    home = repo.home
    if os.path.basename(home) in (".git", ".bare"):
        home = os.path.dirname(home)
    full = os.path.normpath(os.path.join(home, path))
    if full == home or home.startswith(full + "/"):
        raise UsageError(
            f"new.path gives {full}, which holds the repository itself",
            hint='For example: "../{repo}.worktrees/{name}"',
        )
    return full
