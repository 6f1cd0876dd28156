"""The unedited kernel's failure is told with what to do about it."""

from __future__ import annotations

import pytest

from optimizer.baseline import Baseline
from optimizer.errors import BaselineError
from optimizer.model import Kernel, Kind, Program, Status, Verdict, Workload


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(Status.TIMED_OUT, "smaller arguments"), (Status.DOES_NOT_COMPILE, "build and pass")],
)
def test_the_remedy_is_about_the_way_it_fails(status: Status, remedy: str) -> None:
    """A program that takes too long passes its own check all the same."""
    workload = Workload("main", Kind.PROGRAM, program=Program())
    failed = Verdict(status, log="what it said")
    baseline = Baseline(Kernel("main", "", "main.cu"), workload, lambda *_: failed, [])
    with pytest.raises(BaselineError, match="what it said") as caught:
        baseline.measure()
    assert remedy in caught.value.remedy
