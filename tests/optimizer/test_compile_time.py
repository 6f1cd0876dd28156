"""Functions that a compiler runs may be added for tables of device code; no host text meets them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.boundary import violations
from optimizer.source import Source
from tests.optimizer.cuda_texts import NAMES, broken, read

ORIGINAL = """#include <cuda_runtime.h>
#include <vector>
#define THREADS 256
#define CALL(what) what##_now()
struct Item { int key; operator int() const { return key; } };
int state = 0;
int setup(int n) { state = n; return n; }
template <int N> int early() { return setup(N); }
namespace detail { inline int twice(int n) { return 2 * n; } }
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.f * x[i];
}
extern "C" void run(const float* x, float* y, int n) {
    k<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, y, n);
}
"""
ROW = "struct Row { float of[8]; };\n"
TABLE = "__device__ const Row rows = row();"


def added(text: str, original: str = ORIGINAL) -> tuple[str, ...]:
    """Judge an original with a text in front of its kernel."""
    return violations(original, original.replace("__global__", f"{text}\n__global__", 1))


def row(body: str) -> str:
    """Return a function that computes a table by these statements, and the table."""
    return f"{ROW}constexpr Row row() {{ Row r = {{}}; {body} return r; }}\n{TABLE}"


@pytest.mark.parametrize(
    "text",
    [
        row("for (int i = 0; i < 8; i++) r.of[i] = i * 2.f;"),
        row("int i = 0; while (true) { if (i == 8) break; r.of[i++] = i % 3 ? 1.f : -1.f; }"),
        row("unsigned a = 1u << 3, b = ~a & 7; r.of[b & 1] = (float)(a ^ b) * 3;"),
        row("for (auto& v : r.of) v += static_cast<float>(sizeof(int));"),
        row("constexpr unsigned char boxes[2] = {12, 5}; r.of[0] = boxes[1];"),
        row("switch (THREADS) { case 256: r.of[0] = std::min(3, 4); break; default: break; }"),
        row("double turn = 2 * M_PI / 8; r.of[0] = INFINITY + turn;"),
        row("if constexpr (THREADS > 3) { r.of[0] = 'a'; }"),
        f"{ROW}static constexpr Row row() {{ return Row{{}}; }}\n__constant__ Row rows = row();",
        f"{ROW}inline constexpr Row row(void) noexcept {{ return {{}}; }}\n{TABLE}",
        f"{ROW}consteval auto row() -> Row {{ return {{}}; }}\nstatic constexpr __device__ Row r = row();",
        f"{ROW}__host__ __device__ constexpr Row row() {{ return {{}}; }}\n{TABLE}",
        f"{ROW}__device__ constexpr Row row() {{ return {{}}; }}\n{TABLE}",
        f"{ROW}namespace {{ constexpr Row row() {{ return {{}}; }} {TABLE} }}",
        (f"{ROW}namespace tables {{ constexpr Row row() {{ return {{}}; }} }}\n"
        "__constant__ Row rows = tables::row();"),
        (f"{ROW}constexpr void put(Row& r, int at, double v) {{ r.of[at] = v; }}\n"
        f"constexpr Row row() {{ Row r{{}}; put(r, 3, 2.0); return r; }}\n{TABLE}"),
        (f"{ROW}constexpr Row row() {{ return {{}}; }}\nconstexpr Row rows = row();\n"
        "__constant__ Row there = rows;"),
        ("constexpr int bits(int v) { return v > 1 ? 1 + bits(v / 2) : 0; }\n"
        "constexpr int BITS = bits(256);\n__device__ const int two[2] = {bits(4), BITS};"),
        ("template <int N> struct Many { float of[N]; };\n"
        "template <int N> constexpr Many<N> many(float s) { Many<N> t{}; t.of[N - 1] = s; return t; }\n"
        "__device__ constexpr Many<8> eight = many<8>(3.f);\nconstexpr Many<4> four = many<4>(1.f);"),
        ("enum { TILE = 32 };\n#define STEP 4\nconstexpr int SIDE = 3;\n"
        "constexpr int area(int rows) { return TILE * SIDE * STEP * rows; }\nconstexpr int AREA = area(2);"),
        ("using u64 = unsigned long long;\nconstexpr u64 mix(u64 v) { return v ^ (v >> 3); }\n"
        "__constant__ u64 mixed[2] = {mix(1), mix(2)};"),
    ],
)  # fmt: skip
def test_tables_that_a_compiler_computes_are_inside(text: str) -> None:
    """As of a cipher's boxes and wiring, or of a transform's factors."""
    assert added(text) == ()


@pytest.mark.parametrize(
    "body",
    [
        "state = 3;",
        "{ int state = 0; } state = 3;",
        "setup(3);",
        "r.of[0] = ::setup(3);",
        "r.of[0] = detail::twice(3);",
        "r.of[0] = early<3>();",
        "int* p = &state; *p = 3;",
        "int& other = state; other = 3;",
        "(int&)THREADS = 3;",
        "*(int*)1234 = 3;",
        "*reinterpret_cast<int*>(1234) = 3;",
        "r.of[0] = [] { return 3; }();",
        "auto f = [&] { return 3; }; r.of[0] = f();",
        "if (THREADS) []{ state = 3; }();",
        'asm("nop");',
        "static int count = 0; r.of[0] = count++;",
        "static constexpr int count = 0; r.of[0] = count;",
        "volatile int count = 0;",
        "if consteval { r.of[0] = 1; }",
        "if (__builtin_is_constant_evaluated()) r.of[0] = 1;",
        "if (std::is_constant_evaluated()) r.of[0] = 1;",
        "r.of[0] = __CUDA_ARCH__;",
        "\n#ifdef __CUDA_ARCH__\nr.of[0] = 1;\n#endif\n",
        "new int;",
        "throw 3;",
        "again: goto again;",
        "int later(int); r.of[0] = later(3);",
        "struct Local { Local() { state = 3; } }; Local l;",
        "std::vector<int> v; v.push_back(3);",
        "Item i{3}; r.of[0] = i;",
        "{ Item Item; } r.of[0] = 1;",
        "int Item = 0; { Item r; }",
        "int Item;",
        "r.of[0] = 3_km;",
        'r.of[0] = "text"[0];',
        "r.of[0] = CALL(setup);",
        "cudaFree(0);",
        "typeid(int); operator()(3);",
        "} int other() { Row r = {};",
    ],
)
def test_functions_that_do_more_than_compute_are_outside(body: str) -> None:
    """Run by a program they would reach its memory; nothing but a compiler is to run them."""
    assert added(row(body))


@pytest.mark.parametrize(
    "text",
    [
        "constexpr int setup(long n) { return 3; }",
        "constexpr int twice(int n) { return 3; }",
        "constexpr int i() { return 3; }",
        "constexpr int early_now() { return 3; }",
        "constexpr int run_now() { return 3; }",
        "constexpr int swap(int a, int b) { return a; }",
        "constexpr int begin(int a) { return a; }",
        "constexpr int main() { return 3; }",
        "constexpr int _mine() { return 3; }",
        "constexpr int my__own() { return 3; }",
        "constexpr int cudaLaunchKernel(int a) { return 3; }",
        "constexpr int cuMemFree_v2(unsigned long a) { return 3; }",
        "constexpr int mine(Item i) { return 3; }",
        "constexpr int mine(const Item& i) { return 3; }",
        "using Own = Item;\nconstexpr int mine(Own i) { return 3; }",
        "constexpr int mine(const char* text) { return 3; }",
        "constexpr int mine(const int (&of)[3]) { return 3; }",
        "constexpr int mine(int& n) { return n = 3; }",
        "constexpr int mine(auto n) { return 3; }",
        "constexpr int mine(int n = setup(3)) { return n; }",
        "constexpr int mine(...) { return 3; }",
        "constexpr int mine(int (*f)(int)) { return f(3); }",
        "template <typename T> constexpr int mine(T n) { return 3; }",
        "template <typename T> constexpr void mine(T& a) { a = 3; }",
        "template <auto F> constexpr int mine() { return F(3); }",
        "template <> constexpr int early<3>() { return 3; }",
        "template <int N> constexpr int early(int n) { return 3; }",
        'extern "C" constexpr int mine() { return 3; }',
        'extern "C" { constexpr int mine() { return 3; } }',
        'constexpr int mine() asm("run");\nconstexpr int mine() { return 3; }',
        "__attribute__((constructor)) constexpr int mine() { return 3; }",
        '__attribute__((alias("run"))) constexpr int mine() { return 3; }',
        '[[gnu::section(".init_array")]] constexpr int mine() { return 3; }',
        "[[gnu::constructor]] constexpr int mine() { return 3; }",
        "namespace std { constexpr int mine() { return 3; } }",
        "namespace cuda { constexpr int mine() { return 3; } }",
        "namespace std { namespace mine { constexpr int f() { return 3; } } }",
        "inline namespace mine { constexpr int f() { return 3; } }",
        "namespace mine { constexpr int f() { return 3; } }\nusing namespace mine;",
        "namespace mine { constexpr int f() { return 3; } }\nusing mine::f;",
        "struct P { constexpr P() {} };",
        "struct P { constexpr P() : a(3) {} int a; };",
        "struct P { constexpr operator int() const { return 3; } int a; };",
        "struct P { constexpr int f() const { return setup(3); } int a; };",
        "struct P { constexpr operator int() const { return 3; } constexpr int f() { return a; } int a; };",
        "struct P { friend constexpr int swap(P a, P b) { return 3; } int a; };",
        "struct P { ~P() {} int a; };",
        "constexpr Item::operator int() { return 3; }",
        "struct P { int a; };\nconstexpr P operator+(P a, P b) { return a; }",
        "struct P { int a; };\nconstexpr bool operator<(Item a, Item b) { return false; }",
        'constexpr long double operator""_km(long double v) { return v; }',
        "int mine() { return 3; }",
        "static int mine() { return 3; }",
        "constexpr int mine();",
        "constexpr int mine() { return 3; }\nint there = mine();",
        "constexpr int mine() { return 3; }\nconst int THERE = mine();",
        "constexpr int mine() { return 3; }\nstatic const int THERE = mine();",
        "constexpr int mine() { return 3; }\nconstexpr int THERE = mine() + setup(3);",
        "constexpr int mine() { return 3; }\nconstexpr int state = mine();",
        "constexpr int mine() { return 3; }\n#define THREADS mine()",
        "const int THERE = early<3>();",
        "__device__ const int there = early<3>();",
        "__device__ const int there{setup(3)};",
        "__device__ constexpr int mine() { return state = 3; }\n__device__ const int there = mine();",
        "__device__ constexpr int mine() { return 3; }\nint other() { return mine(); }",
        "#define constexpr\nconstexpr int mine() { return 3; }",
        "#define MINE constexpr int mine()\nMINE { return 3; }",
        "#define DO state = 3\nconstexpr int mine() { DO; return 3; }",
        "#define float Item\nconstexpr int mine(float f) { return 3; }",
        "#define END } int other() {\nconstexpr int mine() { END return 3; }",
        "constexpr int mine() { return 3; }\n#include <mma.h>",
        "constexpr auto mine = [](int n) { return n; };",
        "constexpr int mine(int a) try { return 3; } catch (...) { return 4; }",
        "struct P { int a; } constexpr mine() { return {}; }",
        "constexpr int mine() { return 3; } int other = 3;",
        "constexpr int mine() { return 3; }\nint mine(int n) { return n; }",
    ],
)  # fmt: skip
def test_functions_that_host_text_could_meet_are_outside(text: str) -> None:
    """Overloads, names that headers look for, types of the host's, other namespaces, attributes."""
    assert added(text)


BOTH = "__host__ __device__ "


@pytest.mark.parametrize(
    "text",
    [
        BOTH + "inline int up(int a, int b) { return (a + b - 1) / b; }",
        BOTH + "__forceinline__ unsigned up(unsigned a) { return a * 2; }",
        "static " + BOTH + "float half(float a) { return 0.5f * a; }",
        "__forceinline__ " + BOTH + "bool odd(int a) { if (a & 1) { return true; } return false; }",
        f"namespace {{ {BOTH} int up(int a) {{ return a + 1; }} }}",
        f"namespace own {{ {BOTH} inline int up(int a) {{ return a + THREADS; }} }}",
        f"template <int N> {BOTH} inline int up(int a) {{ return a + N; }}",
        f"{BOTH} inline int up(int a) {{ return a + 1; }}\n{BOTH} inline int two(int a) {{ return up(up(a)); }}",
        f"constexpr int one() {{ return 1; }}\n{BOTH} inline int up(int a) {{ return a + one(); }}",
        f"struct P {{ {BOTH} int get() const {{ return a; }} int a; }};",
        f"struct P {{ int a; constexpr int get() const {{ return a; }} {BOTH} void put(int v) {{ a = v; }} }};",
        f"struct P {{ int a[4]; static {BOTH} int setup(int v) {{ return v; }} {BOTH} int key(int i) const {{ return setup(a[i]); }} }};",
        f"template <typename T, int N> struct P {{ T a[N]; {BOTH} inline T of(int i) const {{ return a[i]; }} static constexpr int size() {{ return N; }} }};",
        f"struct P {{ int a; {BOTH} int get() const {{ return a; }} }};\n{BOTH} inline int up(P p) {{ return p.a; }}",
        f"template <int N> struct P {{ float a[N]; {BOTH} float& operator[](int i) {{ return a[i]; }} {BOTH} const float& operator[](int i) const {{ return a[i]; }} }};",
        f"struct P {{ int a; {BOTH} P operator+(const P& o) const {{ return {{a + o.a}}; }} constexpr bool operator==(P o) const {{ return a == o.a; }} }};",
        f"struct P {{ int a; {BOTH} int operator()(int b) const {{ return a + b; }} {BOTH} void operator+=(int b) {{ a += b; }} }};",
        f"struct P {{ int a; {BOTH} bool less(const P& o) const {{ return a < o.a; }} }};",
    ],
)  # fmt: skip
def test_functions_for_device_and_host_that_only_compute_are_inside(text: str) -> None:
    """As everybody writes them who rounds up, or keeps a pair; members by any name."""
    assert added(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        BOTH + "int up(int a) { return a + 1; }",
        BOTH + "inline int up(int a) { return setup(a); }",
        BOTH + "inline int up(int a) { state = a; return a; }",
        BOTH + "inline int up(int* a) { return *a; }",
        BOTH + "inline int up(int& a) { return a = 3; }",
        BOTH + "inline int up(Item a) { return 3; }",
        BOTH + "inline int setup(long a) { return 3; }",
        BOTH + "inline int swap(int a, int b) { return 3; }",
        BOTH + "inline int run_now(int a) { return 3; }",
        BOTH + "inline int up(int a = 3) { return a; }",
        BOTH + "inline int up(int a) { static int b = setup(3); return b; }",
        BOTH + "inline int up(int a) {\n#ifdef __CUDA_ARCH__\nreturn 1;\n#endif\nreturn 2; }",
        BOTH + "inline int operator+(Item a, Item b) { return 3; }",
        f"template <typename T> {BOTH} inline T up(T a) {{ return a; }}",
        f"template <> {BOTH} inline int early<3>() {{ return 3; }}",
        f'extern "C" {BOTH} inline int up(int a) {{ return a; }}',
        f"namespace std {{ {BOTH} inline int up(int a) {{ return a; }} }}",
        f"namespace detail {{ {BOTH} inline int twice(long a) {{ return 3; }} }}",
        f"{BOTH} inline int up(int a) {{ return a; }}\nint there = up(3);",
        f"{BOTH} inline int up(int a) {{ return a; }}\nconst int THERE = up(3);",
        f"{BOTH} inline int up(int a) {{ return a; }}\n__device__ const int there = up(3);",
        f"{BOTH} inline int up(int a) {{ return a; }}\nconstexpr int one() {{ return up(0); }}\n__device__ const int there = one();",
        f"{BOTH} inline int up(int a) {{ return a; }}\n#define THREADS up(3)",
        f"__attribute__((constructor)) {BOTH} inline int up(int a) {{ return a; }}",
        BOTH + "inline int up(int a);",
        "__host__ inline int up(int a) { return a; }",
        f"#define BOTH {BOTH}\nBOTH inline int up(int a) {{ return a; }}",
        f"struct P {{ {BOTH} P() {{}} int a; }};",
        f"struct P {{ {BOTH} P(int v) : a(v) {{}} int a; }};",
        f"struct P {{ {BOTH} ~P() {{}} int a; }};",
        f"struct P {{ {BOTH} operator int() const {{ return a; }} int a; }};",
        f"struct P {{ {BOTH} int get() const {{ return setup(a); }} int a; }};",
        f"struct P {{ {BOTH} int get() const {{ return state; }} int a; }};",
        f"struct P {{ {BOTH} int get() const {{ return *b; }} int* b; }};",
        f"struct P {{ {BOTH} int get() const {{ return b[0]; }} int* b; }};",
        f"struct P {{ {BOTH} int get() const {{ Item i{{3}}; return i; }} int a; }};",
        f"struct P {{ {BOTH} int get() const {{ return a; }} int a; }} one;",
        f"struct P {{ {BOTH} int get() const {{ return a; }} static int a; }};",
        f"struct P {{ int a; {BOTH} P operator+(int b) const {{ return {{setup(b)}}; }} }};",
        f"struct P {{ int a; {BOTH} operator bool() const {{ return a; }} }};",
        f"struct P {{ int a; {BOTH} P* operator->() {{ return this; }} }};",
        f"struct P {{ int a; {BOTH} P& operator=(const P& o) {{ a = o.a; return *this; }} }};",
        f"struct P {{ int a; {BOTH} P* operator&() {{ return nullptr; }} }};",
        f"struct P {{ int a; {BOTH} void* operator new(size_t n) {{ return nullptr; }} }};",
        f"struct P {{ int a; {BOTH} P operator+(Item b) const {{ return {{3}}; }} }};",
        f"struct P {{ int a; friend {BOTH} P operator+(P b, P c) {{ return b; }} }};",
        f"struct P {{ int a; }};\n{BOTH} inline P operator+(P b, P c) {{ return b; }}",
        f"struct P : Item {{ {BOTH} int get() const {{ return 3; }} }};",
        f"struct P {{ friend {BOTH} int get(P p) {{ return p.a; }} int a; }};",
        f"struct P {{ virtual {BOTH} int get() const {{ return a; }} int a; }};",
        f"struct P {{ {BOTH} int get() const; int a; }};",
        f"struct P {{ template <typename T> {BOTH} int get(T t) const {{ return 3; }} int a; }};",
        f"struct setup {{ {BOTH} int get() const {{ return a; }} int a; }};",
        f"struct P {{ {BOTH} int get() const {{ return a; }} int a; }};\nint there = P{{}}.get();",
        f"struct P {{ {BOTH} int get() const {{ return a; }} int a; }};\n__device__ int there = P{{}}.get();",
    ],
)  # fmt: skip
def test_functions_for_device_and_host_that_could_do_more_are_outside(text: str) -> None:
    """Names and types of the host's, effects, what is seen everywhere, what begins an object."""
    assert added(text)


def test_a_class_of_the_hosts_gets_no_such_member() -> None:
    """Neither for both nor for a compiler."""
    for member in (
        f"{BOTH} int other() const {{ return 3; }}",
        "constexpr int other() { return 3; }",
    ):
        text = ORIGINAL.replace("{ int key;", f"{{ int key; {member}", 1)
        assert violations(ORIGINAL, text)


def test_a_type_of_the_hosts_gets_no_more_members() -> None:
    """A constant that every object holds makes it another size; a name may be looked for."""
    for member in ("static constexpr int EXTRA = 3;", "const int EXTRA = 3;"):
        text = ORIGINAL.replace("{ int key;", f"{{ int key; {member}", 1)
        assert violations(ORIGINAL, text)
        own = added(f"constexpr int mine() {{ return 3; }}\nstruct P {{ {member} int b; }};")
        assert own == ()


def test_a_launch_and_host_code_do_not_use_them() -> None:
    """Neither geometry nor host text that a candidate writes."""
    mine = "constexpr int mine(int n) { return n; }"
    for old, new in (("THREADS>>>", "mine(256)>>>"), ("(x, y, n);", "(x, y, mine(n));")):
        text = ORIGINAL.replace("__global__", f"{mine}\n__global__", 1)
        assert violations(ORIGINAL, text) == ()
        assert violations(ORIGINAL, text.replace(old, new)) != ()


def test_macros_of_headers_that_nobody_knows_keep_them_in_a_namespace() -> None:
    """Host text may call whatever a macro of the author's header says."""
    original = ORIGINAL.replace("<vector>", '"checks.h"')
    mine = "constexpr int mine(int n) { return n; }"
    (found,) = added(mine, original)
    assert "checks.h" in found
    assert "namespace" in found
    assert added(f"namespace tables {{ {mine} }}", original) == ()
    assert added(f"namespace {{ {mine} }}", original) != ()
    assert added(f"namespace detail {{ {mine} }}", original) != ()


@pytest.mark.parametrize(
    "text", ["struct setup_now { int a; };", "using setup_now = int;", "enum { setup_now };"]
)
def test_a_type_that_macros_could_name_is_outside(text: str) -> None:
    """`CALL(setup)` means the candidate's then."""
    assert added(text)
    assert added(text.replace("setup_now", "set_now")) == ()


def test_a_header_of_the_authors_may_be_called_like_the_toolkits() -> None:
    """Those that are the toolkit's are known, in quotes as well."""
    mine = "constexpr int mine(int n) { return n; }"
    assert added(mine, ORIGINAL.replace("<vector>", '"cuda_helpers.h"'))
    assert added(mine, ORIGINAL.replace("<vector>", '"cuda_fp16.h"')) == ()


def test_a_function_of_the_originals_stays() -> None:
    """Its text is the host's; what a candidate adds beside it may not take its name."""
    text = added("")
    original = ORIGINAL.replace("__global__", "constexpr int mine() { return 3; }\n__global__", 1)
    assert text == ()
    assert violations(original, original.replace("2.f *", "3.f *")) == ()
    assert violations(original, original.replace("return 3", "return 4"))
    assert violations(original, ORIGINAL)
    assert added("constexpr int mine(int n) { return n; }", original)


def test_another_number_in_a_function_is_looked_at_again() -> None:
    """One that lies inside says nothing about a number that makes it call something."""
    text = ORIGINAL.replace("__global__", f"{row('r.of[3] = 1;')}\n__global__", 1)
    assert violations(ORIGINAL, text) == ()
    assert violations(ORIGINAL, text.replace("r.of[3] = 1", "r.of[4] = 1")) == ()
    assert violations(ORIGINAL, text.replace("r.of[3] = 1", "r.of[4] = 1_km"))


WORDS = (
    "state", "setup(3)", "early<3>()", "*", "&", "->", "[", "]", "{", "}", "(", ")", ";", "static",
    "extern", "int", "Item", "r", "r.of[0]", "= 3", 'asm("")', "[] {", "operator", "std::", "::",
    "goto a", "new int", "__builtin_trap()", "THREADS", "CALL(run)", "#define A", "\n#if 1\n",
    "\n#endif\n", "volatile", "throw 1", "template <int N>", "constexpr", "Row", "namespace a {",
    "struct B { B() {} }", '"', "'", "//", "/*", "*/", "\\\n",
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join))
def test_no_statement_inside_names_what_the_host_has(body: str) -> None:
    """Whatever is written into a function, one that is inside uses nothing of the host's."""
    text = ORIGINAL.replace("__global__", f"{row(body + ';')}\n__global__", 1)
    if violations(ORIGINAL, text):
        return
    (found,) = (f for f in Source(text).functions if f.name == "row")
    names = {t.text for t in Source(text).syntax.code_in(found.span)}
    assert not names & {"setup", "early", "run", "Item", "asm", "static", "new", "->", "#", "CALL"}
    assert {u.name for u in found.variables.free} <= {"THREADS", "Row", "std"}
    assert len(Source(text).functions) == len(Source(ORIGINAL).functions) + 1


@settings(max_examples=60, deadline=None)
@given(broken(), st.sampled_from(NAMES))
def test_no_text_raises(candidate: str, name: str) -> None:
    """Mutilated texts are judged, whatever they hold of such functions."""
    violations(read(name), f"{row('r.of[0] = 1;')}\n{candidate}")
