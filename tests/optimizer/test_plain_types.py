"""Types that hold nothing but data may be added beside device code; anything else may not."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.boundary import violations
from optimizer.plain_types import plain_types
from optimizer.tokens import code_tokens

ORIGINAL = """#include <cuda_runtime.h>
#define THREADS 256
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.f * x[i];
}
extern "C" void run(const float* x, float* y, int n) {
    k<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, y, n);
}
"""


def added(text: str, body: str = "") -> tuple[str, ...]:
    """Judge the original with a text in front of its kernel and a statement inside."""
    candidate = ORIGINAL.replace("__global__", f"{text}\n__global__", 1)
    return violations(ORIGINAL, candidate.replace("if (i < n)", f"{body} if (i < n)", 1))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("struct Pair { float value; int index; };", "Pair p{1.f, 2};"),
        ("struct __align__(8) MD { float m, d; };", "MD p; p.m = 0.f;"),
        ("struct F { __device__ float operator()(float v) const { return v; } };", "F f{};"),
        ("struct alignas(16) Row { float part[4]; };", ""),
        ("#define LANES 4\nstruct Row { float part[LANES]; };", ""),
        ("using Four = float4;", "Four v;"),
        ("template <typename T, int N = 4> struct Row { T part[N]; };", "Row<float> r;"),
        (
            "template <class T> struct Most { __device__ T operator()(T a, T b) { return a; } };",
            "Most<float> most;",
        ),
        ("template <typename T> using Pointer = T*;", "Pointer<float> p = y;"),
        ("union Bits { float f; unsigned u; };", "Bits b; b.f = 1.f;"),
        ("enum { TILE = 32, HALF = TILE / 2 };", "int t = TILE + HALF;"),
        ("enum class Way : int { UP, DOWN };", "Way way = Way::UP;"),
        ('static_assert(sizeof(float4) == 16, "four");', ""),
        ("typedef float4 V4;", "V4 v;"),
        ("", "enum { TILE = 32, HALF = 16 }; int t = TILE + HALF;"),
        ("", "typedef float4 V4; V4 v;"),
        ("__device__ inline float2 operator+(float2 a, float2 b) { return a; }", ""),
    ],
)
def test_data_for_device_code_is_inside(text: str, body: str) -> None:
    """As online softmax keeps a maximum with its sum."""
    assert added(text, body) == ()


@pytest.mark.parametrize(
    "text",
    [
        "struct P { P() { } };",
        "struct P { static int count; };",
        "struct P { int first = setup(); };",
        "struct P { float value; } one;",
        "struct P : Q { int index; };",
        "struct P { } one;",
        "union P { float f; } one;",
        "template <> struct P<int> { int index; };",
        "template <typename T> struct P { T first = setup(); };",
        "template <typename T> struct P { static T count; };",
        "template <typename T> int early = setup<T>();",
        "template <typename T> T early() { return T(); }",
        "template <auto V> struct P { int index; };",
        "template <typename T> using Call = int (*)(T);",
        "enum { FIRST = setup() };",
        "enum { run = 1 };",
        "enum { n = 1 };",
        "enum P { FIRST } one;",
        "enum { __FIRST };",
        "static_assert([] { return true; }());",
        "static_assert(true); int early = 3;",
        "struct run { };",
        "#define FIELD static int f()\nstruct P { FIELD; };",
        "struct run { int index; };",
        "using n = int;",
        "using namespace std;",
        "typedef int (*Call)();",
        "static struct P { int index; };",
        "float2 operator+(float2 a, float2 b) { return a; }",
        "__device__ void* operator new(size_t n) { return nullptr; }",
    ],
)
def test_what_could_run_or_be_met_by_the_host_is_outside(text: str) -> None:
    """Functions, initializers, objects, bases, names of the original's."""
    assert added(text)


def test_a_type_in_front_of_an_include_is_outside() -> None:
    """What is included could mean another type by its name."""
    assert violations(ORIGINAL, "struct Pair { float value; int index; };\n" + ORIGINAL)


def test_assertions_of_the_originals_stay() -> None:
    """A candidate that keeps them is inside, one that drops them is not."""
    text = ORIGINAL.replace("__global__", "static_assert(THREADS > 31);\n__global__", 1)
    assert violations(text, text.replace("2.f *", "3.f *")) == ()
    assert violations(text, ORIGINAL)


def test_a_macro_inside_assembly_is_assembly() -> None:
    """Its text is the instruction."""
    text = ORIGINAL.replace(
        "if (i < n)", 'unsigned l; asm("mov.u32 %0, " REG ";" : "=r"(l)); if (i < n)'
    ).replace("#define", '#define KIND "%laneid"\n#define REG KIND\n#define', 1)
    assert violations(text, text.replace("THREADS 256", "THREADS 128")) == ()
    assert violations(text, text.replace("%laneid", "%%pm0")) != ()


@pytest.mark.parametrize(
    ("member", "use"),
    [
        ("unsigned char (*stack)[32];", "a.stack[1][0] = 1;"),
        ("float (*rows)[THREADS][4], *row;", "a.rows[0][1][2] = 0;"),
        ("const float (*__restrict__ rows)[32];", "y[0] = a.rows[0][1];"),
        ("float (*const rows)[32] = nullptr;", "y[0] = a.rows[0][1];"),
        ("float (&tile)[32];", "a.tile[3] = 1.f;"),
        ("float& most;", "a.most = 1.f;"),
        ("const float *&__restrict__ next;", "++a.next;"),
        ("Pair<float>& pair; Pair<int> (*pairs)[8];", "a.pairs[0][1].one = 2;"),
        ("Pair<float>* pair = nullptr;", "a.pair = nullptr;"),
    ],
)
def test_members_may_point_to_arrays_and_refer_to_what_there_is(member: str, use: str) -> None:
    """As a stack in shared memory, one column for each thread."""
    text = f"template <typename T> struct Pair {{ T one, two; }};\nstruct Lane {{ {member} }};"
    assert added(text) == ()
    step = f"__device__ void step(Lane a, float* y) {{ {use} }}\n"
    assert added(text + step) == ()


@pytest.mark.parametrize(
    "member",
    [
        "float (*rows())[32];",
        "float (*call)(int);",
        "float (*Q::rows)[32];",
        "float (*rows)[setup()];",
        "float (*rows)[32] = setup();",
        "float (*rows)[32] = {setup()};",
        "float (*rows)[32] = &early;",
        "static float (*rows)[32];",
        "float (*FIELD)[32];",
        "float (rows)[32](int);",
        "(*rows)[32];",
        "float& most = early;",
        "float& most();",
        "float& operator=(const P& other);",
        "P(const P& other);",
        "Tr<&early> tr;",
        "Tr<*&early, 1> tr;",
        "Tr<1, &early> tr;",
        "Tr<a[1 > 0], *&early> tr;",
        "Tr<&Made<int>::one> tr;",
        "Tr<(*early)[1]> tr;",
        "float& most, other = setup();",
        "friend float& run;",
        "float&& most;",
    ],
)
def test_what_calls_or_takes_an_address_is_no_member_of_data(member: str) -> None:
    """Functions, initializers, members of other classes, arguments of templates and macros."""
    assert added(f"#define FIELD rows\nstruct P {{ int a; {member} }};")


_WORDS = (
    "int", "float", "Q", "T2<int>", "Tr<", "x", "y", "setup", "early", "(", ")", "*", "&", "&&",
    "[", "]", "[ 3 ]", "4", ",", "=", "{", "}", "nullptr", "::", "const", "<", ">", ";",
    "( * x ) [ 3 ]", "( & y ) [ 2 ]", "& x", "Made<int>::one", "( )", "int & z", "Q *",
)  # fmt: skip
_HOST = """
int setup(); int early;
template <class T> struct Made { static int one; };
template <class T> int Made<T>::one = setup();
struct Q { Q(); int a; };
template <class T> struct T2 { T v; };
template <auto V> struct Tr { };
"""


def _assembly(text: str) -> str:
    """Return what a compiler makes of it; nothing where that is no program."""
    line = ["g++", "-std=c++17", "-w", "-S", "-x", "c++", "-", "-o", "-"]
    done = subprocess.run(line, check=False, input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@given(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=7))
def test_members_that_are_taken_for_data_bring_nothing_about(words: list[str]) -> None:
    """Whatever its words are: a program with such a class is the same one, or none."""
    text = f"struct P {{ int first; {' '.join(words)} ; }};\n"
    code = code_tokens(text)
    if any(one.last == len(code) - 1 for one in plain_types(code, ())):
        made = _assembly(f"{_HOST}{text}int main() {{ return early; }}\n")
        assert made in {"", _assembly(f"{_HOST}int main() {{ return early; }}\n")}


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_an_address_in_a_templates_argument_brings_something_about() -> None:
    """Which is what the test above would notice."""
    member = "Tr<&Made<int>::one> tr;"
    made = _assembly(f"{_HOST}struct P {{ {member} }};\nint main() {{ return early; }}\n")
    assert made not in {"", _assembly(f"{_HOST}int main() {{ return early; }}\n")}
