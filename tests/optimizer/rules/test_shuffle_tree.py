"""Trees in shared memory of any fold, by shuffles that meet the same pairs in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.model import Edit, Kernel
from optimizer.rules.shuffle_reduce import shuffle_reduce
from optimizer.rules.shuffle_tree import shuffle_tree
from tests.optimizer.rules import emulator

ARGMAX = """\
__global__ void k(const float *in, float *best, int *where, int n)
{
    __shared__ float val[128];
    __shared__ int idx[128];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    val[tid] = i < n ? in[i] : -1.0f;
    idx[tid] = i;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            if (val[tid + s] > val[tid]) {
                val[tid] = val[tid + s];
                idx[tid] = idx[tid + s];
            }
        }
        __syncthreads();
    }
    if (tid == 0) { best[blockIdx.x] = val[0]; where[blockIdx.x] = idx[0]; }
}
void run(float *in, float *best, int *where, int n) { k<<<2, 128>>>(in, best, where, n); }
"""
STRUCT = """\
struct Pair { float value; int index; };
template <int N>
__global__ void k(const float* in, float* best, int* where, int n) {
\t__shared__ Pair cache[N];
\tPair mine;
\tmine.value = 1e30f;
\tmine.index = -1;
\tfor (int i = blockIdx.x * N + threadIdx.x; i < n; i += gridDim.x * N)
\t\tif (in[i] < mine.value) { mine.value = in[i]; mine.index = i; }
\tcache[threadIdx.x] = mine;
\t__syncthreads();
\tfor (unsigned stride = N / 2; stride >= 1; stride /= 2) {
\t\t// the smaller one stays
\t\tif (threadIdx.x < stride && cache[threadIdx.x + stride].value < cache[threadIdx.x].value)
\t\t\tcache[threadIdx.x] = cache[threadIdx.x + stride];
\t\t__syncthreads();
\t}
\tif (threadIdx.x == 0) { best[blockIdx.x] = cache[0].value; where[blockIdx.x] = cache[0].index; }
}
void run(float* in, float* best, int* where, int n) { k<64><<<2, 64>>>(in, best, where, n); }
"""
LATER = """\
#define TPB 64
__global__ void k(const float* in, float* best, int* where, int n) {
  __shared__ float v[TPB]; __shared__ int p[TPB];
  const int t = threadIdx.x;
  v[t] = t + blockIdx.x * TPB < n ? in[t + blockIdx.x * TPB] : 0.0f;
  p[t] = t;
  int s = TPB / 2;
  while (s > 0) {
    __syncthreads();
    if (t < s) {
      float other = v[t + s];
      if (other > v[t] || (other == v[t] && p[t + s] < p[t])) { v[t] = other; p[t] = p[t + s]; }
    }
    s = s / 2;
  }
  if (t == 0) { best[blockIdx.x] = v[0]; where[blockIdx.x] = p[0]; }
}
void run(float* in, float* best, int* where, int n) { k<<<2, TPB>>>(in, best, where, n); }
"""
MOMENTS = """\
__global__ void k(const float *in, float *best, int *where, int n) {
    __shared__ float2 m[64];
    __shared__ int count[64];
    int t = threadIdx.x;
    m[t] = make_float2(in[t % n], in[t % n] * in[t % n]);
    count[t] = 1;
    __syncthreads();
    for (int s = 32; s > 0; s >>= 1) {
        if (t < s) {
            float delta = m[t + s].x - m[t].x;
            count[t] += count[t + s];
            m[t].x += delta / 2;
            m[t].y += m[t + s].y + delta * delta;
        }
        __syncthreads();
    }
    if (t == 0) { best[0] = m[0].x + m[0].y; where[0] = count[0]; }
}
void run(float *in, float *best, int *where, int n) { k<<<1, 64>>>(in, best, where, n); }
"""
SOURCES = {"argmax": ARGMAX, "struct": STRUCT, "later": LATER, "moments": MOMENTS}
MAIN = """\
#include <cstring>
struct float2 { float x, y; };
static float2 make_float2(float a, float b) { return {a, b}; }
#define __shfl_down_sync(mask, value, offset) __shfl_xor_sync(mask, value, offset)
#define k64 k<64>
"""
RUN = """
  const int n = 997;
  std::vector<float> in(1024);
  for (int kind = 0; kind < 2; ++kind) {
    for (int i = 0; i < 1024; ++i)
      in[i] = kind == 0 ? (i * 7919) % 1009 : (i * 31) % 4;
    float best[8][4] = {}; int where[8][4] = {}, at = 0;
    for (auto run : {a::run, b::run, c::run, d::run, e::run, f::run, g::run, h::run}) {
      run(in.data(), best[at], where[at], n);
      ++at;
    }
    for (int i = 0; i < 4; ++i)
      for (at = 0; at < 8; ++at) printf("%.9g %d\\n", best[at][i], where[at][i]);
  }
"""


def edits(text: str) -> list[Edit]:
    return list(shuffle_tree(Kernel("k", text), []))


@pytest.mark.parametrize("name", SOURCES)
def test_trees_of_any_fold_become_shuffles(name: str) -> None:
    """And what comes out is at rest."""
    (edit,) = edits(SOURCES[name])
    assert not violations(SOURCES[name], edit.source)
    assert edit.source.count("__syncthreads();") <= 4
    assert "__shfl_down_sync" in edit.source
    assert not edits(edit.source)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_results_are_the_same_of_equals_too(tmp_path: Path) -> None:
    """Bit by bit: the pairs meet in the order in which the tree has them."""
    pairs = [(text, edits(text)[0].source) for text in SOURCES.values()]
    texts = [text.replace("k<64><<<", "k64<<<") for pair in pairs for text in pair]
    whole = "\n".join(f"namespace {n} {{\n{t}}}" for n, t in zip("abcdefgh", texts, strict=True))
    answers = emulator.run(MAIN + whole, RUN, tmp_path).splitlines()
    before, after = answers[::2], answers[1::2]
    assert before == after
    assert len(set(before)) > 8


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("val[128]", "val[256]"),
        ("<<<2, 128>>>", "<<<2, 96>>>"),
        ("<<<2, 128>>>", "<<<2, dim3(64, 2)>>>"),
        ("if (tid < s) {", "if (tid <= s) {"),
        ("if (tid < s) {", "if (tid < s && s > 1) {"),
        ("idx[tid] = idx[tid + s];", "idx[tid] = idx[tid + 2 * s];"),
        ("idx[tid] = idx[tid + s];", "idx[tid] = s;"),
        ("idx[tid] = idx[tid + s];", "idx[tid] = idx[tid + s]; best[0] = 1.0f;"),
        ("idx[tid] = idx[tid + s];", "idx[tid] = other(idx, tid);"),
        ("idx[tid] = i;\n    __syncthreads();", "idx[tid] = i;"),
        ("where[blockIdx.x] = idx[0];", "where[blockIdx.x] = idx[0] + idx[1];"),
        ("__shared__ float val", "volatile __shared__ float val"),
        ("int tid = threadIdx.x;", "int tid = threadIdx.x; if (n < 0) return;"),
        ("__shared__ int idx[128];", "__shared__ short idx[128];"),
    ],
)
def test_a_tree_that_is_not_understood_stays(old: str, new: str) -> None:
    """Whatever is different from one element a thread and its partner."""
    assert old in ARGMAX
    changed = ARGMAX.replace(old, new)
    assert bool(edits(changed)) == (new == "val[256]")


def test_a_type_that_a_template_is_given_is_folded_too() -> None:
    """Also where the launch stands in a template that names it."""
    text = ARGMAX.replace("__global__", "template <class T, int size>\n__global__")
    text = text.replace("float val[128]", "T val[size]").replace("idx[128]", "idx[size]")
    text = text.replace("const float *in", "const T *in").replace("k<<<", "k<T, 128><<<")
    text = text.replace("void run(float", "template <class T> void run(T")
    (edit,) = edits(text)
    assert "T val_mine = val[threadIdx.x % 32 * 4 + threadIdx.x / 32];" in edit.source


def test_a_struct_of_more_than_numbers_stays() -> None:
    """A shuffle would leave a part of it behind."""
    for more in ("int more[2];", "float *p;", "int index() { return 0; }"):
        assert not edits(STRUCT.replace("int index;", f"int index; {more}"))


def test_sums_and_extremes_alone_are_another_rules() -> None:
    """So that no tree is tried twice."""
    plain = ARGMAX.replace("if (val[tid + s] > val[tid]) {", "{").replace(
        "val[tid] = val[tid + s];", "val[tid] += val[tid + s];"
    ).replace("idx[tid] = idx[tid + s];", "idx[tid] += idx[tid + s];").replace("{\n            {", "{").replace(
        "            }\n        }\n", "        }\n"
    )  # fmt: skip
    assert list(shuffle_reduce(Kernel("k", plain), []))
    assert not edits(plain)
