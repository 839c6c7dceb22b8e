"""What a trial merge tells: where two histories parted, and which lines of which file collide."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_BEGIN, _MIDDLE, _END = "<<<<<<< ", "=======", ">>>>>>> "


class Trial(NamedTuple):
    """Two commits to be merged on trial; their ids and trees, one's first."""

    one: str
    other: str


class Collided(NamedTuple):
    """One file that a trial merge could not settle."""

    path: str
    kind: str
    one_lines: tuple[tuple[int, int], ...] = ()
    other_lines: tuple[tuple[int, int], ...] = ()

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        lines = {"one_lines": [list(r) for r in self.one_lines], "other_lines": [list(r) for r in self.other_lines]}
        return {"path": self.path, "kind": self.kind, **lines}


def swapped(files: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same collisions as the other side sees them."""
    return [{**f, "one_lines": f["other_lines"], "other_lines": f["one_lines"]} for f in files]


class Histories:
    """Commits with their parents since all of them parted; `roots` is where that was."""

    def __init__(self, parents: Mapping[str, Sequence[str]], roots: Sequence[str]) -> None:
        self._parents = parents
        self._roots = tuple(sorted(roots))
        self._known: dict[str, set[str]] = {}

    def bases(self, one: str, other: str) -> tuple[str, ...]:
        """The best common ancestors of two commits; the roots where all they share is older than what is known."""
        shared = self._ancestors(one) & self._ancestors(other)
        if not shared:
            return self._roots
        older = {p for commit in shared for p in self._parents.get(commit, ())}
        return tuple(sorted(shared - _closure(self._parents, older)))

    def _ancestors(self, commit: str) -> set[str]:
        """The commit and its ancestors, as far as they are known."""
        if commit not in self._known:
            self._known[commit] = _closure(self._parents, {commit}) & self._parents.keys()
        return self._known[commit]


def _closure(parents: Mapping[str, Sequence[str]], commits: set[str]) -> set[str]:
    found: set[str] = set()
    left = list(commits)
    while left:
        commit = left.pop()
        if commit not in found:
            found.add(commit)
            left += parents.get(commit, ())
    return found


def conflict_lines(
    merged: str, one: str, other: str
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """The line ranges (from 1, both ends included) in each side's own file that a merged text has in conflict."""
    sides: tuple[list[tuple[list[str], str]], list[tuple[list[str], str]]] = ([], [])
    where = -1
    before = ""
    chunks: list[list[str]] = [[], []]
    for line in merged.splitlines():
        if where < 0 and line.startswith(_BEGIN):
            where, chunks = 0, [[], []]
        elif where == 0 and line == _MIDDLE:
            where = 1
        elif where == 1 and line.startswith(_END):
            for side, chunk in zip(sides, chunks, strict=True):
                side.append((chunk, before))
            where = -1
        elif where >= 0:
            chunks[where].append(line)
        else:
            before = line
    return _find(one.splitlines(), sides[0]), _find(other.splitlines(), sides[1])


def _find(lines: list[str], chunks: list[tuple[list[str], str]]) -> tuple[tuple[int, int], ...]:
    """Where each chunk stands in a file, looked for in order; one that was emptied is its neighbour's line."""
    found: list[tuple[int, int]] = []
    start = 0
    for chunk, before in chunks:
        wanted = chunk or ([before] if before else [])
        at = _index(lines, wanted, start)
        if at < 0:
            continue
        start = at + len(wanted)
        found.append((at + 1, max(at + 1, start)))
    return tuple(found)


def _index(lines: list[str], wanted: list[str], start: int) -> int:
    if not wanted:
        return 0
    for at in range(start, len(lines) - len(wanted) + 1):
        if lines[at] == wanted[0] and lines[at : at + len(wanted)] == wanted:
            return at
    return -1


def ranges_text(ranges: Sequence[Sequence[int]]) -> str:
    """Line ranges as people read them: `3, 10-14`."""
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def files_text(files: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    """Files with their lines, in a few words."""
    shown = [f"{f['path']}" + (f":{ranges_text(f['one_lines'])}" if f["one_lines"] else "") for f in files[:most]]
    return ", ".join(shown) + (f" and {len(files) - most} more" if len(files) > most else "")
