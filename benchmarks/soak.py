"""The soak: many agents under random events for minutes, with the daemon killed now and then: `make soak`.

200 real agents do not fit on a small machine. Here every worker is real (worktree, pane, process, spool), its program
sleeps, and one driver plays all agents: it runs each worker's own hook command with the events of random turns. What
was told is known, so every status and every turn can be checked. In the first half the daemon is killed each minute; in
the second half it lives on, and must not grow.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.scene import Scene
from benchmarks.supervision import QUIET_AGENT, Told, resident, workers_of
from woodwind.testing.daemons import ON, Listener, daemon_status, listening, start_daemon
from woodwind.testing.sandbox import Sandbox

# So often everything stops until what is shown can be compared with what was told; and so often the daemon is killed.
CHECK_EVERY, KILL_EVERY = 20.0, 60.0
PATIENCE = 60.0
MOST_GROWTH = 1.15
# What may be shown of a worker before it has told anything.
UNTOLD = ("starting", "unknown", "ready")


class Wrong(Exception):
    """A status or a turn that is not what was told."""


@dataclass(slots=True)
class Part:
    """One agent as the driver plays it: where it is in its turn, and what its turns came to."""

    worker: Told
    status: str = "unknown"
    prompt: str = ""
    turns: int = 0
    outcomes: dict[str, str] = field(default_factory=dict)
    statuses: list[str] = field(default_factory=list)  # all that it had

    def next_event(self, chance: random.Random) -> dict[str, str]:
        """The next event of a plausible turn."""
        event = self._next(chance)
        self.statuses.append(self.status)
        return event

    def _next(self, chance: random.Random) -> dict[str, str]:
        if self.status in ("ready", "unknown"):
            self.turns += 1
            self.prompt = f"{self.worker.id}-{self.turns}"
            self.status = "working"
            return self._event("UserPromptSubmit", prompt=f"task {self.prompt}")
        kind = chance.choices(("PreToolUse", "PermissionRequest", "Stop", "StopFailure"), (5, 1, 3, 1))[0]
        if self.status == "asking" or kind == "PreToolUse":
            kind = "PostToolUse" if self.status == "asking" else "PreToolUse"
            self.status = "working"
            return self._event(kind, tool_name="Bash")
        if kind == "PermissionRequest":
            self.status = "asking"
            return self._event(kind, question=f"may it, {self.prompt}?", tool_name="Bash")
        self.status = "ready"
        self.outcomes[self.prompt] = "turn.done" if kind == "Stop" else "turn.failed"
        said = f"said {self.prompt}"
        return self._event(kind, **({"last_assistant_message": said} if kind == "Stop" else {"error": said}))

    def _event(self, kind: str, **facts: str) -> dict[str, str]:
        return {"hook_event_name": kind, "session_id": self.worker.id, "prompt_id": self.prompt, **facts}


@dataclass(frozen=True, slots=True)
class Report:
    """What a soak came to."""

    workers: int
    seconds: float
    events: int
    turns: int
    checks: int
    kills: int
    memory_before: int
    memory_after: int


def soak(box: Sandbox, count: int, seconds: float, rate: float, say: Callable[[str], None], seed: int = 1) -> Report:
    """Play that many agents for so long; Wrong at the first status or turn that is not what was told."""
    scene = Scene(box)
    program = box.home / "quiet"
    program.write_text(QUIET_AGENT, encoding="utf-8")
    program.chmod(0o755)
    config = f'[new]\nagent = "rehearsal"\n\n[agents.rehearsal]\ncommand = "{program}"\n'
    (scene.repo / "woodwind.toml").write_text(config, encoding="utf-8")
    say(f"making {count} workers")
    scene.grow(count)
    parts = [Part(worker) for worker in workers_of(scene)]
    chance = random.Random(seed)
    started = start_daemon(box, **ON)
    events = checks = kills = 0
    memory: list[int] = []
    began = last_check = last_kill = time.monotonic()
    with listening(box) as heard:
        while time.monotonic() - began < seconds:
            part = chance.choice(parts)
            payload = json.dumps(part.next_event(chance)).encode()
            subprocess.run(["/bin/sh", "-c", part.worker.hook], input=payload, check=True)
            events += 1
            time.sleep(chance.uniform(0, 2 / rate))
            if time.monotonic() - last_check >= CHECK_EVERY:
                _check(scene, heard, parts)
                memory.append(resident(_daemon(box, started)))
                checks, last_check = checks + 1, time.monotonic()
                say(f"{events} events, {checks} checks, {memory[-1] >> 20} MB")
            if time.monotonic() - last_kill >= min(KILL_EVERY, seconds / 3) and time.monotonic() - began < seconds / 2:
                os.kill(_daemon(box, started), signal.SIGKILL)
                kills, last_kill = kills + 1, time.monotonic()
                memory.clear()  # of the next one, from its first check to its last
        _check(scene, heard, parts)
    memory.append(resident(_daemon(box, started)))
    if memory[-1] > MOST_GROWTH * memory[0]:
        raise Wrong(f"the daemon grew from {memory[0]} to {memory[-1]} bytes")
    turns = sum(len(part.outcomes) for part in parts)
    return Report(count, time.monotonic() - began, events, turns, checks + 1, kills, memory[0], memory[-1])


def _daemon(box: Sandbox, before: dict[str, Any]) -> int:
    """The process of the daemon that is there now; after a kill, the subscriber starts the next one."""
    found = box.wait_for(lambda: daemon_status(box), PATIENCE, "a daemon")
    return int((found or before)["pid"])


def _check(scene: Scene, heard: Listener, parts: list[Part]) -> None:
    """Compare what is shown, which must be right at once, and what was heard so far with what was told."""
    if problems := _statuses(scene, parts):
        raise Wrong("; ".join(problems[:5]))
    deadline = time.monotonic() + PATIENCE
    while problems := [*_turns(heard, parts), *_last_heard(heard, parts)]:
        if time.monotonic() > deadline:
            raise Wrong("; ".join(problems[:5]))
        time.sleep(0.2)
    if problems := _changes(heard, parts):
        raise Wrong("; ".join(problems[:5]))


def _statuses(scene: Scene, parts: list[Part]) -> list[str]:
    listed = json.loads(scene.sandbox.run(scene.ww, "ls", "--json", cwd=scene.repo, check=True).stdout)["data"]
    shown = {worker["id"]: worker["status"] for worker in listed}
    told = {part.worker.id: part.status for part in parts if part.turns}
    return [f"{w} is {status} and shown as {shown.get(w)}" for w, status in told.items() if shown.get(w) != status]


def _heard_of(heard: Listener) -> dict[str, list[str]]:
    """The statuses of each worker that were heard of, in order."""
    found: dict[str, list[str]] = {}
    for event in heard.events:
        if event["kind"] == "status.changed":
            found.setdefault(event["worker"], []).append(event["data"]["to"])
    return found


def _last_heard(heard: Listener, parts: list[Part]) -> list[str]:
    """What was heard of last is what holds now."""
    last = {worker: statuses[-1] for worker, statuses in _heard_of(heard).items()}
    told = {part.worker.id: part.status for part in parts if part.turns}
    return [f"{w} is {status} and was heard of as {last.get(w)}" for w, status in told.items() if last.get(w) != status]


def _changes(heard: Listener, parts: list[Part]) -> list[str]:
    """No status was heard of that the worker did not have by then: some are passed over, none comes out of order."""
    found = _heard_of(heard)
    wrong = []
    for part in parts:
        left = iter((*UNTOLD, *part.statuses))
        if not all(status in left for status in found.get(part.worker.id, [])):
            wrong.append(f"{part.worker.id} was heard of as {found[part.worker.id]}, and was {part.statuses}")
    return wrong


def _turns(heard: Listener, parts: list[Part]) -> list[str]:
    """Every turn that ended was heard of once, with its outcome and its words."""
    found: dict[str, list[str]] = {}
    for event in heard.events:
        words = event["data"].get("last_words") or event["data"].get("error") or ""
        if event["kind"] in ("turn.done", "turn.failed") and words.startswith("said "):
            found.setdefault(words.removeprefix("said "), []).append(event["kind"])
    told = {prompt: [kind] for part in parts for prompt, kind in part.outcomes.items()}
    wrong = [prompt for prompt in told | found if told.get(prompt) != found.get(prompt)]
    return [f"the turn {prompt} was {told.get(prompt)} and heard of as {found.get(prompt)}" for prompt in wrong]


def main() -> int:
    """Run it; 1 when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--workers", type=int, default=200, help="how many agents (200)")
    parser.add_argument("--minutes", type=float, default=10, help="for how long (10)")
    parser.add_argument("--rate", type=float, default=40, help="events a second over all agents (40)")
    args = parser.parse_args()
    with Sandbox() as box:
        try:
            report = soak(box, args.workers, args.minutes * 60, args.rate, _say)
        except (Wrong, AssertionError) as error:
            sys.stderr.write(f"soak: {error}\n{Path(box.env['XDG_STATE_HOME'], 'woodwind', 'daemon.log').read_text()}")
            return 1
    print(report)
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
