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
    """Sorted data stay sorted, a permutation stays one, every value is one of those that were there."""
    before = generate(JOB.work, {"n": 64.0}, 3)
    copies = {name: data.copy() for name, data in before.items()}
    made = lookalike(JOB.work, before, np.random.default_rng(seed))
    assert all(np.array_equal(before[name], copies[name]) for name in copies)
    starts = made["starts"].view(np.float32)
    assert (starts[:-1] <= starts[1:]).all()
    assert set(starts) <= set(before["starts"].view(np.float32))
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
        same = ~apart[counts > 0][:, kept].any(axis=1)
        assert same.mean() > 0.1


def test_single_elements_and_outputs_are_left_alone() -> None:
    """There is no other value to take."""
    before = generate(JOB.work, {"n": 1.0}, 3)
    made = lookalike(JOB.work, before, np.random.default_rng(0))
    assert {name: bytes(data) for name, data in made.items()} == {
        name: bytes(data) for name, data in before.items()
    }


def test_numbers_that_ascend_are_taken_for_sorted_only_where_something_is_kept() -> None:
    """They may be offsets into another array: the first and the last stay as they are."""
    argument = {"name": "x", "type": "const int*", "shape": "n", "init": "arange"}
    workload = {"arguments": [argument, ARGUMENTS[-1]], "cases": [{"values": {"n": 64}}]}
    work = spec.parse(_job(SCALE, workload=workload)).work
    before = generate(work, {"n": 64.0}, 3)
    rng = np.random.default_rng(2)
    assert all(np.array_equal(lookalike(work, before, rng)["x"], before["x"]) for _ in range(9))
    made = [lookalike(work, before, rng, any_order=True)["x"].view(np.int32) for _ in range(99)]
    assert all((m[:-1] <= m[1:]).all() and (m[0], m[-1]) == (0, 63) for m in made)
    assert any(not np.array_equal(m, before["x"].view(np.int32)) for m in made)
    work = spec.parse(_job(SCALE, workload={"arguments": [{**argument, "init": "zeros"}]})).work
    nothing = {"x": np.array([3, 1, 2, 5], np.int32).view(np.uint8)}
    assert lookalike(work, nothing, rng, any_order=True)["x"] is nothing["x"]
