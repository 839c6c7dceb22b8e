"""What an op gets: where it was called, by whom, and the concrete parts, opened when first used."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property

from woodwind.base import paths
from woodwind.git import identity
from woodwind.git.repo import Repo, locate
from woodwind.model.errors import WoodwindError
from woodwind.model.typed import TYPE_CHECKING
from woodwind.store.db import Damaged, Store, open_store
from woodwind.store.projects import remembered

if TYPE_CHECKING:
    from woodwind.config.load import Loaded


def _has_bytes(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False


def _quiet(_: str) -> None:
    pass


class Context:
    """The surroundings of one call. `person` tells whether someone at a terminal can be asked."""

    def __init__(
        self,
        cwd: str,
        environ: Mapping[str, str],
        *,
        person: bool = False,
        say: Callable[[str], None] = _quiet,
        confirm: Callable[[str], bool] | None = None,
        pick: Callable[[str, list[str]], int] | None = None,
        show: Callable[[str], None] = _quiet,
    ) -> None:
        self.cwd = cwd
        self.environ = environ
        self.person = person
        self.say = say
        self.confirm = confirm
        self.pick = pick
        self.show = show
        self.notes: list[str] = []

    @property
    def caller(self) -> str:
        """The id of the worker whose agent calls, or "" for a person or a script."""
        return self.environ.get("WOODWIND_WORKER", "")

    @cached_property
    def repo(self) -> Repo:
        """The repository of the current folder."""
        return locate(self.cwd)

    @cached_property
    def store(self) -> Store:
        """The user's store; a damaged one is set aside and rebuilt from git."""
        lost = not _has_bytes(paths.database()) and bool(remembered())
        try:
            if not lost:
                return open_store()
            problem = f"the store {paths.database()} is gone"
        except Damaged as damage:
            problem = damage.message
        # Rebuilding needs most of the program, which `ww ls` must not load on every call.
        from woodwind.ops.rebuild import rebuilt_store

        return rebuilt_store(self, problem)

    @cached_property
    def loaded_config(self) -> "Loaded":
        """The configuration with its sources."""
        # tomllib and the schema cost 10 ms, and `ww ls` has no use for them.
        from woodwind.config.load import load, project_file

        try:
            repo = self.repo
        except WoodwindError:
            return load()  # outside a repository there is only the user's configuration
        return load(project_file(self.cwd, repo.top, repo.main_top) if repo.top else "")

    @property
    def known_project(self) -> str:
        """The id of the current project, or "" when Woodwind was never used in it."""
        return identity.read_id(self.repo.common)

    def close(self) -> None:
        """Close what was opened."""
        if "store" in self.__dict__:
            self.store.close()


def person_at_terminal(environ: Mapping[str, str]) -> bool:
    """Whether someone who can answer is there: a terminal on both ends, and not an agent's own."""
    if environ.get("WOODWIND_WORKER") or environ.get("CI"):
        return False
    return sys.stdin is not None and os.isatty(0) and os.isatty(1)
