"""In which order workers land: so that the fewest fall out, and the least has to be verified again. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

# Up to so many workers that collide with each other, the best choice among them is found for certain.
_EXACT = 20


class Candidate(NamedTuple):
    """A worker that could land. `size` is how many lines it changes; `age` its place in order of creation."""

    id: str
    name: str
    age: int
    size: int = 0
    files: int = 0


class Place(NamedTuple):
    """A worker's place in the queue, and why it is there."""

    candidate: Candidate
    reason: str
    foreseen: bool = True  # whether the forecast sees it land


def best_order(
    candidates: Sequence[Candidate], collisions: Iterable[tuple[str, str]], with_target: Collection[str] = ()
) -> list[Place]:
    """The candidates in the order in which they should land.

    First those that collide with nobody who lands before them, the smallest first: a large change is the likeliest to
    break something, and what was verified before it need not be verified again. Those that will not merge come last.
    """
    by_id = {c.id: c for c in candidates}
    against: dict[str, set[str]] = {c.id: set() for c in candidates}
    for one, other in collisions:
        if one in by_id and other in by_id:
            against[one].add(other)
            against[other].add(one)
    able = {id: others - set(with_target) for id, others in against.items() if id not in with_target}
    chosen = _independent(by_id, able)
    first = sorted((by_id[id] for id in chosen), key=_small_and_old)
    rest = sorted(
        (c for c in candidates if c.id not in chosen), key=lambda c: (c.id in with_target, *_small_and_old(c))
    )
    places = [Place(c, _why_first(c, against[c.id], by_id)) for c in first]
    for c in rest:
        in_the_way = sorted(by_id[id].name for id in against[c.id] & chosen)
        why = (
            "collides with its target"
            if c.id in with_target
            else f"collides with {', '.join(in_the_way)}, who lands first"
        )
        places.append(Place(c, why, foreseen=False))
    return places


def _small_and_old(c: Candidate) -> tuple[int, int]:
    return c.size, c.age


def _why_first(c: Candidate, against: Collection[str], by_id: Mapping[str, Candidate]) -> str:
    what = f"{c.files} file{'' if c.files == 1 else 's'}, {c.size} line{'' if c.size == 1 else 's'}"
    if not against:
        return f"collides with nobody; {what}"
    return f"lands before {', '.join(sorted(by_id[id].name for id in against))}, so that the fewest fall out; {what}"


def _independent(by_id: Mapping[str, Candidate], against: Mapping[str, set[str]]) -> set[str]:
    """The largest set in which nobody collides; among equals, the older ones."""
    chosen: set[str] = set()
    left = set(against)
    while left:
        group = _group(against, next(iter(sorted(left))))
        left -= group
        found = _exact(by_id, against, group) if len(group) <= _EXACT else _greedy(by_id, against, group)
        chosen |= found
    return chosen


def _group(against: Mapping[str, set[str]], start: str) -> set[str]:
    found, left = set(), [start]
    while left:
        id = left.pop()
        if id not in found:
            found.add(id)
            left += against[id]
    return found


def _exact(by_id: Mapping[str, Candidate], against: Mapping[str, set[str]], group: set[str]) -> set[str]:
    ids = sorted(group, key=lambda id: by_id[id].age)

    def best(free: frozenset[str]) -> tuple[str, ...]:
        loners = tuple(id for id in ids if id in free and not against[id] & free)
        rest = free - set(loners)
        if not rest:
            return loners
        pivot = max((id for id in ids if id in rest), key=lambda id: len(against[id] & rest))
        taken = (pivot, *best(rest - {pivot} - against[pivot]))
        without = best(rest - {pivot})
        return loners + min((taken, without), key=lambda s: (-len(s), sum(by_id[id].age for id in s)))

    return set(best(frozenset(group)))


def _greedy(by_id: Mapping[str, Candidate], against: Mapping[str, set[str]], group: set[str]) -> set[str]:
    chosen: set[str] = set()
    free = set(group)
    while free:
        id = min(free, key=lambda id: (len(against[id] & free), by_id[id].age))
        chosen.add(id)
        free -= {id, *against[id]}
    return chosen


def probes(low: int, high: int, lanes: int) -> list[int]:
    """Which beginnings of a chain to verify next, one per lane, between one that passed and one that failed."""
    gap = high - low
    points = {low + gap * (n + 1) // (lanes + 1) for n in range(lanes)}
    return sorted(p if p > low else low + 1 for p in points if p < high) or ([low + 1] if gap > 1 else [])


def narrowed(low: int, high: int, passed: Mapping[int, bool]) -> tuple[int, int]:
    """The bounds after some beginnings were verified: the longest that passed before the first that failed."""
    high = min([high, *(n for n, ok in passed.items() if not ok)])
    low = max([low, *(n for n, ok in passed.items() if ok and n < high)])
    return low, high


def readiness(
    *, phase: str, status: str, turn: str, is_shell: bool, headless: bool, exit_ok: bool, in_place: bool, work: bool
) -> str:
    """Why a worker is not ready to land, or "" when it is."""
    if in_place:
        return "it is in your own checkout: ww merge lands it"
    if phase not in ("running", "paused", "landed"):
        return f"it is {phase}"
    if is_shell:  # nobody in it says how far it is
        return "" if work else "it has nothing to land"
    if status in ("working", "starting", "asking"):
        return f"its agent is {status}"
    if turn in ("running", "failed", "interrupted"):
        return "its last turn " + {"running": "is running", "failed": "failed"}.get(turn, "was interrupted")
    if headless and status == "exited" and not exit_ok:
        return "its agent failed"
    if status == "unknown":
        return "nothing is known about its agent"
    return "" if work else "it has nothing to land"
