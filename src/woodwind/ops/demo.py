"""`ww demo`: the main job for real, with scripted agents, in a place of its own that touches nothing of the user's."""

import os
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from woodwind.agents.rehearsal import Rehearsal
from woodwind.git import branches, worktrees
from woodwind.model.errors import TimedOut
from woodwind.model.landing import LandRequest
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.create import create
from woodwind.ops.forecast import forecast
from woodwind.ops.free_names import Request
from woodwind.ops.listing import list_workers
from woodwind.ops.log import log
from woodwind.ops.projects import current
from woodwind.ops.ship import ship
from woodwind.testing.repo import sample_project
from woodwind.testing.sandbox import Sandbox

_TASKS = [
    """Fix greetings: names lose their capital letter

    rehearse: say Looking at chimes/greet.py
    rehearse: think 0.6
    rehearse: replace chimes/greet.py name.lower() => name
    rehearse: run python3 -m unittest -q
    rehearse: commit Keep the capital letter of a name
    rehearse: say Fixed: greet() keeps the name as it was given.
    """,
    """Add a farewell for the end of the day

    rehearse: say A new module, and a test for it
    rehearse: think 0.9
    rehearse: write chimes/farewell.py def farewell(name: str) -> str:\\n    return f"Good night, {name}!"\\n
    rehearse: write tests/test_farewell.py import unittest\\n\\nfrom chimes.farewell import farewell\\n\\n\\nclass Farewell(unittest.TestCase):\\n    def test_names_the_person(self) -> None:\\n        self.assertEqual(farewell("Ada"), "Good night, Ada!")\\n
    rehearse: run python3 -m unittest -q
    rehearse: commit Add a farewell
    rehearse: say Done, with a test.
    """,  # noqa: E501
    """Translate the greetings

    rehearse: say Reading the greetings
    rehearse: think 0.4
    rehearse: ask Translate them to French first?
    rehearse: write docs/translation.md # Translation\\n\\nFrench first: {answer}\\n
    rehearse: commit Note the order of translations
    rehearse: say Written down.
    """,
    """Shout the greetings, so that they are heard

    rehearse: say The same line as somebody else, without knowing it
    rehearse: think 0.3
    rehearse: replace chimes/greet.py name.lower() => name.upper()
    rehearse: commit Shout the name
    rehearse: say Louder now.
    """,
]
# For whoever looks on: one that is still at work.
_ENDLESS = """Count all the bells of the town

rehearse: say This will take a while
rehearse: run ls chimes
rehearse: think 3600
"""
_SETTINGS = '[new]\nagent = "rehearsal"\n\n[verify]\ncommand = "python3 -m unittest -q"\n'
_LANDS = 1  # the farewell
SETTLED = ("ready", "asking", "exited")


class Demo:
    """A running demonstration: its folder, its project and its workers."""

    def __init__(self, box: Sandbox, repo: str, ctx: Context) -> None:
        self.box = box
        self.repo = repo
        self.ctx = ctx
        self.workers: list[Worker] = []

    def start(self, say: Callable[[str], None]) -> None:
        """Start workers on real tasks."""
        for task in _TASKS:
            worker = self._start(task)
            self.workers.append(worker)
            say(f"started {worker.name} on {worker.worktree.branch}")

    def start_endless(self) -> None:
        """Start one more, which works until the demonstration ends."""
        self._start(_ENDLESS)

    def _start(self, task: str) -> Worker:
        return create(self.ctx, current(self.ctx), Request(task, permissions="auto"), Rehearsal())

    def collisions(self) -> list[str]:
        """Who would collide with whom, a line each."""
        found = forecast(self.ctx, current(self.ctx))["collisions"]
        return [f"{c['name']} collides with {c['with']} in {', '.join(f['path'] for f in c['files'])}" for c in found]

    def land_one(self) -> str:
        """Ship a worker: merged, verified with the project's own tests, landed, put away."""
        done = ship(self.ctx, self.workers[_LANDS], LandRequest(commit_dirty=True, keep=False))
        return f"{done['name']} landed in {done['target']}, after `{done['command']}` passed on the merged result"

    def come_back(self) -> None:
        """Go on after another program had the project."""
        self.ctx = Context(self.repo, os.environ, person=self.ctx.person)

    def settle(self, patience: float = 60) -> list[dict[str, Any]]:
        """The list of workers once each is ready or asks something."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            listed: list[dict[str, Any]] = list_workers(self.ctx).data
            if listed and all(w["status"] in SETTLED for w in listed):
                return listed
            time.sleep(0.1)
        raise TimedOut(f"the demo's workers did not settle within {patience:g} seconds", hint="Try again with --keep.")

    def report(self) -> list[dict[str, Any]]:
        """What each worker committed, and its last words."""
        out = []
        here = {entry["id"] for entry in list_workers(self.ctx).data}
        for worker in self.workers:
            if worker.id not in here:
                out.append({"name": worker.name, "commits": [], "last_words": []})  # landed, or put away by the person
                continue
            admin = worktrees.admin_of(self.ctx.repo.common, worker.worktree.path)
            commits = branches.commits_since(admin, worker.worktree.base_commit)
            words = [line for line in log(self.ctx, worker, lines=30).splitlines() if line.strip()]
            out.append({"name": worker.name, "commits": [c["subject"] for c in commits], "last_words": words[-6:]})
        return out

    def environment_file(self) -> str:
        """A file that a shell can read to look at a kept demo."""
        path = os.path.join(str(self.box.root), "env")
        with open(path, "w", encoding="utf-8") as file:
            for name in ("HOME", "TMUX_TMPDIR", *(n for n in self.box.env if n.startswith(("XDG_", "GIT_")))):
                file.write(f"export {name}={shlex.quote(self.box.env[name])}\n")
            file.write(f"unset TMUX; cd {shlex.quote(self.repo)}\n")
        return path


@contextmanager
def demo_place(ctx: Context, *, keep: bool) -> Iterator[Demo]:
    """A private place with a sample repository; it is removed at the end unless it is to be kept."""
    box = Sandbox()
    try:
        path = sample_project(box.home / "chimes")
        (path / "woodwind.toml").write_text(_SETTINGS, encoding="utf-8")
        (path / ".git" / "info" / "exclude").write_text("woodwind.toml\n", encoding="utf-8")
        repo = str(path)
        terminal = os.environ.get("TERM", "xterm-256color")
        for name in [n for n in os.environ if n.startswith(("TMUX", "WOODWIND_", "GIT_", "XDG_"))]:
            del os.environ[name]
        os.environ.update(box.env, TERM=terminal)
        if ctx.person:  # who looks on wants it live
            del os.environ["WOODWIND_DAEMON_START"]
        # Its steps are not told one by one: what came of them is, a line each.
        yield Demo(box, repo, Context(repo, os.environ, person=ctx.person))
    finally:
        if not keep:
            box.close()
