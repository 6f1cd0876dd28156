"""Other ways to write a thread's number, shown to rules in the one they know."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from optimizer import plugins
from optimizer.model import CaseTimes, Edit, Kernel, Measurement, Status, Step, Verdict
from optimizer.policies.rules import RulePolicy
from optimizer.source import Source
from optimizer.written_out import WrittenOut

HEAD = "__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }\n"
TAIL = "void run(float *x, float *y, int n) { k<<<(n + 255) / 256, 256>>>(x, y, n); }\n"
ID = "blockIdx.x * blockDim.x + threadIdx.x"
WORK = "  if (i < n) y[i] = x[i] + y[i];\n"
FORMS = {
    "set later": f"  int i;\n  i = {ID};\n",
    "named with others": f"  int i, j = 1, *p;\n  p = 0;\n  i = {ID};\n",
    "set in two steps": "  int i = threadIdx.x;\n  i += blockIdx.x * blockDim.x;\n",
    "set later in two steps": "  int i;\n  i = threadIdx.x;\n  i += blockIdx.x * blockDim.x;\n",
    "in brackets": f"  const int i({ID});\n",
    "in braces": f"  int i{{static_cast<int>({ID})}};\n",
    "auto": f"  const auto i = {ID};\n",
    "returned": "  int i = number();\n",
    "from copies": "  int tx = threadIdx.x;\n  const int bx = blockIdx.x;\n  int i = bx * blockDim.x + tx;\n",
    "with another": f"  int i = {ID}, j = 3;\n",
}


def kernel(body: str) -> str:
    return f"{HEAD}__global__ void k(float *x, float *y, int n) {{\n{body}}}\n{TAIL}"


def shown(text: str) -> str:
    return WrittenOut(Kernel("k", text)).kernel.source


def edited(text: str, change: Callable[[str], str]) -> str:
    view = WrittenOut(Kernel("k", text))
    return view.put_back(Edit("e", change(view.kernel.source), "rule:e")).source


def kinds(text: str) -> set[str]:
    times = CaseTimes("n=1", (1.0,), (1.0,))
    verdict = Verdict(Status.CORRECT, Measurement((times,), "H200"))
    step = Step(0, None, None, Kernel("k", text), verdict)
    return {p.edit.kind for p in RulePolicy(plugins.rules()).propose(step, (), 80)}


@pytest.mark.parametrize("form", FORMS)
def test_a_number_is_known_however_it_is_written(form: str) -> None:
    text = kernel(FORMS[form] + WORK)
    after = shown(text)
    assert after.count("\n") == text.count("\n")
    fn = Source(after).function("k")
    assert fn is not None
    assert [(t.variable.name, t.variable.settled) for t in fn.thread_ids] == [("i", True)]
    assert edited(text, lambda t: t.replace("x[i] + y[i]", "x[i] * y[i]")) == text.replace(
        "+ y", "* y"
    )
    assert {"coarsen", "vectorize"} & kinds(text)


def test_lines_that_an_edit_changes_stay_plain_and_leave_no_blanks() -> None:
    text = kernel(f"  int i, j;\n  float v;\n\n  i = {ID};\n  j = 2;\n{WORK}")
    result = edited(text, lambda t: t.replace(f"int i = {ID};", f"int i = 4 * ({ID});"))
    wanted = kernel(f"  float v;\n\n  int i = 4 * ({ID});\n  int j = 2;\n{WORK}")
    assert result == wanted


def test_a_while_that_strides_is_a_for() -> None:
    body = f"  int i = {ID};\n  while (i < n) {{\n    y[i] = x[i] + y[i];\n    i += blockDim.x * gridDim.x;\n  }}\n"
    after = shown(kernel(body))
    assert f"for (int i = {ID}; i < n; i += blockDim.x * gridDim.x) {{" in after
    assert "while" not in after
    assert "vectorize" in kinds(kernel(body))
    assert edited(kernel(body), lambda t: t + "// end\n") == kernel(body) + "// end\n"


@pytest.mark.parametrize(
    "body",
    [
        f"  int i;\n  if (n) i = {ID};\n{WORK}",  # set under a test
        f"  int i;\n  x[0] = i;\n  i = {ID};\n{WORK}",  # used before
        f"  static int i;\n  i = {ID};\n{WORK}",
        f"  int i;\n  {{ i = {ID}; }}\n{WORK}",
        f"  int i;\n#if 1\n  i = {ID};\n#endif\n{WORK}",
        f"  __shared__ int i;\n  i = {ID};\n{WORK}",
        "  int i;\n  i = n;\n  if (i < n) x[i] = 0;\n",  # of no thread
        "  int i = threadIdx.x;\n  x[i] = 0;\n  i += blockIdx.x * blockDim.x;\n" + WORK,
        f"  int i = {ID};\n  while (i < n) {{\n    if (x[i] > 0) {{ i += 1; continue; }}\n    i += n;\n  }}\n",
        f"  int i = {ID};\n  while (i < n) {{\n    x[i] = 0;\n    i += gridDim.x;\n  }}\n  y[i] = 1;\n",
        f"  int i = {ID};\n{WORK}",
        f"  int t = threadIdx.x;\n  long i = blockIdx.x * blockDim.x + t - 1;\n{WORK}",
        f"  int t = threadIdx.x;\n  int i = blockIdx.x * blockDim.x + t;\n  x[t] = 0;\n{WORK}",
    ],
)
def test_what_says_something_else_stays(body: str) -> None:
    assert shown(kernel(body)) == kernel(body)


def test_a_name_that_a_macro_uses_stays_where_it_is() -> None:
    text = kernel(f"  int i;\n  i = {ID};\n  if (IN) y[i] = 0;\n")
    text = "#define IN (i < n)\n" + text
    assert shown(text) == text


TREE = """\
__global__ void k(const float *x, float *y, int n) {
  __shared__ float s[256];
  int tid = threadIdx.x;
  s[tid] = x[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (tid < step) {
      if (s[tid] < s[tid + step]) s[tid] = s[tid + step];
    }
    __syncthreads();
  }
  if (tid == 0) y[blockIdx.x] = s[0];
}
void run(const float *x, float *y, int n) { k<<<n / 256, 256>>>(x, y, n); }
"""
LARGER = "if (s[tid] < s[tid + step]) s[tid] = s[tid + step];"


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (LARGER, "max"),
        ("if (s[tid + step] > s[tid]) { s[tid] = s[tid + step]; }", "max"),
        ("if (s[tid] >= s[tid + step]) s[tid] = s[tid + step];", "min"),
        ("s[tid] = s[tid] > s[tid + step] ? s[tid] : s[tid + step];", "max"),
        ("s[tid] = (s[tid] > s[tid + step]) ? s[tid + step] : s[tid];", "min"),
    ],
)
def test_a_test_for_the_larger_of_two_is_called_so(form: str, name: str) -> None:
    text = TREE.replace(LARGER, form)
    assert f"s[tid] = {name}(s[tid], s[tid + step]);" in shown(text)
    assert "shuffle-reduce" in kinds(text)
    assert edited(text, lambda t: t.replace("s[0];", "2 * s[0];")) == text.replace(
        "s[0]", "2 * s[0]"
    )


@pytest.mark.parametrize(
    "form",
    [
        "if (s[tid] < s[tid + step]) s[tid] = s[step];",
        "if (s[tid] < s[tid + step]) s[tid] = s[tid + step]; else s[tid] = 0;",
        "if (s[tid] < x[tid]) s[tid] = x[tid];",
        "if (s[tid] < s[step++]) s[tid] = s[step++];",
        "s[tid] = s[tid] > s[tid + step] ? s[tid] : s[0];",
    ],
)
def test_other_tests_stay(form: str) -> None:
    assert shown(TREE.replace(LARGER, form)) == TREE.replace(LARGER, form)


def test_a_loop_under_a_test_is_shown_in_braces_and_put_back_where_it_stays() -> None:
    work = """\
  if (i < n)
    for (int j = 0; j < n; ++j)  // columns
      for (int k = 0; k < 3; ++k)
        y[i] += x[j + k];
  y[0] = 1;
"""
    text = kernel(f"  int i = {ID};\n{work}")
    after = shown(text)
    assert after.count("\n") == text.count("\n")
    assert "if (i < n) {/**/\n    for (int j = 0; j < n; ++j) {/**/  // columns\n" in after
    assert "y[i] += x[j + k]; }/**/ }/**/\n" in after
    fn = Source(after).function("k")
    assert fn is not None
    assert all(Source(after).in_block(loop.node) for loop in fn.loops)
    assert edited(text, lambda t: t.replace("y[0] = 1", "y[0] = 2")) == text.replace(
        "y[0] = 1", "y[0] = 2"
    )
    inner = edited(text, lambda t: t.replace("+= x[j + k]", "-= x[j]"))
    assert inner == text.replace("+= x[j + k]", "-= x[j]"), "braces that nothing needs are gone"
    new = edited(text, lambda t: t.replace("    for (int j", "    f();\n    for (int j"))
    assert "if (i < n) {\n    f();\n    for (int j = 0; j < n; ++j)  // columns\n" in new
    assert "y[i] += x[j + k]; }\n" in new


def test_rules_find_their_way_into_loops_without_braces() -> None:
    body = f"  int i = {ID};\n  if (i < n)\n    for (int j = 0; j < n; ++j) y[i] += x[j];\n"
    assert "register-accumulator" in kinds(kernel(body))


ONE = """\
__global__ void k(const float *a, float *y, int n, int m) {
  int i = threadIdx.x;
  float s = 0;
  for (int j = 0; j < n && j < m; j++) s += a[i * n + j];
  y[i] = s;
}
void run(const float *a, float *y, int n, int m) {
  k<<<1, 256>>>(a, y, n, m);
}
"""


def test_the_number_in_the_only_block_is_shown_as_that_in_the_grid() -> None:
    after = shown(ONE)
    assert f"int i = {ID};" in after
    assert "k<<<1, 256>>>" in after
    assert edited(ONE, lambda t: t.replace("float s = 0", "float s = 1")) == ONE.replace(
        "float s = 0", "float s = 1"
    )
    grown = edited(ONE, lambda t: t.replace("<<<1,", "<<<8,"))
    assert f"int i = {ID};" in grown, "with more blocks the number is no longer the block's"
    assert "warp-per-row" in kinds(ONE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<<<1, 256>>>", "<<<2, 256>>>"),
        ("<<<1, 256>>>", "<<<m, 256>>>"),
        ("  float s", "  __shared__ float t[9];\n  float s"),
        ("y[i] = s", "y[threadIdx.x] = s"),
        ("  float s", "  i = i / 2;\n  float s"),
    ],
)
def test_numbers_in_blocks_stay_where_blocks_may_be_several(old: str, new: str) -> None:
    assert "int i = threadIdx.x;" in shown(ONE.replace(old, new))


def test_a_loop_with_two_bounds_is_shown_with_the_smaller() -> None:
    assert "j < min(n, m); j++" in shown(ONE)
    for other in ("j < y[0]", "j < (unsigned)m", "i < m", "j > m"):
        assert f"j < n && {other}" in shown(ONE.replace("j < n && j < m", f"j < n && {other}"))


def test_a_pointer_that_is_set_once_behind_its_declaration_starts_there() -> None:
    body = (
        f"  float *row, *other;\n  int i = {ID};\n  other = x;\n  row = y + i * 4;\n"
        "  for (int j = 0; j < n; j++) row[2] += j;\n"
    )
    after = shown(kernel(body))
    assert "float *row = y + i * 4;" in after
    assert "float *other = x;" in after
    assert edited(kernel(body), lambda t: t + "// end\n") == kernel(body) + "// end\n"
    assert "register-accumulator" in kinds(kernel(body))
    again = body.replace("  for", "  if (i > 3) row = x;\n  for").replace(
        "  row = y", "  if (n) row = y"
    )
    assert "float *row = " not in shown(kernel(again))
