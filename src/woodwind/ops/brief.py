"""Briefs: what is known about the project and the request, gathered for the pure text."""

import os

from woodwind.base import paths
from woodwind.base.files import make_private_dir
from woodwind.git.repo import Refs, base_for
from woodwind.model import naming
from woodwind.model.brief import FILE, FOLDER, BriefFacts
from woodwind.model.checks import PRESENT, TELLING, checks_for
from woodwind.model.errors import NotFound, UsageError
from woodwind.model.marked import without_seal
from woodwind.model.templates import TEMPLATES, template_for
from woodwind.model.text import one_line
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.free_names import Request

_CONVENTIONS = ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "docs/contributing.md", ".github/CONTRIBUTING.md")
_MOST_CONTEXT = 60_000  # bytes of all context files together
_MOST_TELLING = 1 << 20


def project_folder(ctx: Context) -> str:
    """The checkout that the project's own templates and context are taken from: never a worker's worktree first."""
    return ctx.repo.main_top or ctx.repo.top or ctx.repo.home


def choose_template(ctx: Context, request: Request) -> tuple[str, str]:
    """(name, text of the user's or project's own): the one asked for, or the one that fits the task."""
    labels = [*request.ticket.labels, request.ticket.kind] if request.ticket else []
    name = request.template or template_for(naming.kind_of(request.naming or request.task), labels)
    folders = _template_folders(ctx)
    for folder in folders:
        text = _read(os.path.join(folder, f"{name}.md")) if naming.key(name) == name and "/" not in name else ""
        if text.strip():
            return name, text
    if name in TEMPLATES:
        return name, ""
    known = ", ".join(template_names(ctx))
    raise UsageError(f"there is no template {one_line(name, 60)!r}", code="no_template", hint=f"There are: {known}.")


def template_names(ctx: Context) -> list[str]:
    """Every template that can be asked for: ours, the user's and the project's."""
    own = (f.removesuffix(".md") for d in _template_folders(ctx) for f in _names(d) if f.endswith(".md"))
    return sorted({*TEMPLATES, *own})


def _template_folders(ctx: Context) -> list[str]:
    project = os.path.join(project_folder(ctx), ctx.loaded_config.config.brief.templates)
    return [project, os.path.join(os.path.dirname(paths.config_file()), "templates")]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def facts_for(ctx: Context, request: Request, *, branch: str, base: str, folder: str) -> BriefFacts:
    """All that goes into the brief; `folder` is the worktree, whose own files tell its checks and conventions."""
    config = ctx.loaded_config.config
    template, protocol = choose_template(ctx, request)
    return BriefFacts(
        task="" if request.ticket else request.task,
        branch=branch,
        base=base,
        ticket=request.ticket,
        template=template,
        protocol=protocol,
        prompt=request.prompt,
        replace=request.replace,
        context=_context(ctx),
        conventions=[] if request.untrusted else [n for n in _CONVENTIONS if os.path.isfile(os.path.join(folder, n))],
        checks=[] if request.untrusted else checks_in(folder, config.verify.command),
        via=config.land.via,
        untrusted=request.untrusted,
        words=dict(request.words),
        parents=request.parents,
        extra=request.extra,
    )


def preview_facts(ctx: Context, request: Request) -> BriefFacts:
    """All that would go into the brief of a new worker, which is not made."""
    config = ctx.loaded_config.config.new
    refs = Refs(ctx.repo)
    prefix = request.prefix if request.prefix is not None else None if config.prefix == "auto" else config.prefix
    wanted = naming.branch_for(request.naming or request.task, prefix=prefix)
    taken = {naming.key(branch) for branch in refs.branches}
    branch = next(b for b in (naming.numbered(wanted, n) for n in range(1, 10_000)) if naming.key(b) not in taken)
    pull = request.ticket is not None and request.ticket.is_pull_request  # it has its own commits
    base_branch, base_commit = ("", "") if pull else base_for(ctx.repo, refs, config.base)
    base = base_branch or base_commit
    return facts_for(ctx, request, branch=branch, base=base, folder=project_folder(ctx))


def checks_in(folder: str, verify: str = "") -> list[tuple[str, str]]:
    """The project's own test and lint commands, as its files tell."""
    there = [name for name in (*TELLING, *PRESENT) if os.path.exists(os.path.join(folder, name))]
    return checks_for({n: _read(os.path.join(folder, n)) for n in TELLING if n in there}, there, verify)


def _context(ctx: Context) -> list[tuple[str, str]]:
    """The project's context files, as far as there is room; what did not fit is named."""
    folder = project_folder(ctx)
    patterns = ctx.loaded_config.config.brief.context
    if not any(os.path.isdir(os.path.join(folder, os.path.dirname(p))) for p in patterns):
        return []
    import glob  # 2 ms, for those who have context files

    names = [n for p in patterns for n in sorted(glob.glob(p, root_dir=folder)) if not _leads_out(folder, n)]
    out, room = [], _MOST_CONTEXT
    for name in dict.fromkeys(names):
        text = without_seal(_read(os.path.join(folder, name)))
        if len(text) > room:
            out.append((name, "(It is too long to stand here: read it there.)"))
            continue
        room -= len(text)
        if text.strip():
            out.append((name, text))
    return out


def _leads_out(folder: str, name: str) -> bool:
    real = os.path.realpath(os.path.join(folder, name))
    return not real.startswith(os.path.realpath(folder) + os.sep)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_TELLING).decode("utf-8", "replace")
    except OSError:
        return ""


def _copy_of(worker: str) -> str:
    return os.path.join(paths.worker_dir(worker), "brief.md")


def keep(worker: Worker) -> None:
    """Keep a copy of a worker's brief: a pruned worktree comes back without its ignored files, and it is one."""
    text = _read(os.path.join(worker.worktree.path, FILE))
    try:
        make_private_dir(os.path.dirname(_copy_of(worker.id)))
        with open(_copy_of(worker.id), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        pass  # a comfort only: the worker has its brief


def bring_back(worker: Worker) -> None:
    """Put a brief that is gone from a worker's folder back from the copy, if there is one."""
    folder = os.path.join(worker.worktree.path, FOLDER)
    text = _read(_copy_of(worker.id))
    if not text or os.path.lexists(folder) or not os.path.isdir(worker.worktree.path):
        return
    write_folder(worker.worktree.path, text)


def write_folder(tree: str, text: str) -> None:
    """Write the brief into a worktree, in a folder that ignores itself: no `git status` shows it.

    Not made durable, which would cost 7 ms each: the store and the record have the task, too.
    """
    os.mkdir(os.path.join(tree, FOLDER))
    for name, data in ((f"{FOLDER}/.gitignore", "*\n"), (FILE, text)):
        with open(os.path.join(tree, name), "xb") as file:
            file.write(data.encode("utf-8", "replace"))


def of_worker(worker: Worker) -> str:
    """The brief as it lies in a worker's folder, or its copy; NotFound when there is neither."""
    text = _read(os.path.join(worker.worktree.path, FILE)) or _read(_copy_of(worker.id))
    if not text:
        raise NotFound(f"{worker.name} has no brief: {FILE} is not in its folder", code="no_brief")
    return text
