"""Which agents' screens are looked at: only where they can tell something that nothing else does."""

import pytest

from woodwind.model.reading import Reading, Seen, Tells
from woodwind.model.verdict import GRACE, Evidence, judge
from woodwind.ops.observe import _wants_screen
from woodwind.store.listing import Listed

NOW = 1_000_000
ROW = Listed("", "", "", "", "rehearsal", "", "", "session", 0, "", "", "", 0, "", "", "", "", 0)

CASES = [
    ("nothing was told", None, 0, 0, True),
    ("it has just told that it works, whatever the screen shows", Tells.WORKING, 0, GRACE, False),
    ("it told that some time ago, and prints", Tells.WORKING, GRACE, 0, False),
    ("it told that some time ago, and is silent", Tells.WORKING, GRACE, GRACE, True),
    ("it told its end, and has printed nothing since", Tells.DONE, GRACE, GRACE, False),
    ("it told its end long ago, and prints", Tells.DONE, 60 * GRACE, 0, True),
]


@pytest.mark.parametrize("_, told, age, silent, wanted", CASES, ids=[case[0] for case in CASES])
def test_wanted(_: str, told: Tells | None, age: int, silent: int, wanted: bool) -> None:
    events = (Seen(Reading(told, 0, "hook", "p"), "boot", NOW - age, 1, ""),) if told else ()
    evidence = Evidence(NOW, events, silent_for=silent, running_for=NOW, has_events=True)
    verdict = judge(evidence)
    assert _wants_screen(ROW, evidence, verdict, has_open_turn=False) is wanted
