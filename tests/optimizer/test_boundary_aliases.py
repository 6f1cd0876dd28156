"""What a candidate may declare again with the meaning it has, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.boundary import violations

LOCAL = "    typedef unsigned long long u64;\n"
SCOPE = "typedef unsigned long long u64;\n"
ORIGINAL = """#include <cuda_runtime.h>
__device__ unsigned low(unsigned x) { return x & 0xffff; }
__global__ void sums(const unsigned* x, unsigned* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    typedef unsigned long long u64;
    if (i >= n) return;
    u64 d = (u64)low(x[i]) * x[i] + (u64)3 * (u64)(x[i] + 1);
    y[i] = (unsigned)(d >> 26);
}
void run(const unsigned* x, unsigned* y, int n)
{
    int threads = 128;
    sums<<<(n + threads - 1) / threads, threads>>>(x, y, n);
}
"""
GLOBAL = "__global__ void sums"
DEVICE = "__device__ unsigned low"
BODY = "    y[i] ="
HELPER = "__device__ u64 wide(u64 a, const u64* p) { return a * p[0] + static_cast<u64>(a); }\n"
HOISTED = ORIGINAL.replace(LOCAL, "").replace(DEVICE, SCOPE + HELPER + DEVICE)
SAID = "gives the original's u64 another meaning"


def put(text: str, *pairs: tuple[str, str]) -> str:
    """Return a text with pieces replaced, each of which it has."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "candidate",
    [
        HOISTED,
        put(HOISTED, (SCOPE, "typedef  unsigned\n  long /* 64 bits */ long u64 ;\n")),
        put(HOISTED, (SCOPE, "using u64 = unsigned long long;\n")),
        put(ORIGINAL, (DEVICE, SCOPE + DEVICE)),
        put(ORIGINAL, (DEVICE, SCOPE + SCOPE + DEVICE)),
        put(ORIGINAL, (DEVICE, SCOPE + DEVICE), (LOCAL, "    using u64 = unsigned long long;\n")),
        put(HOISTED, (DEVICE, f"struct Two {{ u64 a, b; }};\n{DEVICE}")),
        put(HOISTED, (DEVICE, f"typedef u64 word;\nusing row = u64;\n{DEVICE}")),
        put(HOISTED, (SCOPE, "#define FOUR 4\n" + SCOPE), (BODY, "    d *= FOUR; u64 e = d;\n" + BODY)),
        put(HOISTED, (BODY, "    __shared__ u64 s[32]; s[0] = sizeof(u64) * (u64)d, d += u64(3);\n" + BODY)),
        put(HOISTED, (BODY, "    for (u64 k = 0; k < 2; ++k) d += ((u64)k * (u64)~d);\n" + BODY)),
        put(HOISTED, (BODY, "    d += min(d, u64(7)) * (u64)(n + 1); d = low(3 * (u64)(n));\n" + BODY)),
        put(HOISTED, (SCOPE, f"namespace {{\n{SCOPE}}}\n"), (HELPER, "")).replace("u64 d", "int d")
        .replace("(u64)", ""),
    ],
)  # fmt: skip
def test_the_same_alias_of_a_number_may_be_declared_again(candidate: str) -> None:
    """Layout, `using` for `typedef`, other places and further uses give no other meaning."""
    assert violations(ORIGINAL, candidate) == ()


TYPES = (
    "unsigned long", "long long", "unsigned", "double", "long long unsigned", "float4", "size_t",
    "unsigned long long*", "unsigned long long const", "volatile unsigned long long", "uint64_t",
    "word", "unsigned long long, u32", "decltype(1ull)", "struct u64", "unsigned long long int",
)  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", ["typedef {0} u64;\n", "using u64 = {0};\n"])
@pytest.mark.parametrize("kept", [True, False])
def test_another_type_text_is_another_meaning(kind: str, form: str, kept: bool) -> None:
    """Even one that is the same type by other words: what is not sure stays refused."""
    text = put(ORIGINAL, (DEVICE, form.format(kind) + DEVICE))
    assert violations(ORIGINAL, text if kept else put(text, (LOCAL, "")))


@pytest.mark.parametrize("kind", ["word", "uint64_t", "float4", "T", "size_t"])
def test_an_alias_of_another_name_is_refused_even_with_the_same_text(kind: str) -> None:
    """The other name may be another's: a local alias, a parameter of a template, a new struct."""
    original = put(ORIGINAL, (LOCAL, f"    typedef {kind} u64;\n"))
    for first in ("", f"typedef unsigned {kind};\n", f"struct {kind} {{ int a; }};\n"):
        text = put(original, (DEVICE, f"{first}typedef {kind} u64;\n{DEVICE}"))
        assert any(SAID in one for one in violations(original, text))


@pytest.mark.parametrize(
    "pairs",
    [
        # Of other kinds by that name, at file scope.
        [(SCOPE, "struct u64 { unsigned a, b; };\n")],
        [(SCOPE, "union u64 { unsigned a; float b; };\n")],
        [(SCOPE, "enum u64 { A, B };\n")],
        [(SCOPE, "enum { u64 = 3 };\n")],
        [(SCOPE, "template <typename T> using u64 = T;\n")],
        [(SCOPE, "template <int N> using u64 = unsigned long long;\n")],
        [(SCOPE, SCOPE + "#define u64 unsigned\n")],
        [(SCOPE, "#define u64 unsigned long long\n" + SCOPE)],
        [(SCOPE, SCOPE + "#define WIDE u64\n")],
        [(SCOPE, SCOPE + "#define PASTE(a, b) a##b\n#define NAME PASTE(u, 64)\n")],
        [(SCOPE, "#define long int\n" + SCOPE)],
        [(SCOPE, "#define typedef using\n" + SCOPE)],
        [(SCOPE, SCOPE + "typedef unsigned u64;\n")],
        [(SCOPE, SCOPE + "namespace n { typedef unsigned u64; }\n")],
        [(SCOPE, SCOPE + "struct Two { int u64; };\n")],
        [(SCOPE, SCOPE + "struct Two { typedef unsigned u64; };\n")],
        [(SCOPE, f"struct Two {{ {SCOPE} }};\n{SCOPE}"), (GLOBAL, "__device__ Two::u64 g() { return 1; }\n" + GLOBAL)],
        [(SCOPE, f"namespace n {{ {SCOPE} }}\n")],
        [(SCOPE, ""), (DEVICE, DEVICE), (GLOBAL, SCOPE + GLOBAL)],
        [("#include <cuda_runtime.h>\n", SCOPE + "#include <cuda_runtime.h>\n"), (SCOPE + "__device__", "__device__")],
        # In device code.
        [(BODY, "    typedef unsigned u64;\n" + BODY)],
        [(BODY, "    { using u64 = unsigned; }\n" + BODY)],
        [(BODY, "    struct u64 { int a; };\n" + BODY)],
        [(BODY, "    int u64 = 3;\n" + BODY)],
        [(BODY, "    int u64(3);\n" + BODY)],
        [(BODY, "    int u64{3};\n" + BODY)],
        [(BODY, "    int u64[3];\n" + BODY)],
        [(BODY, "    int (u64) = 3;\n" + BODY)],
        [(BODY, "    int *u64;\n" + BODY)],
        [(BODY, "    int *(u64);\n" + BODY)],
        [(BODY, "    int (*u64)(int);\n" + BODY)],
        [(BODY, "    unsigned a = 1, u64 = 3;\n" + BODY)],
        [(BODY, "    unsigned a = 1, u64, c;\n" + BODY)],
        [(BODY, "    unsigned a = 1, u64(3);\n" + BODY)],
        [(BODY, "    unsigned a = 1, (u64);\n" + BODY)],
        [(BODY, "    unsigned a = low(3), *(u64)(0);\n" + BODY)],
        [(BODY, "    for (unsigned a = low(3), u64(2); a < 3; ++a) d += u64;\n" + BODY)],
        [(BODY, "    auto f = [](int *(u64)(int)) { return 1; };\n" + BODY)],
        [(BODY, "    auto f = [](int x, int (u64)) { return u64; };\n" + BODY)],
        [(BODY, "    enum { A, u64 };\n" + BODY)],
        [(BODY, "    enum { u64, B };\n" + BODY)],
        [(BODY, "    u64: d += 1;\n" + BODY)],
        [(BODY, "    auto [a, u64] = make_int2(1, 2);\n" + BODY)],
        [(BODY, "    auto [u64, b] = make_int2(1, 2);\n" + BODY)],
        [(BODY, "    auto f = [u64 = 3](int x) { return x; };\n" + BODY)],
        [(BODY, "    for (int u64 = 0; u64 < 3; ++u64) d += u64;\n" + BODY)],
        [(BODY, "    for (int u64 : {1, 2}) d += u64;\n" + BODY)],
        [(BODY, "    typedef unsigned long long u64, *row;\n" + BODY)],
        [(BODY, "    namespace u64 = cooperative_groups;\n" + BODY)],
        [(BODY, "    using n::u64;\n" + BODY)],
        [(DEVICE, "__device__ int g(int u64) { return u64; }\n" + DEVICE)],
        [(DEVICE, "__device__ int g(int u64, int b) { return b; }\n" + DEVICE)],
        [(DEVICE, "__device__ int g(int (u64)) { return 3; }\n" + DEVICE)],
        [(DEVICE, "__device__ int u64(int b) { return b; }\n" + DEVICE)],
        [(DEVICE, "template <typename u64> __device__ int g(u64 b) { return 1; }\n" + DEVICE)],
        [(DEVICE, "template <int u64> __device__ int g() { return u64; }\n" + DEVICE)],
        [(DEVICE, "__device__ int u64 = 3;\n" + DEVICE)],
        [(DEVICE, "__constant__ int u64[2] = {1, 2};\n" + DEVICE)],
        [(DEVICE, "const int u64 = 3;\n" + DEVICE)],
        [(DEVICE, "constexpr int u64() { return 3; }\n" + DEVICE)],
        [(DEVICE, "#define VALUE = 3\n" + DEVICE), (BODY, "    int u64 VALUE;\n" + BODY)],
        [(DEVICE, "#define VALUE(x) int x = 3;\n" + DEVICE), (BODY, "    VALUE(u64) d += 1;\n" + BODY)],
        # In host code.
        [("int threads = 128;", "int u64 = 128;"), ("threads", "u64")],
        [("threads - 1) / threads,", "threads - 1) / (u64)threads,")],
        [("(n + threads - 1) / threads,", "sizeof(u64) * n,")],
        [("int threads = 128;", "u64 threads = 128;")],
        [("void run", "u64 early(int n) { return n; }\nvoid run")],
        [("const unsigned* x, unsigned* y, int n)\n{\n    int i", "const unsigned* x, unsigned* y, u64 n)\n{\n    int i")],
    ],
)  # fmt: skip
def test_near_misses_are_refused(pairs: list[tuple[str, str]]) -> None:
    """Macros, other types, variables and functions of the name, wherever a candidate has them."""
    assert violations(ORIGINAL, put(HOISTED, *pairs)) != ()


@pytest.mark.parametrize(
    "pairs",
    [
        # Host code has the name, as something else or from somewhere else.
        [("int threads = 128;", "int threads = 128; int u64 = 3;")],
        [("int threads = 128;", "int threads = 128; typedef unsigned u64;")],
        [("int threads = 128;", "int threads = 128; typedef unsigned long long u64;")],
        [("threads = 128;", "threads = 128; static_cast<void>(sizeof(u64));")],
        [("int threads", "int u64"), ("threads", "u64")],
        [("void run", "template <typename u64> u64 same(u64 a) { return a; }\nvoid run")],
        [("void run", "struct Host { int u64; };\nvoid run")],
        [("void run", "int u64();\nvoid run")],
        [("void run", "__host__ __device__ int same(int u64) { return u64; }\nvoid run")],
        [("void run", "#define SIZE sizeof(u64)\nvoid run")],
        [("void run", "#define SIZE(u64) (u64 + 1)\nvoid run")],
        [("void run", "#ifdef u64\n#endif\nvoid run")],
        [("void run", "#ifdef LATER\nint u64 = 3;\n#endif\nvoid run")],
        [("void run", "#if 0\nu64 same(u64 a);\n#endif\nvoid run")],
        [("void run", "#define JOIN(a, b) a##b\nint JOIN(u, 64) = 3;\nvoid run")],
        [("#include", "/* words of headers: u64 Layout */\n#include")],
        # File scope has it.
        [("void run", "extern int u64;\nvoid run")],
        [(DEVICE, "typedef unsigned u64;\n" + DEVICE)],
        [(DEVICE, "__device__ int u64;\n" + DEVICE)],
        [(DEVICE, "const int u64 = 3;\n" + DEVICE)],
        [(DEVICE, "__device__ u64 same(u64 a) { return a; }\n" + DEVICE)],
        [("const unsigned* x, unsigned* y, int n)\n{\n    int i", "const unsigned* x, unsigned* y, u64 n)\n{\n    int i")],
        [(GLOBAL, "template <typename u64> " + GLOBAL)],
        # Device code has it, as something else or from somewhere else.
        [("{ return x & ", "{ u64 a = 3; return x & ")],
        [("{ return x & ", "{ int u64 = 3; return x & ")],
        [("{ return x & ", "{ typedef unsigned u64; return x & ")],
        [("    if (i >= n)", "    u64 early = 3;\n    if (i >= n)"), (LOCAL, ""), (BODY, LOCAL + BODY)],
        [(LOCAL, "    {" + LOCAL + "}")],
        [(LOCAL, "")],
        [(LOCAL, "    struct u64 { int a; };\n")],
        [(LOCAL, "    const int u64 = 3;\n")],
        [(LOCAL, "    typedef word u64;\n")],
        [(LOCAL, f"#ifdef LATER\n{LOCAL}#endif\n")],
        [(GLOBAL, "#define typedef extern\n" + GLOBAL)],
        [(LOCAL, "    typedef unsigned long u64;\n")],
        [(LOCAL, "    typedef unsigned long long u64, *row;\n")],
        [(LOCAL, "    using app::u64;\n")],
        [(BODY, "    { int u64 = 3; d += u64; }\n" + BODY)],
        [(BODY, "    d += app::u64(3);\n" + BODY)],
        [(LOCAL, ""), ("#include <cuda_runtime.h>\n", "#include <cuda_runtime.h>\n#define u64 unsigned long long\n")],
    ],
)  # fmt: skip
def test_where_the_original_has_another_meaning_or_none_it_is_refused(
    pairs: list[tuple[str, str]],
) -> None:
    """A file-scope alias would reach code that has the name otherwise."""
    original = put(ORIGINAL, *pairs)
    assert violations(original, put(original, (DEVICE, SCOPE + DEVICE))) != ()


def test_a_class_of_the_host_gets_no_member_alias() -> None:
    """Templates of headers ask a class for members that no text of the program mentions."""
    host = "struct Less { bool operator()(int a, int b) const { return a < b; } };\n"
    original = put(ORIGINAL, ("void run", host + "void run")).replace("u64", "is_transparent")
    alias = SCOPE.replace("u64", "is_transparent")
    candidate = put(original, ("struct Less { ", "struct Less { " + alias))
    assert violations(original, candidate) != ()


NAMES = ("u64", "word", "acc_t")
KINDS = ("unsigned long long", "unsigned", "long  long", "double", "unsigned __int128")
FORMS = ("typedef {kind} {name};", "using {name} = {kind};")


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(KINDS), st.sampled_from(KINDS),
    st.sampled_from(FORMS), st.sampled_from(FORMS),
)  # fmt: skip
def test_an_alias_is_inside_where_name_is_new_or_type_is_the_same(
    was: str, now: str, one: str, two: str, old: str, new: str
) -> None:
    """A new name may have any number's type, a name of the original's its own alone."""
    original = put(ORIGINAL, (LOCAL, f"    {old.format(kind=one, name=was)}\n")).replace("u64", was)
    text = put(original, (DEVICE, f"{new.format(kind=two, name=now)}\n{DEVICE}"))
    assert (violations(original, text) == ()) == (was != now or one.split() == two.split())
