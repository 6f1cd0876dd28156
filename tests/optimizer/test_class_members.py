"""A candidate adds nothing to a class of the original that templates of headers could find."""

from __future__ import annotations

import pytest

from optimizer.boundary import violations

HOST = """#include <cuda_runtime.h>
#include <set>
struct Less {
    bool operator()(int a, int b) const { return a < b; }
};
namespace parts { template <class T> class Range : Less { T first; }; }
__global__ void k(float* x) { x[0] = 1; }
extern "C" void f(float* x) {
    std::set<int, Less> seen;
    parts::Range<int> all;
    k<<<1, 1>>>(x);
}
"""
MEMBERS = (
    "using is_transparent = int;",
    "typedef int is_transparent;",
    "enum { extent };",
    "enum Pointer { extent };",
    "struct is_transparent { int a; };",
    "static constexpr int extent = 3;",
    "static const int extent = 3, rank = 1;",
    "struct { struct pointer { int a; }; } inner;",
)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("head", ["struct Less {", "class Range : Less {"])
def test_a_class_of_the_original_gets_no_member(member: str, head: str) -> None:
    candidate = HOST.replace(head, f"{head} {member}")
    assert candidate != HOST
    assert violations(HOST, candidate)


@pytest.mark.parametrize("member", MEMBERS[5:7])
def test_a_class_of_its_own_may_have_constants(member: str) -> None:
    own = f"struct Tile {{ {member} float part[4]; }};\n__global__ void k"
    assert violations(HOST, HOST.replace("__global__ void k", own)) == ()


def test_a_kernel_may_have_types_and_constants() -> None:
    body = "using T = float; static constexpr int N = 3; struct S { T a; }; S s{1}; x[0] = s.a * N;"
    assert violations(HOST, HOST.replace("x[0] = 1;", body)) == ()
