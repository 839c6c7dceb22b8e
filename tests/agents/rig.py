"""One real agent in a private place, driven as a user drives it: by `ww` commands."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.agents.setups import Setup, setup_of
from tests.agents.table import Table
from woodwind.agents.registry import built_in
from woodwind.testing.agent_programs import search_path
from woodwind.testing.model_server import ModelServer
from woodwind.testing.model_server.replies import Text
from woodwind.testing.repo import git, make_repo
from woodwind.testing.sandbox import Result, Sandbox

PATIENCE = 120


class Rig:
    """The agent, its model and its repository."""

    def __init__(self, name: str, model: ModelServer, cache: Path, table: Table) -> None:
        found = built_in(name)
        assert found
        self.name = name
        self.agent = found
        self.model = model
        self.table = table
        # On a disk: Codex's own sandbox hides what is in memory. And short, for the sockets' sake.
        self.sandbox = Sandbox(Path(tempfile.mkdtemp(prefix="wwa-", dir="/tmp")) / "s")
        self.sandbox.env["PATH"] = f"{search_path([name], cache)}{os.pathsep}{self.sandbox.env['PATH']}"
        self.home = self.sandbox.home
        self.repo = make_repo(self.home / "project", files={"README.md": "# Project\n"})
        self.setup = setup_of(name, model.url, self.home, self.repo)
        self._write(self.setup)
        if self.agent.streams:  # what it tells is heard only while the daemon listens
            self.ww("daemon", "start", check=True)

    def __enter__(self) -> Self:
        """The rig itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends everything that runs in it."""
        self.sandbox.close()
        shutil.rmtree(self.sandbox.root.parent, ignore_errors=True)

    def _write(self, setup: Setup) -> None:
        for path, text in setup.files.items():
            place = self.home / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        # Agents leave files there that outlive them.
        scratch = self.sandbox.root / "scratch"
        scratch.mkdir()
        env = {**setup.env, "TMPDIR": str(scratch)}
        config = self.home / ".config" / "woodwind" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in env.items())
        config.write_text(f"[agents.{self.name}]\nargs = {json.dumps(list(setup.args))}\nenv = {{ {pairs} }}\n")

    def ww(self, *words: str, check: bool = False) -> Result:
        """How a command ended."""
        return self.sandbox.ww(*words, cwd=self.repo, check=check, timeout=PATIENCE + 60)

    def new(self, worker: str, *lines: str, permissions: str) -> Path:
        """The worktree of a new worker whose model does what the lines say."""
        words = ("--agent", self.name, "--name", worker, "--permissions", permissions, "--json")
        made = self.ww("new", "\n".join(lines), *words, check=True).json["data"]
        return Path(made["workers"][0]["path"])

    def send(self, worker: str, *lines: str) -> None:
        """Give the agent a message, which it has taken when this returns."""
        self.ww("send", worker, "\n".join(lines), check=True)

    def wait(self, worker: str, until: str = "") -> dict[str, Any]:
        """How the worker stands when its turn has ended, or when it has the status."""
        words = ("--for", until) if until else ()
        done = self.ww("wait", worker, *words, "--timeout", str(PATIENCE), "--json")
        assert done.code in (0, 6), done
        [entry] = done.json["data"]
        assert isinstance(entry, dict)
        return entry

    def entry(self, worker: str) -> dict[str, Any]:
        """The worker as `ww ls` shows it now."""
        [found] = [entry for entry in self._entries() if entry["name"] == worker]
        return found

    def _tell_all(self) -> None:
        """Print what can be seen of every worker, for whoever reads the failure."""
        for entry in self._entries():
            print(entry)
            print(self.ww("log", entry["name"]).stdout.rstrip(), self.ww("explain", entry["name"]), sep="\n")

    def _entries(self) -> list[dict[str, Any]]:
        return list(self.ww("ls", "--json", check=True).json["data"])

    def latency(self) -> float:
        """The seconds since the model's last byte."""
        return time.time() - max((exchange.ended for exchange in self.model.exchanges), default=time.time())

    def said_at(self, words: str, seconds: float = 0.0) -> float:
        """When the model had last said these words."""
        return max(exchange.ended for exchange in self.model.exchanges if exchange.reply == Text(words, seconds))

    def turns(self, worker: str) -> list[dict[str, Any]]:
        """The worker's turns, as `ww show` tells them."""
        [shown] = self.ww("show", worker, "--json", check=True).json["data"]
        return list(shown["turns"])

    def heard(self, entry: dict[str, Any], words: str) -> None:
        """The model said these words, and Woodwind knows them."""
        said = [exchange.reply for exchange in self.model.exchanges]
        assert Text(words) in said, said[-3:]
        assert entry["turn"]["last_words"] == words, entry

    def commits(self, tree: Path) -> str:
        """The subjects of the branch's commits, newest first."""
        return git(tree, "log", "--format=%s")

    @contextmanager
    def situation(self, words: str) -> Iterator[None]:
        """One situation: what happens in it is in the table, also when it goes wrong."""
        before = len(self.table.rows)
        try:
            yield
        except BaseException as problem:
            first = str(problem).strip().splitlines()
            self.table.add(self.name, words, first[0][:60] if first else type(problem).__name__, right=False)
            self._tell_all()
            raise
        if len(self.table.rows) == before:
            self.table.add(self.name, words, "right")

    def saw(self, words: str, entry: dict[str, Any], turn: str, seconds: float | None = None) -> None:
        """Note a verdict, which has to be that the agent is ready and its turn as named."""
        state = entry["turn"]["state"] if entry["turn"] else "no turn"
        right = (entry["status"], state) == ("ready", turn)
        self.table.add(self.name, words, f"{entry['status']}, turn {state}", seconds, right=right)
        assert right, entry
