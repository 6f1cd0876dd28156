"""Arguments that never differ."""

from __future__ import annotations

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.specialize import specialize
from optimizer.testing import RewriteRuleContract

FN = (
    "#define R 5\n__global__ void k(const float *x, float *y, int taps) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float s = 0;\n"
    "  for (int j = 0; j < taps; j++) s += x[i + j];\n  y[i] = s / taps;\n}\n"
)
MAIN = "int main() {{\n  float *a, *b; int n = 64;\n  k<<<1, n>>>(a, b, {});\n  return 0;\n}}\n"
BASIC = Kernel("k", FN + MAIN.format("R"), "k.cu")


def edits(text: str) -> list[Edit]:
    return list(specialize(Kernel("k", text, "k.cu"), []))


class TestSpecialize(RewriteRuleContract):
    applies_to = (BASIC,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return specialize


@pytest.mark.parametrize(("given", "number"), [("R", 5), ("7", 7), ("2 * R + 1", 11), ("(8)", 8)])
def test_a_number_that_all_launches_pass_becomes_a_constant(given: str, number: int) -> None:
    (edit,) = edits(FN + MAIN.format(given))
    assert f"  constexpr int kTaps = {number};\n" in edit.source
    assert "j < kTaps" in edit.source
    assert "s / kTaps" in edit.source
    assert "int taps)" in edit.source


@pytest.mark.parametrize(
    "text",
    [
        FN + MAIN.format("n"),
        FN,
        FN + MAIN.format("R").replace("int main", "void go"),
        FN + MAIN.format("R") + "void more(float *a) { k<<<1, 1>>>(a, a, 6); }\n",
        FN + MAIN.format("R") + "void *p = (void *)k;\n",
        FN.replace("  float s", "  taps++;\n  float s") + MAIN.format("R"),
        FN.replace("j < taps", "j < 3").replace("s / taps", "s + taps") + MAIN.format("R"),
    ],
)
def test_it_declines_what_may_differ_or_does_not_matter(text: str) -> None:
    assert not edits(text)


def test_the_constant_stands_in_front_of_shared_arrays() -> None:
    text = FN.replace("  int i =", "  __shared__ float t[4];\n  t[0] = 0;\n  int i =")
    (edit,) = edits(text + MAIN.format("R"))
    assert "  constexpr int kTaps = 5;\n  __shared__ float t[4];" in edit.source
