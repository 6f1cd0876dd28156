"""Atomics of a block joined before they leave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model import Edit, Kernel
from optimizer.rules.privatize_atomics import privatize_atomics
from tests.optimizer.rules.host_threads import run as emulated

HEAD = "__global__ void k(const float *a, const unsigned char *s, float *out, int *h, int n) {\n"
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
RUN = "void run(float *a, unsigned char *s, float *o, int *h, int n) { k<<<(n + 255) / 256, 256>>>(a, s, o, h, n); }\n"


def edits(body: str, run: str = RUN) -> list[Edit]:
    return list(privatize_atomics(Kernel("k", HEAD + ID + body + "}\n" + run), []))


def only(body: str, run: str = RUN) -> str:
    (edit,) = edits(body, run)
    return edit.source


def test_an_early_return_becomes_a_block_so_that_all_threads_combine() -> None:
    text = only("  if (i >= n) return;\n  float v = a[i];\n  atomicAdd(out, v);\n")
    assert "  if (i < n) {\n    float v = a[i];\n    block_sum += v;\n  }\n" in text
    assert "__shared__ float warp_sums[8];" in text
    assert "atomicAdd(out, block_sum);" in text


def test_atomics_in_a_loop_are_added_up_in_a_register() -> None:
    text = only("  for (; i < n; i += blockDim.x * gridDim.x) atomicAdd(out, a[i]);\n")
    assert "block_sum += a[i];" in text


def test_a_block_of_unknown_size_adds_up_in_shared_memory() -> None:
    run = "void run(float *a, unsigned char *s, float *o, int *h, int n, int t) { k<<<n, t>>>(a, s, o, h, n); }\n"
    text = only("  if (i < n) atomicAdd(&out[0], a[i]);\n", run)
    assert "atomicAdd(&block_sum_total, block_sum);" in text
    assert "__shfl" not in text


def test_two_addresses_get_a_sum_each() -> None:
    text = only("  if (i < n) { atomicAdd(&out[0], a[i]); atomicAdd(&h[blockIdx.x], 1); }\n")
    assert "float block_sum0 = 0;" in text
    assert "int block_sum1 = 0;" in text


def test_other_atomics_may_stay_beside_those_on_one_address() -> None:
    text = only("  if (i < n) { atomicAdd(out, a[i]); atomicAdd(&h[i], 1); }\n")
    assert "block_sum += a[i]; atomicAdd(&h[i], 1);" in text


def test_one_place_of_each_block_may_be_named_by_locals() -> None:
    text = only(
        "  int g = blockIdx.x;\n  for (; i < n; i += 256) atomicAdd(out + 4 * g + 1, a[i]);\n"
    )
    assert "atomicAdd(out + 4 * g + 1, block_sum);" in text


@pytest.mark.parametrize("address", ["&h[(int)a[i]]", "h + (int)a[i]"])
@pytest.mark.parametrize("size", ["64 * sizeof(int)", "sizeof(count) * BINS", "256"])
def test_the_host_tells_how_many_bins_there_are(address: str, size: str) -> None:
    head = "typedef int count;\n#define BINS 64\n"
    run = (
        "int main() {\n  float *a, *o; unsigned char *s; int *d_h, n = 9;\n"
        f"  cudaMalloc((void **)&d_h, {size});\n  k<<<(n + 255) / 256, 256>>>(a, s, o, d_h, n);\n}}\n"
    )
    body = ID + f"  if (i < n) atomicAdd({address}, 1);\n}}\n"
    found = list(privatize_atomics(Kernel("k", head + HEAD + body + run), []))
    assert "__shared__ int block_h[64];" in found[-1].source
    assert address.replace("h", "block_h", 1) in found[-1].source
    unknown = run.replace(size, "n * sizeof(int)")
    assert not list(privatize_atomics(Kernel("k", head + HEAD + body + unknown), []))


def test_bins_of_a_byte_are_kept_by_the_block_with_fewer_blocks_first() -> None:
    found = edits("  if (i < n) {\n    atomicAdd(&h[s[i]], 1);\n  }\n")
    assert [e.title.partition("own")[2] for e in found] == [
        ", 32 elements a thread",
        ", 8 elements a thread",
        "",
    ]
    assert "for (; i < n; i += blockDim.x * gridDim.x) {" in found[0].source
    assert "k<<<((n + 255) / 256 + 31) / 32, 256>>>" in found[0].source
    assert "if (block_h[b]) atomicAdd(&h[b], block_h[b]);" in found[2].source


@pytest.mark.parametrize(
    "body",
    [
        "  if (i < n) { int old = atomicAdd(h, 1); out[old] = a[i]; }\n",  # the old value is used
        "  if (i < n) atomicAdd(&out[i], a[i]);\n",  # a place of its own
        "  if (i < n) atomicAdd(&h[(int)a[i]], 1);\n",  # unknown number of bins
        "  if (i < n) atomicAdd(&h[i % 10], 1);\n",  # may be negative
        "  if (i < n) { if (a[i] < 0) return; atomicAdd(out, a[i]); }\n",  # returns inside
        "  if (i < n) { atomicAdd(&h[s[i]], 1); out[i] = h[0]; }\n",  # counts are read
        "  if (i < n) atomicAdd(out, a[i]);\n  __syncthreads();\n",
        "  if (i < n) { atomicAdd(out, a[i]); h[i] = (int)out[0]; }\n",  # the sum is read
        "  if (i < n) { int g = blockIdx.x; atomicAdd(out + g, a[i]); }\n",  # unseen at the end
    ],
)
def test_what_cannot_be_joined_is_left_alone(body: str) -> None:
    assert edits(body) == []


def test_the_result_comes_to_rest() -> None:
    text = only("  if (i < n) atomicAdd(out, a[i]);\n")
    assert not list(privatize_atomics(Kernel("k", text), []))


EXTREMES = """\
__global__ void range(const int *x, int *least, unsigned *most, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicMin(least, x[i]);
    atomicMax(most, (unsigned)x[i] % 1000);
  }
}
void run(const int *x, int *least, unsigned *most, int n) {
  range<<<(n + 63) / 64, 64>>>(x, least, most, n);
}
"""


def test_extremes_are_found_within_a_block_before_the_atomic() -> None:
    (edit,) = privatize_atomics(Kernel("run", EXTREMES), [])
    assert "int block_min = 2147483647;" in edit.source
    assert "unsigned int block_max = 0;" in edit.source.replace(
        "unsigned block", "unsigned int block"
    )
    assert "block_min = min(block_min, x[i]);" in edit.source
    assert "atomicMax(most, block_max);" in edit.source


def test_largest_floats_are_left_to_their_own_loops() -> None:
    text = EXTREMES.replace("int *least", "float *least")
    assert all("block_min" not in e.source for e in privatize_atomics(Kernel("run", text), []))


def test_extremes_stay_the_same(tmp_path: Path) -> None:
    (edit,) = privatize_atomics(Kernel("run", EXTREMES), [])
    main = """
  int n = 150, x[150], least = 7, other = 7; unsigned most = 3, more = 3;
  for (int i = 0; i < n; i++) x[i] = (i * 7919) % 613 - 20;
  int *p = x, *l = &least; unsigned *m = &most;
  launch(dim3(3), dim3(64), [=] { range(p, l, m, n); });
  for (int i = 0; i < n; i++) { other = std::min(other, x[i]); more = std::max(more, (unsigned)x[i] % 1000); }
  printf("%d %d", least == other, most == more);"""
    shim = "static int atomicMin(int *p, int v) { std::lock_guard<std::mutex> g(lock); int o = *p; *p = std::min(o, v); return o; }\n"
    kernel = edit.source.partition("void run")[0]
    assert emulated(shim + kernel, main, tmp_path) == "1 1"
