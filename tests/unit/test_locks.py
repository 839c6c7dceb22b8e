"""Locks: which ones the children of a thread keep."""

import threading
from pathlib import Path

from woodwind.base.files import held_locks, lent, locked


def in_thread(seen: list[list[int]], locks: list[int]) -> None:
    seen.append(held_locks())
    with lent(locks):
        seen.append(held_locks())
    seen.append(held_locks())


def test_a_thread_gives_its_children_only_its_own_locks_and_those_that_were_lent(tmp_path: Path) -> None:
    seen: list[list[int]] = []
    with locked(str(tmp_path / "outer")), locked(str(tmp_path / "inner")):
        mine = held_locks()
        assert len(mine) == 2
        other = threading.Thread(target=in_thread, args=(seen, mine))
        other.start()
        other.join()
    # A lock of another thread may be let go, and its descriptor be another file's, before a child is started.
    assert seen == [[], mine, []]
    assert held_locks() == []


def test_a_lock_that_another_thread_lets_go_is_no_longer_ours(tmp_path: Path) -> None:
    lock = locked(str(tmp_path / "lock"))
    lock.__enter__()
    ending = threading.Thread(target=lock.__exit__, args=(None, None, None))
    ending.start()
    ending.join()
    assert held_locks() == []
