"""When a task's agent is started afresh instead of in its conversation, and what is worth another try."""

import pytest

from woodwind.model.errors import MissingTool, NotFound, Refused, TimedOut, UsageError, WoodwindError
from woodwind.model.turn import MESSAGE, State, Turn
from woodwind.ops.run_tasks import no_conversation, passes

DIED = "the agent exited with status 1 in the middle of it"
CLOSED = "its terminal was closed in the middle of it"


def turn(state: State, why: str = "", prompt: str = "") -> Turn:
    return Turn("t", 1, MESSAGE, "text", state, prompt, why=why)


@pytest.mark.parametrize(
    "turns, tells, fresh",
    [
        ([], True, True),  # nothing that it was started with has ever reached it
        ([], False, True),
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


@pytest.mark.parametrize(
    "error, again",
    [
        (Refused("it has exited", code="exited"), True),  # between our look and our message
        (NotFound("it has no terminal", code="no_terminal"), True),
        (Refused("it is running already", code="running"), True),
        (Refused("its name is taken", code="name_exists"), True),
        (Refused("a lock of git's is there", code="not_writable"), True),
        (Refused("there are no free ports", code="no_ports"), True),
        (TimedOut("nothing shows that it took it", code="not_confirmed"), True),
        (WoodwindError("the tmux server is gone", code="tmux_gone"), True),
        (NotFound("the branch is not there any more", code="no_target"), False),
        (Refused("it does not have the work any more", code="target_moved"), False),
        (UsageError("the agent cannot do that", code="agent_cannot"), False),
        (MissingTool("the agent is not installed"), False),
    ],
)
def test_what_passes_is_tried_again_and_a_mistake_that_stays_is_not(error: WoodwindError, again: bool) -> None:
    assert passes(error) is again
