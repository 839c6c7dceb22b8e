"""Commands timed against each other: interleaved, so that a busy moment of the machine hits all of them."""

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Argv = list[str]
WARM_UP = 2


class CannotMeasure(Exception):
    """A command that should have worked did not, so that its time would mean nothing."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one variant, in milliseconds."""

    best: float
    median: float


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the things to compare: commands that run one after the other, and what to do untimed after them."""

    commands: Callable[[], Sequence[Argv]]
    tidy: Callable[[], None] = lambda: None


def race(
    variants: Mapping[str, Variant], rounds: int, *, cwd: str, env: Mapping[str, str], stdin: str = os.devnull
) -> dict[str, Timing]:
    """The times of all variants over `rounds` rounds, after some that do not count; each reads the file `stdin`."""
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for n in range(WARM_UP + rounds):
        for name, variant in variants.items():
            commands = variant.commands()
            began = time.perf_counter()
            for argv in commands:
                run_quietly(argv, cwd=cwd, env=env, stdin=stdin)
            if n >= WARM_UP:
                taken[name].append((time.perf_counter() - began) * 1000)
            variant.tidy()
    return {name: Timing(min(times), statistics.median(times)) for name, times in taken.items()}


def run_quietly(argv: Argv, *, cwd: str, env: Mapping[str, str], stdin: str = os.devnull) -> None:
    """Run a command in `cwd` without output, as cheaply as this can be done; CannotMeasure when it fails."""
    given = os.open(stdin, os.O_RDONLY)
    null = os.open(os.devnull, os.O_WRONLY)
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(cwd)  # posix_spawn has no folder of its own, and a shell in between would be timed too
        actions = [(os.POSIX_SPAWN_DUP2, fd, n) for n, fd in enumerate((given, null, null))]
        pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    finally:
        os.fchdir(here)
        for fd in (here, given, null):
            os.close(fd)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise CannotMeasure(f"{' '.join(argv)} ended with {code}")
