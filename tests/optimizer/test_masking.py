"""Constructs that a C++ grammar stumbles over, read all the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.masking import mask
from optimizer.source import Source
from optimizer.syntax import operator, walk
from tests.optimizer.cuda_texts import broken

KERNEL = "__global__ void k(float* p) { p[0] = 1; }\n"


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(8) j(int* a) { a[0] = 1; }",
        "struct __align__(16) V { float x; }; __shared__ __align__(16) float t[4];",
        "void f() { auto g = [=] __host__ __device__ (int i) -> int { return i; }; }",
        "__global__ void j(const __grid_constant__ P p, float (*__restrict__ a)[8]) { a[1][2] = 0; }",
        "void f() { CHECK(cudaFree(a)) CHECK(cudaFree(b)); if (x) CHECK(c)\n else { } }",
        "void f() { dim3 b(BS, BS), g(n / BS); std::vector<float> v(n * m), w(n); k<<<g, b>>>(v); }",
        "__global__ void j(int n) {\n#ifdef A\n if (n) {\n#else\n if (!n) {\n#endif\n } }",
        "__global__ void j(float* p\n#ifdef X\n, int n\n#endif\n) { p[0] = 1; }",
        "NAMESPACE_BEGIN\nnamespace a { int x; }\nNAMESPACE_END",
        "API void f(int a) { }\nHD inline float h(float x) { return x; }\ntemplate <class T> HD T w(T x) { return x; }",
        "DEFINE_KERNEL(add, +=)\nDEFINE_KERNEL(sub, -=)\n",
        'int main() { printf("%" PRIu64 "\\n", x); printf("a" FORMAT, y); }',
        "__global__ void j(int n, int* p) { int i = 0; if (i < n && p[i] > (n)) p[i] = i < n ? p[i] > 0 : 3; }",
        'extern "C" { static __global__ void j(void) {} }',
        '__device__ unsigned f() { unsigned r; asm volatile("mov.u32 %0, %%smid;" : "=r"(r)); return r; }',
        "#if 0\nunbalanced { ( ' \"\n#else\nint y;\n#endif\n#if defined(Q) || FOO > 2\n } }\n#endif",
        "__constant__ __align__(16) float c[2] = {1.f, 2.f}; __device__ __managed__ int m;",
        "template <> __global__ void j<float>(float* p) { p[0] = 1; }",
        "__global__ void j(const float * API_RESTRICT q, int n) { float * API_RESTRICT r = q * N; }",
        "int main() { k << <1, 2 >> >(x); k << < dim3(1, 1), b, 0, s >> > (x); k<<<1, n> >>(x); }",
        "int main() { std::vector<std::vector<A<int>> > v(3); std::cout << std::hex << (x >> 3 > (y)); }",
        "int main() { TIME(k<<<g, b>>>(x)); (k)<<<g, b>>>(x); k <<< dim3(1, 1), b >>>\n (x); }",
    ],
)
def test_it_is_read_without_errors(text: str) -> None:
    """The construct and the kernel behind it are understood."""
    source = Source(text + "\n" + KERNEL)
    assert source.errors == ()
    assert "k" in [f.name for f in source.kernels]
    assert not any(f.broken for f in source.functions)


@pytest.mark.parametrize(
    ("test", "signs"),
    [
        ("(a < n && b >= 0) ? 1 : 0", ["&&", "<", ">="]),
        ("(a >= 0 && a<n && b>=0 && b < m)", ["&&", "&&", "&&", ">=", "<", ">=", "<"]),
        ("(a < n || b >= (m))", ["||", "<", ">="]),
        ("(a < n && b >= -1) && (a > 2)", ["&&", "&&", "<", ">=", ">"]),
        ("(a < n && b >\f 0)", ["&&", "<", ">"]),
        ("(a < n &&\n b >= p[a] && b > m)", ["&&", "&&", "<", ">=", ">"]),
    ],
)
def test_comparisons_in_brackets_are_no_templates(test: str, signs: list[str]) -> None:
    source = Source(f"__device__ int f(int a, int b, int n, int m, int* p) {{ return {test}; }}\n")
    (function,) = source.functions
    assert not function.broken
    found = function.variables.nodes("binary_expression")
    assert [operator(node) for node in found] == signs
    (back,) = function.variables.nodes("return_statement")
    assert source.of(back) == f"return {test};"


@settings(max_examples=150, deadline=None)
@given(st.one_of(broken(), st.text(max_size=300)))
def test_positions_are_kept(text: str) -> None:
    """The masked text is ASCII of the same length with the same line breaks."""
    masked = mask(text)
    assert len(masked.text) == len(text)
    assert masked.text.isascii()
    assert "".join(t.text for t in masked.tokens) == text
    assert all(masked.text[i] in "\n;" for i, c in enumerate(text) if c == "\n")


def test_attributes_are_found_where_they_stood() -> None:
    """A blanked word tells its place and its arguments."""
    text = "__global__ void __launch_bounds__(2 * N, 1) k() {}"
    found = mask(text).attributes
    assert [a.name for a in found] == ["__global__", "__launch_bounds__"]
    assert found[1].arguments is not None
    assert text[slice(*found[1].arguments)] == "2 * N, 1"


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("#if 0", "no"),
        ("#if 1", "yes"),
        ("#ifdef BS", "yes"),
        ("#ifndef BS", "no"),
        ("#if BS >= 256 && !defined(OFF)", "yes"),
        ("#if defined BS && BS / 2 == 64", "no"),
        ("#if __CUDA_ARCH__ >= 700", "yes"),
        ("#ifdef _WIN32", "no"),
        ("#if UNKNOWN", "no"),
        ("#if (BS", "no"),
    ],
)
def test_conditions_are_evaluated(condition: str, kept: str) -> None:
    """One branch of an `#if` stays, chosen by what the file defines."""
    text = f"#define BS 256\n{condition}\nyes\n#else\nno\n#endif\n"
    assert mask(text).text.split() == [kept]


def test_macros_tell_their_values() -> None:
    """Macros of macros are evaluated, bodies keep their spans, comments are no part of them."""
    text = (
        "#define A 16 /* tile */\n#define B (A * 2)\n#define F(x, y) ((x) + \\\n (y))\n#define N\n"
    )
    found = {m.name: m for m in mask(text).macros}
    assert (found["A"].value, found["B"].value, found["F"].value) == (16, 32, None)
    assert text[slice(*found["A"].body_span)] == "16"
    assert found["F"].parameters == ("x", "y")
    assert found["N"].body == ""


def test_a_comparison_with_a_negative_number_is_no_template() -> None:
    """`r < h && c > -1` reads as two comparisons."""
    text = "__global__ void k(int r, int c, int h) { if (r > -1 && r < h && c > -1 && c < h) h = r > - c; }"
    source = Source(text)
    assert not source.kernels[0].broken
    assert source.kernels[0].affine(next(walk(source.syntax.root, "number_literal"))) is not None
