"""Sums kept in registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model import Kernel
from optimizer.rules.register_accumulator import register_accumulator
from tests.optimizer.rules.host_threads import run

HEAD = "__global__ void k(const float *a, float *c, int *best, int n) {\n"
IDS = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"


def edits(body: str, head: str = HEAD) -> list[str]:
    text = head + IDS + body + "}\n"
    return [e.source.removeprefix(head + IDS) for e in register_accumulator(Kernel("k", text), [])]


def test_an_updated_element_becomes_a_local_with_its_first_value() -> None:
    assert edits("  c[i] = 0.0f;\n  for (int j = 0; j < n; j++) c[i] += a[i * n + j];\n") == [
        "  float acc = 0.0f;\n  for (int j = 0; j < n; j++) acc += a[i * n + j];\n  c[i] = acc;\n}\n"
    ]


def test_without_a_first_value_the_element_is_loaded_once() -> None:
    (text,) = edits("  for (int j = 0; j < n; ++j)\n    c[i] = c[i] * a[j];\n")
    assert text.startswith("  float acc = c[i];\n")
    assert text.endswith("  c[i] = acc;\n}\n")


def test_a_declaration_may_stand_between_the_first_value_and_the_loop() -> None:
    (text,) = edits("  c[i] = 0;\n  int j;\n  for (j = 0; j < n; j++) c[i] += a[j];\n")
    assert text.startswith("  float acc = 0;\n  int j;\n  for")
    (text,) = edits("  c[i] = 0;\n  float d = c[0];\n  for (int j = 0; j < n; j++) c[i] += d;\n")
    assert "float acc = c[i];" in text


def test_what_follows_the_loop_goes_on_with_the_register() -> None:
    (text,) = edits(
        "  c[i] = 0;\n  for (int j = 0; j < n; j++) c[i] += a[j];\n  c[i] /= n;\n"
        "  if (c[i] < 1.f) { c[i] = 1.f; }\n  best[i] = c[i];\n"
    )
    assert "  acc /= n;\n  if (acc < 1.f) { acc = 1.f; }\n  best[i] = acc;\n  c[i] = acc;\n" in text


@pytest.mark.parametrize(
    "behind", ["c[0] = c[i];", "foo(c[i]);", "if (c[i] > 0) return;", "c[i + 1] = 2 * c[i];"]
)
def test_what_may_see_the_array_finds_it_stored(behind: str) -> None:
    (text,) = edits(f"  for (int j = 0; j < n; j++) c[i] += a[j];\n  {behind}\n")
    assert f"  c[i] = acc;\n  {behind}\n" in text


def test_elements_of_a_template_type_and_choices_by_an_enumerator_do_no_harm() -> None:
    (text,) = edits(
        "  for (int s = 0; s < n; s++) {\n    w[i] = b * w[i] + g[i];\n"
        "    p[i] -= how == PLAIN ? w[i] : w[i] * b;\n  }\n",
        "enum How { PLAIN, SCALED };\ntemplate <typename T, typename G>\n"
        "__global__ void k(T *__restrict__ p, T *__restrict__ w, const G *__restrict__ g, How how,"
        " const float b, int n) {\n",
    )
    assert "  T p_acc = p[i];\n  T w_acc = w[i];\n" in text or "T w_acc = w[i];\n  T p_acc" in text
    assert "w_acc = b * w_acc + g[i];" in text
    assert "p_acc -= how == PLAIN ? w_acc : w_acc * b;" in text


def test_constant_memory_read_in_the_loop_overlaps_nothing() -> None:
    (text,) = edits(
        "  c[i] = 0;\n  for (int j = 0; j != 9; j++) c[i] = c[i] + taps[j] * a[i + j];\n",
        f"__constant__ float taps[9];\n{HEAD}",
    )
    assert "acc = acc + taps[j] * a[i + j];" in text
    found = edits(
        "  c[i] = 0;\n  for (int j = 0; j != 9; j++) c[i] = c[i] + taps[j] * a[i + j];\n",
        f"__device__ float taps[9];\n{HEAD}",
    )
    assert not found


def test_several_arrays_of_a_loop_are_promoted_together() -> None:
    (text,) = edits(
        "  c[i] = 1e30f;\n  best[i] = 0;\n"
        "  for (int j = 0; j < n; j++) { if (a[j] < c[i]) { c[i] = a[j]; best[i] = j; } }\n"
    )
    assert "if (a[j] < c_acc) { c_acc = a[j]; best_acc = j; }" in text
    assert "int best_acc = 0;" in text


def test_the_outermost_loop_that_keeps_the_address_is_taken() -> None:
    (text,) = edits(
        "  for (int j = 0; j < n; j++) {\n    for (int t = 0; t < 3; t++) c[i] += a[j + t];\n  }\n"
    )
    assert text.index("float acc = c[i];") < text.index("for (int j")


@pytest.mark.parametrize(
    "body",
    [
        "  for (int j = 0; j < n; j++) c[j] += a[i];\n",
        "  for (int j = 0; j < n; j++) { c[i] += a[j]; __syncthreads(); }\n",
        "  for (int j = 0; j < n; j++) c[i] += c[j];\n",
        "  for (int j = 0; j < n; j++) { c[i] += a[j]; if (c[i] > 9.f) return; }\n",
        "  for (int j = 0; j < n; j++) { atomicAdd(&c[i], a[j]); }\n",
        "  for (int j = 0; j < n; j++) { c[i] += a[j]; foo(c); }\n",
        "  for (int j = 0; j < n; j++) { int q = j; c[q] += a[j]; }\n",
        "  for (int j = 0; j < n; j++) best[i] = j;\n",
    ],
)
def test_moving_addresses_barriers_aliases_and_exits_are_left_alone(body: str) -> None:
    assert edits(body) == []


def test_a_launch_that_passes_one_buffer_twice_forbids_it() -> None:
    text = HEAD + IDS + "  for (int j = 0; j < n; j++) c[i] += a[j];\n}\n"
    same = text + "void run(float *p, int *q) { k<<<1, 32>>>(p, p, q, 32); }\n"
    apart = text + "void run(float *p, float *r, int *q) { k<<<1, 32>>>(p, r, q, 32); }\n"
    assert not list(register_accumulator(Kernel("k", same), []))
    assert list(register_accumulator(Kernel("k", apart), []))


def test_the_result_comes_to_rest() -> None:
    (text,) = edits("  for (int j = 0; j < n; ++j) c[i] += a[j];\n")
    assert not list(register_accumulator(Kernel("k", HEAD + IDS + text), []))


STATE = (
    "__device__ float draw(unsigned *s) { *s = *s * 1664525u + 1013904223u; return *s * 2e-10f; }\n"
    "__device__ float peek(unsigned *s) { return s[1] * 2e-10f; }\n"
    "__global__ void k(unsigned *states, float *c, int n) {\n"
)


def test_a_generator_state_lent_to_a_function_stays_in_a_register() -> None:
    body = "  for (int j = 0; j < n; j++) c[i] += draw(&states[i]);\n"
    (text,) = edits(body, STATE)
    assert "c_acc += draw(&states_acc);" in text
    assert "states[i] = states_acc;" in text


def test_a_function_that_looks_beyond_the_element_forbids_it() -> None:
    (text,) = edits("  for (int j = 0; j < n; j++) c[i] += draw(&states[i]);\n", STATE)
    assert text
    assert edits("  for (int j = 0; j < n; j++) c[i] += peek(&states[i]);\n", STATE) == []


def test_all_kernels_of_a_file_can_be_done_at_once() -> None:
    one = HEAD + IDS + "  for (int j = 0; j < n; j++) c[i] += a[j];\n}\n"
    text = one + one.replace(" k(", " other(")
    found = list(register_accumulator(Kernel("k", text), []))
    assert [e.source.count("c[i] = acc;") for e in found] == [2, 1, 1]


MEMBERS = {
    "of vectors": """\
__global__ void k0(const float2 *__restrict__ a, float2 *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int j = 0; j < n; j++) {
      c[i].x += a[j].x * 2.0f;
      c[i].y += a[j].y + c[i].x;
    }
  }
}
""",
    "of bodies that are read as well": """\
struct Body { float x, y; float2 f; };
__global__ void k1(const float2 *a, Body *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  b[i].f.x = 0;
  b[i].f.y = 0;
  for (int j = 0; j < n; j++) {
    b[i].f.x += b[j].x - b[i].x;
    b[i].f.y += b[j].y - b[i].y;
  }
}
""",
    "through a pointer": """\
typedef struct { float s0; int s1; } Pair;
__global__ void k2(const float2 *a, Pair *pairs, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Pair *p = &pairs[i];
  for (int j = 0; j < n; j++) {
    p->s0 = p->s0 + j;
    p->s1 += 2;
  }
}
""",
}


def test_members_of_one_element_are_kept_one_by_one(tmp_path: Path) -> None:
    before = "".join(MEMBERS.values())
    after = ""
    for text, locals_ in zip(
        MEMBERS.values(), (("c_x", "c_y"), ("b_x", "b_y"), ("p_s0", "p_s1")), strict=True
    ):
        (edit,) = register_accumulator(Kernel("k", text), [])
        assert all(f"{name} " in edit.source for name in locals_)
        after += "__global__" + edit.source.partition("__global__")[2].replace("void k", "void b")
    main = """
  const int n = 9;
  float2 a[n], c[n], d[n]; Body e[n], f[n]; Pair p[n], q[n];
  for (int i = 0; i < n; i++) {
    a[i] = {i * 2.f, i - 3.f}; c[i] = d[i] = {1.f, 2.f + i};
    e[i] = f[i] = {i * 3.f, i + 1.f, {7, 8}}; p[i] = q[i] = {i * 1.f, i};
  }
  auto A = a; auto C = c, D = d; auto E = e, F = f; auto P = p, Q = q;
  launch(dim3(3), dim3(4), [=] { k0(A, C, n); k1(A, E, n); k2(A, P, n); });
  launch(dim3(3), dim3(4), [=] { b0(A, D, n); b1(A, F, n); b2(A, Q, n); });
  bool same = !memcmp(c, d, sizeof c) && !memcmp(e, f, sizeof e) && !memcmp(p, q, sizeof p);
  puts(same ? "same" : "other");"""
    assert run(before + after, main, tmp_path) == "same\n"


@pytest.mark.parametrize(
    "line",
    [
        "c[i].x += a[j].x; c[j].x = 0;",
        "c[i].x += a[j].x; c[i] = a[0];",
        "c[i].x += a[j].x; other(c);",
        "c[j].x += a[i].x;",
    ],
)
def test_members_that_others_may_touch_stay(line: str) -> None:
    head = "__global__ void k(const float2 *__restrict__ a, float2 *__restrict__ c, int n) {\n"
    assert not edits(f"  for (int j = 0; j < n; j++) {{ {line} }}\n", head)
    union = "union U { float2 v; float w; };\n"
    assert not edits("  for (int j = 0; j < n; j++) c[i].x += a[j].x;\n", union + head)
