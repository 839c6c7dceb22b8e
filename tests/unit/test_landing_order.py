"""The order in which workers land, and how a red batch is narrowed down."""

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from woodwind.model.landing_order import Candidate, best_order, narrowed, probes, readiness


def named(*names: str, sizes: dict[str, int] | None = None) -> list[Candidate]:
    return [Candidate(n, n, age, (sizes or {}).get(n, 1), 1) for age, n in enumerate(names)]


@pytest.mark.parametrize(
    "candidates,collisions,with_target,expected,will_land",
    [
        (named("a", "b", "c"), [], [], "abc", 3),
        (named("a", "b", "c", sizes={"a": 9, "b": 1, "c": 5}), [], [], "bca", 3),
        (named("a", "b"), [("b", "a")], [], "ab", 1),
        # One that collides with two others lets these two land.
        (named("a", "b", "c"), [("b", "a"), ("c", "a")], [], "bca", 2),
        # A chain of four: two land, whichever way; the older ones.
        (named("a", "b", "c", "d"), [("b", "a"), ("c", "b"), ("d", "c")], [], "acbd", 2),
        (named("a", "b"), [], ["a"], "ba", 1),
        # Who cannot land anyway is in nobody's way.
        (named("a", "b", "c"), [("b", "a"), ("c", "a")], ["b", "c"], "abc", 1),
        ([], [], [], "", 0),
        (named("a"), [("a", "x")], [], "a", 1),
    ],
)
def test_order(
    candidates: list[Candidate],
    collisions: list[tuple[str, str]],
    with_target: list[str],
    expected: str,
    will_land: int,
) -> None:
    places = best_order(candidates, collisions, with_target)
    assert "".join(p.candidate.id for p in places) == expected
    assert sum(p.foreseen for p in places) == will_land


def test_reasons() -> None:
    places = best_order(named("a", "b", "c"), [("b", "a"), ("c", "a")])
    assert [p.reason for p in places] == [
        "lands before a, so that the fewest fall out; 1 file, 1 line",
        "lands before a, so that the fewest fall out; 1 file, 1 line",
        "collides with b, c, who lands first",
    ]


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.sampled_from(list(combinations(range(8), 2)))))
    )
)
def test_nobody_lands_on_a_collision_and_no_choice_would_land_more(case: tuple[int, set[tuple[int, int]]]) -> None:
    n, pairs = case
    edges = {(str(a), str(b)) for a, b in pairs if a < n and b < n}
    places = best_order(named(*map(str, range(n))), edges)
    assert sorted(p.candidate.id for p in places) == [str(i) for i in range(n)]
    landing = {p.candidate.id for p in places if p.foreseen}
    assert not [e for e in edges if set(e) <= landing]
    most = max(
        len(some) for size in range(n + 1) for some in combinations(map(str, range(n)), size)
        if not [e for e in edges if set(e) <= set(some)]
    )  # fmt: skip
    assert len(landing) == most


def test_many_that_collide_are_ordered_too() -> None:
    names = [f"w{n}" for n in range(60)]
    places = best_order(named(*names), [(a, b) for a, b in combinations(names, 2)])
    assert sum(p.foreseen for p in places) == 1
    assert len(places) == 60


@given(st.integers(1, 40), st.integers(1, 5), st.data())
def test_the_guilty_one_is_found_in_few_rounds(n: int, lanes: int, data: st.DataObject) -> None:
    guilty = data.draw(st.integers(1, n))
    low, high, rounds, runs = 0, n, 0, 1
    while high - low > 1:
        points = probes(low, high, lanes)
        assert points
        assert all(low < p < high for p in points)
        assert len(points) <= lanes
        low, high = narrowed(low, high, {p: p < guilty for p in points})
        rounds, runs = rounds + 1, runs + len(points)
    assert high == guilty
    if lanes == 1:
        assert runs <= n.bit_length() + 1


READY = {"phase": "running", "status": "ready", "turn": "done", "is_shell": False, "headless": False, "exit_ok": False,
         "in_place": False, "work": True}  # fmt: skip


@pytest.mark.parametrize(
    "facts,why",
    [
        ({}, ""),
        ({"turn": ""}, ""),
        ({"work": False}, "nothing to land"),
        ({"status": "working"}, "working"),
        ({"status": "asking"}, "asking"),
        ({"turn": "failed"}, "failed"),
        ({"turn": "running"}, "running"),
        ({"status": "unknown"}, "nothing is known"),
        ({"status": "unknown", "is_shell": True}, ""),
        ({"status": "exited"}, ""),
        ({"status": "exited", "headless": True}, "failed"),
        ({"status": "exited", "headless": True, "exit_ok": True}, ""),
        ({"phase": "landing"}, "landing"),
        ({"phase": "paused", "status": "exited"}, ""),
        ({"in_place": True}, "your own checkout"),
    ],
)
def test_who_is_ready(facts: dict[str, object], why: str) -> None:
    said = readiness(**{**READY, **facts})  # type: ignore[arg-type]
    assert (why in said) if why else said == ""
