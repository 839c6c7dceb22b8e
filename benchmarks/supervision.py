"""What watching costs: a hook, the way of an event to a subscriber, and the daemon beside tmux alone."""

import json
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.budgets import Row
from benchmarks.scene import Scene
from benchmarks.timing import CannotMeasure, Variant, race
from woodwind.base.spool import hook_command
from woodwind.daemon.glances import round_time
from woodwind.model.brief import POINTER
from woodwind.testing.daemons import Listener, daemon_status, listening, start_daemon

QUIET_AGENT = "#!/bin/sh\nexec sleep 86400\n"
_SECOND_LOOK = 7.0
# So often tmux is measured with the daemon, and without it before, between and after.
_TURNS = 2
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Latency:
    """From an event's file to its subscriber, in milliseconds."""

    workers: int
    events: int
    p50: float
    p99: float
    goal: float = 50

    @property
    def ok(self) -> bool:
        """Whether the budget is met."""
        return self.p99 <= self.goal


@dataclass(frozen=True, slots=True)
class Load:
    """The share of one core that watching takes, in percent: tmux alone, and tmux with the daemon and its children."""

    panes: int
    doing: str
    alone: float
    watched: float
    memory: int  # of the daemon, in bytes
    goal: float  # how many times `alone`; 0 for the absolute goal of quiet panes


@dataclass(frozen=True, slots=True)
class Told:
    """A worker's id, the hook of its agent, and the terminal that it prints on."""

    id: str
    hook: str
    tty: str


def hook_cost(scene: Scene, rounds: int) -> Row:
    """One event by a hook beside a shell that does nothing, both given the event as an agent does it."""
    folder = scene.sandbox.root / "spool"
    folder.mkdir(exist_ok=True)
    payload = scene.sandbox.root / "payload"
    payload.write_text(_event("UserPromptSubmit", "p") + "x" * 500, encoding="utf-8")
    hook = hook_command(str(folder), "bench")
    variants = {
        "limit": Variant(lambda: [["/bin/sh", "-c", ":"]]),
        "hook": Variant(lambda: [["/bin/sh", "-c", hook]]),
    }
    times = race(variants, rounds, cwd=str(folder), env=scene.env, stdin=str(payload))
    if len(list(folder.iterdir())) < rounds:
        raise CannotMeasure("the hook wrote no events")
    return Row("a hook's event", times["hook"], "sh -c :", times["limit"], 3)


def workers_of(scene: Scene) -> list[Told]:
    """All workers of the scene, with what is needed to play their agents."""
    state = Path(scene.env["XDG_STATE_HOME"], "woodwind")
    with sqlite3.connect(state / "woodwind.db") as db:
        nonces = dict(db.execute("SELECT worker, nonce FROM terminal"))
    listed = scene.sandbox.tmux("list-panes", "-a", "-F", "#{@woodwind} #{pane_tty}")
    ttys = dict(line.split() for line in listed.splitlines() if line.startswith("w"))
    return [Told(w, hook_command(str(state / "workers" / w / "spool"), n), ttys[w]) for w, n in nonces.items()]


def tell(worker: Told, kind: str, prompt: str, words: str = "x") -> None:
    """Let an agent's hook tell an event."""
    subprocess.run(["/bin/sh", "-c", worker.hook], input=_event(kind, prompt, words).encode(), check=True)


def _event(kind: str, prompt: str, words: str = "x") -> str:
    return json.dumps({"hook_event_name": kind, "session_id": "s", "prompt_id": prompt, "prompt": words})


def take_briefs(scene: Scene) -> None:
    """Let every agent take its brief and be done with it, as is usual: one that never does is looked at again."""
    for worker in workers_of(scene):
        tell(worker, "UserPromptSubmit", "brief", POINTER)
        tell(worker, "Stop", "brief")


def latency(scene: Scene, count: int) -> Latency:
    """The times from the end of a hook to the new status at a subscriber: all workers in turn, at random moments."""
    workers = workers_of(scene)
    chance = random.Random(7)
    chance.shuffle(workers)
    start_daemon(scene.sandbox)
    with listening(scene.sandbox) as heard:
        _settled(heard)
        times: list[float] = []
        for n in range(count):
            worker, prompt = workers[n % len(workers)], f"prompt {n}"  # none of its history
            before = heard.last_of(worker.id, "status.changed")
            tell(worker, "UserPromptSubmit", prompt)
            times.append(_awaited(heard, worker.id, before["seq"] if before else 0))
            tell(worker, "Stop", prompt)
            time.sleep(chance.uniform(0.02, 0.08))
        times.sort()
    scene.sandbox.ww("daemon", "stop", check=True)
    return Latency(len(workers), len(times), statistics.median(times), times[int(len(times) * 0.99)])


def _settled(heard: Listener) -> None:
    """Wait until nothing has come for two seconds: what was there before is told."""
    seen, since = -1, time.monotonic()
    while time.monotonic() - since < 2:
        if len(heard.events) != seen:
            seen, since = len(heard.events), time.monotonic()
        time.sleep(0.05)


def _awaited(heard: Listener, worker: str, after: int) -> float:
    """How many milliseconds it takes from now until a worker's new status is heard of."""
    began = time.perf_counter()
    while time.perf_counter() - began < 30:
        if heard.last_of(worker, "status.changed", after=after):
            return (time.perf_counter() - began) * 1000
        time.sleep(0.0005)
    raise CannotMeasure(f"an event of {worker} never came")


def loads(scene: Scene, seconds: float = 0) -> list[Load]:
    """The share of a core that quiet and printing panes take, without the daemon and with it.

    Watching is measured for so long at a time, or for a whole round of the daemon: a shorter time has a look at
    everybody or not.
    """
    workers = workers_of(scene)
    seconds = seconds or round_time(len(workers))
    scene.sandbox.ww("forecast", cwd=scene.repo, check=True)  # a worker's first snapshot is made once
    server = int(scene.sandbox.tmux("display-message", "-p", "#{pid}"))
    found = []
    # Agents that never said anything are looked at again and again; usual ones have told where they are in a turn.
    kinds = {"quiet": "ready", "printing at their prompt": "ready", "printing at work": "working"}
    for doing, status in kinds.items():
        prompt = f"{len(workers)} {doing}"  # of its own: a turn that has ended does not begin again
        for worker in workers:
            tell(worker, "UserPromptSubmit", prompt)
            if status == "ready":
                tell(worker, "Stop", prompt)
        _require(scene, status)
        ttys = [] if doing == "quiet" else [worker.tty for worker in workers]
        daemon = start_daemon(scene.sandbox)["pid"]
        _wait_until_settled(daemon)
        alone, watched = _compared(server, daemon, ttys, seconds)
        told = daemon_status(scene.sandbox)
        if not told or told["pid"] != daemon:
            raise CannotMeasure("the daemon did not stay")
        memory = resident(daemon)
        _require(scene, status)
        scene.sandbox.ww("daemon", "stop", check=True)
        found.append(Load(len(workers), doing, alone, watched, memory, 1.5 if ttys else 0))
        if status == "working":  # whoever measures next finds everybody at the prompt
            for worker in workers:
                tell(worker, "Stop", prompt)
    return found


def _compared(server: int, daemon: int, ttys: list[str], seconds: float) -> tuple[float, float]:
    """The shares of tmux alone and of tmux with the daemon, in turns: a machine is not equally fast at all times."""
    alone, watched = [], []
    for turn in range(2 * _TURNS + 1):
        if turn % 2:
            watched.append(_share([server, daemon], ttys, seconds))
        else:
            with _held_still(daemon):
                alone.append(_share([server], ttys, seconds / 2))
    return statistics.mean(alone), statistics.mean(watched)


@contextmanager
def _held_still(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _require(scene: Scene, status: str) -> None:
    """CannotMeasure unless every worker is shown as what a row says that it does."""
    shown = scene.statuses()
    if shown != {status}:
        raise CannotMeasure(f"the workers should be {status}, and are {', '.join(sorted(shown))}")


def _wait_until_settled(pid: int) -> None:
    """A daemon's start, and the second look after it, are not what is measured."""
    time.sleep(_SECOND_LOOK)
    for _ in range(30):
        before = _cpu(pid)
        time.sleep(1)
        if (_cpu(pid) - before) / _TICKS < 0.03:
            return
    raise CannotMeasure("the daemon does not come to rest")


def _share(pids: list[int], ttys: list[str], seconds: float) -> float:
    """How much of a core these took, with their children that have ended; each terminal gets a line a second."""
    writers = [os.open(tty, os.O_WRONLY | os.O_NOCTTY) for tty in ttys]
    before, began, lines = sum(map(_cpu, pids)), time.monotonic(), 0
    try:
        while (passed := time.monotonic() - began) < seconds:
            for fd in writers[lines % 10 :: 10]:  # a tenth of them each tenth of a second
                os.write(fd, b"another line of output, as an agent would print it\r\n")
            lines += 1
            time.sleep(max(0.0, lines * 0.1 - passed))
    finally:
        for fd in writers:
            os.close(fd)
    return 100 * (sum(map(_cpu, pids)) - before) / _TICKS / (time.monotonic() - began)


def _cpu(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def resident(pid: int) -> int:
    """The resident memory of a process, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
