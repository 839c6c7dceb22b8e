"""When a task's agent is started afresh, instead of in its conversation."""

import pytest

from woodwind.model.turn import MESSAGE, State, Turn
from woodwind.ops.run_tasks import no_conversation

DIED = "the agent exited with status 1 in the middle of it"
CLOSED = "its terminal was closed in the middle of it"


def turn(state: State, why: str = "", prompt: str = "") -> Turn:
    return Turn("t", 1, MESSAGE, "text", state, prompt, why=why)


@pytest.mark.parametrize(
    "turns, tells, fresh",
    [
        ([], True, False),
        ([turn(State.FAILED, DIED)], True, True),  # it never took anything: no conversation can be there
        ([turn(State.INTERRUPTED, CLOSED)], True, True),
        ([turn(State.INTERRUPTED, CLOSED, "p")], True, False),
        ([turn(State.FAILED, DIED)], False, False),  # nothing is known about what it took
        ([turn(State.FAILED, DIED, "p")], True, False),
        ([turn(State.DONE, prompt="p"), turn(State.FAILED, DIED)], True, False),
        ([turn(State.FAILED, DIED, "p"), turn(State.FAILED, DIED)], True, True),  # it dies of going on
        ([turn(State.FAILED, DIED), turn(State.FAILED, DIED)], False, True),
        ([turn(State.FAILED, DIED), turn(State.DONE)], True, False),
        ([turn(State.FAILED, "API error", "p"), turn(State.FAILED, "API error")], True, False),
    ],
)
def test_an_agent_goes_on_in_its_conversation_if_there_can_be_one(turns: list[Turn], tells: bool, fresh: bool) -> None:
    assert no_conversation(turns, tells=tells) is fresh
