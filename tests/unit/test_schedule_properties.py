"""The scheduler with random graphs, failures, storms, crashes and people: what must hold whatever happens."""

from __future__ import annotations

import random

from hypothesis import given, settings, strategies as st

from woodwind.model.decisions import due, next_time
from woodwind.model.run import (
    ACTIVE,
    FINAL,
    GOOD,
    Decision,
    Group,
    Happened,
    Rule,
    Run,
    Settings,
    State,
    Task,
    Verb,
    What,
)
from woodwind.model.schedule import step


class World:
    """Stands for agents, git and tracker: does decisions, and is repeatable where a decision is repeated."""

    def __init__(self, run: Run, seed: int, *, trouble: float, people: bool) -> None:
        self.run, self.now = run, 1_000
        self.dice = random.Random(seed)
        self.trouble, self.people = trouble, people
        self.made: dict[str, int] = {}
        self.landed: list[str] = []
        self.unfed = dict.fromkeys(run.groups, 4)

    def does(self, decision: Decision) -> list[Happened]:
        task, kind = decision.task, self.dice.random()
        hit = kind < self.trouble
        if decision.verb is Verb.FEED:
            return self._feeds(decision.group, hit)
        if decision.verb is Verb.START:
            if hit:
                what = What.LATER if kind > self.trouble / 2 else What.FAILED
                hopeless = kind < self.trouble / 6
                return [Happened(what, task, decision.delivery, text="it could not be started", hopeless=hopeless)]
            self.made[task] = self.made.get(task, 0) + 1
            return [Happened(What.STARTED, task, decision.delivery, worker=f"w-{task}", turn=f"t{decision.delivery}")]
        if decision.verb is Verb.COLLECT:
            commits = 0 if hit else 1
            nothing = hit and self.dice.random() < 0.3
            closed = self.dice.random() > self.trouble
            return [Happened(What.COLLECTED, task, decision.delivery, commits=commits, nothing=nothing, closed=closed)]
        if decision.verb is Verb.LAND:
            if task in self.landed:  # found as done already
                return [Happened(What.LANDED, task, decision.delivery, commit="c")]
            if hit:
                what = What.LATER if kind > self.trouble / 2 else What.FAILED
                return [Happened(what, task, decision.delivery, text="it could not be landed")]
            self.landed.append(task)
            return [Happened(What.LANDED, task, decision.delivery, commit="c")]
        if decision.verb is Verb.PAUSE:
            return [Happened(What.PAUSED, task, decision.delivery)]
        return [Happened(What.ANSWERED, task, decision.delivery, text=self.run.tasks[task].question)]

    def _feeds(self, group: str, hit: bool) -> list[Happened]:
        if hit:
            return [Happened(What.LATER, group=group, text="the tracker is down")]
        count = min(self.unfed[group], self.dice.randrange(3))
        first = self.unfed[group]
        self.unfed[group] -= count
        tasks = tuple(
            Task(f"{group}-{first - n}", group=group, timeout=60 if self.trouble else 0, retries=1)
            for n in range(count)
        )
        return [Happened(What.ADDED, group=group, tasks=tasks)]

    def agents(self) -> list[Happened]:
        """What agents and people do meanwhile."""
        heard = []
        for task in self.run.tasks.values():
            if task.state is State.READY and self.dice.random() < 0.5:
                heard.append(Happened(What.LANDED, task.id, commit="by a person"))
            if task.state is not State.WORKING:
                if task.attached and self.dice.random() < 0.5:
                    heard.append(Happened(What.DETACHED, task.id))
                continue
            kind = self.dice.random()
            if kind < self.trouble:
                storm = self.dice.choice(("", "", "usage", "api"))
                heard.append(Happened(What.FAILED, task.id, task.delivery, text="no", storm=storm))
            elif self.people and kind < self.trouble + 0.2:
                pairs = (What.ATTACHED, What.DETACHED), (What.ASKING, What.SETTLED)
                begin, end = self.dice.choice(pairs)
                on = task.attached if begin is What.ATTACHED else bool(task.question)
                heard.append(Happened(end if on else begin, task.id, text="q" if not on else ""))
            elif kind < 0.8:
                heard.append(Happened(What.DONE, task.id, task.delivery, text="all done"))
        if self.dice.random() < 0.3:  # an event that is repeated, or about a delivery long ago
            heard += [event._replace(delivery=max(1, event.delivery - 1)) for event in heard if event.delivery]
        return heard

    def check(self) -> None:
        tasks = self.run.tasks.values()
        active = [t.id for t in tasks if t.state in ACTIVE and not t.closing]
        assert len(active) <= self.run.settings.cap, active
        for task in tasks:
            if task.state not in (State.WAITING, State.BLOCKED, State.DROPPED):
                assert all(self.run.tasks[p].state in GOOD for p in task.after), task
        lanes = [t.lane for t in tasks if t.lane and t.state not in FINAL and not t.closing]
        assert len(lanes) == len(set(lanes)), lanes

    def live(self, most: int = 2000) -> int:
        """Rounds until the run is finished; each may crash between any two steps, which loses only what was in mind."""
        for n in range(most):
            before = {t.id: t.state for t in self.run.tasks.values() if t.state in FINAL}
            heard = self.agents()
            self.run, decisions = step(self.run, heard, self.now)
            self.check()
            assert step(self.run, [], self.now)[0] == self.run, "another look changes nothing"
            assert {i: self.run.tasks[i].state for i in before} == before, "a final state stays"
            if self.run.state == "finished":
                assert not due(self.run, self.now)
                return n
            if self.dice.random() < 0.3:  # killed: all that was decided is found again
                assert due(self.run, self.now) == decisions
                kept = [d for d in decisions if self.dice.random() < 0.5]
                for lost in set(decisions) - set(kept):
                    if self.dice.random() < 0.5:  # done, and nobody wrote it down
                        self.does(lost)
                decisions = kept
            for decision in decisions:
                self.run, _ = step(self.run, self.does(decision), self.now)
                self.check()
            later = next_time(self.run, self.now)
            self.now = later if later and self.dice.random() < 0.5 else self.now + self.dice.randrange(1, 30_000)
        raise AssertionError({t.id: (t.state, t.why) for t in self.run.tasks.values() if t.state not in FINAL})


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Task]:
    count = draw(st.integers(1, 14))
    tasks = {}
    for n in range(count):
        parents = draw(st.sets(st.integers(0, n - 1), max_size=3)) if n else set()
        timeout, retries = draw(st.sampled_from((0, 20, 1800))), draw(st.integers(0, 2))
        tasks[f"t{n}"] = Task(f"t{n}", tuple(f"t{p}" for p in sorted(parents)), timeout=timeout, retries=retries)
    return tasks


@settings(max_examples=150, deadline=None)
@given(
    graphs(),
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.sampled_from((0.0, 0.1, 0.3)),
    st.booleans(),
    st.sampled_from((Rule.LAND, Rule.PERSON, Rule.NEVER)),
    st.booleans(),
)
def test_every_plan_comes_to_its_end(
    tasks: dict[str, Task], seed: int, cap: int, trouble: float, people: bool, rule: Rule, close: bool
) -> None:
    if not trouble:
        tasks = {name: task._replace(timeout=0) for name, task in tasks.items()}
    how = Settings(cap=cap, rule=rule, on_question="decide" if seed % 2 else "wait", close_run=close)
    world = World(Run(how, tasks), seed, trouble=trouble, people=people)
    world.live()
    states = {t.id: t.state for t in world.run.tasks.values()}
    assert set(states.values()) <= FINAL
    if not trouble and not people:
        assert set(states.values()) <= GOOD
    for name, task in tasks.items():
        if states[name] is State.BLOCKED:
            assert any(states[p] not in GOOD for p in task.after)
        elif states[name] is not State.DROPPED:
            assert all(states[p] in GOOD for p in task.after)
    assert len(world.landed) == len(set(world.landed))
    if rule is Rule.LAND:
        assert {i for i in states if states[i] is State.LANDED} <= set(world.landed)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 4), st.sampled_from((0.0, 0.1, 0.3)), st.booleans())
def test_every_loop_comes_to_its_end(seed: int, lanes: int, epics: int, trouble: float, by_epic: bool) -> None:
    groups = {f"E{n}": Group(f"E{n}", lanes) for n in range(epics)}
    how = Settings(cap=50, rule=Rule.NEVER if by_epic else Rule.LAND, tracked=True, close_groups=by_epic)
    world = World(Run(how, {}, groups), seed, trouble=trouble, people=False)
    world.live()
    assert {t.state for t in world.run.tasks.values()} <= FINAL
    if not trouble:
        assert all(left <= 4 for left in world.unfed.values())
        assert {t.state for t in world.run.tasks.values()} <= GOOD


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(0, 10_000), st.lists(st.integers(1, 12), max_size=6))
def test_stop_and_resume_in_a_loop_lose_nothing(tasks: dict[str, Task], seed: int, stops: list[int]) -> None:
    world = World(Run(Settings(cap=3), tasks), seed, trouble=0.1, people=False)
    for rounds in stops:
        for _ in range(rounds):
            world.run, decisions = step(world.run, world.agents(), world.now)
            for decision in decisions:
                world.run, _ = step(world.run, world.does(decision), world.now)
            world.now += 5_000
        if world.run.state == "finished":
            break
        stopped, decisions = step(world.run, [Happened(What.STOP)], world.now)
        assert stopped.state == "stopped"
        assert not decisions
        world.run, _ = step(stopped, [Happened(What.RESUME)], world.now)
        world.check()
    world.live()
    assert {t.state for t in world.run.tasks.values()} <= FINAL
