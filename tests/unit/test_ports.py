"""Blocks of ports: from a hash, whole, and shared with nobody."""

import socket

import pytest

from woodwind.model.ports import is_free, starts
from woodwind.ops.ports import _is_unused


def test_every_block_is_offered_once_beginning_with_the_same_one() -> None:
    offered = list(starts("w1", 20000, 20099, 10))
    assert sorted(offered) == list(range(20000, 20100, 10))
    assert offered == list(starts("w1", 20000, 20099, 10))
    assert len({next(starts(f"w{n}", 20000, 29999, 10)) for n in range(50)}) > 40


@pytest.mark.parametrize("first, last, size, count", [(1, 9, 10, 0), (1, 10, 10, 1), (1, 19, 10, 1), (5, 4, 1, 0)])
def test_a_block_never_leaves_the_range(first: int, last: int, size: int, count: int) -> None:
    assert len(list(starts("w", first, last, size))) == count


@pytest.mark.parametrize(
    "taken, free",
    [([], True), ([(10, 10)], True), ([(30, 5)], True), ([(20, 1)], False), ([(29, 9)], False), ([(11, 10)], False)],
)
def test_blocks_that_touch_do_not_overlap(taken: list[tuple[int, int]], free: bool) -> None:
    assert is_free(20, 10, taken) == free


def test_a_port_that_a_server_has_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not _is_unused(server.getsockname()[1])
