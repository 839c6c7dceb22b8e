"""The cheap words of typing do what those of typing do."""

import copy
import os
import pickle
import subprocess
import sys
import typing
from collections.abc import Callable
from typing import Any

import pytest

from woodwind.model import typed


class Ours(typed.NamedTuple):
    """A record of ours."""

    name: str
    size: int = 3
    tags: "tuple[str, ...]" = ()

    @property
    def double(self) -> int:
        """A property beside the fields."""
        return self.size * 2


class Theirs(typing.NamedTuple):
    """The same, made by typing."""

    name: str
    size: int = 3
    tags: "tuple[str, ...]" = ()

    @property
    def double(self) -> int:
        """A property beside the fields."""
        return self.size * 2


USES: dict[str, Callable[[Any], object]] = {
    "by place": lambda cls: tuple(cls("a", 1, ("x",))),
    "by name": lambda cls: tuple(cls(tags=("x",), name="a")),
    "mixed": lambda cls: tuple(cls("a", tags=("x",))),
    "defaults": lambda cls: (cls("a").size, cls("a").tags, cls._field_defaults),
    "fields": lambda cls: (cls._fields, cls.__match_args__),
    "property": lambda cls: cls("a", 4).double,
    "replace": lambda cls: tuple(cls("a")._replace(size=9)),
    "replace unknown": lambda cls: cls("a")._replace(colour=1),
    "as dict": lambda cls: cls("a")._asdict(),
    "make": lambda cls: tuple(cls._make(["a", 1, ()])),
    "equal": lambda cls: (cls("a") == cls("a", 3), cls("a") == cls("b"), hash(cls("a")) == hash(("a", 3, ()))),
    "unpacked": lambda cls: [*cls("a")],
    "pickled": lambda cls: tuple(pickle.loads(pickle.dumps(cls("a", 5)))),  # noqa: S301 - our own bytes
    "copied": lambda cls: tuple(copy.deepcopy(cls("a", 5))),
    "shown": lambda cls: repr(cls("a")).removeprefix(cls.__name__),
    "too few": lambda cls: cls(),
    "too many": lambda cls: cls("a", 1, (), 4),
    "twice": lambda cls: cls("a", name="b"),
    "unknown": lambda cls: cls("a", colour="red"),
    "set a field": lambda cls: setattr(cls("a"), "name", "b"),
    "set another": lambda cls: setattr(cls("a"), "colour", "red"),
    "subclass of tuple": lambda cls: issubclass(cls, tuple),
}


def found(use: Callable[[Any], object], cls: type) -> object:
    try:
        return use(cls)
    except (AttributeError, TypeError, ValueError) as error:
        return "AttributeError" if isinstance(error, AttributeError) else "a wrong call"


@pytest.mark.parametrize("use", USES)
def test_a_record_is_like_one_of_typing(use: str) -> None:
    assert found(USES[use], Ours) == found(USES[use], Theirs)


def test_a_record_matches_by_place() -> None:
    match Ours("a", 1):
        case Ours(name, size):
            assert (name, size) == ("a", 1)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="typing's own are used there")
@pytest.mark.parametrize("command", ["new", "ls", "send", "attach"])
def test_the_everyday_commands_do_without_typing(command: str) -> None:
    code = (
        f"import sys; import woodwind.cli.commands.{command}, woodwind.cli.calling, woodwind.config.load;"
        "sys.exit('typing' in sys.modules)"
    )
    env = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    assert subprocess.run([sys.executable, "-S", "-c", code], env=env, check=False).returncode == 0
