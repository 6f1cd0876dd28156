"""Two launches made one, where elements go from thread to thread."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Acceptance, Edit, Kernel, Status, Step, Verdict
from optimizer.policies.rules import RulePolicy
from optimizer.rules.fuse_launches import fuse_launches
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

CHAIN = """\
__global__ void scale(const float *x, float *__restrict__ y, float a, const int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = a * x[i];  // first
}
__global__ void add(const float *__restrict__ in, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + b[i];
}
void run(const float *a, float *t, float *o, int w, int h) {
    int n = w * h;
    scale<<<(n + 31) / 32, 32>>>(a, t, 2.0f, n);
    // and then
    add<<<(n + 31) / 32, 32>>>(t, a, o, n);
}
"""
PLANE = """\
__global__ void square(float *m, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    float v = m[y * w + x];
    m[y * w + x] = v * v;
  }
}
__global__ void shift(const float *src, float *dst, float by, int width, int height) {
  int col = threadIdx.x + blockIdx.x * blockDim.x, row = threadIdx.y + blockIdx.y * blockDim.y;
  if (col >= width || row >= height) return;
  dst[row * width + col] = src[row * width + col] - by;
}
void run(const float *a, float *t, float *o, int w, int h) {
  dim3 block(8, 2), grid((w + 7) / 8, (h + 1) / 2);
  for (int i = 0; i < 2; i++) {
    square<<<grid, block>>>(t, w, h);
    shift<<<grid, block>>>(t, o, 1.0f, w, h);
  }
}
"""
COLUMNS = """\
__global__ void mean(float *m, const float *data, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        m[j] = 0;
        for (int i = 0; i < rows; i++) m[j] += data[i * cols + j];
        m[j] /= rows;
    }
}
__global__ void spread(const float *m, float *s, const float *data, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols) return;
    s[j] = 0;
    for (int i = 0; i < rows; i++) s[j] += (data[i * cols + j] - m[j]) * data[i * cols + j];
}
void run(const float *a, float *t, float *o, int w, int h) {
    mean<<<dim3((w + 15) / 16), dim3(16)>>>(t, a, h, w);
    spread<<<dim3((w + 15) / 16), dim3(16)>>>(t, o, a, h, w);
}
"""
COUNTED = """\
__global__ void first(float *x, float *b, int n) {
    n = n - 1;
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    if (t < n) x[t] = b[t] + 1;
}
__global__ void second(float *a, float *y, int n) {
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    if (t < n) y[t] += a[t];
}
void run(const float *a, float *t, float *o, int w, int h) {
    int n = w * h;
    first<<<(n + 15) / 16, 16>>>(o, t, n);
    second<<<(n + 15) / 16, 16>>>(o, t, n);
}
"""
ALL = (CHAIN, PLANE, COLUMNS, COUNTED)


def edits(text: str) -> list[Edit]:
    return list(fuse_launches(Kernel("run", text, "k.cu"), []))


class TestFuseLaunches(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", t, "k.cu") for t in ALL)
    samples: ClassVar[tuple[Kernel, ...]] = ()  # every rule is tried on them in test_testing.py

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return fuse_launches


def test_one_launch_passes_what_both_did_once() -> None:
    (edit,) = edits(CHAIN)
    head = "scale_add(const float *x, float *__restrict__ y, float a, const int n, float *out)"
    assert head in edit.source
    assert "    scale_add<<<(n + 31) / 32, 32>>>(a, t, 2.0f, n, o);" in edit.source
    assert "        const float *in = y;\n        const float *b = x;\n" in edit.source
    assert edit.source.count("<<<") == 1
    assert "// and then" in edit.source


def test_a_parameter_that_a_kernel_changes_is_passed_twice() -> None:
    (edit,) = edits(COUNTED)
    assert "first_second(float *x, float *b, int n, int n2)" in edit.source
    assert "(o, t, n, n);" in edit.source


def test_a_workload_has_to_allow_that_host_code_changes() -> None:
    step = Step(0, None, None, Kernel("run", CHAIN, "k.cu"), Verdict(Status.CORRECT))
    closed = RulePolicy({"fuse-launches": fuse_launches}, Acceptance())
    opened = RulePolicy({"fuse-launches": fuse_launches}, Acceptance(edit_host=True))
    assert not closed.propose(step, (), 9)
    assert len(opened.propose(step, (), 9)) == 1


@pytest.mark.parametrize(
    "text",
    [
        CHAIN.replace("in[i] + b[i]", "in[i + 1] + b[i]"),  # of another thread
        CHAIN.replace("out[i] = in[i]", "out[i] = in[n - 1 - i]"),
        CHAIN.replace("    // and then\n", "    cudaDeviceSynchronize();\n"),
        CHAIN.replace("    // and then\n", "    n = n / 2;\n"),
        CHAIN.replace("(n + 31) / 32, 32>>>(t,", "(n + 63) / 64, 64>>>(t,"),
        CHAIN.replace("32>>>(t,", "32, 0, 0>>>(t,"),
        CHAIN.replace("    int n = w * h;", "    int n = w * h;\n    a = t;"),
        CHAIN.replace("add<<<(n + 31) / 32, 32>>>(t, a", "add<<<(n + 31) / 32, 32>>>(a, a"),
        CHAIN.replace("    if (i < n)\n", "    __syncthreads();\n    if (i < n)\n"),
        CHAIN.replace("y[i] = a", "if (x[i] < 0) return;\n    y[i] = a"),
        CHAIN.replace("y[i] = a", "atomicAdd(&y[i], 1); y[i] = a"),
        CHAIN.replace("float a, const int n)", "float *a, const int n)").replace("a * x", "*a * x")
        .replace("2.0f", "o"),
        CHAIN.replace("__global__ void scale", "__device__ float b;\n__global__ void scale")
        .replace("a * x[i]", "a * x[i] * b"),
        CHAIN.replace("(t, a, o, n)", "(t, a, o + n, n)").replace("a, t, 2.0f", "o, t, 2.0f"),
        PLANE.replace("x < w && y < h", "y < h"),  # rows run into each other
        PLANE.replace("1.0f, w, h)", "1.0f, h, w)"),
        COLUMNS.replace("m[j]) * data", "m[i]) * data"),
        COUNTED.replace("float *a, float *y", "float *b, float *x").replace("y[t] += a", "x[t] += b"),
    ],
)  # fmt: skip
def test_launches_whose_threads_could_meet_stay_two(text: str) -> None:
    assert text not in ALL
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_results_stay_the_same_for_odd_sizes(tmp_path: Path) -> None:
    """One program holds all kernels before and after: compiling takes longer than running."""
    parts: list[str] = []
    for number, text in enumerate(ALL):
        parts.append(f"namespace before{number} {{\n{text}}}\n")
        parts.append(f"namespace after{number} {{\n{edits(text)[0].source}}}\n")
    calls = ", ".join(f"{{before{n}::run, after{n}::run}}" for n in range(len(ALL)))
    main = f"""
    using Run = void (*)(const float *, float *, float *, int, int);
    Run runs[][2] = {{ {calls} }};
    for (auto &pair : runs) for (int w : {{1, 19}}) {{
      const int h = 3;
      std::vector<float> a(w * h), o(w * h), p(w * h), s(w * h), t(w * h);
      for (int i = 0; i < w * h; ++i) a[i] = i * 7 % 11, s[i] = t[i] = i % 5;
      pair[0](a.data(), s.data(), o.data(), w, h);
      pair[1](a.data(), t.data(), p.data(), w, h);
      if (o != p || s != t) printf("%d at %d ", int(&pair - runs), w);
    }}"""
    assert not emulator.run("".join(parts), main, tmp_path)
