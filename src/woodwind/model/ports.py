"""Blocks of ports: where a worker's may begin, from a hash, so that it would get the same one again."""

from binascii import crc32
from collections.abc import Iterator, Sequence


def starts(seed: str, first: int, last: int, size: int) -> Iterator[int]:
    """Every place where a block of `size` ports fits between `first` and `last`, beginning with the seed's own."""
    count = (last - first + 1) // size if size > 0 else 0
    own = crc32(seed.encode()) % count if count > 0 else 0
    for n in range(count):
        yield first + (own + n) % count * size


def is_free(start: int, size: int, taken: Sequence[tuple[int, int]]) -> bool:
    """Whether a block shares no port with any of the (start, size) that are taken."""
    return all(start + size <= other or other + count <= start for other, count in taken)
