"""`ww init`: what a project gives to its agents, written once, marked, and removable without a trace."""

import os
import stat
from typing import NamedTuple

from woodwind.agents import registry as agents
from woodwind.base.files import is_inside, write_atomic
from woodwind.config.load import PROJECT_FILE
from woodwind.git.call import git
from woodwind.model import marked, project_files
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.text import clean, one_line
from woodwind.ops.brief import checks_in
from woodwind.ops.context import Context

CREATE, ADD, KEEP, DELETE, TAKE_OUT = "create", "add", "keep", "delete", "take_out"


class Change(NamedTuple):
    """What is to become of one file: `data` is what it will hold, None for gone."""

    path: str  # below the top of the checkout
    how: str
    why: str
    tracked: bool
    data: bytes | None

    @property
    def told(self) -> dict[str, object]:
        """What a caller gets to see."""
        return {"path": self.path, "how": self.how, "why": self.why, "tracked": self.tracked}


def planned(ctx: Context, *, remove: bool) -> list[Change]:
    """What `apply` would do; nothing is touched."""
    top = ctx.repo.top
    if not top:
        raise Refused("a bare repository has no files to write to", code="no_checkout", hint="Go to a checkout of it.")
    tracked = set(git("-C", top, "ls-files", "-z").text.split("\0"))
    changes = []
    seen: set[str] = set()
    for path, made in _files(ctx, top, everything=remove):
        full = os.path.join(top, path)
        real = os.path.realpath(full)
        if not is_inside(real, os.path.realpath(top)):
            changes.append(Change(path, KEEP, "it is a link that leads out of the repository", path in tracked, None))
            continue
        if real in seen:
            continue  # CLAUDE.md is often a link to AGENTS.md
        seen.add(real)
        data = _read(full)
        change = (_removal if remove else _addition)(path, data, made)
        if change:
            changes.append(change._replace(tracked=path in tracked))
    return changes


def _addition(path: str, data: bytes | None, made: bytes | None) -> Change | None:
    if made is None:
        if data is not None and marked.has_block(data):
            return Change(path, KEEP, "the block is there already", False, data)
        new = marked.with_block(data, project_files.BLOCK)
        return Change(path, CREATE if data is None else ADD, "", False, new)
    if data is not None:
        return Change(path, KEEP, "it is there already", False, data)
    return Change(path, CREATE, "", False, made)


def _removal(path: str, data: bytes | None, made: bytes | None) -> Change | None:
    if data is None:
        return None
    if made is None:
        if not marked.has_block(data):
            return None
        rest = marked.without_block(data, path)
        return Change(path, DELETE if rest is None else TAKE_OUT, "", False, rest)
    if marked.is_unchanged(data):
        return Change(path, DELETE, "", False, None)
    return Change(path, KEEP, "it was changed, or is your own", False, data)


def _files(ctx: Context, top: str, *, everything: bool) -> list[tuple[str, bytes | None]]:
    """(path, its bytes, or None for a block in a file of the user's), for the agents that are installed here."""
    checks = checks_in(top)
    found = {agent.name for agent in agents.installed(ctx.loaded_config.config.agents, [])}
    claude = everything or "claude" in found or os.path.isdir(os.path.join(top, ".claude"))
    skill = marked.sealed(project_files.SKILL)
    files: list[tuple[str, bytes | None]] = [
        (PROJECT_FILE, project_files.toml(checks)),
        ("woodwind/context/project.md", _context(ctx, top, checks)),
        ("AGENTS.md", None),
    ]
    if claude or os.path.exists(os.path.join(top, "CLAUDE.md")):
        files.append(("CLAUDE.md", None))
    if claude:
        files.append((".claude/skills/woodwind/SKILL.md", skill))
        files += [(f".claude/commands/{n}.md", project_files.command_file(n)) for n in project_files.COMMANDS]
    if everything or "codex" in found:
        files.append((".agents/skills/woodwind/SKILL.md", skill))
    return files


def _context(ctx: Context, top: str, checks: list[tuple[str, str]]) -> bytes:
    told = git("-C", top, "ls-tree", "-d", "--name-only", "-z", "HEAD", ok=(0, 128)).text.split("\0")
    folders = [name for name in told if name and not name.startswith((".", "woodwind"))][:20]
    readme = clean((_read(os.path.join(top, "README.md")) or b"")[:20_000].decode("utf-8", "replace"))
    plain = [p for p in readme.split("\n\n") if p.strip() and not p.lstrip().startswith(("#", "<", "[!", "!["))]
    return project_files.context(
        ctx.repo.name, one_line(" ".join(plain[0].split()), 600) if plain else "", folders, checks
    )


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WoodwindError(f"{path} cannot be read: {error.strerror}") from error


def apply(ctx: Context, changes: list[Change]) -> None:
    """Do what was planned, file by file; cut short, it can simply be called again."""
    top = ctx.repo.top
    for change in changes:
        if change.how == KEEP:
            continue
        real = os.path.realpath(os.path.join(top, change.path))
        try:
            if change.data is None:
                os.unlink(real)
                _drop_empty(os.path.dirname(real), top)
                continue
            os.makedirs(os.path.dirname(real), exist_ok=True)
            mode = stat.S_IMODE(os.stat(real).st_mode) if os.path.exists(real) else 0o644
            write_atomic(real, change.data, mode=mode)
            os.chmod(real, mode)  # the umask may have taken something of it
        except OSError as error:
            raise WoodwindError(
                f"{change.path} cannot be written: {error.strerror}",
                code="not_writable",
                hint="What was done before it is done; the same command goes on from here.",
            ) from error


def _drop_empty(folder: str, top: str) -> None:
    while folder != top and is_inside(folder, top):
        try:
            os.rmdir(folder)
        except OSError:
            return  # something of the user's is in it
        folder = os.path.dirname(folder)
