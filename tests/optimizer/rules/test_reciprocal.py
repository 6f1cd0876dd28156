"""Divisions by constants, reciprocal roots and compared distances."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.interfaces import RewriteRule
from optimizer.model import Kernel
from optimizer.rules.reciprocal import limit, number, reciprocal
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import host_threads

HEAD = (
    "#define SCALE 255.0f\n#define MODULUS 2147483647ULL\ntypedef float real;\n"
    "__global__ void k(const float *a, real *o, double *d, const int *m, int i, float e) { "
)
PIXELS = """\
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] / 255.0f + (in[i] * in[i] + 1.0f) / sqrtf(in[i] * in[i] + 0.5f);
}
"""
HITS = """\
__global__ void hits(const double *x, const double *y, int *inside, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) inside[i] = sqrt(x[i] * x[i] + y[i] * y[i]) <= 1.0;
}
"""


def first(body: str) -> str:
    found = list(reciprocal(Kernel("k", f"{HEAD}{body} }}"), []))
    return found[0].source[len(HEAD) : -2] if found else ""


class TestReciprocal(RewriteRuleContract):
    applies_to = (Kernel("scale", PIXELS), Kernel("hits", HITS))

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return reciprocal


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("o[i] = a[i] / 255.0f;", "o[i] = a[i] * (1.0f / 255.0f);"),
        ("o[i] = a[i] / 3.0;", "o[i] = a[i] * (1.0 / 3.0);"),
        ("o[i] = a[i] / SCALE + e;", "o[i] = a[i] * (1.0f / SCALE) + e;"),
        ("o[i] /= (SCALE);", "o[i] *= 1.0f / (SCALE);"),
        ("o[i] = e / (real)SCALE;", "o[i] = e * (1.0f / (real)SCALE);"),
        ("d[i] = (double)m[i] / (double)MODULUS;", "d[i] = (double)m[i] * (1.0 / (double)MODULUS);"),
        ("const float w = 3.0f; o[i] = e / w;", "const float w = 3.0f; o[i] = e * (1.0f / w);"),
        ("o[i] = 1.0f / sqrtf(e);", "o[i] = rsqrtf(e);"),
        ("o[i] = a[i] / (sqrt(e + 1.0f));", "o[i] = a[i] * rsqrtf(e + 1.0f);"),
        ("d[i] /= sqrt(d[1]);", "d[i] *= rsqrt(d[1]);"),
        ("if (sqrtf(e * e) < 2.0f) o[i] = e;", "if (e * e < 4.0f) o[i] = e;"),
        ("if (9.0 > sqrt(d[0]*d[0] + d[1]*d[1])) o[i] = e;",
         "if (80.99999999999999 > d[0]*d[0] + d[1]*d[1]) o[i] = e;"),
    ],
)  # fmt: skip
def test_what_costs_less_is_written_instead(body: str, wanted: str) -> None:
    assert first(body) == wanted


@pytest.mark.parametrize(
    "body",
    [
        "o[i] = a[i] / 8.0f;",  # exact already
        "o[i] = a[i] / e;",
        "o[i] = 1.0f / 3.0f;",
        "o[i] = m[i] / 3;",
        "o[i] = 1.0f / sqrt(m[i]);",
        "if (sqrtf(e) < 2.0f) o[i] = e;",  # e may be negative
        "if (sqrtf(e * e) < a[i]) o[i] = e;",
        "if (sqrtf(e * e) < -2.0f) o[i] = e;",
        "o[i] = a[i] / 0.0f;",
        "int bin = a[i] / 0.1f; o[bin] = 1;",  # an ulp may change the bin
        "o[(int)(a[i] / 0.1f)] = 1;",
        "o[i] = floorf(a[i] / 0.1f);",
    ],
)
def test_other_divisions_and_roots_stay(body: str) -> None:
    assert not first(body)


def test_a_sqrt_of_the_file_itself_is_not_the_librarys() -> None:
    own = "__device__ float sqrtf(float x) { return x; }\n" + HEAD + "o[i] = 1.0f / sqrtf(e); }"
    assert not list(reciprocal(Kernel("k", own), []))


def _single(value: float) -> float:
    found: float = struct.unpack("f", struct.pack("f", value))[0]
    return found


@given(st.floats(1e-9, 1e9), st.integers(-3, 3))
def test_the_bound_decides_doubles_as_the_root_does(value: float, steps: int) -> None:
    for largest in (True, False):
        bound = number(limit(value, "double", largest=largest))
        assert bound is not None
        square = bound
        for _ in range(abs(steps)):
            square = math.nextafter(square, math.inf if steps > 0 else 0.0)
        if largest:
            assert (math.sqrt(square) <= value) == (square <= bound)
        else:
            assert (math.sqrt(square) >= value) == (square >= bound)


@given(st.floats(0.0009765625, 1048576.0, width=32), st.integers(-3, 3))
def test_the_bound_decides_floats_as_the_root_does(value: float, steps: int) -> None:
    bound = number(limit(value, "float", largest=True))
    assert bound is not None
    bits = struct.unpack("I", struct.pack("f", bound))[0]
    assert _single(bound) == struct.unpack("f", struct.pack("I", bits))[0]
    square = struct.unpack("f", struct.pack("I", bits + steps))[0]
    assert (_single(math.sqrt(square)) <= value) == (square <= _single(bound))


MAIN = r"""
  int n = 1000; double x[1000], y[1000]; int in[1000];
  for (int i = 0; i < n; i++) { x[i] = cos(i * 0.37); y[i] = sin(i * 0.37) * (1 + (i % 3 - 1) * 3e-16); }
  launch(dim3(8), dim3(128), [&] { hits(x, y, in, n); });
  for (int i = 0; i < n; i++) printf("%d", in[i]);
"""


def test_points_on_the_border_are_counted_as_before(tmp_path: Path) -> None:
    (edit,) = reciprocal(Kernel("hits", HITS), [])
    assert "sqrt" not in edit.source
    before = host_threads.run(HITS, MAIN, tmp_path)
    assert host_threads.run(edit.source, MAIN, tmp_path) == before
    assert {"0", "1"} <= set(before)
