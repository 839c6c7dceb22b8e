"""Plain command lines, understood without argparse, whose import and set-up would cost every `ww ls` 5 ms.

Plain are options written in full with their values after them, and words. Whatever else there is, such as mistakes and
--help, is left to argparse, which has the last word about what a command line means.
"""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

from woodwind.model.errors import UsageError
from woodwind.model.typed import Any


class NotPlain(Exception):
    """A command line, or a command's argument, that is for argparse."""


def parse_plainly(command: Any, argv: list[str]) -> SimpleNamespace:
    """The arguments of a plain call of a command, from its module; NotPlain for any other."""
    parser = PlainParser()
    command.arguments(parser)
    parser.add_argument("--json", action="store_true")
    return parser.parse(argv)


class Argument:
    """One argument as `add_argument` was told of it."""

    def __init__(
        self,
        *names: str,
        action: str = "store",
        nargs: str | int | None = None,
        const: object = None,
        default: object = None,
        type: Callable[[str], object] = str,
        choices: Any = None,
        dest: str = "",
        metavar: object = None,
        help: str = "",
        group: object = None,
    ) -> None:
        self.options = names if names[0].startswith("-") else ()
        longest = next((name for name in names if name.startswith("--")), names[0])
        self.dest = dest or longest.lstrip("-").replace("-", "_")
        self.action, self.nargs, self.const, self.type, self.choices = action, nargs, const, type, choices
        self.group = group
        self.default = False if action == "store_true" else default

    def value(self, word: str) -> object:
        """The value that a word stands for."""
        try:
            value = self.type(word)
        except (TypeError, ValueError, UsageError):
            raise NotPlain from None
        if self.choices and value not in self.choices:
            raise NotPlain
        return value


class Group:
    """Arguments of which only one may be given."""

    def __init__(self, parser: "PlainParser") -> None:
        self._parser = parser

    def add_argument(self, *names: str, **about: Any) -> None:
        """One of them."""
        self._parser.add_argument(*names, **about, group=self)


class PlainParser:
    """Takes what a command tells argparse of its arguments, as far as commands do."""

    def __init__(self) -> None:
        self._options: dict[str, Argument] = {}
        self._places: list[Argument] = []
        self._values: dict[str, Any] = {}

    def add_argument(self, *names: str, **about: Any) -> None:
        """An option, or the next place for words."""
        argument = Argument(*names, **about)
        self._values.setdefault(argument.dest, argument.default)
        self._options.update(dict.fromkeys(argument.options, argument))
        if not argument.options:
            self._places.append(argument)

    def add_mutually_exclusive_group(self) -> Group:
        """For arguments of which only one may be given."""
        return Group(self)

    def set_defaults(self, **defaults: object) -> None:
        """Values that hold where nothing is given."""
        self._values.update(defaults)

    def parse(self, argv: list[str]) -> SimpleNamespace:
        """The arguments of a plain call; NotPlain for any other."""
        words: list[str] = []
        given: dict[object, Argument] = {}
        rest = iter(argv)
        for word in rest:
            if not word.startswith("-") or word == "-":
                words.append(word)
                continue
            option = self._options.get(word)
            if not option or given.setdefault(option.group or option, option) is not option:
                raise NotPlain
            self._take(option, rest)
        for place in self._places:
            words = self._fill(place, words)
        if words:
            raise NotPlain
        return SimpleNamespace(**self._values)

    def _take(self, option: Argument, rest: Iterator[str]) -> None:
        """Set what an option is for, with the next word where it takes one."""
        if option.action == "store_true":
            self._values[option.dest] = True
        elif option.action == "store_const":
            self._values[option.dest] = option.const
        elif option.nargs is None and option.action in ("store", "append"):
            word = next(rest, "-")
            if word.startswith("-"):
                raise NotPlain
            value, before = option.value(word), self._values[option.dest]
            self._values[option.dest] = [*before, value] if option.action == "append" else value
        else:
            raise NotPlain

    def _fill(self, place: Argument, words: list[str]) -> list[str]:
        """Give a place the words that it takes, and return those that are left."""
        if place.nargs not in (None, "?", "*"):
            raise NotPlain
        if place.nargs == "*":
            self._values[place.dest] = [place.value(word) for word in words]
            return []
        if words:
            self._values[place.dest] = place.value(words[0])
        elif place.nargs is None:
            raise NotPlain
        return words[1:]
