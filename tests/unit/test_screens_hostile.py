"""Screens that were made to keep the rules busy: an agent prints what it likes, and one slow look holds up the rest."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.agents import screens

FOLDER = Path(__file__).with_name("screens")
AGENTS = sorted({path.stem.partition("-")[0] for path in FOLDER.glob("*.txt")})
WIDE, MANY = 300, 40
# Of the processor's time, for the thousands of screens of one agent: they take a few seconds, and a rule that tries
# every way to divide a few lines takes for ever.
LIMIT = 60


def hostile(screen: str) -> Iterator[str]:
    """The screen with many lines after any of its own, as it is and with something at the right of a wide terminal."""
    recorded = screen.split("\n")
    for lines in (recorded, [f"{line:{WIDE}}x" for line in recorded]):
        for n, line in enumerate(lines):
            yield "\n".join([*lines[:n], *[line] * MANY, *lines[n:]])
            for again in (line, f"    {line}", f"{line} 1s 2s 3s", " " * WIDE + "x", "    1. x"):
                yield "\n".join([*lines[: n + 1], *[again] * MANY, "end"])


def look_at_all(agent: str) -> int:
    """Read every hostile screen of an agent; how many there were."""
    rules, count = screens.rules_of(agent), 0
    assert rules
    for path in sorted(FOLDER.glob(f"{agent}-*.txt")):
        for screen in hostile(path.read_text()):
            screens.read(rules, screen)
            screens.draft_of(rules, screen)
            count += 1
    return count


@pytest.mark.parametrize("agent", AGENTS)
def test_no_screen_keeps_the_rules_busy(agent: str) -> None:
    done = subprocess.run([sys.executable, __file__, agent], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert int(done.stdout) > 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    print(look_at_all(sys.argv[1]))
