"""Blocks that change at the launch, because their number is the host's."""

from __future__ import annotations

import pytest

from optimizer.boundary import violations
from optimizer.launch_shapes import launch_shapes
from optimizer.model import Kernel
from optimizer.source import Source
from optimizer.tuning import tune

HOST = """\
const int kThreads = 128;
inline int blocks_for(int n) { return (n + kThreads - 1) / kThreads; }
"""
GUARDED = """\
__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i >= n) return;
  a[i] = a[i] * 2.0f;
}
"""
STRIDED = """\
__global__ void twice(float *a, int n) {
  int step = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) a[i] = a[i] * 2.0f;
}
"""
RUN = "void run(float *a, int n) {\n  twice<<<blocks_for(n), kThreads>>>(a, n);\n}\n"
PLANE = """\
__global__ void plane(float *a, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) a[y * w + x] += 1.0f;
}
const int B = 16;
int padded(int n) { return (n + B - 1) / B * B; }
void run(float *a, int w, int h) {
  dim3 block(B, B);
  dim3 grid(padded(w) / B, padded(h) / B);
  plane<<<grid, block>>>(a, w, h);
}
"""


def shapes(text: str) -> dict[tuple[int, ...], str]:
    return {s.after: s.text for s in launch_shapes(Kernel("k", text), Source(text))}


@pytest.mark.parametrize("kernel", [GUARDED, STRIDED], ids=["guarded", "strided"])
def test_a_number_of_the_host_is_left_and_the_launch_says_another(kernel: str) -> None:
    text = HOST + kernel + RUN
    found = shapes(text)
    assert "twice<<<(blocks_for(n) + 1) / 2, 256>>>(a, n);" in found[256,]
    assert "twice<<<(blocks_for(n)) * 2, 64>>>(a, n);" in found[64,]
    assert all(HOST in changed and not violations(text, changed) for changed in found.values())
    assert {e.source for e in tune(Kernel("k", text))} >= set(found.values())


def test_a_plane_changes_shape_along_both_axes() -> None:
    found = shapes(PLANE)
    assert "dim3 grid((padded(w) / B + 1) / 2, (padded(h) / B) * 2);" in found[32, 8]
    assert "plane<<<grid, dim3(32, 8)>>>(a, w, h);" in found[32, 8]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i] * 2.0f", "a[i] * blockDim.x"),
        ("a[i] * 2.0f", "a[blockIdx.x] * 2.0f"),
        ("  if (i >= n) return;\n", ""),
        ("  if (i >= n) return;\n", "  if (i < n) return;\n"),
        ("  if (i >= n)", "  a[0] = 1;\n  if (i >= n)"),
        ("kThreads>>>", "kThreads, kThreads * 4>>>"),
        ("kThreads>>>", "n>>>"),
        ("__global__ void", "__global__ void __launch_bounds__(128)"),
    ],
)
def test_kernels_that_know_their_block_keep_it(old: str, new: str) -> None:
    text = HOST + GUARDED + RUN
    assert old in text
    assert (256,) not in shapes(text.replace(old, new))


def test_a_block_that_may_change_where_it_is_written_changes_there() -> None:
    text = GUARDED + "void run(float *a, int n) {\n  twice<<<(n + 127) / 128, 128>>>(a, n);\n}\n"
    sources = [e.source for e in tune(Kernel("k", text))]
    assert any("twice<<<(n + 255) / 256, 256>>>" in s for s in sources)
    assert not any("/ 128 + 1) / 2" in s for s in sources)
