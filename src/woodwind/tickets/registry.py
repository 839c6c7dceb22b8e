"""All sources of tickets by name: the built-in ones, and those of installed packages."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from woodwind.model.errors import UsageError, WoodwindError
from woodwind.model.text import one_line
from woodwind.model.ticket import Ticket, tidy
from woodwind.tickets.base import Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
GROUP = "woodwind.tickets"
BUILT_IN = {"github": "GitHub", "jira": "Jira", "beads": "Beads", "markdown": "Markdown"}


def source(name: str, folder: str, environ: Mapping[str, str], *, timeout: float = Source.timeout) -> Source:
    """The source of this name as seen from a checkout; `markdown:FILE` is the list in that file."""
    kind, _, where = name.partition(":")
    if kind not in BUILT_IN:
        return Packaged(_packaged(kind), folder, environ, where, timeout)
    found: Source = getattr(import_module(f"woodwind.tickets.{kind}"), BUILT_IN[kind])(folder, environ, where)
    found.timeout = timeout
    return found


class Packaged(Source):
    """A source that came with a package: what goes wrong in its code, or in its answers, is told as the package's."""

    def __init__(
        self, cls: type[Source], folder: str, environ: Mapping[str, str], where: str, timeout: float = Source.timeout
    ) -> None:
        super().__init__(folder, environ, where)
        self.name, self.package, self.timeout = cls.name, cls.package, timeout
        self._inner = self._ask(lambda: cls(folder, environ, where))
        self._inner.timeout = timeout

    def fetch(self, id: str) -> Ticket:
        return self._ask(lambda: tidy(self._inner.fetch(id)))

    def ready(self, epic: str) -> list[Ticket]:
        return self._ask(lambda: [tidy(ticket) for ticket in self._inner.ready(epic)])

    def claim(self, id: str) -> None:
        self._ask(lambda: self._inner.claim(id))

    def progress(self, id: str, text: str) -> None:
        self._ask(lambda: self._inner.progress(id, text))

    def close(self, id: str, text: str) -> None:
        self._ask(lambda: self._inner.close(id, text))

    def _ask(self, question: Callable[[], T]) -> T:
        try:
            return question()
        except WoodwindError:
            raise
        except Exception as error:  # it is somebody else's code, and may fail in any way
            raise _unusable(self.name, self.package, f"{type(error).__name__}: {one_line(str(error), 200)}") from error


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
