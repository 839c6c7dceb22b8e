"""The soak in a short form; `make soak` is the long one."""

import os

import pytest

from benchmarks.soak import soak
from woodwind.testing.sandbox import Sandbox


@pytest.mark.skipif(os.environ.get("WOODWIND_FAULTS") != "long", reason="the long form: make faults")
def test_agents_under_random_events_are_shown_as_they_are(sandbox: Sandbox) -> None:
    report = soak(sandbox, 20, 90, 20, lambda text: None)
    assert report.turns > 50
    assert report.kills == 1
