"""What agents are doing: their events taken in, their terminals looked at, one verdict each. Hot: `ww ls` calls it.

What is new (events, ended turns, changed statuses) is written down by `ops/record.py`, which is loaded only then.
"""

import os
import sqlite3
import time
from collections.abc import Sequence

from woodwind.agents import registry as agents
from woodwind.agents.base import Agent
from woodwind.base import paths, spool
from woodwind.base.processes import start_time
from woodwind.model.errors import WoodwindError
from woodwind.model.reading import Reading, Seen, Tells
from woodwind.model.status import Phase, Status, from_process
from woodwind.model.turn import BRIEF, Turn
from woodwind.model.typed import NamedTuple
from woodwind.model.verdict import DRAWING, GRACE, Evidence, Reason, Verdict, judge, screen_holds
from woodwind.model.worker import HEADLESS
from woodwind.muxes.base import Pane
from woodwind.ops.context import Context
from woodwind.ops.panes import Panes, panes_for, screens_of
from woodwind.store import listing, readings, told, turns
from woodwind.store.db import Store
from woodwind.store.listing import Listed
from woodwind.store.readings import Known

# An agent that is back at its prompt for so long, without a word, does not go on with its turn.
INFER = 4000
_FEW = 20
# So often is a worker looked at, where others write down what is new about it each time: they tell it, then.
_TRIES = 3
_TELLS = {Status.READY: Tells.IDLE, Status.WORKING: Tells.WORKING, Status.ASKING: Tells.ASKING}


class Sight(NamedTuple):
    """One worker as it was found."""

    row: Listed
    pane: Pane | None
    verdict: Verdict
    since: int  # since when it has this status, in milliseconds since 1970
    turn: Turn | None  # its last one


class Change(NamedTuple):
    """A status that has changed."""

    worker: str
    before: str
    now: str
    detail: str


class _Moment(NamedTuple):
    """When a look is taken: by the machine's own clock, and by the time of day; and when its panes were listed."""

    clock: spool.Stamp
    wall: int
    listed: int

    def at(self, up: int) -> int:
        """The time of day of a moment of this boot."""
        return self.wall - (self.clock.up - up)

    def silence(self, pane: Pane) -> int:
        """For how many whole seconds a pane had printed nothing; negative where the clock was set back."""
        return self.listed // 1000 - pane.last_output - 1  # told in whole seconds, so it may be one less


def observe(ctx: Context, workers: Sequence[str] = (), listed: Panes | None = None) -> list[Change]:
    """Take in what is new of these workers, or of all in every project; return whose status has changed.

    `listed` is a list of panes that is younger than whatever happened to these workers.
    """
    few = workers if len(workers) <= _FEW else ()
    rows = [row for row in listing.rows(ctx.store, workers=few) if not workers or row.id in workers]
    before = told.of_all(ctx.store, few)
    changes = []
    for sight in look(ctx, rows, listed).values():
        was = before[sight.row.id].status if sight.row.id in before else ""
        if was != sight.verdict.status:
            changes.append(Change(sight.row.id, was, sight.verdict.status, sight.verdict.detail))
    if not workers:
        _set_strays_aside(ctx)
    return changes


def _set_strays_aside(ctx: Context) -> None:
    """Events of workers that are removed, or that nobody knows, are no evidence of anything."""
    from woodwind.ops.spool import collect  # with json 3 ms, which `ww ls` never needs

    try:
        found = set(os.listdir(os.path.dirname(paths.worker_dir("w"))))
    except FileNotFoundError:
        return
    for worker in found - {row.id for row in listing.rows(ctx.store)}:
        if spool.waiting(paths.spool_dir(worker)):
            collect(worker, None, spool.now())


def look(ctx: Context, rows: Sequence[Listed], listed: Panes | None = None) -> dict[str, Sight]:
    """What each of these workers is doing, by id; what is new about them is written down."""
    sights, overtaken = _look_once(ctx, rows, listed)
    tries = 0
    while overtaken and (tries := tries + 1) < _TRIES:
        again, overtaken = _look_once(ctx, listing.rows(ctx.store, workers=overtaken))
        sights |= again
    return sights


def _look_once(
    ctx: Context, rows: Sequence[Listed], listed: Panes | None = None
) -> tuple[dict[str, Sight], Sequence[str]]:
    """What each of these workers is doing, and about whom others wrote something down while they were looked at."""
    # The terminals before the events: an agent that tells of its end and exits is not found dead without its word.
    found = panes_for(rows, listed)
    panes = found.of
    try:
        _take_events(ctx, rows)
    except (sqlite3.OperationalError, OSError) as error:
        ctx.notes.append(f"what agents told could not be taken in, and waits in their spools: {error}")
    wall = int(time.time() * 1000)
    moment = _Moment(spool.now(), wall, found.wall or wall)
    with ctx.store.snapshot():
        stored = _stored(ctx.store, moment.clock.boot, rows)
    sights: dict[str, Sight] = {}
    news: list[_News] = []
    first = {row.id: _examined(row, panes.get(row.id), stored[row.id], moment) for row in rows}
    screens = screens_of([(row, panes[row.id]) for row in rows if first[row.id][1]])
    for row in rows:
        pane, mine = panes.get(row.id), stored[row.id]
        verdict, screen = _with_screen(row, *first[row.id], screens.get(row.id), moment)
        before = mine.told
        since = before.since if before and before.status == verdict.status else moment.at(verdict.since)
        sights[row.id] = Sight(row, pane, verdict, since, mine.turn)
        new = _News(row, pane, verdict, mine, screen)
        if row.phase != Phase.CREATING and (not before or _is_news(new, before)):
            news.append(new)
    return sights, _write_down(ctx, news, sights, moment) if news else ()


class _Stored(NamedTuple):
    """What is written down about one worker."""

    known: Known
    turn: Turn | None  # its last one
    has_open_turn: bool
    told: told.Told | None


def _stored(store: Store, boot: str, rows: Sequence[Listed]) -> dict[str, _Stored]:
    """What is written down about each of these workers, inside a transaction: all of it as of one moment."""
    # The daemon asks for single ones, often; for most of them one search for all is faster.
    few = [row.id for row in rows] if len(rows) <= _FEW else []
    known = readings.of_starts(store, boot, few)
    last = turns.last_of_each(store, few)
    open_turns = turns.open_workers(store)
    announced = told.of_all(store, few)
    return {
        row.id: _Stored(known.get(row.id, Known()), last.get(row.id), row.id in open_turns, announced.get(row.id))
        for row in rows
    }


class _News(NamedTuple):
    """A worker about whom there may be something to write down."""

    row: Listed
    pane: Pane | None
    verdict: Verdict
    stored: _Stored
    screen: Reading | None  # what its screen told just now, where it was looked at


def _take_events(ctx: Context, rows: Sequence[Listed]) -> None:
    waiting = [row for row in rows if row.phase != Phase.CREATING and spool.waiting(paths.spool_dir(row.id))]
    if not waiting:
        return
    from woodwind.ops import record  # 5 ms with json, only where an event waits

    record.take_spools(ctx, waiting, lambda name: agent_of(ctx, name))


def agent_of(ctx: Context, name: str) -> Agent | None:
    """The adapter that understands an agent's events; None where there is none any more."""
    found = agents.shared(name)
    if found:
        return found
    try:
        return agents.find(name, ctx.loaded_config.config.agents)
    except WoodwindError:
        return None


def _examined(row: Listed, pane: Pane | None, stored: _Stored, moment: _Moment) -> tuple[Verdict, Evidence | None]:
    """The verdict on a worker, with the evidence where its screen has to be looked at too."""
    try:
        verdict = _without_agent(row, pane, moment.clock.up)
        if verdict or pane is None:
            return verdict or Verdict(Status.UNKNOWN), None
        agent = agents.shared(row.agent)
        evidence = _evidence(row, pane, stored, agent, moment)
        verdict = judge(evidence)
        return verdict, evidence if _wants_screen(row, evidence, verdict, stored.has_open_turn) else None
    except (OSError, ValueError, OverflowError, TypeError) as damage:
        return _damaged(damage), None


def _damaged(damage: Exception) -> Verdict:
    return Verdict(Status.UNKNOWN, f"its row is damaged: {damage}")


def _with_screen(
    row: Listed, verdict: Verdict, evidence: Evidence | None, text: str | None, moment: _Moment
) -> tuple[Verdict, Reading | None]:
    """The verdict on a worker, and what its screen told where it was looked at: a dialog there outdoes the title."""
    if evidence is None or text is None:
        return verdict, None
    try:
        reading = _read_screen(row, text, moment)
        if reading is None:
            return verdict, None
        screen = Seen(reading, moment.clock.boot, moment.clock.up, 0, row.nonce)
        title = evidence.title if reading.tells is not Tells.ASKING else None
        return judge(evidence._replace(screen=screen, title=title)), reading
    except (OSError, ValueError, OverflowError, TypeError) as damage:
        return _damaged(damage), None


def _without_agent(row: Listed, pane: Pane | None, up: int) -> Verdict | None:
    """The status that the phase or the process alone proves; None where the agent has to be asked."""
    if row.phase == Phase.CREATING:
        return Verdict(Status.STARTING, "it is being made", up)
    if row.phase == Phase.QUEUED:
        return Verdict(Status.STARTING, "it waits for room", up)
    if row.phase == Phase.PAUSED and pane is None:
        return Verdict(Status.EXITED, "not started since it came back", up)
    proven = from_process(
        found=pane is not None,
        dead=pane.dead if pane else True,
        exit_status=pane.exit_status if pane else "",
        same_process=pane is not None and row.pid == pane.pid and _is_same(row, pane),
    )
    return Verdict(*proven, up, (Reason("process", *proven[:1], up, proven[1]),)) if proven else None


def _is_same(row: Listed, pane: Pane) -> bool:
    """Whether it was the worker's own program that was listed, also where it has ended since: how is told next time."""
    started = start_time(pane.pid)
    return started == row.pid_start or (pane.uncollected and not started)


def _evidence(row: Listed, pane: Pane, stored: _Stored, agent: Agent | None, moment: _Moment) -> Evidence:
    known, turn = stored.known, stored.turn
    silent = moment.silence(pane)
    running = moment.wall - row.started_ms
    prompted = turn is not None and turn.kind == BRIEF and turn.is_open and not turn.prompt_id
    events = known.events
    if events and agent and not agent.tells_submits and turn and turn.is_open and events[-1].reading.at < turn.begun_at:
        events = ()  # it does not tell that it took a prompt, so what it told before says nothing about this turn
    return Evidence(
        moment.clock.up,
        events,
        agent.status_from_title(pane.title) if agent else None,
        known.screen,
        # Where the clock was set back, neither can be known.
        silent_for=max(0, silent) * 1000 if silent > -3 and pane.last_output else None,
        running_for=running if running >= 0 else None,
        has_events=bool(agent and (agent.tells_submits or agent.tells_ends or agent.streams or agent.keeps_record)),
        prompted=prompted,
        queued=bool(agent and agent.queues and turn and turn.is_queued and turn.nonce == row.nonce),
    )


def _wants_screen(row: Listed, evidence: Evidence, verdict: Verdict, has_open_turn: bool) -> bool:
    """Whether only the screen can tell more, and may have changed since it was last looked at."""
    if row.launch == HEADLESS or not _has_rules(row.agent):
        return False
    screen, silent = evidence.screen, evidence.silent_for
    asked = screen is not None and screen.reading.tells is Tells.ASKING
    held = screen is not None and screen_holds(screen.up, evidence.now, silent)
    if evidence.title:  # it tells that a turn is over, and perhaps not how, nor of a dialog at the first use
        return verdict.status is Status.READY and (asked or (has_open_turn and not held))
    if held:
        return False
    if not evidence.events or verdict.status is Status.UNKNOWN:
        return True
    if verdict.status is Status.WORKING:  # a word that is newer than a moment counts whatever the screen shows
        return evidence.now - verdict.since >= GRACE and (silent is None or silent >= GRACE)
    if has_open_turn and evidence.events[-1].reading.tells is Tells.IDLE:
        return True  # how its turn ended, only the screen can tell
    return silent is None or evidence.now - silent > evidence.events[-1].up + DRAWING


def _has_rules(agent: str) -> bool:
    return os.path.exists(os.path.join(os.path.dirname(agents.__file__), "screens", f"{agent}.toml"))


def _read_screen(row: Listed, text: str, moment: _Moment) -> Reading | None:
    from woodwind.agents import screens  # 10 ms with tomllib, only where a screen has to be looked at

    rules = screens.rules_of(row.agent)
    found = screens.read(rules, text) if rules else None
    return Reading(found.tells, moment.wall, "screen", text=found.text) if found else None


def _is_news(new: _News, before: told.Told) -> bool:
    verdict = new.verdict
    if before.status != verdict.status or (before.detail != verdict.detail and verdict.status is Status.ASKING):
        return True
    if new.screen or (verdict.status is Status.ASKING and verdict.question is None):
        return True
    return new.stored.has_open_turn and verdict.status in (Status.READY, Status.EXITED, Status.UNKNOWN)


def _write_down(ctx: Context, news: list[_News], sights: dict[str, Sight], moment: _Moment) -> Sequence[str]:
    """Write down what is new, and tell it; a store that cannot be written leaves what was seen as it is.

    A verdict that was found from less than what is written down by now would be old news: those are returned.
    """
    from woodwind.ops import record  # 5 ms, only where something has changed

    rows = [new.row for new in news]
    overtaken = set()
    try:
        with ctx.store.transaction() as db:
            stored = _stored(ctx.store, moment.clock.boot, rows)
            still = {row.id: row for row in listing.rows(ctx.store, workers=[row.id for row in rows])}
            for new in news:
                if stored[new.row.id] != new.stored or still.get(new.row.id) != new.row:
                    overtaken.add(new.row.id)
                    continue
                _write_one(db, new, moment)
                said = record.announce(db, new.row, new.verdict, moment.at(new.verdict.since))
                sights[new.row.id] = sights[new.row.id]._replace(since=said.since)
            # Only these have a turn that may have ended, or a question that may have got its number.
            changed = [n.row for n in news if n.stored.has_open_turn or n.verdict.status is Status.ASKING]
            stored = _stored(ctx.store, moment.clock.boot, changed) if changed else {}
    except (sqlite3.OperationalError, OSError) as error:
        ctx.notes.append(f"what was seen of the agents could not be written down: {error}")
        return ()
    for worker in stored.keys() - overtaken:
        sight, mine = sights[worker], stored[worker]
        verdict = sight.verdict
        if verdict.status is Status.ASKING and verdict.question is None:
            verdict = verdict._replace(question=mine.known.title)
        sights[worker] = sight._replace(verdict=verdict, turn=mine.turn)
    return [worker for worker in overtaken if worker in still]


def _write_one(db: sqlite3.Connection, new: _News, moment: _Moment) -> None:
    from woodwind.ops import record

    row, verdict, known = new.row, new.verdict, new.stored.known
    agent = agents.shared(row.agent)
    title = agent.status_from_title(new.pane.title) if agent and new.pane and not new.pane.dead else None
    if new.screen:
        record.shown(db, row, moment.clock, new.screen, known.screen)
    if title and title[0] in _TELLS and (new.stored.has_open_turn or verdict.status is Status.ASKING):
        text = title[1] if title[0] is Status.ASKING else ""
        record.shown(db, row, moment.clock, Reading(_TELLS[title[0]], moment.wall, "title", text=text), known.title)
    if not new.stored.has_open_turn:
        return
    if verdict.status is Status.EXITED:
        how = new.pane.exit_status or "a status that is not known" if new.pane else ""
        record.end_turns(db, row, how=how, alone=row.launch == HEADLESS)
    elif verdict.status is not Status.READY or (new.pane and agent and record.follow_record(db, row, new.pane, agent)):
        pass
    elif _is_settled(new, agent, title, moment):
        outcome = new.screen or (known.screen.reading if _screen_counts(new, title, moment) and known.screen else None)
        record.leave_turns(db, row, agent, outcome)
    record.drop_cut_short(db, row)


def _screen_counts(new: _News, title: tuple[Status, str] | None, moment: _Moment) -> bool:
    """Whether what the screen told at an earlier look is still how it looks, where the title tells the status."""
    seen, pane = new.stored.known.screen, new.pane
    if not title or seen is None or pane is None:
        return seen is not None
    silent = max(0, moment.silence(pane)) * 1000
    return screen_holds(seen.up, moment.clock.up, silent)


def _is_settled(new: _News, agent: Agent | None, title: tuple[Status, str] | None, moment: _Moment) -> bool:
    """Whether the agent has been at its prompt, as its terminal shows, for so long that its turn is over."""
    if not new.verdict.backed or new.pane is None:
        return False
    known = new.stored.known
    events = known.events
    if events and moment.clock.up - events[-1].up < INFER:
        return False
    silent = moment.silence(new.pane) * 1000
    idle = known.title if title else known.screen
    seen_idle = idle is not None and idle.reading.tells is not Tells.WORKING and moment.clock.up - idle.up >= INFER
    return silent >= INFER or seen_idle
