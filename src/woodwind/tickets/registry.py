"""All sources of tickets by name: the built-in ones, and those of installed packages."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from woodwind.model.errors import UsageError, WoodwindError
from woodwind.tickets.base import Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "woodwind.tickets"
BUILT_IN = {"github": "GitHub", "jira": "Jira", "beads": "Beads", "markdown": "Markdown"}


def source(name: str, folder: str, environ: Mapping[str, str], *, timeout: float = Source.timeout) -> Source:
    """The source of this name as seen from a checkout; `markdown:FILE` is the list in that file."""
    kind, _, where = name.partition(":")
    if kind in BUILT_IN:
        cls = getattr(import_module(f"woodwind.tickets.{kind}"), BUILT_IN[kind])
    else:
        cls = _packaged(kind)
    found: Source = cls(folder, environ, where)
    found.timeout = timeout
    return found


def _packaged(name: str) -> type[Source]:
    offered = _entries()
    entry = next((e for e in offered if e.name == name), None)
    if entry is None:
        known = ", ".join([*BUILT_IN, *sorted(e.name for e in offered)])
        raise UsageError(f"there is no source of tickets {name!r}", code="no_source", hint=f"There are: {known}.")
    package = entry.dist.name if entry.dist else entry.module
    try:
        cls = entry.load()
        fits = isinstance(cls, type) and issubclass(cls, Source)
        why = "" if fits else f"{entry.value} is not a subclass of woodwind.tickets.base.Source"
    except Exception as error:  # it is somebody else's code, and may fail in any way
        raise _unusable(name, package, f"{type(error).__name__}: {error}") from error
    if why:
        raise _unusable(name, package, why)
    cls.name, cls.package = name, package
    return cls  # type: ignore[no-any-return]


def _unusable(name: str, package: str, why: str) -> WoodwindError:
    return WoodwindError(
        f"the source {name} of the package {package} cannot be used: {why}",
        code="source_package",
        hint=f"Update {package} or remove it.",
    )


def _entries() -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # 30 ms, which only those who name a packaged source pay

    return [*entry_points(group=GROUP)]
