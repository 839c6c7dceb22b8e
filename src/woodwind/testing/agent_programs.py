"""The real agents for tests, installed from npm by name and exact version into a cache folder outside of any clone.

    python -m woodwind.testing.agent_programs claude codex pi

The versions are those that the adapters were checked with. Where a package cannot be had, it fails and says why.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from woodwind.agents.registry import built_in

NODE = "22.23.3"
PACKAGES = {
    "node": "node",
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "pi": "@earendil-works/pi-coding-agent",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
ALWAYS = ("claude", "codex", "pi")
ALL = (*ALWAYS, "gemini", "opencode")
_TIMEOUT = 600


class CannotInstall(Exception):
    """A package that could not be installed; the message says which and why."""


def chosen(words: Sequence[str]) -> tuple[str, ...]:
    """The agents that are meant: by their names, `all`, or those that are always tested."""
    if not words:
        return ALWAYS
    if "all" in words:
        return ALL
    if unknown := sorted(set(words) - set(ALL)):
        raise CannotInstall(f"no package is known for {', '.join(unknown)}: choose from {', '.join(ALL)}, or all")
    return tuple(words)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where the programs are kept."""
    given = environ.get("WOODWIND_AGENTS_CACHE")
    if given:
        return Path(given).absolute()
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "woodwind-agents"


def version_of(name: str) -> str:
    """The version that is installed."""
    agent = built_in(name)
    return NODE if agent is None else agent.checked


def place_of(name: str, cache: Path) -> Path:
    """The folder of one program, which is there only when it is complete."""
    return cache / f"{name}-{version_of(name)}"


def bin_of(name: str, cache: Path) -> Path:
    """The folder with the program itself."""
    return place_of(name, cache) / "node_modules" / ".bin"


def search_path(names: Sequence[str], cache: Path) -> str:
    """A PATH on which the programs are, with the Node that they need."""
    return os.pathsep.join(str(bin_of(name, cache)) for name in ("node", *names))


def install(names: Sequence[str], environ: Mapping[str, str]) -> Path:
    """Install what is missing; return the cache folder. Two at once do not disturb each other."""
    cache = cache_folder(environ)
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install("node", cache, environ)
        # Most of the time goes by in waiting for the network.
        with ThreadPoolExecutor(max_workers=4) as pool:
            list(pool.map(lambda name: _install(name, cache, environ), names))
    return cache


def _install(name: str, cache: Path, environ: Mapping[str, str]) -> None:
    if place_of(name, cache).is_dir():
        return
    print(f"Installing {PACKAGES[name]} {version_of(name)} into {cache} ...", flush=True)
    npm = shutil.which("npm", path=environ.get("PATH"))
    if not npm:
        raise CannotInstall(f"{name} cannot be installed: there is no npm on PATH")
    # Beside its place, and renamed when it works: a half-installed program is never found.
    aside = cache / f".{name}-{os.getpid()}"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    # Under an older Node, npm would quietly take older versions of what the agents need.
    path = os.pathsep.join(filter(None, (str(bin_of("node", cache)) if name != "node" else "", environ.get("PATH"))))
    wanted = f"{PACKAGES[name]}@{version_of(name)}"
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(aside), wanted]
    env = {**environ, "PATH": path}
    try:
        _run(command, env, aside, f"npm could not install {wanted}")
        told = _run([str(aside / "node_modules" / ".bin" / name), "--version"], env, aside, f"{wanted} does not run")
        if version_of(name) not in told.replace("v", " ").split():
            raise CannotInstall(f"npm was asked for {wanted} and installed {told.strip()!r}")
        aside.rename(place_of(name, cache))
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _run(command: list[str], env: Mapping[str, str], folder: Path, problem: str) -> str:
    # An agent that is asked for its version may write into its home.
    env = {**env, "HOME": str(folder)} if command[-1] == "--version" else env
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{problem}: {error}") from error
    if done.returncode != 0:
        raise CannotInstall(f"{problem}:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def main() -> int:
    """Install the agents that are named; 1 and a message where one cannot be had."""
    try:
        cache = install(chosen(sys.argv[1:]), os.environ)
    except CannotInstall as problem:
        print(f"agent_programs: {problem}", file=sys.stderr)
        return 1
    print(f"The agents are in {cache}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
