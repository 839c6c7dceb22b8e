"""A command without a network, also where the system allows only half of what that takes."""

import subprocess
import sys

import pytest

# What /proc says of the network before and after, and what was told.
TRY = """
import os
from woodwind.testing import offline
def refuse():
    raise PermissionError(1, "Operation not permitted")
if {refused}:
    offline._raise_loopback = refuse
before = os.readlink("/proc/self/ns/net")
told = offline.enter()
print(before == os.readlink("/proc/self/ns/net"), told)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no network namespaces")
@pytest.mark.parametrize("refused", [False, True])
def test_it_is_left_whole_or_not_at_all(refused: bool) -> None:
    words = [sys.executable, "-c", TRY.format(refused=refused)]
    stays, told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout.split(" ", 1)
    assert (stays == "True") == bool(told.strip()), "who cannot leave it says so, and still has it"
    assert told.strip() or not refused
