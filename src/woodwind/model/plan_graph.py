"""A plan's graph as lines of text."""

from collections.abc import Mapping, Sequence

from woodwind.model.plan import Plan


def levels(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """For each task, how many have to land one after the other before it can start. The graph has no cycle."""
    found: dict[str, int] = {}
    stack = list(reversed(list(parents)))
    while stack:
        name = stack[-1]
        missing = [parent for parent in parents[name] if parent not in found]
        if missing:
            stack += missing
            continue
        found[name] = 1 + max((found[parent] for parent in parents[name]), default=-1)
        stack.pop()
    return found


def draw(plan: Plan, marks: Mapping[str, str] | None = None) -> list[str]:
    """A tree: each task below the last of those that it waits for, with the others named behind it.

    `marks` puts a text, such as its state, before each task's title.
    """
    depth = levels({task.id: task.depends_on for task in plan.tasks})
    children: dict[str, list[int]] = {}
    roots: list[int] = []
    for n, task in enumerate(plan.tasks):
        if task.depends_on:
            last = max(task.depends_on, key=lambda parent: depth[parent])
            children.setdefault(last, []).append(n)
        else:
            roots.append(n)
    rows: list[tuple[str, str]] = []
    stack: list[tuple[int, str, str]] = [(n, "", "") for n in reversed(roots)]
    while stack:
        n, own, below = stack.pop()
        task = plan.tasks[n]
        last = max(task.depends_on, key=lambda parent: depth[parent], default="")
        others = [parent for parent in task.depends_on if parent != last]
        also = f"  (and after {', '.join(others)})" if others else ""
        mark = f"{marks[task.id]}  " if marks else ""
        rows.append((own + task.id, f"{mark}{task.title}{also}"))
        mine = children.get(task.id, [])
        for at, child in reversed(list(enumerate(mine))):
            end = at == len(mine) - 1
            stack.append((child, below + ("└─ " if end else "├─ "), below + ("   " if end else "│  ")))
    wide = min(48, max((len(name) for name, _ in rows), default=0))
    return [f"{name:<{wide}}  {rest}" for name, rest in rows]


def summary(plan: Plan) -> dict[str, int]:
    """How many tasks there are, how long the longest chain is, and how many can run at once at most."""
    depth = levels({task.id: task.depends_on for task in plan.tasks})
    by_level: dict[int, int] = {}
    for level in depth.values():
        by_level[level] = by_level.get(level, 0) + 1
    return {
        "tasks": len(plan.tasks),
        "longest_chain": max(depth.values(), default=-1) + 1,
        "most_at_once": min(plan.max_concurrent, max(by_level.values(), default=0)),
    }
