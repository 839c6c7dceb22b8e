"""The budgets: each command against the bare limit, and how many times the limit it may take."""

from dataclasses import dataclass

from benchmarks.processes import started_by_new
from benchmarks.scene import Scene
from benchmarks.timing import Timing, Variant, race

WORKERS = 50
MOST_PROCESSES = 12


@dataclass(frozen=True, slots=True)
class Row:
    """One command beside its limit. `goal` is 0 where there is none."""

    name: str
    ours: Timing
    limit_name: str
    limit: Timing
    goal: float

    @property
    def ratio(self) -> float:
        """How many times the limit it takes, at best."""
        return self.ours.best / self.limit.best

    @property
    def median_ratio(self) -> float:
        """How many times the limit it takes, at the median."""
        return self.ours.median / self.limit.median

    @property
    def ok(self) -> bool:
        """Whether the budget is met."""
        return not self.goal or self.ratio <= self.goal


@dataclass(frozen=True, slots=True)
class Processes:
    """How many processes `ww new` starts; None when it could not be counted."""

    found: int | None
    goal: int = MOST_PROCESSES

    @property
    def ok(self) -> bool:
        """Whether the budget is met, as far as it is known."""
        return self.found is None or self.found <= self.goal


def start_up(scene: Scene, rounds: int) -> list[Row]:
    """`ww --version` and `ww ls` beside the interpreter alone, with the workers that are there."""
    pass_ = [scene.python, "-I", "-c", "pass"]
    variants = {
        "limit": Variant(lambda: [pass_]),
        "version": Variant(lambda: [[scene.ww, "--version"]]),
        "ls": Variant(lambda: [[scene.ww, "ls"]]),
    }
    times = race(variants, rounds, cwd=str(scene.repo), env=scene.env)
    limit = ("python -I -c pass", times["limit"])
    return [Row("ww --version", times["version"], *limit, 3), Row("ww ls", times["ls"], *limit, 5)]


def everyday(scene: Scene, rounds: int) -> list[Row]:
    """Completion and the list of agents beside the interpreter; a message beside bare tmux.

    `ww send` waits 0.3 s before Enter, because some agents lose one that comes at once: that is part of its time.
    """
    variants = {
        "limit": Variant(lambda: [[scene.python, "-I", "-c", "pass"]]),
        "names": Variant(lambda: [[scene.ww, "__names"]]),
        "configured": Variant(lambda: [[scene.ww, "__agents"]]),
        "agents": Variant(lambda: [[scene.ww, "agents"]]),
        "keys": Variant(
            lambda: [[scene.tmux, "-L", "woodwind", "send-keys", "-t", "=project-stand-worker:", "hello", "Enter"]]
        ),
        "send": Variant(lambda: [[scene.ww, "send", "stand-worker", "hello"]]),
    }
    times = race(variants, rounds, cwd=str(scene.repo), env=scene.env)
    limit = ("python -I -c pass", times["limit"])
    return [
        Row("completion of a name", times["names"], *limit, 3),
        Row("completion of an agent", times["configured"], *limit, 3),
        Row("ww agents", times["agents"], *limit, 0),
        Row("ww send", times["send"], "tmux send-keys", times["keys"], 0),
    ]


def creation(scene: Scene, rounds: int) -> Row:
    """`ww new` beside git and tmux called bare, in the same repository and on the same tmux server."""
    variants = {"limit": scene.bare_new(), "new": scene.command_new()}
    times = race(variants, rounds, cwd=str(scene.repo), env=scene.env)
    return Row("ww new", times["new"], "git worktree add + tmux new-session", times["limit"], 5)


def processes(scene: Scene) -> Processes:
    """What `ww new` starts."""
    return Processes(started_by_new(scene))
