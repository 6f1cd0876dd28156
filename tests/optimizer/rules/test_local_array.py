"""Arrays of a thread that are indexed by data."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.boundary import violations
from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.local_array import local_array
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

COUNTS = """\
#define LEVELS 16
__global__ void spread(const int *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    char count[LEVELS];  // how often each level occurs
    for (int k = 0; k < LEVELS; k++) count[k] = 0;
    for (int dx = -2; dx <= 2; dx++)
        if (x + dx >= 0 && x + dx < w) count[in[y * w + x + dx]]++;
    float sum = 0;
    for (int k = 0; k < LEVELS; k++) sum += count[k] * count[k];
    out[y * w + x] = sum;
}
void run(const int *in, float *out, int w, int h) {
    dim3 block(8, 4);
    spread<<<dim3((w + 7) / 8, (h + 3) / 4), block>>>(in, out, w, h);
}
"""
STACK = """\
__global__ void walk(const int *next, float *out, int n, int h) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) {
    int seen[8] = {0};
    int top = 0;
    for (int j = i; j > 0 && top < 8; j = next[j] - 1) seen[top++] = j;
    while (top > 0) out[i] += seen[--top] * 0.5f;
  }
}
void run(const int *next, float *out, int n, int h) { walk<<<(n + 63) / 64, 64>>>(next, out, n, h); }
"""
HEAD = "__global__ void k(const int *in, float *out, int n) {\n  int i = threadIdx.x;\n"
RUN = "}\nvoid run(const int *in, float *out, int n) { k<<<1, 128>>>(in, out, n); }\n"


def edits(text: str, launch: Launch | None = None) -> list[Edit]:
    return list(local_array(Kernel("run", text, "k.cu", launch), []))


class TestLocalArray(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (COUNTS, STACK)
    )

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return local_array


def test_each_thread_gets_a_column() -> None:
    text = edits(COUNTS)[0].source
    assert "const int thread = threadIdx.y * blockDim.x + threadIdx.x;" in text
    assert "__shared__ char count[LEVELS][32];  // how often each level occurs" in text
    assert "count[in[y * w + x + dx]][thread]++" in text


def test_a_first_value_of_zero_is_written_by_each_thread() -> None:
    text = edits(STACK)[0].source
    assert "for (int k = 0; k < 8; k++) seen[k][threadIdx.x] = 0;" in text
    assert "seen[top++][threadIdx.x] = j" in text


@pytest.mark.parametrize(
    "body",
    [
        "  float t[4];\n  for (int c = 0; c < 4; c++) t[(c + 1) % 4] = in[i];\n  out[i] = t[0];\n",
        "  int t[8];\n  t[in[i] & 7] = 1;\n  foo(t);\n  out[i] = t[0];\n",
        "  int t[8];\n  int *p = t;\n  p[in[i] & 7] = 1;\n  out[i] = t[0];\n",
        "  int t[8] = {1, 2};\n  out[i] = t[in[i] & 7];\n",
        "  double t[200];\n  t[in[i]] = 1;\n  out[i] = t[0];\n",  # too much for a block
        "  int t[4][4];\n  t[in[i]][0] = 1;\n  out[i] = t[0][0];\n",
    ],
)
def test_other_arrays_stay(body: str) -> None:
    assert edits(HEAD + body + RUN) == []


def test_without_a_known_block_nothing_is_sized() -> None:
    assert edits(COUNTS.replace("dim3 block(8, 4);", "dim3 block(w, 4);")) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
@pytest.mark.parametrize("text", [COUNTS, STACK])
def test_the_same_is_counted(text: str, tmp_path: Path) -> None:
    main = r"""
    int w = 37, h = 5, n = w * h; std::vector<int> in(n); std::vector<float> out(n);
    for (int i = 0; i < n; i++) in[i] = (i * 7) % 16;
    run(in.data(), out.data(), w, h);
    for (float v : out) printf("%g ", v);"""
    edit = edits(text)[0]
    assert not violations(text, edit.source)
    assert emulator.run(edit.source, main, tmp_path) == emulator.run(text, main, tmp_path)
