"""How long the original takes is read off the quickest of its runs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from runners.contents import Combination
from runners.original import Original
from runners.run import Damage, Run
from tests.runners.test_inputs import _pointer, _work


class _Stalls(Original):
    """An original whose first run stands still for a while; only what `gather` needs."""

    def __init__(self) -> None:
        self.work = _work({**_pointer(), "name": "y", "role": "output"}, n=64)
        self._twin, self._rounds = None, False
        self.runs = 0

    def moved(self, combination: Combination) -> list[Combination]:
        """Nothing is moved."""
        return []

    def _run(self, _combination: Combination, _number: int, _poison: Any = None) -> Run:
        self.runs += 1
        time.sleep(0.2 if self.runs == 1 else 0.001)
        return Run({"y": np.zeros(256, np.uint8)}, Damage(), 0.0, 1)


def test_a_host_that_stands_still_once_makes_no_kernel_slow() -> None:
    """Else nothing longer would be asked of it: its next run was taken for minutes."""
    original = _Stalls()
    gathered = original.gather(Combination({"n": 64.0}, "mixed", 1))
    assert original.runs > 1
    assert gathered.seconds < 0.05
