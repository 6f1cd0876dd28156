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
    shim = "static int atomicMin(int *p, int v) { int o = *p; *p = std::min(o, v); return o; }\n"
    kernel = edit.source.partition("void run")[0]
    assert emulated(shim + kernel, main, tmp_path) == "1 1"


PLANE = """\
__global__ void k(const unsigned char *s, int *h, int w, int rows) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= w || y >= rows) return;
  atomicAdd(&h[s[y * w + x]], 1);
}
void go(const unsigned char *s, int *h, int w, int rows) {
  k<<<dim3((w + 7) / 8, (rows + 7) / 8), dim3(8, 8)>>>(s, h, w, rows);
}
"""
CHANNELS = """\
__global__ void k(const unsigned char *s, int *r, int *g, unsigned *low, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&r[s[3 * i]], 1);
    atomicAdd(&g[s[3 * i + 1]], 2);
    atomicAdd(&low[s[3 * i + 2] & 7], 1);
    atomicAdd(&r[s[3 * i + 2]], 1);
  }
}
void go(const unsigned char *s, int *r, int *g, unsigned *low, int n) {
  k<<<(n + 63) / 64, 64>>>(s, r, g, low, n);
}
"""


def test_blocks_of_a_plane_count_each_element_once_and_several_arrays_at_a_time(
    tmp_path: Path,
) -> None:
    plane, channels = (
        [e.source.partition("void go")[0] for e in privatize_atomics(Kernel("k", text), [])]
        for text in (PLANE, CHANNELS)
    )
    assert len(plane) == len(channels) == 3
    assert "y += blockDim.y * gridDim.y" in plane[0]
    assert "int block_g[256];" in channels[0]
    assert "unsigned block_low[8];" in channels[0]
    texts = [PLANE.partition("void go")[0], plane[0], plane[2]]
    texts += [CHANNELS.partition("void go")[0], channels[0], channels[2]]
    main = """
  int w = 21, rows = 37, n = 250, at = 0;
  std::vector<unsigned char> s(w * rows);
  for (auto &v : s) v = ++at * 37 % 251 % 40;
  auto p = s.data();
  std::vector<int> h[3], r[3]; std::vector<unsigned> low[3];
  for (int i = 0; i < 3; i++) { h[i].resize(256); r[i].resize(512); low[i].resize(8); }
  auto h0 = h[0].data(), h1 = h[1].data(), h2 = h[2].data();
  launch(dim3(3, 5), dim3(8, 8), [=] { k0(p, h0, w, rows); });
  launch(dim3(3, 2), dim3(8, 8), [=] { k1(p, h1, w, rows); });
  launch(dim3(3, 5), dim3(8, 8), [=] { k2(p, h2, w, rows); });
  auto a = r[0].data(), b = r[1].data(), c = r[2].data();
  auto d = low[0].data(), e = low[1].data(), f = low[2].data();
  launch(dim3(4), dim3(64), [=] { k3(p, a, a + 256, d, n); });
  launch(dim3(2), dim3(64), [=] { k4(p, b, b + 256, e, n); });
  launch(dim3(4), dim3(64), [=] { k5(p, c, c + 256, f, n); });
  bool same = h[0] == h[1] && h[0] == h[2] && r[0] == r[1] && r[0] == r[2];
  puts(same && low[0] == low[1] && low[0] == low[2] ? "same" : "other");"""
    text = "".join(t.replace("void k(", f"void k{i}(") for i, t in enumerate(texts))
    assert emulated(text, main, tmp_path) == "same\n"


def test_rows_are_not_strided_where_what_follows_from_them_stands_before_the_test() -> None:
    text = PLANE.replace("  if (x", "  int at = y * w + x;\n  if (x").replace(
        "s[y * w + x]", "s[at]"
    )
    assert len(list(privatize_atomics(Kernel("k", text), []))) == 1
