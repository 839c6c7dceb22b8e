"""A delivery and the agent's own word about it, which come from different sides at the same time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.model.errors import TimedOut
from woodwind.model.turn import State
from woodwind.model.worker import Worker
from woodwind.ops import deliver
from woodwind.ops.context import Context
from woodwind.ops.keep_turn import keep_turn
from woodwind.ops.projects import current
from woodwind.store import turns, workers
from woodwind.testing.sandbox import Sandbox


@pytest.fixture
def ctx(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """The surroundings of a call, with a worker whose agent tells nothing by itself."""
    sandbox.ww("new", "Work", "--name", "one", cwd=repo, check=True)
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    ctx = Context(str(repo), sandbox.env)
    yield ctx
    ctx.close()


@pytest.mark.parametrize("seems_taken", [True, False])
@pytest.mark.parametrize("told", [State.RUNNING, State.DONE])
def test_what_the_agent_told_meanwhile_stays(
    ctx: Context, monkeypatch: pytest.MonkeyPatch, told: State, seems_taken: bool
) -> None:
    [worker] = workers.of_project(ctx.store, current(ctx))

    def tell(delivery: deliver._Delivery, *_: object) -> bool:
        """The agent's word comes after the turn was looked at, and before it is written down what became of it."""
        with ctx.store.transaction() as db:
            keep_turn(db, worker.project, worker.id, delivery.turn._replace(state=told, prompt_id="its-name"))
        return seems_taken

    monkeypatch.setattr(deliver, "_seems_taken", tell)
    monkeypatch.setattr(deliver, "TAKEN_PATIENCE", -1.0)
    turn = turns.find(ctx.store, deliver.deliver(ctx, worker, "Do it"))
    assert turn
    assert (turn.state, turn.prompt_id) == (told, "its-name")


def test_what_nothing_shows_to_be_taken_is_told_so(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    [worker] = workers.of_project(ctx.store, current(ctx))
    monkeypatch.setattr(deliver, "_seems_taken", lambda *_: False)
    monkeypatch.setattr(deliver, "TAKEN_PATIENCE", -1.0)
    with pytest.raises(TimedOut, match="nothing shows that the agent took it"):
        deliver.deliver(ctx, worker, "Do it")
    assert _states(ctx, worker)[-1] is State.UNKNOWN


def _states(ctx: Context, worker: Worker) -> list[State]:
    return [turn.state for turn in turns.of_worker(ctx.store.db, worker.id)]
