"""Pointers that do not overlap."""

from __future__ import annotations

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.restrict import restrict
from optimizer.testing import RewriteRuleContract

BODY = "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] + y[i];\n}\n"
GO = "void go(float *a, float *b, int n) {{ k<<<n / 64, 64>>>({}); }}\n"
BASIC = Kernel("k", "__global__ void k(const float *x, float* y, int n) " + BODY, "k.cu")


def edits(text: str) -> list[Edit]:
    return list(restrict(Kernel("k", text, "k.cu"), []))


class TestRestrict(RewriteRuleContract):
    applies_to = (BASIC,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return restrict


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("const float *x, float* y, int n", "const float *__restrict__ x, float* __restrict__ y, int n"),
        ("float const * __restrict__ x, float *y, int n", "float const * __restrict__ x, float *__restrict__ y, int n"),
        ("float * x, float * const y, int n", "float * __restrict__ x, float * const __restrict__ y, int n"),
        ("int n, const float*x, float*y", "int n, const float*__restrict__ x, float*__restrict__ y"),
    ],
)  # fmt: skip
def test_each_pointer_gets_the_promise_once(head: str, wanted: str) -> None:
    (edit,) = edits(f"__global__ void k({head}) {BODY}")
    assert f"k({wanted})" in edit.source


def test_different_buffers_at_every_launch_are_enough() -> None:
    assert edits(BASIC.source + GO.format("a, b, n"))


@pytest.mark.parametrize(
    "text",
    [
        BASIC.source + GO.format("a, a, n"),
        BASIC.source + GO.format("a, a + 1, n"),
        BASIC.source + GO.format("a, b, n") + "void *p = (void *)k;\n",
        "__global__ void k(float *y, int n) { y[n] = 0; }\n",
        BASIC.source.replace("float* y", "volatile float* y"),
        BASIC.source.replace("*x", "*__restrict__ x").replace("float* y", "float* __restrict__ y"),
    ],
)
def test_it_declines_where_buffers_may_be_the_same_or_nothing_is_gained(text: str) -> None:
    assert not edits(text)
