"""What is worked out once is what would be worked out each time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runners import oracle, spec
from tests.redteam import once_read
from tests.redteam.table import load


@pytest.mark.parametrize("effort", ["screen", "confirm"])
def test_a_job_is_that_which_is_read_of_its_text(effort: str) -> None:
    for one in load()[::97]:
        job = spec.parse(one.job(effort))
        found = once_read.parsed(one, effort)
        assert found == once_read.parsed(one.label, effort) == job
        if one.base.kind != "program":
            wanted = oracle.combinations(job.work, effort, 1)
            assert once_read.combinations(found.work, effort, 1) == wanted
            assert once_read.combinations(job.work, effort, 1) == wanted


def test_another_workload_of_the_same_name_is_asked_for_itself() -> None:
    work = once_read.parsed("softmax/base").work
    (case, *_) = work.cases
    other = replace(work, cases=(replace(case, values={k: v + 1 for k, v in case.values.items()}),))
    assert once_read.combinations(other, "confirm", 1) == oracle.combinations(other, "confirm", 1)
    assert once_read.combinations(other, "confirm", 1) != once_read.combinations(work, "confirm", 1)
