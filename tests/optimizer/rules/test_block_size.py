"""Blocks of another size where threads meet."""

from __future__ import annotations

from optimizer.boundary import violations
from optimizer.model import Edit, Finding, Kernel, Launch, Severity
from optimizer.rules.block_size import block_size

ROW_SUM = """\
constexpr int kThreads = 256;

__device__ float block_sum(float v, float *scratch) {
    scratch[threadIdx.x] = v;
    __syncthreads();
    for (int s = kThreads / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    return scratch[0];
}

__global__ void sum_rows(const float *a, float *o, int cols) {
    __shared__ float scratch[kThreads];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += kThreads) sum += a[blockIdx.x * cols + i];
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) o[blockIdx.x] = sum;
}

void run(const float *a, float *o, int rows, int cols) {
    sum_rows<<<rows, kThreads>>>(a, o, cols);
}
"""

BINS = """\
__global__ void count(const int *x, int *bins, int n) {
    __shared__ int own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += blockDim.x * gridDim.x) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}
"""

PLAIN = """\
__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, n); }
"""


def edits(
    text: str, *findings: Finding, launch: Launch | None = None, name: str = "run"
) -> list[Edit]:
    return list(block_size(Kernel(name, text, launch=launch), findings))


def sizes(found: list[Edit]) -> list[str]:
    return [e.title.partition("of ")[2].partition(" ")[0] for e in found]


def test_blocks_that_meet_in_a_device_function_are_halved_and_quartered_first() -> None:
    found = edits(ROW_SUM)
    assert sizes(found) == ["128", "64", "512"]
    assert {e.kind for e in found} == {"block-size"}
    assert "constexpr int kThreads = 64;" in found[1].source
    assert all(violations(ROW_SUM, e.source) == () for e in found)


def test_blocks_that_add_their_counts_to_memory_grow_first_and_keep_their_bins() -> None:
    """256 bins stay 256 bins, whatever the block: its threads walk them."""
    launched = BINS + "void run(int *x, int *b, int n) { count<<<64, 256>>>(x, b, n); }\n"
    found = edits(launched)
    assert sizes(found) == ["512", "1024", "128"]
    assert "own[256];" in found[2].source
    assert found[2].source.count("b < 256; b += blockDim.x") == 2
    assert "count<<<64, 128>>>" in found[2].source
    launch = Launch(("(n + 255) / 256",), ("256",), tunable=True)
    smaller = edits(BINS, launch=launch, name="count")[-1]
    assert smaller.launch is not None
    assert smaller.launch.block == ("128",)
    assert smaller.source == BINS


def test_kernels_whose_threads_never_meet_are_left_to_the_tuner_unless_a_finding_asks() -> None:
    assert edits(PLAIN) == []
    asks = Finding(
        "scale",
        "blocks of 256",
        severity=Severity.WARNING,
        subject="scale",
        remedies=("block-size",),
    )
    assert sizes(edits(PLAIN, asks)) == ["512", "128"]


def test_an_array_of_the_blocks_own_size_changes_along() -> None:
    text = BINS.replace("b < 256; b += blockDim.x", "b < 8; b += blockDim.x").replace(
        "own[x[i]]", "own[threadIdx.x]"
    )
    launched = text + "void run(int *x, int *b, int n) { count<<<64, 256>>>(x, b, n); }\n"
    assert "own[512];" in edits(launched)[0].source


def test_unknown_and_broken_launches_are_left_alone() -> None:
    assert edits(ROW_SUM.replace("<<<rows, kThreads>>>", "<<<rows, rows>>>")) == []
    assert edits(BINS) == []
