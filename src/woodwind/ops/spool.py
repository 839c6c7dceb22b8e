"""Taking an agent's events out of its spool: in order, each once; what cannot be used is set aside."""

import contextlib
import os
import stat
from typing import NamedTuple

from woodwind.agents.base import Agent
from woodwind.base import paths, spool
from woodwind.base.clock import now, to_ms
from woodwind.base.files import make_private_dir
from woodwind.model.reading import Reading, Seen, rank
from woodwind.model.text import clean

# A file that is not whole after this long never will be: its hook was killed.
PATIENCE = 10_000
MOST = 4 << 20
_TEXT, _WORD = 4000, 300
_KEPT_BAD = 20


class Item(NamedTuple):
    """One event in a spool, understood; `seen` is None where it tells nothing about a status."""

    path: str
    seen: Seen | None
    written: int  # nanoseconds since 1970: the finer order within a hundredth of a second


class _Unusable(Exception):
    """A file that can never become an event."""


def collect(worker: str, agent: Agent | None, clock: spool.Stamp) -> list[Item]:
    """The events in a worker's spool, in order; None for the agent sets all of them aside."""
    folder = paths.spool_dir(worker)
    items = []
    for name in spool.waiting(folder):
        try:
            item = _item(os.path.join(folder, name), name, agent, clock)
        except _Unusable:
            _set_aside(os.path.join(folder, name))
            continue
        if item:
            items.append(item)
    return sorted(items, key=lambda item: _order(item, clock.boot))


def _order(item: Item, boot: str) -> tuple[bool, int, int, int]:
    """Events from before a reboot first; then by the machine's own clock, the file's time, and what they tell."""
    seen = item.seen
    if seen is None:
        return (False, 0, item.written, 0)
    same = seen.boot == boot
    return (same, seen.up if same else item.written, item.written, rank(seen.reading.tells))


def _item(path: str, name: str, agent: Agent | None, clock: spool.Stamp) -> Item | None:
    """What one file tells; None where it is not whole yet, or was taken by another."""
    stamp = spool.stamp_of(name)
    if agent is None or stamp is None:
        raise _Unusable
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:  # a link, a socket, or not ours to read
        raise _Unusable from error
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST:
            raise _Unusable
        data = b"".join(iter(lambda: os.read(fd, MOST), b""))
    finally:
        os.close(fd)
    at = to_ms(now())
    age = clock.up - stamp.up if stamp.boot == clock.boot else at - about.st_mtime_ns // 1_000_000
    import json  # 2 ms, which `ww ls` pays only where an event waits

    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        if abs(age) > PATIENCE:
            raise _Unusable from error
        return None
    try:
        reading = agent.reading(payload, at - age) if isinstance(payload, dict) else None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _Unusable from error  # an object, but not of the kind that its agent is known to send
    if not isinstance(payload, dict):
        raise _Unusable
    seen = Seen(_safe(reading), stamp.boot, stamp.up, 0, stamp.nonce) if reading else None
    return Item(path, seen, about.st_mtime_ns)


def _safe(reading: Reading) -> Reading:
    """The reading with texts that can be stored and shown."""
    return reading._replace(
        source=clean(reading.source)[:_WORD],
        prompt_id=clean(reading.prompt_id)[:_WORD],
        session=clean(reading.session)[:_WORD],
        text=clean(reading.text).strip()[:_TEXT],
        question=clean(reading.question)[:_WORD],
        tool=clean(reading.tool)[:_WORD],
    )


def _set_aside(path: str) -> None:
    """Move what cannot be used into the folder `bad`; only the newest few are kept there."""
    folder = os.path.join(os.path.dirname(path), spool.BAD)
    make_private_dir(folder)
    with contextlib.suppress(OSError):  # another taker was faster
        os.rename(path, os.path.join(folder, os.path.basename(path)))
    kept = sorted((entry for entry in os.scandir(folder)), key=lambda e: e.stat(follow_symlinks=False).st_mtime_ns)
    for entry in kept[:-_KEPT_BAD]:
        with contextlib.suppress(OSError):
            os.unlink(entry.path)
