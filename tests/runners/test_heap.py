"""Memory that arrays give back stays with the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

ARRAYS = """
import resource, sys
import numpy as np
sys.path.insert(0, "")
from runners.heap import keep_freed
if sys.argv[1] == "keep" and not keep_freed():
    sys.exit(7)
def work():
    for _ in range(20):
        np.ones(1 << 20) * 2.0
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    """Return how many pages a process had to be given for arrays like those it had before."""
    done = subprocess.run(
        [sys.executable, "-c", ARRAYS, how], capture_output=True, text=True, check=False
    )
    if done.returncode == 7:
        pytest.skip("the C library has no mallopt")
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_arrays_get_the_memory_that_arrays_before_them_gave_back() -> None:
    """Pages are asked of the system once, not for every array."""
    assert faults("keep") < 40
