"""What a kernel writes it may not read by the read-only path; who does so is told by the text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.boundary import violations
from optimizer.read_only import reads_its_own
from tests.redteam.table import load

# Steps of a stencil in one launch, with what follows put in.
STEPS = """
__device__ float near(const float* p, int i) {{ return __ldg(p + i) + __ldg(&p[i + 1]); }}
__device__ void put(float* p, int i, float v) {{ p[i] = v; }}
__device__ void wait_for_all(unsigned* gate) {{ __threadfence(); atomicAdd(gate, 1); }}
#define READ(p, i) __ldg((p) + (i))
__device__ float kept[4096];
__global__ void all(const float* level, float* spare, float* out, unsigned* gate, int n, int steps) {{
    auto grid = cooperative_groups::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    {before}
    for (int s = 0; s < steps; ++s) {{
        {body}
    }}
    {behind}
}}
"""
TO = "float* to = (steps - s) & 1 ? spare : out;"
BY_TURNS = [
    ("const float* from = level;", TO + "to[i] = __ldg(from + i - 1); grid.sync(); from = to;"),
    (
        "const float* from = level;",
        TO + "for (int k = i; k < n; k += 9) { const float* p = from + k; to[k] = __ldg(p + 1); }"
        "grid.sync(); from = to;",
    ),
    (
        "const float* from = level;",
        TO + "put(to, i, near(from, i)); wait_for_all(gate); from = to;",
    ),
    ("const float* from = level;", TO + "to[i] = READ(from, i - 1); grid.sync(); from = to;"),
    (
        "const float* from = level;",
        TO + 'asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(from + i)); to[i] = v;'
        "__syncthreads(); from = to;",
    ),
    (
        "const float* from = level;",
        TO + "float4 v = __ldg(reinterpret_cast<const float4*>(from) + i);"
        "*reinterpret_cast<float4*>(to + 4 * i) = v; grid.sync(); from = to;",
    ),
    (
        "float *a = out, *b = spare;",
        "b[i] = __ldg(a + i + 1); grid.sync(); float* c = a; a = b; b = c;",
    ),
    ("float *a = out, *b = spare;", "std::swap(a, b); a[i] = __ldg(b + i + 1); grid.sync();"),
    (
        "float* two[2] = {spare, out};",
        "two[s & 1][i] = __ldg(two[(s + 1) & 1] + i + 1); grid.sync();",
    ),
    (
        "",
        (
            "const float* from = s == 0 ? level : s & 1 ? spare : out; float* to = s & 1 ? out : spare;"
            "to[i] = __ldg(from + i + 1); grid.sync();"
        ),
    ),
    (
        "",
        (
            "const float* from; float* to; if (s & 1) { from = spare; to = out; } else { from = out;"
            "to = spare; } to[i] = __ldg(from + i + 1); cooperative_groups::sync(grid);"
        ),
    ),
    (
        "float *a = spare, *b = spare + n; const float* from = level;",
        "float* to = s & 1 ? a : b; to[i] = __ldg(from + i + 1); grid.sync(); from = to;",
    ),
]
BEHIND = [
    "spare[i] = 1.f; grid.sync(); out[i] = __ldg(spare + i + 1);",
    "spare[i] = 1.f; __threadfence(); out[i] = __ldg(&spare[i + 1]);",
    "kept[i] = 1.f; wait_for_all(gate); out[i] = __ldg(kept + i + 1);",
    "float* mine = spare; mine[i] = 1.f; grid.sync(); out[i] = near(spare, i);",
    "put(spare, i, 1.f); grid.sync(); if (i == 0) out[i] = near(spare, i);",
    "atomicAdd(spare, 1.f); __threadfence(); if (i) out[i] = __ldg(spare);",
]
RIGHT = [
    # Plain loads of what changes, and read-only ones of what does not.
    (
        "const float* from = level;",
        TO + "to[i] = from[i - 1] * __ldg(level); grid.sync(); from = to;",
    ),
    # In place, of one array or of several, by each thread for itself.
    ("", "float v = __ldg(out + i); out[i] = 2.f * v; __syncthreads();"),
    ("", "float* p = s < 3 ? spare : out; p[i] = 2.f * __ldg(p + i); __syncthreads();"),
    (
        "",
        (
            "const float* p; float* q; if (s < 3) { p = spare; q = spare; } else { p = out; q = out; }"
            "q[i] = 2.f * __ldg(p + i); __syncthreads();"
        ),
    ),
    (
        "float* two[2] = {spare, out};",
        "two[s & 1][i] = 2.f * __ldg(two[s & 1] + i); __syncthreads();",
    ),
    # What a launch is passed decides, and is the same for all of it.
    (
        "const float* from = n > 9 ? level : spare; float* to = n > 9 ? spare : out;",
        "to[i + s] = __ldg(from + i + s); __syncthreads();",
    ),
    (
        "",
        (
            "const float* from = n > 9 ? level : spare; float* to = n > 9 ? spare : out;"
            "to[i + s] = __ldg(from + i + s); __syncthreads();"
        ),
    ),
    (
        "const float* from = level;",
        TO + "if (n > 9) to[i] = level[i]; else gate[i] = __ldg(from + i); grid.sync(); from = to;",
    ),
    # Pointers that take turns to be read alone, and to be written alone.
    (
        "const float *a = level, *b = level + n;",
        TO + "to[i] = __ldg(a + i) + __ldg(b + i); __syncthreads(); a = b; b += n;",
    ),
    # No other thread's: nothing is waited for.
    ("const float* from = level;", TO + "to[i] = __ldg(from + i); from = to;"),
]
RIGHT_BEHIND = [
    "out[i] = __ldg(spare + i); grid.sync(); spare[i] = 1.f;",
    "spare[i] = 1.f; __syncthreads(); out[i] = __ldg(level + i);",
    "spare[i] = 1.f; grid.sync(); out[i] = __ldg(level + i) + spare[i + 1];",
    "if (n > 9) { spare[i] = 1.f; __threadfence(); } else { out[i] = __ldg(spare + i); }",
    "if (n > 9) { spare[i] = 1.f; __threadfence(); return; } out[i] = __ldg(spare + i);",
    "if (n > 9) { spare[i] = 1.f; grid.sync(); } if (n <= 9) out[i] = __ldg(spare + i);",
    "switch (n) { case 1: spare[i] = 1.f; grid.sync(); break;case 2: out[i] = __ldg(spare + i); }",
    # Two parts of one room.
    (
        "float* part = spare; const float* weight = spare + n; part[i] = 1.f; grid.sync();"
        "out[i] = __ldg(weight + i);"
    ),
    "float v = __ldg(spare + i); grid.sync(); spare[i] = v;",
]


def text(before: str = "", body: str = "", behind: str = "") -> str:
    return STEPS.format(before=before, body=body, behind=behind)


@pytest.mark.parametrize(("before", "body"), BY_TURNS)
def test_pointers_that_take_turns_are_told(before: str, body: str) -> None:
    whole = text(before, body)
    assert reads_its_own(whole)
    assert not reads_its_own(whole.replace("__ldg", "__ldcg").replace(".nc.", "."))


@pytest.mark.parametrize("behind", BEHIND)
def test_what_is_read_behind_a_barrier_of_the_grid_is_told(behind: str) -> None:
    assert reads_its_own(text(behind=behind))


@pytest.mark.parametrize(("before", "body"), RIGHT)
def test_what_cannot_meet_is_left_alone(before: str, body: str) -> None:
    assert not reads_its_own(text(before, body))


@pytest.mark.parametrize("behind", RIGHT_BEHIND)
def test_what_no_launch_does_in_this_order_is_left_alone(behind: str) -> None:
    assert not reads_its_own(text(behind=behind))


def test_it_is_outside_the_boundary_unless_the_original_does_it() -> None:
    plain = text("const float* from = level;", TO + "to[i] = from[i - 1]; grid.sync(); from = to;")
    wrong = plain.replace("to[i] = from[i - 1]", "to[i] = __ldg(from + i - 1)")
    for host in (False, True):
        found = violations(plain, wrong, allow_host=host)
        assert found == ("reads through the read-only path (__ldg) what the same kernel writes",)
        assert violations(wrong, wrong.replace("i - 1", "i - 2"), allow_host=host) == ()
        right = plain.replace("from[i - 1]", "from[i - 1] * __ldg(level + i)")
        assert violations(plain, right, allow_host=host) == ()


def test_no_right_candidate_of_the_red_team_does_it() -> None:
    found = [one for one in load() if reads_its_own(one.source)]
    assert {one.expect for one in found} == {"refuse"}
    assert [one.label for one in found] == ["seepage/cooperative_readonly"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(text(*BY_TURNS[1]))), st.text("(){}[]*&?:=;,<>+ \"'#", max_size=6))
def test_texts_that_are_cut_raise_nothing(at: int, words: str) -> None:
    whole = text(*BY_TURNS[1], BEHIND[3])
    for one in (whole[:at] + words, whole[at:], whole[:at] + words + whole[at:]):
        assert reads_its_own(one) in {True, False}


@pytest.mark.parametrize(
    "body",
    [
        "out[i] = __ldg(" + "(" * 3000 + "from" + ")" * 3000 + "); grid.sync();",
        "out[i] = __ldg(from" + " + n" * 3000 + "); grid.sync();",
        "".join(f"float* p{k} = s & {k} ? p{k - 1} : out;" for k in range(1, 900)),
        "out[i] = __ldg(from + i); from = out; grid.sync();" * 300,
        "for (;;) {" * 300 + "out[i] = __ldg(from + i); from = out; grid.sync();" + "}" * 300,
    ],
)
def test_long_texts_take_no_longer(body: str) -> None:
    begun = time.monotonic()
    assert reads_its_own(text("const float *from = level, *p0 = out;", body)) in {True, False}
    assert time.monotonic() - begun < 20


def test_functions_that_call_each_other_come_to_an_end() -> None:
    both = "".join(
        f"__device__ void {one}(const float* p, float* q) {{ {other}(p, q); {other}(q, q);"
        "q[0] = __ldg(p); __threadfence(); }"
        for one, other in (("f", "g"), ("g", "f"))
    )
    assert reads_its_own(both) in {True, False}
