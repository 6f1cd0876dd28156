"""Several neighbouring elements a thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.vectorize import vectorize
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules.host_threads import run

GRID = Launch(("(n+127)/128",), ("128",), tunable=True)
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
HEAD = "__global__ void k(const float *x, float *y, int n) {\n"
SAXPY = Kernel("k", HEAD + ID + "  if (i < n) y[i] = 2.f * x[i] + y[i];\n}\n", "k.cu", GRID)


def edits(text: str, launch: Launch | None = GRID) -> list[Edit]:
    return list(vectorize(Kernel("k", text, "k.cu", launch), []))


class TestVectorize(RewriteRuleContract):
    applies_to = (SAXPY,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return vectorize


FORMS = {
    "guard": ID + "  if (i < n) {\n    y[i] = 2.f * x[i] + y[i];\n  }\n",
    "plane": "  int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2.f * x[i] + y[i];\n",
    "exit": ID
    + "  if (i >= n) return;\n\n  float v = __ldg(&x[i]);  // mine\n  y[i] += 2.f * v;\n",
    "bare": "\tconst unsigned int t = threadIdx.x + blockIdx.x * blockDim.x;\n\tif (t < n)\n\t\ty[t] = x[t] * 2 + y[t];\n",
    "loop": "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n    y[i] = 2 * x[i] + y[i];\n",
    "branch": ID + "  if (n > i) { float v = x[i]; if (v == 1e30f) v = 0; y[i] = y[i] + v + v; }\n",
    "oneline": ID + "  if (i < n) y[i] += 2 * x[i];\n",
}


FORMS |= {
    "one way": ID + "  if (i < n) {\n    float v = x[i];\n    if (v != 0) y[i] = y[i] + 2 * v;\n  }\n",
    "each way": ID + "  if (i >= n) return;\n  if (x[i] > 3 && y[i] > 1)\n    y[i] += 2 * x[i];\n  else if (x[i] == 0)\n    y[i] = y[i];\n  else {\n    y[i] = x[i] + y[i] + x[i];\n  }\n",
    "read on one way": ID + "  if (i < n && n > 0) if (y[i] > -1) y[i] += x[i] * 2;\n",
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_each_form_moves_four_floats(form: str) -> None:
    assert "float4" in edits(HEAD + FORMS[form] + "}\n")[0].source


def test_results_stay_at_odd_sizes_and_odd_addresses(tmp_path: Path) -> None:
    kernels = [edits(HEAD + form + "}\n")[0].source for form in FORMS.values()]
    text = "".join(k.replace("void k(", f"void k{at}(") for at, k in enumerate(kernels))
    compare = """
template <class K> int wrong(K k) {
  for (int n : {0, 1, 3, 5, 130, 517}) for (int o : {0, 1}) {
    std::vector<float> x(n + 9), y(n + 9); float *a = x.data() + o, *b = y.data() + o;
    for (int i = 0; i < n; i++) { a[i] = i % 7; b[i] = i % 5; }
    x.resize(n + o); y.resize(n + o); x.shrink_to_fit(); y.shrink_to_fit();
    a = x.data() + o; b = y.data() + o;
    launch(dim3((n + 127) / 128 / 4 + 1), dim3(128), [=] { k(a, b, n); });
    for (int i = 0; i < n; i++) if (b[i] != i % 5 + 2.f * (i % 7)) { printf("%d at %d", n, i); return 1; }
  }
  return 0;
}
"""
    calls = " || ".join(f"wrong(k{at})" for at in range(len(kernels)))
    assert run(text + compare, f'  if (!({calls})) puts("same");', tmp_path) == "same\n"


def test_rows_of_an_image_are_moved_by_the_column() -> None:
    text = (
        "__global__ void k(const unsigned char* a, unsigned char* b, int w, int h) {\n"
        "    int x = blockIdx.x * 16 + threadIdx.x;\n    int y = blockIdx.y * 16 + threadIdx.y;\n"
        "    if (x >= w || y >= h) return;\n    int at = y * w + x;\n    b[at] = 255 - a[at];\n}\n"
    )
    found = edits(text, Launch(("(w+15)/16", "(h+15)/16"), ("16", "16"), tunable=True))
    assert "if (first >= w || y >= h) return;" in found[0].source
    assert "&b[(y * w + first)]" in found[0].source or "&b[y * w + first]" in found[0].source
    assert found[0].launch is not None
    assert found[0].launch.grid[1] == "(h+15)/16"


@pytest.mark.parametrize(
    "body",
    [
        ID + "  if (i < n - 1) y[i] = x[i] + y[i + 1];\n",
        ID + "  if (i < n) y[2 * i] = x[2 * i];\n",
        ID + "  if (i < n) { if (i % 2 == 0) y[i] = 1; }\n",
        ID + "  if (i < n) { int at = i / 2; if (x[0] > at) y[i] = 1; else y[0] = 2; }\n",
        ID + "  if (i < n) { int at = i / 2; if (x[0] > at) y[i] = 1; }\n",
        ID + "  if (i < n) for (int j = 0; j < 2; j++) if (x[j] > 0) y[i] = j;\n",
        ID + "  y[i] = x[i];\n",
        ID + "  if (i < n && threadIdx.x > 3) y[i] = x[i];\n",
        ID
        + "  __shared__ float s[128];\n  s[threadIdx.x] = x[i];\n  __syncthreads();\n  if (i < n) y[i] = s[0];\n",
        ID + "  if (i < n) { y[i] = x[i]; helper(y, i); }\n",
        "  int i = threadIdx.x;\n  if (i < n) y[i] = x[i];\n",
    ],
)
def test_it_declines_what_is_not_elementwise(body: str) -> None:
    assert not edits(HEAD + body + "}\n")


def test_it_declines_a_launch_it_may_not_change() -> None:
    assert not edits(SAXPY.source, Launch(GRID.grid, GRID.block, tunable=False))


TEMPLATE = """\
typedef float real;
template <typename T, int N>
__global__ void relu(const T *x, T *y, long n) {
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    y[i] = x[i] > T(0) ? x[i] : T(0);
  }
}
void run(const float *x, float *y, long n) {
  relu<float, 1><<<64, 256>>>(x, y, n);
  relu<real, 2><<<64, 256>>>(x, y, n);
}
"""


def test_elements_of_a_template_have_the_type_that_all_launches_give() -> None:
    text = edits(TEMPLATE, None)[0].source
    assert 'static_assert(sizeof(T) == 4, "T is float");' in text
    assert "alignas(16) T x_next[kWidth];" in text
    assert "*reinterpret_cast<float4*>(&y[first]) =" in text
    for other in ("relu<double, 2>", "relu<int4, 2>", "relu"):
        assert not edits(TEMPLATE.replace("relu<real, 2>", other), None)
