"""Agents that came with installed packages, through the entry point group `woodwind.agents`."""

import os
import sys

from woodwind.agents.base import Agent
from woodwind.model.errors import WoodwindError
from woodwind.model.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "woodwind.agents"


def entries() -> "list[EntryPoint]":
    """What the packages offer, by name. Nothing of theirs is imported for it."""
    if not _some_offer():
        return []
    from importlib.metadata import entry_points  # 30 ms with the search, which only those with such a package pay

    # A package may be found twice, through two folders on the path.
    return sorted({(e.name, e.value): e for e in entry_points(group=GROUP)}.values(), key=lambda e: (e.name, e.value))


def _some_offer() -> bool:
    """Whether a package's entry points may name the group: a plain look into the files, of a millisecond or two."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except NotADirectoryError:
            return True  # a zip file, which only importlib can look into
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if GROUP.encode() in file.read():
                            return True
                except OSError:
                    continue  # it has none
    return False


def find(name: str) -> Agent | None:
    """A fresh adapter of a packaged agent; None when no package offers it."""
    return next((load(entry) for entry in entries() if entry.name == name), None)


def load(entry: "EntryPoint") -> Agent:
    """A fresh adapter of what a package offers; an error that names the package when it cannot be used."""
    package = package_of(entry)
    try:
        cls = entry.load()
        agent = cls() if isinstance(cls, type) and issubclass(cls, Agent) else None
    except Exception as error:  # it is somebody else's code, and may fail in any way
        raise _unusable(entry, f"{type(error).__name__}: {error}") from error
    if agent is None:
        raise _unusable(entry, f"{entry.value} is not a subclass of woodwind.agents.base.Agent")
    agent.name = entry.name
    agent.package = package
    return agent


def package_of(entry: "EntryPoint") -> str:
    """The name of the package that an entry point is of."""
    return entry.dist.name if entry.dist else entry.module


def _unusable(entry: "EntryPoint", why: str) -> WoodwindError:
    package = package_of(entry)
    return WoodwindError(
        f"the agent {entry.name} of the package {package} cannot be used: {why}",
        code="agent_package",
        hint=f"Update {package} or remove it.",
    )
