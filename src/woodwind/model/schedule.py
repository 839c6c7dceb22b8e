"""The scheduler: what happened and the time, in; the run as it then stands and what is to be done, out. Pure."""

from collections.abc import Iterable, Iterator

from woodwind.model.decisions import VERBS, due, free_lanes, frees_lane
from woodwind.model.run import (
    ACTIVE,
    FINAL,
    GOOD,
    Breaker,
    Decision,
    Group,
    Happened,
    Rule,
    Run,
    State,
    Task,
    What,
)

# Three errors of the agents' service within five minutes are a storm.
_STORM_COUNT = 3
_STORM_MS = 5 * 60_000
_MOST_STORMS = 12
_MOST_TRIES = 12
_SHORTEST_WAIT = 1_000
_LONGEST_WAIT = 5 * 60_000
_FIRST_BREAK = 60_000
_LONGEST_BREAK = 60 * 60_000
_GRACE = 5 * 60_000
# By the run, or by a person at any time.
_MAY_LAND = (State.STARTING, State.WORKING, State.COLLECTING, State.LANDING, State.READY)


def step(run: Run, events: Iterable[Happened], now: int) -> tuple[Run, list[Decision]]:
    """The run after these events at this time, and all that is to be done about it now."""
    work = _Work(run, now)
    for event in events:
        work.take(event)
    work.settle()
    after = work.result()
    return after, due(after, now)


def _wait(tries: int, shortest: int, longest: int) -> int:
    return min(longest, shortest << min(tries, 20))


class _Work:
    """One step, on copies."""

    def __init__(self, run: Run, now: int) -> None:
        self.run = run
        self.now = now
        self.settings = run.settings
        self.tasks = dict(run.tasks)
        self.groups = dict(run.groups)
        self.breaker = run.breaker
        self.state = run.state
        self.why = run.why

    def result(self) -> Run:
        return Run(self.settings, self.tasks, self.groups, self.breaker, self.state, self.why)

    def _put(self, task: Task, **changes: object) -> Task:
        changed = task._replace(**changes)  # type: ignore[arg-type]
        if changed.state is not task.state:
            changed = changed._replace(since=self.now)
        self.tasks[task.id] = changed
        return changed

    # What happened.

    def take(self, event: Happened) -> None:
        if event.what in (What.HOLD, What.STOP, What.RESUME):
            self._command(event)
        elif event.what is What.WIDENED:
            self._widened(event)
        elif event.what is What.ADDED or (event.what is What.LATER and event.group):
            self._fed(event)
        elif (task := self.tasks.get(event.task)) and not (event.delivery and event.delivery != task.delivery):
            self._on_task(task, event)

    def _command(self, event: Happened) -> None:
        if event.what is What.HOLD:
            self.state, self.why = ("paused" if self.state == "running" else self.state), event.text
        elif event.what is What.STOP:
            self.state, self.why = ("stopped" if self.state in ("running", "paused") else self.state), event.text
        else:
            self._resume(event.text)

    def _resume(self, message: str) -> None:
        """Go on: with what was cut short, and once more with what had failed."""
        was = self.state
        self.state, self.why, self.breaker = "running", "", Breaker()
        for name, group in self.groups.items():
            self.groups[name] = group._replace(dry=False, not_before=0, tries=0, why="")
        for task in list(self.tasks.values()):
            if task.state is State.BLOCKED:
                self._put(task, state=State.WAITING, why="")
            elif task.state in (State.FAILED, State.TIMED_OUT):
                if task.closing:
                    self._put(task, state=State.LANDING, why="", not_before=0, tries=0)
                else:  # it takes its place in the line again
                    tell = (message or "go_on") if task.worker else ""
                    self._put(task, state=State.WAITING, tell=tell, storms=0, tries=0, reminded=False, why="")
            elif task.state is State.WORKING and (was == "stopped" or message):
                self._start(task, tell=message or "go_on")
            elif task.state is State.STARTING and task.worker and (was == "stopped" or message):
                # What it was being told may have reached it, and been cut short by the stop: it is told anew.
                self._start(task, tell=message or task.tell or "go_on")
            elif task.state is State.HELD:
                self._put(task, not_before=0)

    def _widened(self, event: Happened) -> None:
        group = self.groups.get(event.group, Group(event.group))
        self.groups[event.group] = group._replace(lanes=max(group.lanes, event.lanes), dry=False)
        workers = sum(known.lanes for known in self.groups.values())
        self.settings = self.settings._replace(cap=max(self.settings.cap, workers))
        self.state = "running" if self.state == "finished" else self.state

    def _fed(self, event: Happened) -> None:
        group = self.groups.get(event.group)
        if group is None:
            return
        if event.what is What.LATER:
            wait = _wait(group.tries, _SHORTEST_WAIT, _LONGEST_WAIT)
            changed = group._replace(not_before=self.now + wait, tries=group.tries + 1, why=event.text)
        else:
            fresh = [task for task in event.tasks if task.id not in self.tasks]
            for task in fresh:
                self.tasks[task.id] = task._replace(since=self.now)
            changed = group._replace(dry=not fresh, not_before=0, tries=0, why="")
        self.groups[event.group] = changed

    def _on_task(self, task: Task, event: Happened) -> None:
        what, state = event.what, task.state
        if what in (What.ATTACHED, What.DETACHED, What.ASKING, What.SETTLED):
            self._presence(task, event)
        elif what is What.ANSWERED:
            self._put(task, answered=event.text, tries=0, why="")
        elif what is What.LATER and (state in VERBS or (state is State.WORKING and task.question)):
            self._later(task, event)
        elif what is What.DROPPED and state not in FINAL:
            self._put(task, state=State.DROPPED, why=event.text)
            self._probe_over(task)
        elif what is What.STARTED and state is State.STARTING:
            end = self.now + task.timeout * 1000 if task.timeout else 0
            begun = {"worker": event.worker, "turn": event.turn, "deadline": end, "stopped_at": 0, "question": ""}
            self._put(task, state=State.WORKING, tries=0, not_before=0, why="", tell="", **begun)
        elif what is What.DONE and state in (State.STARTING, State.WORKING, State.PAUSING):
            self._service_is_back()
            worker = event.worker or task.worker
            told = {"worker": worker, "words": event.text, "tell": "", "question": ""}
            self._put(task, state=State.COLLECTING, storms=0, tries=0, not_before=0, **told)
        elif what is What.COLLECTED and state is State.COLLECTING:
            self._collected(task, event)
        elif what is What.LANDED and state in _MAY_LAND:
            self._put(task, state=State.LANDED, commit=event.commit, why="", tries=0, question="")
            self._probe_over(task)
            self._awaken("" if task.closing else task.group)
        elif what is What.UNDONE and state is State.LANDED and task.closing:
            self._put(task, state=State.FAILED, why=event.text)
        elif what is What.PAUSED and state is State.PAUSING:
            self._put(task, state=State.TIMED_OUT, why=event.text or "it took longer than its timeout")
            self._probe_over(task)
        elif what is What.FAILED and state in (State.STARTING, State.WORKING, State.COLLECTING, State.LANDING):
            self._failed(task, event)

    def _presence(self, task: Task, event: Happened) -> None:
        """A task's clock stands still while it asks, or a person is at its terminal."""
        if task.state in FINAL:
            return
        changed = task._replace(
            attached={What.ATTACHED: True, What.DETACHED: False}.get(event.what, task.attached),
            question={What.ASKING: event.text, What.SETTLED: ""}.get(event.what, task.question),
        )
        if changed.state is State.PAUSING and changed.attached:  # once they leave, it gets a moment more
            changed = changed._replace(state=State.WORKING, since=self.now, deadline=self.now + _GRACE, why="")
        stands = changed.attached or bool(changed.question)
        if stands and not changed.stopped_at:
            changed = changed._replace(stopped_at=self.now)
        elif not stands and changed.stopped_at:
            gained = self.now - changed.stopped_at
            end = changed.deadline + gained if changed.deadline else 0
            changed = changed._replace(deadline=end, stopped_at=0)
        self.tasks[task.id] = changed

    def _later(self, task: Task, event: Happened) -> None:
        if task.tries >= _MOST_TRIES and not event.patient:
            self._give_up(task, event.text, event.output)
            return
        wait = _wait(task.tries, _SHORTEST_WAIT, _LONGEST_WAIT)
        self._put(task, tries=task.tries + 1, not_before=self.now + wait, why=event.text)

    def _collected(self, task: Task, event: Happened) -> None:
        task = self._put(task, commits=event.commits, tries=0)
        if self.settings.tracked and not event.closed:
            if task.reminded:
                self._give_up(task, event.text or "its ticket is still open, though it was reminded")
            else:
                self._start(self._put(task, reminded=True), tell="remind")
        elif event.commits == 0 and (event.nothing or event.closed):
            self._put(task, state=State.NOTHING, why="there was nothing to do")
            self._awaken(task.group)
        elif event.commits == 0:
            self._failed(task, event._replace(text="it ended without a commit"))
        elif self.settings.rule is Rule.LAND:
            self._put(task, state=State.LANDING, not_before=0)
        elif self.settings.rule is Rule.PERSON:
            self._put(task, state=State.READY, why="it waits for you to ship it")
        else:
            self._put(task, state=State.DONE)
            self._awaken(task.group)

    def _awaken(self, group: str) -> None:
        """A closed ticket may have made others ready."""
        if group in self.groups:
            self.groups[group] = self.groups[group]._replace(dry=False)

    def _failed(self, task: Task, event: Happened) -> None:
        if event.storm and task.storms < _MOST_STORMS:
            self._storm(task, event)
            return
        self._probe_over(task)
        if event.hopeless or task.closing or task.attempt > task.retries:
            self._give_up(task, event.text, event.output)
            return
        self._start(self._put(task, attempt=task.attempt + 1, why=event.text, output=event.output), tell="retry")

    def _give_up(self, task: Task, why: str, output: str = "") -> None:
        self._probe_over(task)
        self._put(task, state=State.FAILED, why=why, output=output or task.output, question="")

    def _start(self, task: Task, *, tell: str) -> None:
        self._put(task, state=State.STARTING, delivery=task.delivery + 1, tell=tell, not_before=0, tries=0, question="")

    # The breaker.

    def _storm(self, task: Task, event: Happened) -> None:
        """The service failed, not the task: no retry is used up, and when it goes on so, everything waits."""
        wait = _wait(task.storms, _FIRST_BREAK // 4, _FIRST_BREAK)
        if event.storm == "gone":
            wait = _wait(task.storms, _SHORTEST_WAIT, _FIRST_BREAK)
        self._put(task, state=State.HELD, storms=task.storms + 1, why=event.text, not_before=self.now + wait)
        if event.storm == "gone":
            return
        recent = (*(at for at in self.breaker.errors if self.now - at < _STORM_MS), self.now)
        again = self.breaker.probe == task.id
        breaker = self.breaker._replace(errors=recent[-_STORM_COUNT:], probe="" if again else self.breaker.probe)
        if event.storm == "usage" or again or len(recent) >= _STORM_COUNT:
            end = self.now + _wait(breaker.opened, _FIRST_BREAK, _LONGEST_BREAK)
            if event.until > self.now:
                end = max(end, min(event.until, self.now + 24 * _LONGEST_BREAK))
            breaker = breaker._replace(
                open_until=max(end, breaker.open_until), opened=breaker.opened + 1, why=event.text
            )
        self.breaker = breaker

    def _service_is_back(self) -> None:
        self.breaker = Breaker()

    def _probe_over(self, task: Task) -> None:
        """The task that tried the service failed for a reason of its own: the service is there."""
        if self.breaker.probe == task.id:
            self.breaker = Breaker()

    def _may_start(self) -> Iterator[bool]:
        """Whether another task may be started, asked for one after the other."""
        active = sum(task.state in ACTIVE and not task.closing for task in self.tasks.values())
        while True:
            half_open = self.breaker.opened > 0
            shut = half_open and (self.now < self.breaker.open_until or bool(self.breaker.probe))
            yield active < self.settings.cap and not shut
            active += 1

    # What follows from the time and from what stands.

    def settle(self) -> None:
        """Let the time pass, block what cannot be done any more, start what can, and see whether all is over."""
        if self.state not in ("running", "paused"):
            return
        for task in list(self.tasks.values()):
            late = task.deadline and self.now >= task.deadline and not task.stopped_at
            if task.state is State.WORKING and late:
                self._put(task, state=State.PAUSING, not_before=0, tries=0, why="it took longer than its timeout")
        self._block()
        self._go_on_with_held()
        if self.state == "running":
            self._start_waiting()
            self._close()
            self._finish()

    def _block(self) -> None:
        """Those that wait for a task which did not land, or for workers that all wait for a person."""
        for group in self.groups.values():
            mine = [t for t in self.tasks.values() if t.group == group.id and not t.closing]
            stuck = {t.lane for t in mine if t.state in (State.FAILED, State.TIMED_OUT)}
            for task in mine if len(stuck) == group.lanes else ():
                if task.state is State.WAITING and not task.lane:
                    self._put(task, state=State.BLOCKED, why=f"the worker of {group.id} needs you first")
        bad = {t.id for t in self.tasks.values() if t.state in FINAL and t.state not in GOOD}
        if not bad:
            return
        changed = True
        while changed:
            changed = False
            for task in list(self.tasks.values()):
                failed = [parent for parent in task.after if parent in bad]
                if task.state is State.WAITING and failed:
                    self._put(task, state=State.BLOCKED, why=f"{failed[0]} did not land")
                    bad.add(task.id)
                    changed = True

    def _go_on_with_held(self) -> None:
        """Those that the breaker held keep their places; when it lets them, they are told to go on."""
        held = [t for t in self.tasks.values() if t.state is State.HELD and t.not_before <= self.now and not t.attached]
        for task in sorted(held, key=lambda t: t.since):
            if self.breaker.opened:
                if self.now < self.breaker.open_until or self.breaker.probe:
                    return
                self.breaker = self.breaker._replace(probe=task.id)
            self._start(task, tell="go_on")

    def _start_waiting(self) -> None:
        """The oldest first, as far as there are places and, in a loop, free workers."""
        lanes = {g.id: free_lanes(self.result(), g) for g in self.groups.values()}
        may = self._may_start()
        for task in sorted(self.tasks.values(), key=lambda t: t.since) if self._any_waiting() else ():
            if task.state is not State.WAITING or task.not_before > self.now or not self._parents_landed(task):
                continue
            if task.group and not task.lane and not lanes.get(task.group):
                continue
            if not next(may):
                return
            if self.breaker.opened:
                self.breaker = self.breaker._replace(probe=task.id)
            lane = task.lane or (lanes[task.group].pop(0) if task.group else "")
            self._start(self._put(task, attempt=1, lane=lane), tell=task.tell)

    def _any_waiting(self) -> bool:
        return any(task.state is State.WAITING for task in self.tasks.values())

    def _parents_landed(self, task: Task) -> bool:
        return all(self.tasks[parent].state in GOOD for parent in task.after)

    def _close(self) -> None:
        """The run's own last landings: of each worker of a group that is through, or of the run's branch."""
        if self.settings.close_groups:
            for group in self.groups.values():
                mine = [t for t in self.tasks.values() if t.group == group.id]
                if group.dry and all(frees_lane(t) for t in mine):
                    for lane in sorted({t.lane for t in mine if t.commits and t.lane}):
                        self._close_with(f"land {lane}", group=group.id, lane=lane)
        states = {t.state for t in self.tasks.values()}
        if self.settings.close_run and State.LANDED in states and states <= GOOD:
            self._close_with("ship the branch")

    def _close_with(self, name: str, *, group: str = "", lane: str = "") -> None:
        if name not in self.tasks:
            worker = next((t.worker for t in self.tasks.values() if t.lane == lane and t.worker), "") if lane else ""
            self.tasks[name] = Task(
                name, group=group, lane=lane, worker=worker, closing=True, state=State.LANDING, since=self.now
            )

    def _finish(self) -> None:
        over = all(task.state in FINAL for task in self.tasks.values())
        fed = all(group.dry or not free_lanes(self.result(), group) for group in self.groups.values())
        if over and fed:
            self.state = "finished"
