"""A check-list in a Markdown file of the user's: `- [ ] open`, `- [/] claimed`, `- [x] closed`, below its headings."""

import hashlib
import os
import re
import stat
import textwrap
from contextlib import AbstractContextManager
from typing import NamedTuple

from woodwind.base import paths
from woodwind.base.files import locked, write_atomic
from woodwind.model import naming
from woodwind.model.errors import UsageError
from woodwind.model.text import clean, one_line
from woodwind.model.ticket import EPIC, Ticket, tidy
from woodwind.tickets.base import NoTicket, Source, TicketError

_ITEM = re.compile(rb"^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX/])\][ \t]+(\S.*?)[ \t]*\r?$")
_HEADING = re.compile(rb"^#{1,6}[ \t]+(\S.*?)[ \t]*#*[ \t]*\r?$")
_FENCE = re.compile(rb"^[ \t]*(```+|~~~+)")
_STATES = {b" ": "open", b"/": "claimed", b"x": "closed", b"X": "closed"}


_SHOWN = 8  # items that are named where another one was meant


class Item(NamedTuple):
    """One line of the list: where it is, what it says, and what it is below."""

    id: str
    line: int
    mark: int  # the place of the sign between the brackets, in the whole file
    indent: bytes
    state: str
    text: str
    heading: str  # the id of the heading above it, "" for none
    parent: str  # the id of the item that it is nested in, "" for none
    notes: str
    children: int
    end: int  # the line after its notes and children


class Markdown(Source):
    """The list in the file that `where` names. What is changed is one item; the rest stays byte for byte."""

    name = "markdown"

    @property
    def path(self) -> str:
        """The list's file, links followed."""
        if not self.where:
            raise UsageError("a check-list needs its file", hint="For example: --ticket markdown:TODO.md#fix-login")
        return os.path.realpath(os.path.join(self.folder, os.path.expanduser(self.where)))

    def fetch(self, id: str) -> Ticket:
        """The item with this id: the words of its text, as in `fix-login`."""
        data = self._read()
        item = _named(data, id, self.where)
        # All that stands below it: an item's own items are a part of what is to be done.
        below = b"".join(data.splitlines(keepends=True)[item.line + 1 : item.end]).decode("utf-8", "replace")
        return self._ticket(item._replace(notes=textwrap.dedent(below.expandtabs(4)).strip("\r\n")))

    def ready(self, epic: str) -> list[Ticket]:
        """The open items below a heading or item (or all, for ""), without those that others are nested in."""
        found = items(self._read())
        known = {name for item in found for name in (item.heading, item.id) if name}
        meant = epic if not epic or epic in known else naming.slug(epic)
        if epic and meant not in known:
            raise NoTicket(
                f"there is no heading or item {one_line(epic, 60)!r} in {self.where}",
                hint=_told([name for item in found for name in (item.heading, item.id) if name]),
            )
        below = [item for item in found if not meant or meant in (item.heading, item.parent)]
        return [self._ticket(item) for item in below if item.state == "open" and not item.children]

    def claim(self, id: str) -> None:
        """Mark the item as `[/]`, unless it is marked already."""
        self._mark(id, b"/", ("open",))

    def progress(self, id: str, text: str) -> None:
        """A line of its own below the item."""
        with self._locked():
            data = self._read()
            item = _named(data, id, self.where)
            lines = data.splitlines(keepends=True)
            end = b"\r\n" if lines[item.line].endswith(b"\r\n") else b"\n"
            if not lines[item.end - 1].endswith(b"\n"):
                lines[item.end - 1] += end
            note = one_line(text.replace("[", "(").replace("]", ")"), 400).encode("utf-8", "replace")
            lines.insert(item.end, item.indent + b"  - " + note + end)
            self._write(b"".join(lines))

    def close(self, id: str, text: str) -> None:
        """Mark the item as `[x]`, with a line below it."""
        self._mark(id, b"x", ("open", "claimed"))
        if text:
            self.progress(id, text)

    def _mark(self, id: str, sign: bytes, states: tuple[str, ...]) -> None:
        with self._locked():
            data = self._read()
            item = _named(data, id, self.where)
            if item.state not in states:
                code = "already_claimed" if sign == b"/" else "ticket_failed"
                raise TicketError(f"{item.id} in {self.where} is {item.state} already", code=code)
            self._write(data[: item.mark] + sign + data[item.mark + 1 :])

    def _ticket(self, item: Item) -> Ticket:
        return tidy(
            Ticket(
                source=f"markdown:{self.where}",
                id=item.id,
                title=item.text,
                body=item.notes,
                state=item.state,
                kind=EPIC if item.children else "task",
                parent=item.parent or item.heading,
            )
        )

    def _locked(self) -> AbstractContextManager[None]:
        return locked(paths.lock_file(f"list-{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]}"))

    def _read(self) -> bytes:
        try:
            with open(self.path, "rb") as file:
                return file.read()
        except OSError as error:
            raise NoTicket(f"the list {self.where} cannot be read: {error.strerror}") from error

    def _write(self, data: bytes) -> None:
        try:
            mode = stat.S_IMODE(os.stat(self.path).st_mode)
            write_atomic(self.path, data, mode=mode)
            os.chmod(self.path, mode)  # the umask may have taken something of it
        except OSError as error:
            raise TicketError(f"the list {self.where} cannot be written: {error.strerror}") from error


def _named(data: bytes, id: str, where: str) -> Item:
    found = items(data)
    for meant in (id, naming.slug(id)):
        for item in found:
            if item.id == meant:
                return item
    if any(item.heading == id for item in found):
        raise NoTicket(
            f"{id!r} is a heading of {where}, not an item",
            hint=f"To work through its items: ww loop start --source markdown:{where} --epics {id}",
        )
    raise NoTicket(f"there is no item {one_line(id, 60)!r} in {where}", hint=_told([item.id for item in found]))


def _told(names: list[str]) -> str:
    """The first of the names that there are, each once."""
    known = list(dict.fromkeys(names))
    if not known:
        return "It has none: an item is a line such as `- [ ] Fix the login`."
    return f"There are: {', '.join(known[:_SHOWN])}" + (", …" if len(known) > _SHOWN else "")


def items(data: bytes) -> list[Item]:
    """The items of a list in their order; what is in a code block is none."""
    found: list[Item] = []
    open_items: list[int] = []  # the places in `found` of the items that this line may be nested in
    taken: dict[str, int] = {}
    heading, fenced, offset = "", b"", 0
    for number, line in enumerate(data.splitlines(keepends=True)):
        bare = line.rstrip(b"\r\n")
        fence = _FENCE.match(bare)
        if fence and (not fenced or fence[1].startswith(fenced)):
            fenced = b"" if fenced else fence[1]
        item = None if fenced else _ITEM.match(bare)
        head = None if fenced or item else _HEADING.match(bare)
        indent = len(bare.expandtabs(4)) - len(bare.expandtabs(4).lstrip())
        if bare.strip():
            while open_items and indent <= _width(found[open_items[-1]].indent):
                open_items.pop()
        if head:
            heading = naming.slug(_words(head[1])) or "heading"
        elif item:
            parent = found[open_items[-1]] if open_items else None
            id = _unique(naming.slug(_words(item[3])) or "item", taken)
            for place in open_items[-1:]:
                found[place] = found[place]._replace(children=found[place].children + 1)
            mark = offset + item.start(2)
            place_of = (item[1], _STATES[item[2]], _words(item[3]), heading, parent.id if parent else "")
            found.append(Item(id, number, mark, *place_of, notes="", children=0, end=number + 1))
            open_items.append(len(found) - 1)
        elif open_items and bare.strip():
            last = open_items[-1]
            notes = (found[last].notes + "\n" + clean(bare.strip().decode("utf-8", "replace"))).strip()
            found[last] = found[last]._replace(notes=notes)
        if bare.strip():
            for place in open_items:
                found[place] = found[place]._replace(end=number + 1)
        offset += len(line)
    return found


def _width(indent: bytes) -> int:
    return len(indent.expandtabs(4))


def _words(text: bytes) -> str:
    return one_line(text.decode("utf-8", "replace"), 300)


def _unique(id: str, taken: dict[str, int]) -> str:
    n = taken[id] = taken.get(id, 0) + 1
    return naming.numbered(id, n)
