"""What geometry of a candidate's may say of sizes and types, and what only looks like arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.hidden_calls import TYPES, hidden_call

CASES = Path(__file__).parents[1] / "redteam" / "cases"
ORIGINAL = """#include <climits>
#include <ctime>
#include <iostream>
typedef float real;
#define REAL float
#define DIVUP(a, b) (((a) + (b) - 1) / (b))
#define ARGUMENTS (3)
int state;
int setup(int n) { state = n; return n; }
int (*table[1])(int) = { setup };
template <int N> int filled(int n) { state = n; return n; }
template <class T> T up(T n) { return n + 1; }
struct Guard { int a; Guard(int n) : a(n) { state = n; } };
__global__ void k(const int* a, int* b, int h, int w) { b[threadIdx.x] = a[threadIdx.x]; }
void run(const int* a, int* b, int h, int w)
{
    std::cout << setup(3) + table[0](3) + filled<3>(2) << static_cast<int>(2.f) << clock();
    Guard held{3};
    k<<<(w + 255) / 256, 256>>>(a, b, h, w);
    k<<<DIVUP(w, 256), up<int>(255)>>>(a, b, h, w);
}
"""
LAUNCH = "k<<<(w + 255) / 256, 256>>>"


def launched(launch: str, added: str = "", local: str = "") -> tuple[str, ...]:
    """Return the violations of another launch, with text before the kernel and before it."""
    text = ORIGINAL.replace(LAUNCH, f"{local}\n    k<<<{launch}>>>")
    return violations(ORIGINAL, text.replace("__global__", f"{added}\n__global__", 1))


@pytest.mark.parametrize(
    "size",
    [
        "w * sizeof(short)",
        "w * sizeof(unsigned short)",
        "sizeof(long double) * w",
        "w * sizeof(float2)",
        "w * sizeof(std::uint16_t) + alignof(float4)",
        "w * sizeof(__half) + w * sizeof(half2)",
        "sizeof(short[256]) + w * sizeof(*a)",
        "(unsigned long long)w * 2 + (size_t)w",
        "static_cast<unsigned long>(w) * 2",
        "static_cast<int>(w) > 3 ? static_cast<int>(w) : 3",
        "(unsigned)(w + 1) * (real)(2) + (REAL)(3)",
        "short(w) + uint64_t(w)",
        "std::max<int>(w, 256) + std::min<size_t>(w, 256u)",
        "w > (h) ? w : h",
        "true ? w : INT_MAX",
        "up<int>(static_cast<int>(w))",
        "DIVUP(w, 64) * (int)ARGUMENTS",
    ],
)
def test_sizes_and_casts_are_arithmetic(size: str) -> None:
    """Of numbers and types that everybody knows, or the original has."""
    assert launched(f"w, 256, {size}") == ()


@pytest.mark.parametrize(
    "local",
    [
        "const size_t more = w * sizeof(unsigned short);",
        "const std::size_t more = w * sizeof(float);",
        "unsigned long more = w * sizeof(char);",
        "int more = static_cast<int>(w * sizeof(double2));",
    ],
)
def test_so_they_are_in_locals(local: str) -> None:
    assert launched("w, 256, more", local=local) == ()


@pytest.mark.parametrize(
    ("added", "launch"),
    [
        ("constexpr int OWN = 128;", "(w + OWN - 1) / OWN, OWN"),
        ("enum { OWN = 128 };", "(w + OWN - 1) / OWN, OWN"),
        ("namespace tune { constexpr int OWN = 128; }", "w, tune::OWN"),
        ("struct Shape { static constexpr int threads = 128; };", "w, Shape::threads"),
        ("struct Both { short a, b; };", "w, 128, w * sizeof(Both) + alignof(Both)"),
        ("using word_t = unsigned short;", "w, 128, (word_t)(w) * sizeof(word_t)"),
        ("#define OWN (64 * 2)", "w, OWN, (int)OWN"),
        ("#define CEILS(a, b) (((a) + (b) - 1) / (b))", "CEILS(w, 128), CEILS(w * 2, 4)"),
    ],
)
def test_a_candidates_own_constants_types_and_macros_are_known(added: str, launch: str) -> None:
    assert launched(launch, added) == ()


CALLS = (
    "(setup)(w)", "(&setup)(w)", "(*setup)(w)", "(::setup)(w)", "table[0](w)", "(clock)()",
    "(w ? setup : setup)(w)", "((setup))(w)", "(int)(setup)(w)", "int(setup)(w)",
    "(w, setup)(w)", "dim3(setup)(w)", "min(setup)(w)", "static_cast<int(*)(int)>(setup)(w)",
    "filled<3>(w)", "static_cast<int>(1) + filled<3>(w)", "filled<(2 > 1)>(w)",
    "filled<int{3}>(w)", "clock()", "[]{ return 1; }()", "sizeof(setup(w))",
)  # fmt: skip
BY_MACRO = ("setup ARGUMENTS", "(setup) ARGUMENTS", "table[0] ARGUMENTS", "filled<3> ARGUMENTS")
MORE = ("Guard{w}.a", "max<3>(w)", "(state = 3)", "w = 3", "(w++, 3)", "sizeof(w = 4)")


@pytest.mark.parametrize("call", [*CALLS, *BY_MACRO, *MORE])
def test_what_calls_is_no_arithmetic(call: str) -> None:
    """However it names what it calls."""
    assert launched(f"w, 256, {call}")
    assert launched("w, 256, more", local=f"int more = {call};")
    assert launched(f"{call}, 256")


@pytest.mark.parametrize("call", CALLS)
def test_nor_may_the_originals_call_go(call: str) -> None:
    """Who leaves it out leaves out what it does."""
    original = ORIGINAL.replace(LAUNCH, f"k<<<{call}, 256>>>")
    assert violations(original, original.replace(f"k<<<{call}, ", "k<<<3, "))


@pytest.mark.parametrize(
    ("added", "launch"),
    [
        ("#define MINE(f, x) f x", "MINE(setup, (w)), 128"),
        ("#define MINE(x) setup x", "MINE((w)), 128"),
        ("#define MINE(x) (setup) x", "MINE((w)), 128"),
        ("#define MINE(...) setup __VA_ARGS__", "MINE((w)), 128"),
        ("#define MINE(x) filled<3> x", "MINE((w)), 128"),
        ("#define MINE(x) setup", "MINE(1)(w), 128"),
        ("#define MINE(x) setup", "MINE(1) ARGUMENTS, 128"),
        ("#define MINE (w)", "setup MINE, 128"),
        ("#define MINE (w)\n#define OTHER MINE", "setup OTHER, 128"),
        ("#define MINE setup\n#define OTHER (w)", "MINE OTHER, 128"),
        ("#define MINE (setup)(3)", "MINE, 128"),
        ("#define MINE(x) setup(x)", "MINE(w), 128"),
        ("#define MINE(x) x##up(3)", "MINE(set), 128"),
        ("#define MINE(x) (state = x)", "MINE(w), 128"),
    ],
)
def test_macros_put_no_call_together(added: str, launch: str) -> None:
    assert launched(launch, added)


def test_a_macro_that_geometry_calls_stands_for_no_function() -> None:
    """`DIVUP(w)` would be a call of what it stands for."""
    text = ORIGINAL.replace("#define DIVUP(a, b) (((a) + (b) - 1) / (b))", "#define DIVUP setup")
    assert violations(ORIGINAL, text.replace("DIVUP(w, 256)", "DIVUP(w)"))


@pytest.mark.parametrize(
    "added",
    [
        "const int OWN = (setup)(3);",
        "const int OWN = table[0](3);",
        "const int OWN = filled<(2 > 1)>(3);",
        "const int OWN = filled<int{3}>(3);",
        "__device__ int own = (setup)(3);",
        "__device__ int own = filled<(2 > 1)>(3);",
        "__constant__ int own = (setup)(3);",
        "struct Own { static inline const int n = (setup)(3); };",
    ],
)
def test_nor_do_constants_call(added: str) -> None:
    """A program would run it on loading."""
    assert launched("w, 256", added)


def test_an_alias_in_a_body_makes_no_cast_of_a_call() -> None:
    """It means something else where the launch stands."""
    body = "{ using setup = int; b[threadIdx.x]"
    text = ORIGINAL.replace("{ b[threadIdx.x]", body)
    assert violations(ORIGINAL, text) == ()
    assert violations(ORIGINAL, text.replace(LAUNCH, "k<<<(setup)(w), 256>>>"))
    members = "struct Own { using setup = int; int a; };"
    assert launched("(setup)(w), 256", members)


def test_a_function_of_its_own_is_no_geometry() -> None:
    """Host code that a candidate brings with it stays out, even if it only computes."""
    mine = "static constexpr int ceils(int a, int b) { return (a + b - 1) / b; }"
    assert launched("w, 256", mine) == ()
    assert launched("ceils(w, 256), 256", mine)


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_types_in_brackets_are_casts(kind: str) -> None:
    assert not hidden_call(["(", "const", kind, ")", "(", "n", ")"])
    assert hidden_call(["f", "(", kind, ")", "(", "n", ")"])


def test_a_row_of_shorts_in_shared_memory_is_inside() -> None:
    """As is one that is wrong: its numbers tell."""
    base = (CASES / "moat" / "base.cu").read_text()
    for name in ("row_of_shorts", "row_of_squares"):
        assert violations(base, (CASES / "moat" / f"{name}.cu").read_text()) == ()
