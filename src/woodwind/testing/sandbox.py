"""A private place to run `ww` and tmux: own home, own sockets, and nothing of the caller's but PATH."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import woodwind
from woodwind.muxes.headless import Headless

T = TypeVar("T")

# A Unix socket's path has about 100 bytes, and ours adds up to 60 to the folder's.
_LONGEST_FOLDER = 40
# Without automatic maintenance: it goes on in the background, and its locks would be taken for ours.
_GIT_CONFIG = """\
[user]
	name = Test Person
	email = test@example.invalid
[init]
	defaultBranch = main
[commit]
	gpgsign = false
[gc]
	auto = 0
"""
# Runs a command and ends as it did, but not before the terminal has answered: it answers after all that was printed.
_UNTIL_SHOWN = """\
trap : INT QUIT
"$@"
code=$?
stty -icanon -echo
printf '\\033[5n'
dd bs=1 count=4 >/dev/null 2>&1
exit $code
"""


class NotPrivate(Exception):
    """An environment that would reach the caller's own files or tmux; the message says through what."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended."""

    args: tuple[str, ...]
    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """What the command printed, decoded."""
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise ValueError(f"not JSON ({error}): {self}") from None

    def __str__(self) -> str:
        """The command and all that it said, for test failures."""
        return f"{' '.join(self.args)} ended with {self.code}\n{self.stdout}\n{self.stderr}"


def assert_private(env: Mapping[str, str], root: Path) -> None:
    """Raises NotPrivate where this environment would reach outside of the sandbox's folder."""
    inside = root.resolve()
    for name in (
        "HOME",
        "TMUX_TMPDIR",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    ):
        if not env.get(name):
            raise NotPrivate(f"{name} is not set, so its default outside of {inside} would be used")
    for name, value in env.items():
        if name in ("HOME", "TMUX_TMPDIR", "TMPDIR", "GIT_CONFIG_GLOBAL") or name.startswith("XDG_"):
            if not Path(value).resolve().is_relative_to(inside):
                raise NotPrivate(f"{name}={value} is outside of {inside}")
        elif name in ("TMUX", "TMUX_PANE"):
            raise NotPrivate(f"{name}={value} leads to a tmux server outside of {inside}")
        elif name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"):
            raise NotPrivate(f"{name}={value} leads git away from its folder")


class Sandbox:
    """A temporary home with its own tmux servers; a context manager that ends them and deletes it all."""

    def __init__(self, root: Path | None = None) -> None:
        if root is None:
            short = None if len(tempfile.gettempdir()) <= _LONGEST_FOLDER else "/tmp"
            root = Path(tempfile.mkdtemp(prefix="ww-", dir=short))
        else:
            _refuse_shared_tmux(root / "t")
            root.mkdir(parents=True)
        self.root = root.resolve()
        self.home = self.root / "home"
        self.env = self._environment()
        self._panes = 0
        _refuse_shared_tmux(Path(self.env["TMUX_TMPDIR"]))
        assert_private(self.env, self.root)

    def __enter__(self) -> Self:
        """The sandbox itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def run(
        self,
        *args: str,
        cwd: Path | None = None,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = False,
        timeout: float = 120,
    ) -> Result:
        """How any command ended that ran in the sandbox's environment, without a terminal."""
        whole = {**self.env, **(env or {})}
        assert_private(whole, self.root)
        done = subprocess.run(
            args,
            cwd=cwd or self.home,
            env=whole,
            input=input if input is not None else "",
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
        result = Result(args, done.returncode, done.stdout, done.stderr)
        if check and result.code != 0:
            raise AssertionError(str(result))
        return result

    def ww(
        self,
        *args: str,
        cwd: Path | None = None,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = False,
        timeout: float = 120,
    ) -> Result:
        """How a `ww` command ended."""
        command = (sys.executable, "-P", "-m", "woodwind", *args)  # as the program does, which looks in no folder
        return self.run(*command, cwd=cwd, input=input, env=env, check=check, timeout=timeout)

    def tmux(self, *args: str, server: str = "woodwind", input: str | None = None) -> str:
        """What a tmux command prints, on one of the sandbox's servers."""
        command = ["tmux", "-L", server, "-f", os.devnull, *args]
        return self.run(*command, input=input, check=True).stdout.removesuffix("\n")

    def user_server(self, conf: str = "") -> str:
        """The pane of a new tmux server that stands for the user's own, with this configuration."""
        path = self.home / "tmux.conf"
        path.write_text(conf, encoding="utf-8")
        command = "new-session -d -P -F #{pane_id} -s main -x 200 -y 50 cat".split()
        return self.run("tmux", "-L", "user", "-f", str(path), *command, check=True).stdout.strip()

    def run_in_pane(
        self,
        *argv: str,
        server: str = "woodwind",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (200, 50),
        until_shown: bool = False,
    ) -> str:
        """The pane in which the command now runs, in a session of its own; it stays when the command ends.

        Linux may throw away what the first process of a terminal prints in the moment of its end. With `until_shown`
        that is another one, and what the command printed last is on the screen when it has ended.
        """
        self._panes += 1
        session = f"sandbox-{self._panes}"
        extra = [word for name, value in (env or {}).items() for word in ("-e", f"{name}={value}")]
        width, height = map(str, size)
        if until_shown:
            argv = ("sh", "-c", _UNTIL_SHOWN, "sh", *argv)
        # The option must be there before the command starts, or the status of a quick one is lost; and
        # `env` in front, because tmux gives a single word to a shell.
        return self.tmux(
            *("new-session", "-d", "-s", session, "-x", width, "-y", height, "cat", ";"),
            *("set-option", "-p", "-t", f"={session}:", "remain-on-exit", "on", ";"),
            *("respawn-pane", "-k", "-t", f"={session}:", "-c", str(cwd or self.home), *extra, "env"),
            *(_literal(word) for word in argv),
            *(";", "display-message", "-p", "-t", f"={session}:", "#{pane_id}"),
            server=server,
        )

    def type_in(self, pane: str, text: str, *, enter: bool = True, server: str = "woodwind") -> None:
        """Types the text into a pane, and Enter."""
        if text:
            self.tmux("send-keys", "-t", pane, "-l", "--", _literal(text), server=server)
        if enter:
            self.press(pane, "Enter", server=server)

    def press(self, pane: str, *keys: str, server: str = "woodwind") -> None:
        """Presses keys by their tmux names, such as C-c."""
        self.tmux("send-keys", "-t", pane, *keys, server=server)

    def paste_in(self, pane: str, text: str, *, enter: bool = True, server: str = "woodwind") -> None:
        """Pastes the text of any length into a pane as a terminal would, and presses Enter."""
        self.tmux("load-buffer", "-b", "sandbox", "-", input=text, server=server)
        self.tmux("paste-buffer", "-p", "-d", "-b", "sandbox", "-t", pane, server=server)
        if enter:
            self.press(pane, "Enter", server=server)

    def screen(self, pane: str, *, history: bool = False, server: str = "woodwind") -> str:
        """The text that a pane shows, wrapped lines joined again; with `history`, all before it too."""
        start = ["-S", "-"] if history else []
        return self.tmux("capture-pane", "-p", "-J", "-t", pane, *start, server=server)

    def fact(self, pane: str, name: str, *, server: str = "woodwind") -> str:
        """What tmux knows about a pane, by the name of its format: pane_title, pane_dead_status, …"""
        return self.tmux("display-message", "-p", "-t", pane, f"#{{{name}}}", server=server)

    def exit_status(self, pane: str, *, timeout: float = 60, server: str = "woodwind") -> int:
        """The exit status of a pane's command once it has ended; a signal's number is negative."""

        def ending() -> list[str]:
            asked = "pane_dead}/#{pane_dead_status}/#{pane_dead_signal}/#{pid"
            dead, status, signalled, process = self.fact(pane, asked, server=server).split("/")
            if dead == "1" and not status and not signalled:
                # A tmux with utempter forks a helper when a terminal closes, and ignores SIGCHLD meanwhile:
                # the command's own may be lost. Any later one makes tmux collect all that have ended.
                os.kill(int(process), signal.SIGCHLD)
            return [status, signalled] if status or signalled else []

        status, name = self.wait_for(ending, timeout, f"the end of the command in {pane}")
        if status:
            return int(status)
        return -(int(name) if name.isdigit() else signal.Signals[f"SIG{name.upper()}"])

    def wait_for(self, predicate: Callable[[], T], timeout: float = 60, what: str = "the condition") -> T:
        """The first true value of the predicate; AssertionError if there was none in time."""
        end = time.monotonic() + timeout
        while not (value := predicate()):
            if time.monotonic() >= end:
                raise AssertionError(f"waited {timeout} s in vain for {what}")
            time.sleep(0.02)
        return value

    def keepers(self) -> list[int]:
        """The background processes of ww that belong to this sandbox."""
        found = []
        mine = f"XDG_STATE_HOME={self.env['XDG_STATE_HOME']}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
                if b"woodwind.daemon" in command and mine in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue  # it ended meanwhile, or is another user's
        return found

    def end_keepers(self) -> int:
        """Ends the background processes of ww that belong to this sandbox; how many there were."""
        ended = 0
        for pid in self.keepers():
            try:
                _kill_with_group(pid)
                _wait_until_gone(pid)
                ended += 1
            except OSError:
                continue  # it ended meanwhile
        return ended

    def close(self) -> None:
        """Ends the tmux servers whose sockets are in the sandbox and what runs headless, and deletes it."""
        headless = Headless(f"{self.env['XDG_STATE_HOME']}/woodwind/headless")
        for pane in headless.panes():
            headless.kill(pane)
        self.end_keepers()
        for socket in sorted(Path(self.env["TMUX_TMPDIR"]).rglob("*")):
            if stat.S_ISSOCK(socket.lstat().st_mode):
                self._end_server(socket)
        self.end_keepers()  # again: a control plane in one of the terminals has started the daemon anew
        # What a server's processes still write while they end may come in between.
        for _ in range(20):
            shutil.rmtree(self.root, ignore_errors=True)
            if not self.root.exists():
                return
            time.sleep(0.05)
        shutil.rmtree(self.root)

    def _end_server(self, socket: Path) -> None:
        command = ["tmux", "-S", str(socket)]
        listed = self.run(*command, "list-panes", "-a", "-F", "#{pane_pid} #{pane_dead}")
        processes = [int(line.split()[0]) for line in listed.stdout.splitlines() if line.endswith(" 0")]
        server = self.run(*command, "display-message", "-p", "#{pid}").stdout.strip()
        self.run(*command, "kill-server")
        if server:
            _wait_until_gone(int(server))
        for process in processes:
            _wait_until_gone(process)

    def _environment(self) -> dict[str, str]:
        folders = {
            "HOME": "home",
            "XDG_CONFIG_HOME": "home/.config",
            "XDG_STATE_HOME": "home/.local/state",
            "XDG_CACHE_HOME": "home/.cache",
            "XDG_RUNTIME_DIR": "run",
            "TMUX_TMPDIR": "t",
            "TMPDIR": "tmp",
        }
        env = {name: str(self.root / folder) for name, folder in folders.items()}
        for folder in env.values():
            Path(folder).mkdir(parents=True, mode=0o700)
        config = self.home / ".gitconfig"
        config.write_text(_GIT_CONFIG, encoding="utf-8")
        # The package under test, whether it is installed or not.
        source = str(Path(woodwind.__file__).resolve().parents[1])
        return env | {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH")))),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CONFIG_NOSYSTEM": "1",
            # A test that is about the daemon switches it on.
            "WOODWIND_DAEMON_START": "never",
        }


def _refuse_shared_tmux(folder: Path) -> None:
    theirs = Path(os.environ.get("TMUX_TMPDIR") or "/tmp")
    if folder.resolve() == theirs.resolve():
        raise NotPrivate(f"TMUX_TMPDIR would be {theirs}, where the caller's own tmux servers are")


def _literal(word: str) -> str:
    # tmux takes a semicolon at a word's end for the end of the command.
    return f"{word[:-1]}\\;" if word.endswith(";") else word


def _kill_with_group(process: int) -> None:
    """Kills a background process, and what it has started in its own group."""
    if os.getpgid(process) == process:
        os.killpg(process, signal.SIGKILL)
    else:
        os.kill(process, signal.SIGKILL)


def _wait_until_gone(process: int) -> None:
    for final, seconds in ((False, 1), (True, 5)):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not _is_alive(process):
                return
            time.sleep(0.01)
        if not final:
            # It was in a pane of our own server and does not heed the hang-up: it would outlive the test.
            os.kill(process, signal.SIGKILL)
    raise AssertionError(f"process {process} of the sandbox does not end")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        # In a container nobody may collect what has ended; it still counts as gone.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        # No /proc here, or gone a moment ago, which the next look will tell.
        return True
