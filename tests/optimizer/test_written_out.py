"""Macros that hide loops, seen by rules and kept in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from optimizer import plugins
from optimizer.model import CaseTimes, Edit, Finding, Kernel, Measurement, Status, Step, Verdict
from optimizer.policies.rules import RulePolicy
from optimizer.source import Source
from optimizer.written_out import WrittenOut, header_macros
from tests.optimizer.cuda_texts import broken

LOOP = """\
#define CUDA_1D_KERNEL_LOOP(i, n)                              \\
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); \\
       i += blockDim.x * gridDim.x)
"""
RELU = """\
__global__ void relu(const float *x, float *y, int n) {
  CUDA_1D_KERNEL_LOOP(i, n) {
    y[i] = x[i] > 0.f ? x[i] : 0.f;  // rectified
  }
}
__global__ void third(const float *x, float *y, int n) {
  CUDA_1D_KERNEL_LOOP(k, n / 2) { y[k] = x[k] / 3.0f; }
}
void run(const float *x, float *y, int n) {
  relu<<<64, 256>>>(x, y, n);
  third<<<64, 256>>>(x, y, n);
}
"""
WRITTEN = (
    "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {"
)


def step(kernel: Kernel) -> Step:
    times = CaseTimes("n=1", (1.0,), (1.0,))
    return Step(0, None, None, kernel, Verdict(Status.CORRECT, Measurement((times,), "H200")))


def edited(shown: WrittenOut, old: str, new: str) -> str:
    assert old in shown.kernel.source
    return shown.put_back(Edit("e", shown.kernel.source.replace(old, new), "rule:e")).source


def test_a_loop_behind_a_macro_is_a_counted_loop_on_the_same_line() -> None:
    text = LOOP + RELU
    shown = WrittenOut(Kernel("relu", text, "relu.cu")).kernel.source
    assert WRITTEN in shown
    assert "for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < (n / 2);" in shown
    relu, third = Source(shown).kernels
    assert [lp.name for lp in (*relu.loops, *third.loops)] == ["i", "k"]
    assert all(lp.counted for lp in (*relu.loops, *third.loops))
    assert not relu.unknown_names
    assert relu.loops[0].line == text[: text.index("CUDA_1D_KERNEL_LOOP(i, n) {")].count("\n") + 1


def test_an_edit_keeps_the_macro_wherever_it_leaves_the_line_alone() -> None:
    text = LOOP + RELU
    shown = WrittenOut(Kernel("relu", text, "relu.cu"))
    assert edited(shown, "0.f;", "1.f;") == text.replace("0.f;", "1.f;")
    line = "  CUDA_1D_KERNEL_LOOP(i, n) {"
    assert edited(shown, f"  {WRITTEN}", f"  int z = 0;\n  {WRITTEN}") == text.replace(
        line, f"  int z = 0;\n{line}"
    )
    changed = edited(shown, "i < n; i +=", "i < n; i += 2 *")
    assert "CUDA_1D_KERNEL_LOOP(i" not in changed.replace(LOOP, "")
    assert "CUDA_1D_KERNEL_LOOP(k, n / 2) {" in changed


def test_an_edit_of_the_macro_itself_leaves_its_calls_written_out() -> None:
    shown = WrittenOut(Kernel("relu", LOOP + RELU, "relu.cu"))
    assert WRITTEN in edited(shown, "i += blockDim.x * gridDim.x)\n", "i += 7)\n")


def test_macros_of_macros_and_of_statements_are_written_out() -> None:
    text = (
        "#define LOOP_T(i, n, T) for (T i = threadIdx.x; i < (n); i += blockDim.x)\n"
        "#define LOOP(i, n) LOOP_T(i, n, int)\n"
        "#define GLOBAL_ID(i, n) int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return\n"
        "#define SQUARE(x) ((x) * (x))\n"
        "__global__ void k(float *a, int n) {\n  GLOBAL_ID(t, n);\n"
        "  LOOP(j, 8) a[t * 8 + j] = SQUARE(a[t * 8 + j]);\n}\n"
    )
    kernel = Source(WrittenOut(Kernel("k", text)).kernel.source).kernels[0]
    assert [(t.variable.name, t.axis) for t in kernel.thread_ids] == [("t", "x")]
    assert [g.exits for g in kernel.guards] == [True]
    assert [lp.name for lp in kernel.loops] == ["j"]
    assert [c.name for c in kernel.calls] == ["SQUARE"]


@pytest.mark.parametrize(
    "macro",
    [
        "#define LOOP(i, n) for (int i##_ = 0, i = 0; i < n; i++)",
        "#define LOOP(i, ...) for (int i = 0; i < (__VA_ARGS__); i++)",
        "#define LOOP(i) for (int i = 0; i < 4; i++)",
        "#define LOOP(i, n) for (int i = 0; i < n; i++)\n#undef LOOP\n#define LOOP(i, n) if (n)",
        "",
    ],
    ids=["pasted", "variadic", "other-arguments", "twice", "unknown"],
)
def test_what_cannot_be_written_out_for_certain_stays(macro: str) -> None:
    kernel = Kernel(
        "k", f"{macro}\n__global__ void k(float *a, int n) {{ LOOP(i, n) a[i] = 0; }}\n"
    )
    assert WrittenOut(kernel).kernel == kernel


def test_host_code_and_text_that_is_off_stay() -> None:
    text = (
        LOOP + "void host(int n) { CUDA_1D_KERNEL_LOOP(i, n) {} }\n"
        "__global__ void k(float *a, int n) {\n#if 0\n  CUDA_1D_KERNEL_LOOP(i, n) {}\n#endif\n}\n"
    )
    assert WrittenOut(Kernel("k", text)).kernel.source == text


def test_rules_are_shown_the_loop_and_the_search_the_macro() -> None:
    kernel = Kernel("relu", LOOP + RELU, "relu.cu")
    found = RulePolicy(plugins.rules()).propose(step(kernel), (), 50)
    texts = {p.edit.kind: p.edit.source for p in reversed(found)}
    assert {"vectorize", "restrict", "reciprocal"} <= texts.keys()
    assert "CUDA_1D_KERNEL_LOOP(i, n) {" in texts["restrict"]
    assert "CUDA_1D_KERNEL_LOOP(k, n / 2) {" in texts["vectorize"]
    assert "CUDA_1D_KERNEL_LOOP(i, n) {" not in texts["vectorize"]
    assert all(text.startswith(LOOP) for text in texts.values())


def test_a_header_of_the_project_may_hold_the_macro(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "loops.h").write_text(f"#pragma once\n{LOOP}")
    (tmp_path / "a.h").write_text("#define TWICE int a\n")
    (tmp_path / "b.h").write_text("#define TWICE int b\n")
    text = f'#include "inc/loops.h"\n#include "a.h"\n#include "b.h"\n#include "gone.h"\n{RELU}'
    kernel = Kernel("relu", text, "relu.cu")
    macros = header_macros(kernel, tmp_path)
    assert list(macros) == ["CUDA_1D_KERNEL_LOOP"]
    assert WrittenOut(kernel, {}).kernel == kernel
    shown = WrittenOut(kernel, macros)
    assert WRITTEN in shown.kernel.source
    assert edited(shown, "0.f;", "1.f;") == text.replace("0.f;", "1.f;")
    found = RulePolicy({"one": _sees_a_loop}, macros=macros).propose(step(kernel), (), 5)
    assert [p.edit.source for p in found] == [text.replace("0.f;", "2.f;")]
    assert not RulePolicy({"one": _sees_a_loop}).propose(step(kernel), (), 5)


def test_what_a_header_defines_is_known_and_stays_in_the_header(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text(
        "#pragma once\n#define TILE (2 * HALF)\n#define HALF 8\nconst int kBins = 64;\n"
        "typedef float real;\n#define AT(i, j) ((i) * TILE + (j))\n#define UNUSED 3\n"
        "#define LOG(x) printf(#x)\n"
    )
    text = (
        '#include "sizes.h"\n__global__ void k(real *a) {\n  __shared__ real t[TILE];\n'
        "  for (int j = 0; j < kBins; j++) a[AT(threadIdx.x, j)] = t[j % TILE];\n}\n"
    )
    kernel = Kernel("k", text, "k.cu")
    assert Source(text).kernels[0].unknown_names
    shown = WrittenOut(kernel, header_macros(kernel, tmp_path))
    assert shown.kernel.source.startswith(text)
    assert "UNUSED" not in shown.kernel.source
    fn = Source(shown.kernel.source).kernels[0]
    assert not fn.unknown_names
    assert fn.loops[0].trips == 64
    assert Source(shown.kernel.source).constant("TILE") == 16
    assert edited(shown, "j % TILE", "j & 15") == text.replace("j % TILE", "j & 15")
    assert edited(shown, "HALF 8", "HALF 4") == text


def _sees_a_loop(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    del findings
    if Source(kernel.source).kernels[0].loops:
        text = kernel.source.replace("0.f;", "2.f;")
        yield replace(Edit("two", text, "rule:one"), kind="one")


@settings(max_examples=40, deadline=None)
@given(broken())
def test_what_is_shown_goes_back_to_what_it_was(text: str) -> None:
    """Of no text, however broken, more is changed than can be taken back."""
    shown = WrittenOut(Kernel("k", text))
    assert shown.put_back(Edit("e", shown.kernel.source, "rule:e")).source == text


ELEMENT = """\
#define A(i, j) a[(i) * n + (j)]
#define OUT(i) (out[(i)])
#define LAST(i) a[(i)] + 1
__global__ void rows(const float *a, float *out, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) {
    OUT(r) = 0;
    for (int c = 0; c < n; c++) OUT(r) += A(r, c) * A(r + 1, c);
    out[n] = LAST(r);
  }
}
void run(const float *a, float *out, int n) { rows<<<(n + 127) / 128, 128>>>(a, out, n); }
"""


def test_an_element_behind_a_macro_is_shown_as_one() -> None:
    kernel = Kernel("rows", ELEMENT, "rows.cu")
    shown = WrittenOut(kernel)
    text = shown.kernel.source
    assert "(out[r]) += a[r * n + c] * a[(r + 1) * n + c];" in text
    assert "out[n] = LAST(r);" in text, "a sum is no element"
    (rows,) = Source(text).kernels
    assert {a.root for a in rows.accesses} == {"a", "out"}
    assert edited(shown, "out[n] = LAST(r)", "out[n] = 1") == ELEMENT.replace(
        "out[n] = LAST(r)", "out[n] = 1"
    )
    kinds = {p.edit.kind for p in RulePolicy(plugins.rules()).propose(step(kernel), (), 80)}
    assert "register-accumulator" in kinds


def test_a_member_of_the_same_name_or_a_call_over_lines_is_no_element() -> None:
    for old, new in (("OUT(r) +=", "s.OUT(r) +="), ("A(r, c)", "A(r,\n c)")):
        text = ELEMENT.replace(old, new)
        assert new in WrittenOut(Kernel("rows", text, "rows.cu")).kernel.source
