"""Four neighbours moved at once."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.pack_access import pack_access
from optimizer.samples import SAMPLES
from optimizer.testing import RewriteRuleContract

HEAD = "__global__ void k(const float *q, float *o, int n) {\n  int i = blockIdx.x * 64 + threadIdx.x;\n  if (i >= n) return;\n"
MAIN = (
    "int main() {\n  float *q, *o;\n  int n = 640;\n  cudaMalloc(&q, 4 * n * sizeof(float));\n"
    "  cudaMalloc(&o, 4 * n * sizeof(float));\n  k<<<n / 64, 64>>>(q, o, n);\n  return 0;\n}\n"
)
LOAD = (
    HEAD
    + "  float w = q[i * 4], x = q[4 * i + 1];\n  float y = q[i * 4 + 2]; // third\n"
    + "  o[i] = w * x + y * q[4 * i + 3];\n}\n"
    + MAIN
)
STORE = (
    HEAD
    + "  o[4 * i] = q[i];\n  o[4 * i + 1] = 1;\n  o[4 * i + 3] = q[n + i];\n  o[4 * i + 2] = -q[i];\n}\n"
    + MAIN
)
BYTES = LOAD.replace("float", "unsigned char").replace("sizeof(unsigned char)", "1")
ROWS = (
    LOAD.replace("q[i * 4]", "q[8 * i + 4]")
    .replace("q[4 * i + ", "q[8 * i + 4 + ")
    .replace("q[i * 4 + 2]", "q[6 + i * 8]")
)


def edits(text: str, launch: Launch | None = None) -> list[Edit]:
    return list(pack_access(Kernel("k", text, "k.cu", launch), []))


class TestPackAccess(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("main", text, "k.cu") for text in (LOAD, STORE, BYTES, ROWS)
    )
    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return pack_access


def test_loads_become_members_of_one() -> None:
    text = edits(LOAD)[0].source
    assert "const float4 q_float4 = *reinterpret_cast<const float4 *>(&q[i * 4]);" in text
    assert "float y = q_float4.z; // third" in text
    assert "y * q_float4.w;" in text


def test_stores_in_a_row_become_one_in_order() -> None:
    text = edits(STORE)[0].source
    assert "= make_float4(q[i], 1, -q[i], q[n + i]);" in text


@pytest.mark.parametrize(
    "text",
    [
        LOAD.replace("k<<<n / 64, 64>>>(q,", "k<<<n / 64, 64>>>(q + 1,"),
        LOAD.replace("int n = 640;", "int n = 640; q++;"),
        LOAD.replace("int main() {\n  float *q, *o;", "int start(float *q) {\n  float *o;"),
        LOAD.replace("cudaMalloc(&q", "cudaMalloc(&o"),
        LOAD.replace("q[4 * i + 3]", "q[4 * i + 4]"),
        LOAD.replace("i * 4", "i * 3").replace("4 * i", "3 * i"),
        LOAD.replace("q[4 * i + 3];", "(n > 4 ? q[4 * i + 3] : 0);"),
        LOAD.replace("  float y", "  if (x < 0) return;\n  float y"),
        LOAD.replace("  float y", "  o[4 * i + 3] = 0;\n  float y").replace("(q, o", "(q, q"),
        LOAD.replace("float *q,", "double *q,"),
        STORE.replace("o[4 * i + 1] = 1;", "o[4 * i + 1] += 1;"),
        STORE.replace("(q, o, n)", "(o, o, n)"),
        STORE.replace("  o[4 * i + 3]", "  // next\n  o[4 * i + 3]"),
        STORE.replace("  o[4 * i + 3]", "  n--;\n  o[4 * i + 3]"),
        LOAD.removesuffix(MAIN),
    ],
)
def test_what_may_be_misaligned_or_changes_between_is_left_alone(text: str) -> None:
    assert edits(text) == []


@given(st.text("abc {};\t", max_size=24))
def test_comments_and_neighbours_stay_as_they_are(noise: str) -> None:
    other = f"/* {noise} */\nint neighbour(int x) {{ return x; }} // {noise}\n"
    assert [e.source for e in edits(other + LOAD)] == [other + e.source for e in edits(LOAD)]
