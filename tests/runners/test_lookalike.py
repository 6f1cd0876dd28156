"""Contents that differ in some elements only, and are as valid as before."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runners import spec
from runners.inputs import generate
from runners.lookalike import lookalike
from tests.runners.test_judge import SCALE, _job

ARGUMENTS = [
    {"name": "x", "type": "const float*", "shape": "n"},
    {"name": "order", "type": "const int*", "shape": "n", "init": "permutation"},
    {"name": "starts", "type": "const float*", "shape": "n", "init": "sorted"},
    {"name": "y", "type": "float*", "shape": "n", "role": "output"},
    {"name": "n", "type": "int", "value": "n"},
]
JOB = spec.parse(_job(SCALE, workload={"arguments": ARGUMENTS, "cases": [{"values": {"n": 64}}]}))


@given(st.integers(0, 2**32))
def test_valid_as_before_and_never_written_to(seed: int) -> None:
    """Sorted data stay, a permutation stays one, every value is one of those that were there."""
    before = generate(JOB.work, {"n": 64.0}, 3)
    copies = {name: data.copy() for name, data in before.items()}
    made = lookalike(JOB.work, before, np.random.default_rng(seed))
    assert all(np.array_equal(before[name], copies[name]) for name in copies)
    assert np.array_equal(made["starts"], before["starts"])
    assert sorted(made["order"].view(np.int32)) == list(range(64))
    assert set(made["x"].view(np.float32)) <= set(before["x"].view(np.float32))


def test_stretches_of_all_lengths_and_halves() -> None:
    """So that some leave the first, the last, or one in eight as they were, and others do not."""
    before = generate(JOB.work, {"n": 64.0}, 3)
    rng = np.random.default_rng(1)
    told = [lookalike(JOB.work, before, rng)["x"] for _ in range(300)]
    apart = np.array([m.view(np.float32) != before["x"].view(np.float32) for m in told])
    counts = apart.sum(axis=1)
    assert {0, 1} <= set(counts)
    assert counts.max() > 40
    for kept in (np.s_[:4], np.s_[-4:], np.s_[::8], np.s_[32:33]):
        same = ~apart[:, kept].any(axis=1)
        assert (same & (counts > 0)).mean() > 0.1


def test_single_elements_and_outputs_are_left_alone() -> None:
    """There is no other value to take."""
    before = generate(JOB.work, {"n": 1.0}, 3)
    made = lookalike(JOB.work, before, np.random.default_rng(0))
    assert {name: bytes(data) for name, data in made.items()} == {
        name: bytes(data) for name, data in before.items()
    }
