"""Everything about watching agents: measured for growing numbers of them, and shown."""

from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.budgets import WORKERS, Row
from benchmarks.scene import Scene
from benchmarks.supervision import QUIET_AGENT, Latency, Load, hook_cost, latency, loads, take_briefs
from woodwind.testing.sandbox import Sandbox

# What quiet panes may take at most, in percent; and the least load of tmux alone for which a ratio means something.
QUIET_GOAL, LEAST = 1.5, 0.3


@dataclass(slots=True)
class Watched:
    """All that was measured."""

    hook: Row | None = None
    latency: Latency | None = None
    loads: list[Load] = field(default_factory=list)


def measure_watching(scales: tuple[int, ...], *, quick: bool) -> Watched:
    """What watching costs for each number of workers."""
    found = Watched()
    with Sandbox() as sandbox:
        scene = Scene(sandbox)
        program = sandbox.home / "quiet"
        program.write_text(QUIET_AGENT, encoding="utf-8")
        program.chmod(0o755)
        config = f'[new]\nagent = "rehearsal"\n\n[agents.rehearsal]\ncommand = "{program}"\n'
        (scene.repo / "woodwind.toml").write_text(config, encoding="utf-8")
        for workers in scales:
            scene.grow(workers)
            take_briefs(scene)
            if workers == WORKERS:
                found.hook = hook_cost(scene, 20 if quick else 100)
                found.latency = latency(scene, 40 if quick else 200)
            found.loads += loads(scene, 5 if quick else 0)
    return found


def meets_goal(load: Load) -> bool:
    """Whether the budget is met; where tmux itself hardly works, the goal of quiet panes holds."""
    return load.watched <= max(QUIET_GOAL, load.goal * load.alone)


def watching_json(watched: Watched) -> dict[str, Any]:
    """The numbers."""
    hook, way = watched.hook, watched.latency
    return {
        "hook": {**asdict(hook), "ratio": hook.ratio, "ok": hook.ok} if hook else None,
        "latency": {**asdict(way), "ok": way.ok} if way else None,
        "loads": [{**asdict(load), "ok": meets_goal(load)} for load in watched.loads],
    }


def watching_text(watched: Watched) -> str:
    """The same, to read."""
    lines = ["Watching agents, in percent of one core", ""]
    for load in watched.loads:
        ratio = f"{load.watched / load.alone:.1f}×" if load.alone >= LEAST else "no ratio"
        goal = f"{load.goal:g}×, or {QUIET_GOAL:g} %" if load.goal else f"{QUIET_GOAL:g} %"
        lines.append(
            f"{load.panes:4} panes {load.doing:25} tmux alone {load.alone:5.2f}  with the daemon {load.watched:5.2f}"
            f"  ({ratio}; goal {goal}: {_verdict(meets_goal(load))})  its memory {load.memory >> 20} MB"
        )
    if watched.hook:
        hook = watched.hook
        goal = f"goal {hook.goal:g}×: {_verdict(hook.ok)}"
        lines += ["", f"A hook's event: {hook.ours.best:.1f} ms, {hook.ratio:.2f}× of {hook.limit_name} ({goal})"]
    if watched.latency:
        way = watched.latency
        told = f"p50 {way.p50:.1f} ms, p99 {way.p99:.1f} ms, of {way.events} events, {way.workers} workers"
        lines.append(f"From a hook's end to a subscriber: {told} (goal {way.goal:g} ms: {_verdict(way.ok)})")
    return "\n".join(lines)


def _verdict(ok: bool) -> str:
    return "ok" if ok else "over"
