"""Sine and cosine of one angle."""

from __future__ import annotations

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Kernel
from optimizer.rules.sincos import sincos
from optimizer.testing import RewriteRuleContract

ROTATE = """\
__global__ void rotate(float *x, float *y, const float *angle, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float px = x[i], py = y[i];
        x[i] = px * cosf(angle[0]) - py * sinf(angle[0]);
        float t = angle[1] * i;
        float c = cos(t);
        y[i] = c * py + sin(t) * px;
    }
}
"""
HEAD = "__global__ void k(float *a, double *d, float t, int i) {\n"


def edits(body: str) -> list[str]:
    return [e.source.removeprefix(HEAD) for e in sincos(Kernel("k", f"{HEAD}{body}}}\n"), [])]


class TestSincos(RewriteRuleContract):
    applies_to = (Kernel("rotate", ROTATE),)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return sincos


def test_both_are_taken_from_one_call() -> None:
    (text,) = edits("  a[i] = sinf(t * 2) + cosf(t * 2);\n  a[0] = cosf(t * 2);\n")
    assert text == (
        "  float sine, cosine;\n  sincosf(t * 2, &sine, &cosine);\n"
        "  a[i] = sine + cosine;\n  a[0] = cosine;\n}\n"
    )


def test_doubles_use_the_double_function() -> None:
    (text,) = edits("  double u = d[i];\n  d[0] = sin(u) * cos(u);\n")
    assert "  double sine, cosine;\n  sincos(u, &sine, &cosine);\n  d[0] = sine * cosine;" in text


@pytest.mark.parametrize(
    "body",
    [
        "  a[i] = sinf(t) + cosf(2 * t);\n",
        "  a[i] = sinf(t);\n  t += 1;\n  a[0] = cosf(t);\n",
        "  a[i] = sinf(a[0]);\n  a[1] = cosf(a[0]);\n",  # the store may change the angle
        "  if (i) a[i] = sinf(t) + cosf(t);\n",
        "  for (float u = sinf(t); u < cosf(t); u++) a[i] = u;\n",
        "  a[i] = sinf(t) + sinf(t);\n",
        "  a[i] = sinf(t);\n  { a[0] = cosf(t); }\n",
    ],
)
def test_other_angles_and_places_are_left_alone(body: str) -> None:
    assert edits(body) == []
