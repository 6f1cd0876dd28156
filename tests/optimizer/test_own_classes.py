"""Classes of a candidate's own may be like anybody's; nobody else's class or template notices."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.boundary import violations

HOST = """#include <cuda_runtime.h>
#include <set>
#include <vector>
#define CALL(what) what##_now()
int state = 0;
int setup(int n) { state = n; return n; }
template <class T> struct Reg { Reg() { state = 1; } static int x; };
template <class T> int Reg<T>::x = setup(3);
template <typename T> struct Known { enum { v = 1 }; };
struct Less { bool operator()(int a, int b) const { return a < b; } };
struct Item { int key; };
struct Deep { float a; };
__device__ float use(Deep d) { return d.a; }
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.f * x[i];
}
extern "C" void run(const float* x, float* y, int n) {
    std::set<int, Less> seen; Item one; Known<int> two; std::vector<Item> all;
    k<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""


def added(text: str, original: str = HOST) -> tuple[str, ...]:
    """Judge an original with a text in front of its kernel."""
    return violations(original, original.replace("__global__", f"{text}\n__global__", 1))


OWN = (
    "struct A { ; int a;; };",
    'struct A { float v[4]; using T = float; typedef float V; enum { N = 4 }; static_assert(sizeof(T) == 4, "x"); };',
    "template <typename T, int N> struct A { static constexpr int kN = N * 2; static constexpr bool odd = N % 2 == 1; static constexpr T zero = T(0); T v[N * 2 + 1]; static_assert(N > 0); };",
    "template <typename T> struct Traits; template <> struct Traits<float> { using V = float4; static constexpr int W = 4; }; template <> struct Traits<int> { using V = int4; static constexpr int W = 4; };",
    "template <typename T> struct Traits { static constexpr int W = 1; }; template <> struct Traits<float> { static constexpr int W = 4; };\ntemplate <typename T> struct Traits<T*> { static constexpr int W = Traits<T>::W; };",
    "namespace detail { template <typename T, int N> struct Vec; template <typename T> struct Vec<T, 4> { T v[4]; }; template <> struct Vec<float, 2> { float2 v; __device__ float sum() const { return v.x + v.y; } }; }",
    "namespace { template <typename T> struct Traits; template <> struct Traits<float> { using V = float4; }; }",
    "struct Own { using W = float; }; template <typename T> struct Traits; template <> struct Traits<Own> { using V = typename Own::W; };",
    "struct A { float a; }; struct B : A { float b; };",
    "template <typename T> struct Base { T a; }; template <typename T> struct Der : public Base<T> { T b; };",
    "struct A { unsigned a : 8; unsigned b : 24; };",
    "struct A { unsigned a : 8, b : 24; int c = 3; float m = -INFINITY; };",
    "struct A { float m{0.f}; float v[2][4]; __half h; };",
    "class A { public: __device__ A() : s(0) {} __device__ float get() const { return s; } private: float s; };",
    "class A { float s; public: A() = default; __device__ A(float v) : s(v) {} };",
    "struct A { float v[4]; __device__ float& operator[](int i) { return v[i]; } __device__ const float& operator[](int i) const { return v[i]; } __device__ A& operator+=(const A& o) { v[0] += o.v[0]; return *this; } __device__ bool operator!=(const A& o) const { return v[0] != o.v[0]; } __device__ A operator-() const { return *this; } };",
    "struct A { float v; friend __device__ A operator*(A a, float b) { a.v *= b; return a; } friend __device__ __forceinline__ bool operator<(const A& a, const A& b) { return a.v < b.v; } };",
    "struct A { struct In { int a; } in[2]; struct { float x, y; } p; union { float4 v; float f[4]; }; };",
    "struct alignas(16) A { float x[4]; };",
    "struct A { alignas(16) float x[4]; };",
    "struct A { int n; int i; float setup; using run = int; __device__ int size() const { return n; } __device__ void swap(A& o) {} };",
    "struct A { template <int N> __device__ int f() const { return N; } template <typename T> __device__ void g(T t) {} };",
    "struct A { __device__ static float apply(float a, float b) { return a + b; } static constexpr float id = 0.f; };\ntemplate <typename Op> __device__ float fold(float v) { return Op::apply(v, Op::id); }",
    "template <typename T> using V = typename T::V;",
    "struct A;\nstruct A { int a; };",
    "template <int TILE, bool FLAG = true> struct S { float v[TILE]; static constexpr int HALF = TILE / 2; __device__ float f() { return v[TILE-1] + HALF; } };",
    "template <int N> struct Log2 { static constexpr int v = 1 + Log2<N / 2>::v; }; template <> struct Log2<1> { static constexpr int v = 0; };",
    "template <int N> struct Log2 { enum { v = 3 }; }; template <> struct Log2<1> { enum { v = 0 }; };",
    "template <typename A, typename B> struct Same { static constexpr bool value = false; }; template <typename A> struct Same<A, A> { static constexpr bool value = true; };",
)  # fmt: skip


@pytest.mark.parametrize("text", OWN)
def test_a_class_of_its_own_is_inside(text: str) -> None:
    """Aliases, constants, bases, operators, traits: no host text has the name they are under."""
    assert added(text) == ()


OTHERS = (
    "template <> struct Known<float> { enum { v = 2 }; };",
    "template <> struct Reg<float> { int a; };",
    "template <typename T> struct Known;",
    "template <> struct hash<int> { int a; };",
    "namespace std { template <> struct hash<float> { int a; }; }",
    "namespace std { template <typename T> struct mine; template <> struct mine<float> { int a; }; }",
    "namespace cub { template <typename T> struct Mine; template <> struct Mine<float> { int a; }; }",
    "namespace thrust { struct Mine { int a; }; }",
    "template <> struct std::hash<float> { int a; };",
    "template <> struct Traits<float> { int a; };",
    "namespace a { template <typename T> struct Traits; } template <> struct Traits<float> { int a; };",
    "namespace a { template <typename T> struct Traits; } namespace b { template <> struct Traits<float> { int a; }; }",
    "template <> struct Traits<float> { int a; };\ntemplate <typename T> struct Traits;",
    "template <typename T> struct texture; template <> struct texture<float> { int a; };",
    "template <typename T> struct cudaThing; template <> struct cudaThing<float> { int a; };",
    "template <typename T> struct _Mine; template <> struct _Mine<float> { int a; };",
    "template <typename T> struct setup_now; template <> struct setup_now<float> { int a; };",
    "struct B : Reg<int> { int a; };",
    "struct B : Item { int a; };",
    "struct B : std::vector<int> { int a; };",
    "using A = Reg<int>; struct B : A { int a; };",
    "typedef Item A; struct B : A { int a; };",
    "template <typename T> using A = Reg<T>; struct B : A<int> { int a; };",
    "struct B { UNKNOWN_MACRO a; };",
    "struct B : missing { int a; };",
    "namespace a { struct A { int v; }; } struct B : A { int a; };",
    "template <typename T> struct Crtp; struct B : Crtp<B> { int a; };",
    "struct A { int v; }; struct B : A, Item { int a; };",
    "struct A { int v; }; struct B : A { int a; } one;",
    "struct A { int v; }; struct B : private virtual A { int a; };",
    "struct A { static int v; };",
    "struct A { static const Item v; };",
    "struct A { using Item::Item; };",
    "struct A { static inline int v = setup(3); };",
    "struct A { static constexpr bool v = &Reg<int>::x != nullptr; };",
    "struct A { static constexpr bool v = bitand Reg<int>::x != nullptr; };",
    "struct A { static constexpr bool v = (bool) &Reg<int>::x; };",
    "struct A { static constexpr auto& v = Reg<int>::x; };",
    "struct A { int a; Reg<int>::x; };",
    "struct A { int a; float Reg<int>::x; };",
    "struct A { static constexpr int v = setup(3); };",
    "struct A { static constexpr int v = [] { return 3; }(); };",
    "struct A { static_assert([] { return true; }()); };",
    "struct A { static_assert(&Reg<int>::x != nullptr); };",
    "constexpr bool here = &Reg<int>::x != nullptr;",
    "struct A { int v = setup(3); };",
    "struct A { int v; } a;",
    "class A { public: int v; } a;",
    "struct A { struct B { int v; B() { state = 3; } } b; };",
    "struct A { struct B { static int v; } b; };",
    "struct A { struct B : Item { int v; } b; };",
    "struct A { struct B { int v; } b = setup(3); };",
    "struct A { virtual int f(); };",
    "struct A { int f() { return 3; } };",
    "struct A { A(); };",
    "struct A { ~A() {} };",
    "struct A { A() = default; A(int) {} };",
    "struct A { Item() = default; };",
    "struct A { unsigned a : setup(3); };",
    "struct A { unsigned a : 8; static int b : 3; };",
    "struct A { float v[setup(3)]; };",
    "struct A { float v[[] { return 3; }()]; };",
    "struct A { friend int operator+(A a, A b) { return 3; } };",
    "struct A { friend __device__ int operator+(Item a, Item b) { return 3; } };",
    "struct A { friend __device__ int operator+(Item A, Item b) { return 3; } };",
    "struct A { friend __device__ int operator+(Item const A, Item b) { return 3; } };",
    "struct A { friend __device__ void swap(A& a, A& b) { } };",
    "struct A { friend __device__ A setup(A a) { return a; } };",
    "struct A { friend struct Item; };",
    "struct A { friend class B; int a; };",
    "struct A { template <class T> friend __device__ int operator+(T a, A b) { return 3; } };",
    "struct A { __device__ void* operator new(unsigned long n) { return nullptr; } };",
    "struct Item;",
    "struct run;",
    "struct A { int a; };\n#include <cuda_fp16.h>",
    "inline namespace m { template <typename T> struct Traits; template <> struct Traits<float> { int a; }; }",
    'extern "C" { template <typename T> struct Traits; }',
    "template <typename T> struct Traits { template <typename U> struct In; }; template <> template <> struct Traits<int>::In<int> { int a; };",
    "template struct Known<double>;",
    "extern template struct Known<double>;",
    "template <typename T> struct Traits; template struct Traits<double>;",
    "template <typename T, typename U = Item> struct Known;",
    "struct setup { int a; };",
)  # fmt: skip


@pytest.mark.parametrize("text", OTHERS)
def test_what_another_could_notice_is_outside(text: str) -> None:
    """Objects, host functions, bases and templates of others, headers' names, static objects."""
    assert added(text)


@pytest.mark.parametrize("header", ['"traits.h"', '"cuda_helpers.h"', "<project/traits.h>"])
def test_a_template_is_specialised_only_where_every_header_is_known(header: str) -> None:
    """A header may have declared a template by that name, which the candidate declares again."""
    original = HOST.replace("<vector>", header)
    special = "template <typename T> struct Traits; template <> struct Traits<float> { int a; };"
    for text in (special, f"namespace own {{ {special} }}"):
        (found,) = {line.partition(", ")[2] for line in added(text, original)}
        assert "header" in found or header.strip('<>"') in found
        assert added(text) == ()
    assert added("struct Own { using T = float; T v[4]; };", original) == ()


def test_a_class_of_its_own_may_have_a_member_called_like_something_of_the_hosts() -> None:
    """The same text outside of a class is met by the host."""
    member = "__device__ int setup() { return 3; }"
    assert added(f"struct Own {{ {member} }};") == ()
    assert added(member)
    assert added(f"struct Less {{ {member} }};")


PIECES = (
    "struct", "class", "union", "Own", "Two", "{", "}", ";", ": public", ":", ",", "int a", "= 3",
    "= setup(3)", "static", "constexpr", "static constexpr int N =", "using T = float;", "[3]", "&",
    "enum { E = 4 };", "static_assert(true);", "template <typename U>", "template <>", "<float>",
    "public:", "Less", "Item i;", "Reg<int>", "Reg<int>::x", "(", ")", "friend", "operator+", "~",
    "__device__ int f() { return 1; }", "friend __device__ Own operator+(Own a, Own b) { return a; }",
    "__host__ __device__ int h() const { return 2; }", "Own() = default;", "Own(int) {}", "virtual",
    "namespace m {", "namespace {", "std", "setup", "struct In { int z; } in;", "unsigned u : 3;",
    "extern", "auto", "alignas(16)", "operator int() const { return 1; }", "[] { return 1; }()",
    "inline static int s = setup(3);", "#define D 4\n", "thread_local", "static Item j;",
)  # fmt: skip
FRAMES = (
    "struct Own {{ int b; {0} }}; {1}", "template <typename U> struct Own {{ {0} }}; {1}",
    "template <typename U> struct Own; template <> struct Own<int> {{ {0} }}; {1}",
    "struct Own {{ int b; }}; struct Two : Own {{ {0} }}; {1}", "namespace m {{ class Own {{ {0} }} {1} ; }}",
)  # fmt: skip
SOME = st.lists(st.sampled_from(PIECES), max_size=5).map(" ".join)


@pytest.mark.parametrize(
    "behind", ["~ __device__ int f() { return 1; }", "~ __global__ void f() { }"]
)
def test_a_sign_in_front_of_a_function_is_no_part_of_it(behind: str) -> None:
    assert added(f"struct Own {{ int b; }}; {behind}")
    assert added(behind)
    assert added(f"struct Own {{ int b; [] {{ return 1; }}() }}; {behind}")
    assert added(f"template <typename U> {behind}")
    assert added("[[nodiscard]] __device__ int f() { return 1; }") == ()


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(FRAMES), SOME, SOME)
def test_nothing_in_a_class_reaches_what_the_host_has(frame: str, inside: str, behind: str) -> None:
    """Whatever is written into one or behind it: no text raises, none that is inside runs on loading."""
    text = frame.format(inside, behind)
    if added(text):
        return
    # A device function is one with that word before it, too.
    words = text.replace("extern __device__", "__device__").replace("(", " ( ").split()
    assert "setup (" not in " ".join(words)
    assert not {"virtual", "thread_local", "extern", "~", "j;"} & set(words)
    # The host's member is defined where something stands behind its name; else that is a type.
    assert not re.search(r"Reg<int>::x\s*(?:[=({;,:\[]|$)", text)
