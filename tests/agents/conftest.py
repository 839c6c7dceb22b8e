"""Real agents in real terminals, against the scripted model: `make test-agents`."""

import os
from collections.abc import Iterator

import pytest

from tests.agents.rig import Rig
from tests.agents.table import Table
from woodwind.testing.agent_programs import cache_folder, chosen
from woodwind.testing.model_server import ModelServer

NAMES = os.environ.get("WOODWIND_TEST_AGENTS", "")
# They need programs that only `make test-agents` installs.
if not NAMES:
    collect_ignore_glob = ["test_*.py"]
TABLE = Table()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "rig" in metafunc.fixturenames:
        metafunc.parametrize("rig", chosen(NAMES.split()), indirect=True)


@pytest.fixture
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """One agent in a place of its own, with the model that it talks to."""
    with ModelServer() as model, Rig(request.param, model, cache_folder(os.environ), TABLE) as made:
        yield made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TABLE.rows:
        terminalreporter.section("agent x situation x verdict x latency")
        terminalreporter.write(TABLE.text())
