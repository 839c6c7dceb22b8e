"""How many processes a command starts, counted by strace."""

import re
import shutil
from pathlib import Path

from benchmarks.scene import Scene
from benchmarks.timing import CannotMeasure

_STARTED = re.compile(r"^(\d+) +execve\(.*\) = 0$", re.MULTILINE)


def started_by_new(scene: Scene) -> int | None:
    """The processes that `ww new` starts, with those that they start; None where strace is missing or forbidden.

    The placeholder and the agent are not among them: the tmux server, which runs already, starts these two.
    """
    strace = shutil.which("strace")
    if not strace:
        return None
    trace = Path(scene.env["TMPDIR"], "trace")
    words = [strace, "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", str(trace)]
    done = scene.sandbox.run(*words, *scene.new_argv(), cwd=scene.repo)
    if done.code:
        if "ptrace" in done.stderr:
            return None
        raise CannotMeasure(str(done))
    scene.drop_new()
    # One line per start; a search of PATH shows as failed ones. The first process is `ww` itself.
    return len(set(_STARTED.findall(trace.read_text(encoding="utf-8")))) - 1
