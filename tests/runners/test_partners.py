"""What right code may do that its original does not, and partners that must stay together."""

from __future__ import annotations

import numpy as np
import pytest

from runners.compare import Answer, Budget, compare
from runners.cuda_types import Storage, parse
from runners.expectation import agree
from runners.judge import Judge
from runners.partners import compare_entries, in_order, together
from tests.runners.host_gpu import COMPILER
from tests.runners.test_judge import _verdict

INT, FLOAT = parse("int*"), parse("float*")
EDGE = parse("struct{int head; int tail;}*")
BUDGET = Budget(np.full(2111, 1e-7), 2.0**-24, 16.0, 1e-5, 1e-6, capped=False)


def raw(*numbers: float, dtype: str = "i4") -> Storage:
    return np.array(numbers, dtype).view(np.uint8)


def answer(name: str, want: Storage, *, floats: bool = False) -> Answer:
    kind, budget = (FLOAT, BUDGET) if floats else (INT, None)
    return Answer(name, kind, want, (budget,), unordered=True, joined=("head", "tail"))


def test_entries_may_come_in_any_order() -> None:
    """The pairs are the same, whichever comes first."""
    want = {"head": answer("head", raw(1, 1, 2)), "tail": answer("tail", raw(5, 6, 5))}
    got = {"head": raw(2, 1, 1), "tail": raw(5, 6, 5)}
    assert compare_entries(got, want, {}).passed


def test_partners_that_were_mixed_are_seen() -> None:
    """Each output, sorted, is what it should be; together they are not."""
    want = {"head": answer("head", raw(1, 1, 2)), "tail": answer("tail", raw(5, 6, 5))}
    got = {"head": raw(1, 1, 2), "tail": raw(5, 5, 6)}
    assert all(compare(got[name], one).passed for name, one in want.items())
    outcome = compare_entries(got, want, {})
    assert not outcome.passed
    assert "head and tail" in outcome.why


def test_a_float_beside_its_index_keeps_its_budget() -> None:
    """Another rounding is right, the value of another index is not."""
    want = {
        "head": answer("head", raw(1, 2, 3)),
        "tail": answer("tail", raw(0.1, 0.2, 0.3, dtype="f4"), floats=True),
    }
    near = {"head": raw(3, 1, 2), "tail": raw(0.30000003, 0.1, 0.20000001, dtype="f4")}
    assert compare_entries(near, want, {}).passed
    assert not compare_entries({**near, "head": raw(1, 3, 2)}, want, {}).passed


def test_members_of_a_struct_belong_together() -> None:
    """A struct's rows are entries as they are."""
    want = Answer("e", EDGE, raw(1, 5, 2, 6), (None, None), unordered=True, joined=("e",))
    assert compare_entries({"e": raw(2, 6, 1, 5)}, {"e": want}, {}).passed
    mixed = raw(1, 6, 2, 5)
    assert compare(mixed, want).passed
    assert not compare_entries({"e": mixed}, {"e": want}, {}).passed


def test_only_what_stays_together_in_the_original_has_to() -> None:
    """Outputs that are permuted each in its own way, and floats alone, ask for nothing."""
    kinds = (INT, INT)
    assert together(kinds, [[raw(1, 2), raw(3, 4)], [raw(2, 1), raw(4, 3)]])
    assert not together(kinds, [[raw(1, 2), raw(3, 4)], [raw(2, 1), raw(3, 4)]])
    assert not together((INT,), [[raw(1, 2)], [raw(2, 1)]])
    floats = raw(1, 2, dtype="f4")
    assert not together((FLOAT, FLOAT), [[floats, floats], [floats, floats]])
    assert [len(data) for data in in_order([(INT, raw(2, 1)), (FLOAT, floats)])] == [8, 8]


def test_a_value_that_equals_the_poison_was_written() -> None:
    """Minus one is all ones, and so is the poison of some runs."""
    left = np.array([False, False, True])
    want = Answer("out", INT, raw(-1, 7, 0), (None,), untouched=left, unordered=True)
    poison = raw(-1, -1, -1)
    assert compare(raw(7, -1, -1), want, poison).passed
    assert not compare(raw(7, 7, -1), want, poison).passed
    assert not compare(raw(7, 8, 9), want, poison).passed


def test_what_an_infinity_reaches_may_be_nan_and_nothing_else() -> None:
    """A wrong number is wrong there, and a NaN elsewhere."""
    odd = np.array([True, False])
    want = Answer("y", FLOAT, raw(0, 1, dtype="f4"), (BUDGET,), lenient=True, odd=odd)
    assert compare(raw(np.nan, 1, dtype="f4"), want).passed
    assert not compare(raw(0.5, 1, dtype="f4"), want).passed
    assert not compare(raw(0, np.nan, dtype="f4"), want).passed


def test_sums_that_are_rounded_at_every_step_agree_within_those_errors() -> None:
    """Atomics on half and bfloat16 give sums that differ by per cents from run to run."""
    one, other = np.array([10.0, -3.0]), np.array([10.4, -2.9])
    assert not agree(one, other)
    assert agree(one, other, 2.0**-8)


SCALE = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = i & ~7; k < n && k < (i & ~7) + 8; ++k) s += x[k] * x[k];
    y[i] = 1.f / (1.f + s);
}
"""
COMPENSATED = SCALE.replace("float s = 0.f;", "float s = 0.f, c = 0.f;").replace(
    "s += x[k] * x[k];", "{ float v = x[k] * x[k] - c, t = s + v; c = (t - s) - v; s = t; }"
)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_a_compensated_sum_is_right_where_an_infinity_goes_through_it(judge: Judge) -> None:
    """It makes NaN of what the original divides away; of numbers it makes what is right."""
    verdict = _verdict(judge, COMPENSATED, SCALE)
    assert verdict["status"] == "correct", verdict["log"]
    assert any(check["what"] == "special" for check in verdict["checks"])
    nothing = SCALE.replace("1.f / (1.f + s)", "s < 1e30f ? 1.f / (1.f + s) : 0.5f")
    assert _verdict(judge, nothing, SCALE)["status"] == "wrong result"


MASK = """
extern "C" __global__ void scale(const float* x, unsigned char* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > -9.f ? 255 : 0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_a_byte_that_equals_the_poison_by_chance_was_not_left_alone(judge: Judge) -> None:
    """Of 200,000 bytes that are 255 some do in each of a few runs."""
    arguments = [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "unsigned char*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ]
    work = {"arguments": arguments, "cases": [{"values": {"n": 200000}}]}
    verdict = _verdict(judge, MASK.replace("i < n)", "n > i)"), MASK, workload=work)
    assert verdict["status"] == "correct", verdict["log"]


POWER = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i] * 1e-3f * 1e36f;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_where_the_original_nearly_overflows_another_order_may(judge: Judge) -> None:
    """On inputs that nobody declared; what is declared must be right."""
    other = POWER.replace("x[i] * x[i] * 1e-3f * 1e36f", "1e36f * x[i] * x[i] * 1e-3f")
    verdict = _verdict(judge, other, POWER)
    assert verdict["status"] == "correct", verdict["log"]
    assert any("too large for its type" in note for note in verdict["measurement"]["notes"])
