"""Whom to look at more closely, told from one list of panes a second: pure, and cheap for 200 panes."""

from collections.abc import Callable, Iterable

from woodwind.muxes.base import Pane

# While an agent without events of its own prints, it is looked at this often; once it stops, a last time.
WHILE_PRINTING = 5.0
# The seconds between two lists; one more for each fifty agents, whose panes are work for tmux to list, up to a limit.
TICK, MANY, SLOWEST = 1.0, 50, 4.0
# The seconds between two looks at everybody: at a file that was half-written, a status that has grown old. Of so many
# agents it takes long enough to be taken half as often.
ROUND, VERY_MANY = 30.0, 100


def pace(agents: int, *, mute: bool) -> float:
    """The seconds between two lists. Agents that tell by themselves are only confirmed by what their terminals show."""
    return TICK if mute else min(SLOWEST, TICK * (1 + agents // MANY))


def round_time(agents: int) -> float:
    """The seconds between two looks at everybody."""
    return ROUND if agents < VERY_MANY else 2 * ROUND


class _Seen:
    """What a pane showed at the last glance."""

    __slots__ = ("facts", "looked", "means", "output", "title", "unread")

    def __init__(self) -> None:
        self.facts: object = None
        self.title: str | None = None
        self.means: object = None
        self.output = 0
        self.unread = False
        self.looked = float("-inf")


class Glances:
    """The last glance at each pane. `means` is what a worker's title proves; `is_mute` who tells nothing by itself."""

    def __init__(self, means: Callable[[str, str], object], is_mute: Callable[[str], bool]) -> None:
        self._means = means
        self._is_mute = is_mute
        self._seen: dict[str, _Seen] = {}

    def changed(self, panes: Iterable[Pane], at: float) -> set[str]:
        """The workers to whom something happened since the last glance; a pane that went away is such a thing."""
        found: set[str] = set()
        here: set[str] = set()
        for pane in panes:
            here.add(pane.worker)
            seen = self._seen.get(pane.worker)
            if seen is None:
                seen = self._seen[pane.worker] = _Seen()
            if pane.title != seen.title:
                seen.title, seen.means = pane.title, self._means(pane.worker, pane.title)
            facts = (pane.pid, pane.dead, pane.exit_status, seen.means)
            if facts != seen.facts:
                seen.facts = facts
                found.add(pane.worker)
            printed = pane.last_output != seen.output or seen.unread
            if printed and self._is_mute(pane.worker) and self._printed(seen, pane, at):
                found.add(pane.worker)
        for gone in self._seen.keys() - here:
            del self._seen[gone]
            found.add(gone)
        return found

    def _printed(self, seen: _Seen, pane: Pane, at: float) -> bool:
        """Whether it is time to look at what a mute agent printed."""
        if pane.last_output != seen.output:
            seen.output = pane.last_output
            seen.unread = True
            if at - seen.looked < WHILE_PRINTING:
                return False
        elif seen.unread:
            seen.unread = False  # it printed, and has stopped
        else:
            return False
        seen.looked = at
        return True

    def forget(self, worker: str) -> None:
        """Take the next glance at a worker for the first one."""
        self._seen.pop(worker, None)
