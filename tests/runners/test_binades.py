"""Powers of two and the floats beside them show what finds exponents by another way."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from runners import binades, families, oracle, spec, variation
from runners.asked import ROUNDING, odd_numbers, rounds
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import CaseSpec, Json, Work
from runners.text import LONGEST
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

SCALES = """
extern "C" __global__ void scale(const float* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float most = 0.f;
    for (int k = i / 64 * 64; k < n && k < i / 64 * 64 + 64; ++k) most = fmaxf(most, fabsf(x[k]));
    EXPONENT
    y[i] = most > 1e-30f && most < 1e30f ? e : 0;
}
"""
BITS = (
    "unsigned bits; float part = most / 127.f; memcpy(&bits, &part, 4);"
    " int e = (int)(bits >> 23) - 127 + ((bits & 0x7fffffu) != 0); if (false) floorf(part);"
)
LOGARITHM = "int e = (int)ceilf(log2f(most / 127.f));"
PARTS = "int e; float m = frexpf(most / 127.f, &e); e -= m == 0.5f;"
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "int*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["(n+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 3000}}],
}


def _made(work: Work, seed: int = 1) -> npt.NDArray[np.uint8]:
    return Contents(work).of(Combination(work.cases[0].values, families.BINADES, seed))["x"]


@pytest.mark.parametrize(
    ("kind", "dtype", "widest"), [("float", "f4", 20), ("half", "f2", 6), ("double", "f8", 20)]
)
def test_the_largest_of_each_few_is_a_power_of_two_or_just_beside_it(
    kind: str, dtype: str, widest: int
) -> None:
    """Or 127 times one, in every other stretch; powers of neighbours are far apart."""
    work = dataclasses.replace(_work(_pointer(f"const {kind}*"), n=8192), odd=(127,))
    data = _made(work).view(dtype).astype(np.float64)
    groups = np.abs(data).reshape(-1, binades.ONE_OF)
    largest = groups.max(axis=1)
    assert (np.sort(groups, axis=1)[:, -2] < 0.9 * largest).all()
    parts = np.frexp(largest)[0] * 2
    powers = np.rint(np.log2(largest / np.where(np.abs(parts - 127 / 64) < 1e-2, 127 / 64, 1)))
    steps = (largest / np.ldexp(1.0, powers.astype(int)) - 1) / np.finfo(dtype).eps
    odd = np.abs(parts - 127 / 64) < 1e-2
    assert odd.any()
    assert set(steps[~odd].tolist()) == {-0.5, 0.0, 1.0, 2.0}
    near = (largest[odd] / np.ldexp(127 / 64, powers[odd].astype(int)) - 1) / np.finfo(dtype).eps
    assert np.abs(near).max() <= 2
    assert (near == 0).any()
    assert np.abs(powers).max() <= widest
    rows = powers[:: binades.STRETCH // binades.ONE_OF]
    assert (np.sign(rows[1:]) == -np.sign(rows[:-1])).all()
    assert {-1.0, 1.0} == set(np.sign(data[np.abs(data) >= np.repeat(largest, 64)]))


def test_rows_are_of_one_power_and_shares_and_short_arrays_stay() -> None:
    work = _work(_pointer(shape="n*m"), n=12.0, m=300.0)
    rows = np.abs(_made(work).view("f4")).reshape(12, 300)
    assert (rows > 0.99 * rows.max(axis=1, keepdims=True)).sum(axis=1).min() >= 4
    for init, many in (("uniform", 300.0), ("zeros", 300.0), ("normal", 0.0)):
        work = _work(_pointer(init=init), n=many)
        plain = Contents(work).of(Combination(work.cases[0].values, families.DECLARED, 1))["x"]
        assert np.array_equal(_made(work), plain)


def test_each_number_of_a_text_has_its_turn() -> None:
    """A seed goes on where the one before ended."""
    work = dataclasses.replace(_work(_pointer(), n=1000), odd=(127, 63))
    found = set()
    for seed in range(3, 3 + oracle.BINADES):
        data = np.abs(_made(work, seed).view("f4"))
        largest = [data[start : start + 64].max() for start in range(0, 960, 64)]
        found |= {round(float(np.frexp(one)[0]) * 128) for one in largest}
    assert {127, 126, 64} <= found


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        ("int e = ceilf(log2f(x[0]));", True),
        ("int e = std::ilogb(x[0]);", True),
        ("y[0] = __float2int_rn(x[0]);", True),
        ("unsigned b = __float_as_uint(x[0]) >> 23;", True),
        ("int b = __half_as_ushort(x[0]), c = __half2int_rz(x[0]);", True),
        ("y[0] = hrint(x[0]);", True),
        ("y[0] = logf(x[0]) + expf(x[0]) + __int2float_rn(n);", False),
        ("// floorf(x[0])", False),
        ("float floor = x[0]; y[0] = ground(floor);", False),
    ],
)
def test_who_asks_for_exponents_or_whole_numbers_is_known(body: str, *, asks: bool) -> None:
    text = f"__global__ void k(const float* x, float* y, int n) {{ {body} }}"
    assert rounds(text, "k") == asks
    assert not rounds(text, "other")
    assert not rounds(text + " " * LONGEST, "k")


def test_odd_numbers_are_those_of_floats_first_and_few() -> None:
    assert odd_numbers("f(9, 448.0f, 6, 2.5f, 0x7f, 1e3, 15); // 31") == (7, 15)
    assert odd_numbers("f(3, 5, 7, 9, 11, 13);") == (13, 11)
    assert odd_numbers("x * 64.f") == ()
    assert odd_numbers("9 " * LONGEST) == ()


def test_a_confirmation_asks_who_rounds_and_no_other() -> None:
    work = dataclasses.replace(_work(_pointer(), n=1000), asks=(ROUNDING,))
    work = dataclasses.replace(work, cases=(*work.cases, CaseSpec({"n": 90_000.0})))

    def asked(work: Work, checks: str) -> list[tuple[float, int]]:
        extra = oracle.combinations(work, checks, 5)[1]
        return [(c.case["n"], c.seed) for c in extra if c.family == families.BINADES]

    assert asked(work, "confirm") == [(1000.0, 5), (1000.0, 6)]
    assert asked(work, "screen") == []
    assert asked(dataclasses.replace(work, asks=()), "confirm") == []


def test_nothing_is_promised_where_the_original_overflows_on_them() -> None:
    assert families.BINADES in families.STRESS
    assert variation._IN_ROWS[families.BINADES] is binades.applied
    kernel = {"name": "scale", "source": SCALES.replace("EXPONENT", BITS), "path": ""}
    workload = WORK | {"name": "scale", "kind": "kernel", "symbol": "scale"}
    work = spec.parse({"kernel": kernel, "baseline": kernel, "workload": workload}).work
    assert (work.asks, work.odd[0]) == ((ROUNDING,), 127)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "right"), [(LOGARITHM, False), (PARTS, True)])
def test_a_logarithm_rounds_to_a_whole_number_just_above_a_power(
    judge: Judge, mine: str, *, right: bool
) -> None:
    """The exponent of a float's own parts does not."""
    texts = [SCALES.replace("EXPONENT", one) for one in (mine, BITS)]
    verdict = _verdict(judge, *texts, workload=WORK, effort="confirm")
    assert (verdict["status"] == "correct") == right, verdict["log"]
    if not right:
        assert "binades" in verdict["log"]
