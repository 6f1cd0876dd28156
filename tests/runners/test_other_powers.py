"""What is right for floats of ordinary size alone is accepted, and that is said."""

from __future__ import annotations

import numpy as np
import pytest

from runners import limit, other_powers, small_floats, spec
from runners.contents import Combination, Contents
from runners.judge import Judge
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

NORM = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    TYPE sum = 0;
    for (int c = 0; c < cols; ++c) sum += (TYPE)in[c] * in[c];
    float norm = (float)sqrt(sum);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = norm > 0 ? in[c] / norm : 0.f;
}
"""
WORK = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "float*", "shape": "rows*cols", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 16, "cols": 68}}, {"values": {"rows": 3, "cols": 50}}],
}
PLAIN = Combination({"rows": 16.0, "cols": 68.0}, "declared", 1)


def _texts(mine: str, theirs: str) -> tuple[str, str]:
    return NORM.replace("TYPE", mine) + "// another\n", NORM.replace("TYPE", theirs)


@pytest.mark.parametrize(("theirs", "lines"), [("double", 2), ("float", 0)])
def test_only_originals_with_doubles_are_asked(theirs: str, lines: int) -> None:
    job = spec.parse(_job(*_texts("float", theirs), workload=WORK, effort="confirm"))
    found = other_powers.others(job, PLAIN)
    assert len(found) == lines
    assert len({one.combination.family for line in found for one in line}) == lines


def test_squares_are_no_floats_there_and_numbers_are() -> None:
    work = _work(_pointer(), n=64)
    for powers, square in zip(small_floats.OF_DOUBLES, (0.0, np.inf), strict=True):
        made = Contents(work).of(Combination({"n": 64.0}, small_floats.named(powers), 1))["x"]
        with np.errstate(all="ignore"):
            assert (made.view("f4") ** 2 == square).mean() > 0.75
        assert np.isfinite(made.view("f4")).all()


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "said"), [("float", 2), ("double", 0)])
def test_who_squares_in_floats_says_so(judge: Judge, mine: str, said: int) -> None:
    verdict = _verdict(judge, *_texts(mine, "double"), workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if "size of floats" in one]
    assert len(found) == said
    if said:
        assert "with numbers 1e+24 times as small it is not: y[" in found[0]
        assert "with numbers 7e+19 times as large it is not: y[" in found[1]
