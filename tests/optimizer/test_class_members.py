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


USED = """#include <cuda_runtime.h>
#include <vector>
#define MAKE(kind) kind##Made
struct Alone { float a; };
struct Outer { struct Inner { float b; }; Inner in; };
template <class T> struct Pair { T first; };
__device__ float of(Alone one, Outer two, Pair<float> three) { return one.a + two.in.b; }
struct Item { int key; __device__ float old(float* a) const { return a[key]; } };
enum class Way : int { UP, DOWN };
__global__ void k(float* x) { x[0] = 1; }
extern "C" void f(float* x) {
    std::vector<Item> all;
    Way way = Way::UP;
    k<<<1, 1>>>(x);
}
"""
FUNCTIONS = (
    "__device__ float extent() const { return 1.f; }",
    "__device__ bool operator<(int b) const { return true; }",
    "template <int N> __device__ float extent() const { return N; }",
    "static __device__ float extent() { return 1.f; }",
)
FLOAT = {"Alone": "struct Alone {", "Inner": "struct Inner {", "Pair": "struct Pair {"}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("head", FLOAT.values())
def test_a_class_of_device_code_may_get_device_functions(head: str, function: str) -> None:
    """No host text has it, nor what has it."""
    assert violations(USED, USED.replace(head, f"{head} {function}")) == ()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("head", "old", "new"),
    [
        ("struct Item {", "", ""),
        ("struct Alone {", "float a; };", "float a; } one;"),
        ("struct Alone {", "std::vector<Item> all;", "std::vector<Alone> all;"),
        ("struct Alone {", "std::vector<Item> all;", "auto of_all = sizeof(decltype(of({}, {}, {})));"),
        ("struct Alone {", "struct Item {", "using Mine = Alone;\nstruct Item {"),
        ("struct Alone {", "struct Item {", "struct Item : Alone {"),
        ("struct Alone {", "struct Item { int key;", "struct Item { Alone key;"),
        ("struct Alone {", "void k(float* x)", "void k(float* x, Alone b = {})"),
        ("struct Alone {", "struct Item {", "#define KIND Alone\nstruct Item { KIND kind;"),
        ("struct Alone {", "struct Alone { float a; };", "struct Alone { float a; };\n#include <set>"),
        ("struct Alone {", "struct Alone { float a; };", "struct Alone { float a; static int b; };"),
        ("struct AloneMade {", "struct Alone { float a; };", "struct AloneMade { float a; }; struct Alone {};"),
        ("struct Alone {", "struct Alone {", "#if 0\nint g(Alone);\n#endif\nstruct Alone {"),
        ("struct Inner {", "std::vector<Item> all;", "Outer all;"),
        ("struct Pair {", "std::vector<Item> all;", "Pair<int> all;"),
        ("typedef struct {", "struct Alone { float a; };", "typedef struct { float a; } Alone;"),
    ],
)  # fmt: skip
def test_a_class_that_host_text_reaches_gets_no_device_function(
    head: str, old: str, new: str, function: str
) -> None:
    """By its name, what holds or returns it, an object of it, a macro, a header behind it."""
    original = USED.replace(old, new, 1)
    candidate = original.replace(head, f"{head} {function}", 1)
    assert candidate != original
    assert violations(original, candidate)


def test_a_device_function_of_a_class_may_have_another_body_and_be_inlined() -> None:
    """It is no other function to anybody; one that takes something else is."""
    old = "__device__ float old(float* a) const { return a[key]; }"
    new = "__device__ __forceinline__ float old(float* __restrict__ a) const { return 2 * a[key]; }"
    assert violations(USED, USED.replace(old, new)) == ()
    for other in (new.replace("float*", "double*"), f"{old} {new.replace('float*', 'double*')}"):
        assert violations(USED, USED.replace(old, other))


@pytest.mark.parametrize(
    "text",
    [
        "__device__ bool operator<(Item a, Item b) { return true; }",
        "__device__ bool operator<(const Item& a, int b) { return true; }",
        "__device__ int operator+(Way a, int b) { return b; }",
        "template <typename T> __device__ bool operator==(const T& a, const T& b) { return true; }",
        "__device__ void swap(Item& a, Item& b) { }",
        "template <class T> __device__ void swap(T& a, T& b) { }",
        "__device__ void f(int a) { }",
        "__device__ void f(int a);",
        "template <typename T> __device__ void f(T a);",
        "__device__ int g(int), f(int);",
        "__device__ int (*g)(int) = nullptr;",
    ],
)
def test_a_device_function_that_host_text_may_find_is_outside(text: str) -> None:
    """By its name, or by the types of its arguments; whether it has a body or is declared alone."""
    assert violations(USED, USED.replace("__global__", f"{text}\n__global__", 1))


@pytest.mark.parametrize(
    "text",
    [
        "__device__ bool operator<(Alone a, Alone b) { return true; }",
        "__device__ float4 operator+(float4 a, float4 b) { return a; }",
        "__device__ float keyed(const Item& a) { return a.key; }",
        "template <typename T> __device__ T twice(T a) { return a + a; }",
        "template <typename T> __device__ T greatest(T a, T b) { return a > b ? a : b; }",
        "__device__ void swap(float& a, float& b) { }",
        "__device__ float later(const Item& a);",
    ],
)
def test_a_device_function_that_only_device_code_finds_is_inside(text: str) -> None:
    """It may take what the host has, by a name that headers look for nowhere."""
    assert violations(USED, USED.replace("__global__", f"{text}\n__global__", 1)) == ()


@pytest.mark.parametrize(
    "member", ["__device__ Item(const Item&);", "__device__ ~Item();", "__device__ Item(int a);"]
)
def test_a_class_of_the_originals_gets_no_constructor(member: str) -> None:
    """Declared alone it makes another class of it, too: one that is not copied as it stands."""
    assert violations(USED, USED.replace("{ int key;", f"{{ int key; {member}"))


def test_a_template_by_any_name_is_inside_where_no_type_is_the_originals() -> None:
    """Numbers and vectors are nobody's that could be found by."""
    original = "template <class T> __global__ void k(T* x) { x[0] = 1; }\nvoid f(float* x) { k<float><<<1, 1>>>(x); }\n"
    assert (
        violations(
            original, f"template <class T> __device__ T min(T a, T b) {{ return a; }}\n{original}"
        )
        == ()
    )
