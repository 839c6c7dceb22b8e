"""The control plane: how soon it is painted, how soon an event is on the screen, and what it costs to have it open."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.scene import Scene
from benchmarks.timing import CannotMeasure
from woodwind.model.status import Phase
from woodwind.store import events, listing, workers
from woodwind.store.db import Store, open_store

# Paints one word, and then each that comes through the pipe that it was given, where it was given one.
_BARE = """
import asyncio, os, sys
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("painted")

    def on_mount(self):
        if sys.argv[1:]:
            self.news = os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)
            asyncio.get_running_loop().add_reader(self.news, self.tell)

    def tell(self):
        self.query_one(Static).update(os.read(self.news, 100).decode())

Bare().run()
"""
_PATIENCE = 60.0
_TICK = os.sysconf("SC_CLK_TCK")
FIRST_PAINT, LATENCY_MS, QUIET_PERCENT = 2.0, 100.0, 1.0


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing that was measured. `goal` is 0 where there is none; less is better."""

    name: str
    found: float
    unit: str
    goal: float

    @property
    def ok(self) -> bool:
        """Whether the goal is met."""
        return not self.goal or self.found <= self.goal


class Terminal:
    """A program in a terminal of its own, whose output is read as it comes."""

    def __init__(self, scene: Scene, argv: list[str]) -> None:
        self._fd, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        env = {**scene.env, "WOODWIND_DAEMON_START": "auto"}
        self._process = subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=scene.repo, env=env, start_new_session=True
        )
        os.close(theirs)

    def until(self, words: bytes) -> None:
        """Read until these words were painted."""
        seen, deadline = b"", time.monotonic() + _PATIENCE
        while words not in seen:
            if not select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise CannotMeasure(f"{words!r} was not painted within {_PATIENCE:g} s")
            seen = seen[-1000:] + os.read(self._fd, 1 << 16)

    def drain(self, seconds: float, each: Callable[[], None] | None = None, pause: float = 0.1) -> float:
        """Read for so long, calling `each` now and then; the share of a core that it took, with what it called."""
        before, began = self._ticks(), time.monotonic()
        due = began
        while (now := time.monotonic()) < began + seconds:
            if each and now >= due:
                each()
                due += pause
            if select.select([self._fd], [], [], pause / 2)[0]:
                os.read(self._fd, 1 << 16)
        return (self._ticks() - before) / _TICK / (time.monotonic() - began) * 100

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys)

    def _ticks(self) -> int:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))  # its own and that of the programs that it called

    def close(self) -> None:
        """End the program."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._fd)


def control(scene: Scene, scales: tuple[int, ...], *, quick: bool) -> list[Shown]:
    """Everything that is measured about the control plane."""
    found = [_first_paint(scene, 3 if quick else 7)]
    for number in scales:
        scene.grow(number)
        found += _with_workers(scene, number, quick=quick)
    return found


def _ww(scene: Scene) -> list[str]:
    return [scene.ww, "control", "--theme", "dark"]


def _first_paint(scene: Scene, rounds: int) -> Shown:
    times: dict[str, list[float]] = {"bare": [], "ww": []}
    for _ in range(rounds):
        for name, argv, words in (
            ("bare", [scene.python, "-c", _BARE], b"painted"),
            ("ww", _ww(scene), b"woodwind"),
        ):
            began = time.perf_counter()
            terminal = Terminal(scene, argv)
            with closing(terminal):
                terminal.until(words)
                times[name].append(time.perf_counter() - began)
    ratio = min(times["ww"]) / min(times["bare"])
    return Shown("first paint, beside a bare Textual app", ratio, "×", FIRST_PAINT)


def _with_workers(scene: Scene, number: int, *, quick: bool) -> list[Shown]:
    seconds, rounds = (2.0, 15) if quick else (5.0, 300)
    with closing(open_store(str(Path(scene.env["XDG_STATE_HOME"], "woodwind", "woodwind.db")))) as store:
        one = listing.rows(store)[0]
        terminal = Terminal(scene, _ww(scene))
        with closing(terminal):
            terminal.until(b"IN FLIGHT")
            terminal.drain(2.0)  # the daemon comes up, and the preview
            quiet = terminal.drain(seconds)
            ours, bare = _latencies(scene, store, terminal, one, rounds)
            state = [False]

            def busy() -> None:
                state[0] = not state[0]
                _change(store, one, paused=state[0])

            loaded = terminal.drain(seconds, busy, 0.1)
            scrolled = terminal.drain(seconds, lambda: terminal.type(b"\x1b[B"), 1 / 30)
    return [
        Shown(f"{number} workers: quiet", quiet, "% of a core", QUIET_PERCENT),
        Shown(f"{number} workers: 10 events a second", loaded, "% of a core", 0),
        Shown(f"{number} workers: 30 keys a second", scrolled, "% of a core", 0),
        Shown(f"{number} workers: event to paint, p50", _percentile(ours, 50), "ms", 0),
        Shown(f"{number} workers: event to paint, p99", _percentile(ours, 99), "ms", LATENCY_MS),
        Shown("  a bare Textual app meanwhile, p50", _percentile(bare, 50), "ms", 0),
        Shown("  a bare Textual app meanwhile, p99", _percentile(bare, 99), "ms", 0),
    ]


def _latencies(
    scene: Scene, store: Store, terminal: Terminal, worker: Any, rounds: int
) -> tuple[list[float], list[float]]:
    """The times until an event is painted, by the control plane and by a bare app, taking turns: in milliseconds."""
    pipe = str(scene.sandbox.root / "news")
    os.mkfifo(pipe)
    other = Terminal(scene, [scene.python, "-c", _BARE, pipe])
    ours, bare = [], []
    with closing(other):
        other.until(b"painted")
        news = os.open(pipe, os.O_WRONLY)
        for n in range(rounds):
            paused = n % 2 == 0
            words = b"paused" if paused else b"ready"
            ours.append(_until_painted(terminal, words, partial(_change, store, worker, paused=paused)))
            terminal.drain(0.05)
            bare.append(_until_painted(other, words, partial(os.write, news, words)))
            terminal.drain(0.05)
        os.close(news)
    os.unlink(pipe)
    return ours, bare


def _until_painted(terminal: Terminal, words: bytes, happen: Callable[[], object]) -> float:
    began = time.perf_counter()
    happen()
    terminal.until(words)
    return (time.perf_counter() - began) * 1000


def _percentile(times: list[float], percent: int) -> float:
    return sorted(times)[len(times) * percent // 100]


def _change(store: Store, worker: Any, *, paused: bool) -> None:
    """Something happens to a worker: a change that shows in its row."""
    phase, kind = (Phase.PAUSED, "worker.paused") if paused else (Phase.RUNNING, "worker.resumed")
    with store.transaction() as db:
        workers.set_phase(db, worker.id, phase)
        events.append(db, project=worker.project, worker=worker.id, kind=kind, data={})


def control_json(found: list[Shown]) -> list[dict[str, Any]]:
    """The numbers."""
    return [{"name": s.name, "found": s.found, "unit": s.unit, "goal": s.goal, "ok": s.ok} for s in found]


def control_text(found: list[Shown]) -> str:
    """The same, to read."""
    lines = ["Control plane", ""]
    for s in found:
        goal = f"goal {s.goal:g} {s.unit}: {'ok' if s.ok else 'over'}" if s.goal else ""
        lines.append(f"{s.name:44} {s.found:8.1f} {s.unit:12} {goal}".rstrip())
    return "\n".join(lines)
