"""Unrolled inner loops."""

from __future__ import annotations

import pytest

from optimizer.model import Kernel
from optimizer.rules.unroll import unroll

HEAD = "__global__ void k(const float *a, float *o, int n) {\n  float s = 0;\n"


def edits(body: str) -> list[str]:
    return [e.source for e in unroll(Kernel("k", HEAD + body + "}\n"), [])]


def test_a_loop_of_unknown_length_is_unrolled_by_four_and_eight() -> None:
    found = edits("  for (int j = 0; j < n; j++)\n    s += a[j];\n  o[0] = s;\n")
    assert ["  #pragma unroll 4\n  for" in found[0], "  #pragma unroll 8\n  for" in found[1]] == [
        True,
        True,
    ]
    assert len(found) == 2


def test_a_loop_of_known_length_may_be_unrolled_whole() -> None:
    found = edits("  for (int j = 0; j < 25; j++)\n    s += a[j];\n  o[0] = s;\n")
    assert "  #pragma unroll\n  for" in found[0]


@pytest.mark.parametrize(
    "body",
    [
        "  #pragma unroll 2\n  for (int j = 0; j < n; j++)\n    s += a[j];\n",
        "  for (int j = 0; j < n; j++) {\n    s += a[j];\n    __syncthreads();\n  }\n",
        "  for (int j = 0; j < 4; j++)\n    s += a[j];\n",
        "  for (int j = 0; j < n; j++)\n    s += j;\n",
        "  if (n)\n    for (int j = 0; j < n; j++)\n      s += a[j];\n",
    ],
)
def test_pragmas_barriers_and_short_loops_are_left_alone(body: str) -> None:
    assert edits(body) == []


def test_only_the_innermost_loop_is_unrolled() -> None:
    found = edits(
        "  for (int i = 0; i < n; i++) {\n    for (int j = 0; j < n; j++)\n      s += a[j];\n  }\n"
    )
    assert found[0].count("#pragma") == 1
    assert "    #pragma unroll 4\n    for (int j" in found[0]
