"""Code that rules write in blocks says why it is there."""

from __future__ import annotations

from itertools import pairwise

import pytest

from optimizer.boundary import violations
from optimizer.interfaces import RewriteRule
from optimizer.model import Kernel
from optimizer.rules.remarks import remark
from optimizer.rules.tile_halo import tile_halo
from optimizer.rules.tile_matmul import tile_matmul

PRODUCT = """\
__global__ void gemm(const float *A, const float *B, float *C, int N) {
\tint row = blockIdx.y * blockDim.y + threadIdx.y;
\tint col = blockIdx.x * blockDim.x + threadIdx.x;
\tif (row < N && col < N) {
\t\tfloat sum = 0.0f;
\t\tfor (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * N + col];
\t\tC[row * N + col] = sum;
\t}
}
int main() { dim3 b(16, 16), g(64, 64); gemm<<<g, b>>>(nullptr, nullptr, nullptr, 1024); }
"""
STENCIL = """\
__global__ void blur(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        out[y * w + x] = in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1]
                       + in[(y - 1) * w + x] + in[(y + 1) * w + x];
    }
}
void run(float* a, float* o) { dim3 b(16, 16), g(64, 64); blur<<<g, b>>>(a, o, 1024, 1024); }
"""
RADIUS = """\
__global__ void window(const float* in, float* out, int n, int radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; k++) {
        if (i + k >= 0 && i + k < n) sum += in[i + k];
    }
    out[i] = sum;
}
void run(float* a, float* o) { window<<<4096, 256>>>(a, o, 1 << 20, 8); }
"""


@pytest.mark.parametrize(
    ("rule", "text", "words"),
    [
        (tile_matmul, PRODUCT, ("A block computes a tile", "only what is inside is stored")),
        (tile_halo, STENCIL, ("the block loads each of them once",)),
        (tile_halo, RADIUS, ("the block loads each of them once", "no room for is read from")),
    ],
)
def test_blocks_of_written_code_say_why_they_are_there(
    rule: RewriteRule, text: str, words: tuple[str, ...]
) -> None:
    """In lines of their own, at the depth of what they stand before."""
    said = [edit.source for edit in rule(Kernel("k", text), [])]
    assert said
    for one in said:
        assert all(word in one for word in words)
        assert not violations(text, one)
        for line, after in pairwise(one.splitlines()):
            if line.lstrip().startswith("//"):
                assert len(line) - len(line.lstrip()) == len(after) - len(after.lstrip())
                assert len(line) <= 100


def test_a_comment_is_a_line_of_its_depth() -> None:
    """Steps inwards are written as rules write them."""
    assert list(remark("why", depth=2)) == [">>// why"]
