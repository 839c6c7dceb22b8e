"""What a run as it stands wants done, and when it has to be looked at again. Pure.

A task's state is also the journal of what is being done about it: whoever loads a run again gets the same decisions.
"""

from woodwind.model.run import FINAL, GOOD, Decision, Group, Run, State, Task, Verb

VERBS = {
    State.STARTING: Verb.START,
    State.COLLECTING: Verb.COLLECT,
    State.LANDING: Verb.LAND,
    State.PAUSING: Verb.PAUSE,
}


def due(run: Run, now: int) -> list[Decision]:
    """All that is to be done now, whether it was begun or not; nothing for a run that stands."""
    if run.state not in ("running", "paused"):
        return []
    found = []
    for task in run.tasks.values():
        if task.attached or task.not_before > now:
            continue
        verb = VERBS.get(task.state)
        if task.state in FINAL:
            continue
        if verb:
            found.append(Decision(verb, task.id, task.delivery))
        elif run.settings.on_question == "decide" and task.question and task.answered != task.question:
            found.append(Decision(Verb.ANSWER, task.id, task.delivery))
    if run.state == "running":
        found += [Decision(Verb.FEED, group=g.id) for g in run.groups.values() if _hungry(run, g, now)]
    return found


def next_time(run: Run, now: int) -> int:
    """When the run has to be looked at again though nothing happens; 0 for never."""
    if run.state not in ("running", "paused"):
        return 0
    times = [run.breaker.open_until] + [g.not_before for g in run.groups.values() if not g.dry]
    for task in run.tasks.values():
        times.append(task.not_before if task.state not in FINAL else 0)
        if task.state is State.WORKING and not task.stopped_at:
            times.append(task.deadline)
    return min((time for time in times if time > now), default=0)


def free_lanes(run: Run, group: Group) -> list[str]:
    """The group's workers that have nothing to do. One whose task needs a person keeps it."""
    taken = {t.lane for t in run.tasks.values() if t.group == group.id and t.lane and not frees_lane(t)}
    return [lane for n in range(group.lanes) if (lane := lane_name(group.id, n)) not in taken]


def lane_name(group: str, number: int) -> str:
    """What the n-th worker of an epic is called."""
    return f"{group}#{number + 1}"


def frees_lane(task: Task) -> bool:
    """Whether a task leaves its worker to the next one."""
    return task.state in GOOD or task.state is State.DROPPED


def _hungry(run: Run, group: Group, now: int) -> bool:
    """Whether a group's tracker should be asked for more: a worker is free, and nothing waits for it."""
    if group.dry or group.not_before > now:
        return False
    if any(t.group == group.id and t.state is State.WAITING for t in run.tasks.values()):
        return False
    return bool(free_lanes(run, group))
