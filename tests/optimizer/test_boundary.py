"""What a candidate may change, and that everything else is caught."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.boundary import violations
from optimizer.source import Source
from optimizer.tokens import tokens
from tests.optimizer.cuda_texts import NAMES, broken, read


def changed(name: str, *pairs: tuple[str, str]) -> tuple[str, ...]:
    """Return the violations of a program in which pieces are replaced."""
    original = candidate = read(name)
    for old, new in pairs:
        assert old in candidate, old
        candidate = candidate.replace(old, new)
    return violations(original, candidate)


KERNEL = "__global__ void saxpy("


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("saxpy_checked", [("a * x[i] + y[i]", "fmaf(a, x[i], y[i])")]),
        ("saxpy_checked", [("(n + 255) / 256, 256", "(n + 511) / 512, 512")]),
        ("saxpy_checked", [("const float *x, float *y", "const float *__restrict__ x, float *y")]),
        ("saxpy_checked", [(KERNEL, "__device__ float h(float v) { return v; }\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "__global__ __launch_bounds__(256) void saxpy(")]),
        ("saxpy_checked", [("  int i = b", "#pragma unroll 4\n  int i = b")]),
        ("matmul_template", [("kTile = 16", "kTile = 32")]),
        ("matmul_template", [("tile = detail::kTile;", "tile = 32;")]),
        ("matmul_template", [("{32, 8}", "{64, 4}"), ("(n + 31) / 32", "(n + 63) / 64")]),
        ("stencil_macros", [("BLOCK_Y 8", "BLOCK_Y 16")]),
        ("stencil_macros", [("threads = 128;", "threads = 256;")]),
        ("stencil_macros", [("threads, threads * s", "threads, 2 * threads * s")]),
        ("stencil_macros", [("#define BLOCK_X", "#define SLOTS 4\n#define BLOCK_X")]),
        (
            "stencil_macros",
            [("    stencil<<<", "    dim3 wide((w + 15) / 16, h);\n    stencil<<<"),
             ("<<<dimGrid,", "<<<wide,")],
        ),
        ("histogram_externc", [("int block = 256;", "int block = 512;")]),
        ("spmv_pointers", [("PER_BLOCK = 128", "PER_BLOCK = 64")]),
        ("spmv_pointers", [("__global__ void spmv", "__constant__ float t[2] = {1, 2};\n__global__ void spmv")]),
        ("crlf_vadd", [("kThreads = 192", "kThreads = 256")]),
        ("unicode_comments", [("TILE_DIM 32", "TILE_DIM 64"), ("Größe", "große")]),
        (
            "saxpy_checked",
            [(KERNEL, "__global__ void saxpy4(int n, float a, const float *x, float *y) {}\n" + KERNEL),
             ("  saxpy<<<", "  saxpy4<<<")],
        ),
    ],
)  # fmt: skip
def test_changes_of_device_code_are_inside(name: str, pairs: list[tuple[str, str]]) -> None:
    """Bodies, qualifiers, constants, geometry and kernels launched in place of others may change."""
    assert changed(name, *pairs) == ()


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("saxpy_checked", [("1 << 20", "1 << 2")]),
        ("saxpy_checked", [("cudaMemcpy(dx, hx", "cudaMemcpy(dx, hy")]),
        ("saxpy_checked", [("#include <cmath>", "#include <cmath>\n#include <sys/stat.h>")]),
        ("saxpy_checked", [("#include <cmath>\n", "")]),
        ("saxpy_checked", [(KERNEL, "static int state = 3;\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "int host() { return 1; }\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "__host__ __device__ int f() { return 1; }\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "__attribute__((constructor)) void f() {}\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "#define malloc(x) 0\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "#define int long\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "#undef CUDA_CHECK\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "#line 7\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "#pragma GCC poison free\n" + KERNEL)]),
        ("saxpy_checked", [("#include <cmath>", "#define NDEBUGGED 1\n#include <cmath>")]),
        ("saxpy_checked", [(KERNEL, "__device__ int malloc = 3;\n" + KERNEL)]),
        ("saxpy_checked", [(KERNEL, "__device__ int q = f();\n" + KERNEL)]),
        ("saxpy_checked", [("y[i] = a * x", 'asm("exit;"); y[i] = a * x')]),
        ("saxpy_checked", [("y[i] = a * x", "static int q; y[i] = a * x")]),
        ("saxpy_checked", [("y[i] = a * x", "__END_DECLS y[i] = a * x")]),
        ("saxpy_checked", [("y[i] = a * x[i] + y[i];", "} } int f() { if (1) {")]),
        ("saxpy_checked", [(KERNEL, "#define OUT } } int f() { if (1) {\n" + KERNEL), ("y[i] = a", "OUT y[i] = a")]),
        ("saxpy_checked", [("y[i] = a", "\n#ifndef __CUDA_ARCH__\n } } int f() { {\n#endif\n y[i] = a")]),
        ("saxpy_checked", [("y[i] = a", "\n#define exit(x)\n y[i] = a")]),
        ("saxpy_checked", [("saxpy(int n, float a,", "saxpy(int n, double a,")]),
        ("saxpy_checked", [("saxpy(int n, float a,", "saxpy2(int n, float a,")]),
        ("saxpy_checked", [(KERNEL, "__global__ void more(int *p) {}\n" + KERNEL)]),
        ("saxpy_checked", [("256>>>(n, 2.0f", "256>>>(n, 3.0f")]),
        ("saxpy_checked", [("256>>>(n, 2", "256, 0, stream>>>(n, 2")]),
        ("saxpy_checked", [("/ 256, 256", "/ 256, (exit(0), 256)")]),
        ("saxpy_checked", [("/ 256, 256", "/ 256, n = 256")]),
        ("saxpy_checked", [("/ 256, 256", "/ 256, [&]{ return 256; }()")]),
        ("saxpy_checked", [("/ 256, 256", "/ 256, ({ 256; })")]),
        ("saxpy_checked", [("// one element", "// one \\\n element")]),
        ("saxpy_checked", [("main(int", "m\\\nain(int")]),
        ("saxpy_checked", [("int bad = 0;", "int bad = 0; // \u202e")]),
        ("saxpy_checked", [("// one element", "// one\relement")]),
        ("saxpy_checked", [("{ hx[i] = i % 17;", "<% hx[i] = i % 17;")]),
        ("saxpy_checked", [("int bad", "int bаd")]),
        ("stencil_macros", [("RADIUS 2", "RADIUS 3")]),
        ("stencil_macros", [("float weights[FULL_WIDTH", "float weights[2 * FULL_WIDTH")]),
        ("stencil_macros", [("#define DIVUP(a, b) (((a) + (b) - 1) / (b))", "#define DIVUP(a, b) (atoi(a))")]),
        ("histogram_externc", [("int block = 256;", 'int block = system("x");')]),
        ("histogram_externc", [("This text is never compiled", "This text is compiled")]),
        ("histogram_externc", [("f(i);\n", "f(i);\n#if 1\n#endif\n")]),
        ("crlf_vadd", [("int n_;", "int n_, m_;")]),
        ("nbody_structs", [("int blockSize ,", "int blockSize = 3 ,")]),
        ("modern_attributes", [("dim3(256)", "dim3(512)")]),
    ],
)  # fmt: skip
def test_other_changes_are_caught(name: str, pairs: list[tuple[str, str]]) -> None:
    """Host text, preprocessor lines, reserved words and lexical tricks are refused."""
    assert changed(name, *pairs) != ()


def test_a_block_size_that_also_sizes_an_allocation_stays() -> None:
    """A local used by geometry and by host code keeps its value."""
    text = (
        "__global__ void k(float* p) { p[threadIdx.x] = 0; }\n"
        "int main() { int threads = 128; int blocks = 4; float* p;\n"
        "  cudaMalloc(&p, threads * sizeof(float));\n  k<<<blocks, threads>>>(p); }\n"
    )
    assert violations(text, text.replace("threads = 128", "threads = 256")) != ()
    assert violations(text, text.replace("blocks = 4", "blocks = 8")) == ()


def test_a_local_that_a_macro_uses_stays() -> None:
    """A use hidden in a macro counts as a use of the host."""
    text = (
        "#define SIZE (threads * 4)\n__global__ void k(float* p) { p[0] = 0; }\n"
        "int main() { int threads = 128; float* p; cudaMalloc(&p, SIZE); k<<<1, threads>>>(p); }\n"
    )
    assert violations(text, text.replace("threads = 128", "threads = 256")) != ()


def test_blanks_in_the_brackets_of_a_launch_make_no_difference() -> None:
    """Geometry between `<< <` and `>> >` may change, and nothing around it."""
    text = (
        "__global__ void k(float* p) { p[0] = 0; }\n"
        "void run(float* p, int n) { int threads = 64; k << <n / threads, threads >> > (p); }\n"
    )
    assert violations(text, text.replace("= 64", "= 128")) == ()
    assert violations(text, text.replace("<< <n / threads, threads >> >", "<<<1, 32>>>")) == ()
    assert violations(text, text.replace("(p); }", "(p + 1); }")) != ()
    assert violations(text, text.replace("<< <n /", "<< <setup(n) /")) != ()


def test_a_parameter_of_a_macro_is_no_use_of_a_local() -> None:
    """What a macro calls `block` is what it is given, not the caller's variable of that name."""
    text = (
        "#define LAUNCH(k, grid, block) k<<<grid, block>>>()\n#define CHECK(x) do { x; } while (0)\n"
        "__global__ void k(float* p) { p[0] = 0; }\n"
        "void run(float* p) { int block = 128; CHECK((k<<<4, block>>>(p))); }\n"
    )
    assert violations(text, text.replace("block = 128", "block = 256")) == ()


def test_a_function_of_numbers_that_never_change_computes_geometry() -> None:
    """`blocks(n)` may move about in a launch when all it reads is its argument and constants."""
    text = (
        "const int T = 128;\nint seen = 3;\nint blocks(int n) { return (n + T - 1) / T; }\n"
        "int odd(int n) { return n + seen; }\n__global__ void k(float* p) { p[0] = 0; }\n"
        "void run(float* p, int n) { k<<<blocks(n), T>>>(p); k<<<odd(n), T>>>(p); }\n"
    )
    assert violations(text, text.replace("<<<blocks(n), T", "<<<blocks(n) * 2, 64")) == ()
    assert violations(text, text.replace("<<<odd(n), T", "<<<odd(n) * 2, 64")) != ()


@pytest.mark.parametrize("geometry", ["blocks = setup(n);", "blocks = 1; first = setup(n);"])
def test_a_call_with_effects_stays_in_geometry(geometry: str) -> None:
    """A function that may do more than compute is host text even where geometry calls it."""
    text = (
        "int state; int setup(int n) { state = n; return n; } int up(int n) { return n + 1; }\n"
        "__global__ void k(float* p) { p[0] = 0; }\n"
        f"void run(int n, float* p) {{ int {geometry.replace('; first', ', first')}\n"
        "  k<<<blocks, 64>>>(p); k<<<setup(n), 64>>>(p); k<<<up(n), 64>>>(p); }\n"
    )
    assert violations(text, text.replace("setup(n);", "3;")) != ()
    assert violations(text, text.replace("<<<setup(n)", "<<<3")) != ()
    assert violations(text, text.replace("<<<up(n)", "<<<3")) == ()


def test_host_edits_are_allowed_on_request() -> None:
    """`edit: host` lets statements of the host change, not includes or tricks."""
    text = read("saxpy_checked")
    fused = text.replace("  scale_stride<<<128, 256>>>(n, 0.5, dy);\n", "")
    assert violations(text, fused) != ()
    assert violations(text, fused, allow_host=True) == ()
    more = fused.replace("#include <cmath>", "#include <cmath>\n#include <thread>")
    assert violations(text, more, allow_host=True) != ()


def test_the_message_names_the_line() -> None:
    """A violation says where it is and what was put for what."""
    (message,) = changed("saxpy_checked", ("bad < 5", "bad < 6"))
    assert message.startswith("line 47: ")
    assert "`6" in message


GEOMETRY = {"block", "grid", "threads", "dimBlock", "dimGrid", "blocks", "num_blocks", "tile",
            "kThreads", "per_block", "kItems"}  # fmt: skip


@st.composite
def host_edits(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a program and the same with a token of a host function changed."""
    text = read(draw(st.sampled_from(NAMES)))
    source = Source(text)
    f = draw(st.sampled_from([f for f in source.host_functions if f.name != "~Adder"]))
    low, high = f.span
    launches = [lc.span for lc in source.launches]
    lines = {i for i, line in enumerate(text.splitlines(), 1) if GEOMETRY & set(words(line))}
    choices = [
        t
        for t in tokens(text)
        if low <= t.start < high
        and t.kind in ("word", "number", "mark")
        and not any(a <= t.start < b for a, b in launches)
        and source.line(t.start) not in lines
    ]
    token = draw(st.sampled_from(choices))
    new = draw(
        st.sampled_from(("", f"{token.text} extra", f"evil() + {token.text}", "0x7", "; f();"))
    )
    return text, text[: token.start] + new + text[token.end :]


def words(line: str) -> list[str]:
    return [t.text for t in tokens(line) if t.kind == "word"]


@settings(max_examples=300, deadline=None)
@given(host_edits())
def test_every_edit_of_a_host_token_is_caught(pair: tuple[str, str]) -> None:
    """No token of host functions outside launches can change unseen."""
    assert violations(*pair) != ()


@st.composite
def quiet_edits(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a program and the same with blanks and comments put between tokens."""
    text = read(draw(st.sampled_from(NAMES)))
    found = tokens(text)
    # Behind a quote that nothing closes, as text that is turned off may have it, all is a string.
    open_ended = {t.end for t in found if t.kind == "string" and t.text[-1] != t.text[0]}
    spaces = [t for t in found if t.kind == "space" and "\\" not in t.text]
    spaces = [t for t in spaces if t.start not in open_ended]
    token = draw(st.sampled_from(spaces))
    new = draw(st.sampled_from(("  ", "\n", " /* why */ ", " // why\n")))
    return text, text[: token.start] + new + token.text + text[token.end :]


@settings(max_examples=150, deadline=None)
@given(quiet_edits())
def test_blanks_and_comments_are_free(pair: tuple[str, str]) -> None:
    """Layout and comments may change anywhere."""
    assert violations(*pair) == ()


@st.composite
def body_edits(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a program and the same with a statement put into a kernel."""
    text = read(draw(st.sampled_from(NAMES)))
    f = draw(st.sampled_from(Source(text).kernels))
    places = [f.body.start_byte + 1]
    new = draw(
        st.sampled_from(
            (
                "int q_ = threadIdx.x; q_ += 2;",
                "\n#pragma unroll 2\nfor (int q_ = 0; q_ < 4; ++q_) __syncwarp();",
                "if (threadIdx.x > 4096) return;",
                "__shared__ float q_[32]; q_[threadIdx.x % 32] = fmaxf(0.f, INFINITY);",
            )
        )
    )
    at = draw(st.sampled_from(places))
    return text, text[:at] + new + text[at:]


@settings(max_examples=80, deadline=None)
@given(body_edits())
def test_statements_in_kernels_are_free(pair: tuple[str, str]) -> None:
    """Anything that only computes may be put into a kernel."""
    assert violations(*pair) == ()


def test_blank_lines_before_a_continued_line_change_nothing() -> None:
    """What stands around the backslash decides, not how many blanks there are."""
    for text in ("\\\n", "\\\nint a;", "int a; \\\n\n int b;"):
        assert violations(text, "\n" + text) == ()
        assert violations(text, text.replace("\\", "\n\\")) == ()
    assert violations("int a; int b;", "int a; \\\nint b;")


def test_parts_of_a_dim3_are_arithmetic() -> None:
    """Geometry may be worked out from geometry."""
    before = """__global__ void f(float* p) { p[threadIdx.x] = 0; }
void run(float* p, int n) {
    dim3 block(256), grid((n + 255) / 256);
    f<<<grid, block>>>(p);
}
"""
    after = before.replace("grid((n + 255) / 256)", "grid((n + block.x - 1) / block.x)")
    assert violations(before, after) == ()
    assert violations(before, before.replace("<<<grid,", "<<<grid.x * grid.y,")) == ()
    assert violations(before, before.replace("<<<grid,", "<<<grid.w,"))


def test_a_directive_that_is_none_is_no_new_word() -> None:
    text = (
        "#define A#BAD(call) do { call; FAILS; } while (0)\n__global__ void f(int *x) { *x = 1; }\n"
    )
    assert violations(text, "\n" + text) == ()
    assert any("WORSE" in one for one in violations(text, text.replace("FAILS", "WORSE")))


def test_a_local_that_is_declared_twice_is_the_same_in_both_texts() -> None:
    """One of them has no use; in an original that lacks none it is nobody's leftover."""
    text = (
        "__global__ void f(float* x) { x[threadIdx.x] = 1; }\n"
        "void run(float* x, int n) {\n"
        "  dim3 grid(n / 32, 1, 1);12;\n"
        "  dim3 grid(n / 32, 1, 1);\n"
        "  f<<<grid, 32>>>(x);\n}\n"
    )
    assert violations(text, "\n" + text) == ()
    assert any("12" in one for one in violations(text, text.replace("12;", "")))
    once = text.replace("12;\n  dim3 grid(n / 32, 1, 1);", "")
    assert violations(once, once.replace("<<<grid,", "<<<n / 32,")) == ()


@settings(max_examples=100, deadline=None)
@given(broken(), broken())
def test_no_text_raises(original: str, candidate: str) -> None:
    """Mutilated texts are judged, not tripped over; a blank line in front is no change."""
    violations(original, candidate)
    assert violations(original, "\n" + original) == ()


@pytest.mark.parametrize(
    "text",
    [
        '[[gnu::section(".init_array")]] __device__ int p = 3;',
        '__device__ [[gnu::section(".init_array")]] void* p = nullptr;',
        '__device__ [[using gnu: section(".data")]] int p;',
        '__device__ [ [__gnu__::__section__(".data")]] int p;',
        "#define BEGIN [[nvidia::\n__device__ BEGIN x]] int p;",
        "#define IN(x) [x]\n__device__ IN([gnu::weak]) int p;",
        '[[gnu::alias("run")]] __device__ void q(int);',
    ],
)
def test_attributes_that_reach_the_object_file_are_caught(text: str) -> None:
    """A device variable has a shadow in the host's object, and its section with it."""
    original = "__global__ void k(float* p) { p[0] = 1; }\n"
    assert violations(original, f"{text}\n{original}")
    assert violations(original, f"{text}\n{original}", allow_host=True)


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(float* p) { [[maybe_unused]] int i = 0; p[0] = 1; }\n",
        "__global__ void k(float* p) { if (p) [[likely]] p[0] = 1; }\n",
        "__global__ void k(float* p) { int at[1] = {0}; p[at[at[0]]] = 1; }\n",
    ],
)
def test_attributes_that_only_say_what_may_be_assumed_are_inside(text: str) -> None:
    assert not violations("__global__ void k(float* p) { p[0] = 1; }\n", text)


ROWS = """#include <cuda_runtime.h>
__global__ void rows(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x] * n; }
void run(const float* x, float* y, int n) {
    rows<<<(n + 127) / 128, 128>>>(x, y, n);
}
"""
HEAD, BODY, LAUNCH = (
    "#include <cuda_runtime.h>\n",
    "y[threadIdx.x] = ",
    "    rows<<<(n + 127) / 128, 128>>>",
)


@pytest.mark.parametrize(
    "pairs",
    [
        [(HEAD, HEAD + "#include <mma.h>\nusing namespace nvcuda;\n"), (BODY, "wmma::fragment<int> f; " + BODY)],
        [(HEAD, HEAD + "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n")],
        [(HEAD, "#include <cub/block/block_reduce.cuh>\n" + HEAD)],
        [(HEAD, HEAD + "namespace {\n__device__ float f(float v) { return v; }\n}\n")],
        [(HEAD, HEAD + "struct Most { __device__ float operator()(float a, float b) const { return a > b ? a : b; } float start; };\n")],
        [(BODY, 'asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(n), "l"(x)); ' + BODY)],
        [(BODY, 'asm volatile("bar.sync 1, 64;" ::: "memory"); asm("barrier.cta.arrive 2, 128;"); ' + BODY)],
        [(BODY, 'asm("{ .reg .b32 %%t; mov.b32 %%t, %1; mov.b32 %0, %%t; }" : "=r"(n) : "r"(n)); ' + BODY)],
        [(BODY, "float most = CUDART_MAX_NORMAL_F + INT32_MAX + M_LOG2E; " + BODY)],
        [("(const float* x, float* y, int n) { ", "(const float* in, float* out, int m) { ")],
        [(LAUNCH, "    dim3 grid((n + 31) / 32), block(32, 8);\n    rows<<<grid, block>>>")],
        [(LAUNCH, "    rows<<<std::min(n, 64), 128>>>")],
        [("__global__ void", "template <int ROWS> __global__ void"), (LAUNCH, "    rows<4><<<n / 4, 128>>>")],
        [("__global__ void", "template <unsigned B, bool ODD = true> __global__ void"), (LAUNCH, "    rows<128><<<n, 128>>>")],
        [(HEAD, HEAD + "#define STEP(i) y[i] = x[i]\n"), ("void run", "#undef STEP\nvoid run")],
        [(HEAD, HEAD + "#define ALL(...) f(__VA_ARGS__)\n")],
        [(HEAD, HEAD + "#include <type_traits>\n")],
        [(HEAD, HEAD + "struct Mean { float m = 0.f, s{}; int n{0}; __device__ void add(float v) { m += (v - m) / ++n; } };\n")],
        [(LAUNCH, "    int bytes = n * 4;\n    cudaFuncSetAttribute(rows, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);\n    rows<<<n, 128, bytes>>>")],
    ],
)  # fmt: skip
def test_what_device_code_needs_from_the_toolkit_is_inside(pairs: list[tuple[str, str]]) -> None:
    """Headers without host functions, short names for them, instructions that compute or move."""
    text = ROWS
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    assert violations(ROWS, text) == ()


@pytest.mark.parametrize(
    "pairs",
    [
        [(HEAD, HEAD + "#include <thrust/sort.h>\n")],
        [(HEAD, HEAD + "#include <iostream>\n")],
        [(HEAD, HEAD + '#include "mma.h"\n')],
        [(HEAD, HEAD + "#include <cub/../../../tmp/x.cuh>\n")],
        [(HEAD, HEAD + "#define half float\n#include <cuda_fp16.h>\n")],
        [(HEAD, HEAD + "using namespace std;\n")],
        [(HEAD, HEAD + "namespace run = cooperative_groups;\n")],
        [(HEAD, HEAD + "namespace std {\n__device__ float f(float v) { return v; }\n}\n")],
        [(HEAD, HEAD + "namespace {\nint early = 3;\n}\n")],
        [(HEAD, HEAD + "struct Most { Most() {} float start; };\n")],
        [(HEAD, HEAD + "struct Most { float start = f(); };\n")],
        [(HEAD, HEAD + "struct Most { float start{f()}; };\n")],
        [(HEAD, HEAD + "struct Most { float start = 0.f; } most;\n")],
        [(HEAD, HEAD + "struct Most { int start = sizeof(int); };\n")],
        [("__global__ void", "template <typename T> __global__ void"), (LAUNCH, "    rows<int><<<n, 128>>>")],
        [("__global__ void", "template <int N = f()> __global__ void")],
        [("__global__ void", "template <> __global__ void")],
        [("void run", "#undef cudaMalloc\nvoid run")],
        [(HEAD, "#undef rows\n" + HEAD + "#define rows f\n")],
        [(HEAD, HEAD + "#define _LIBC 1\n#undef _LIBC\n")],
        [(BODY, 'asm("mov.u32 %0, %%smid;" : "=r"(n)); ' + BODY)],
        [(BODY, 'asm("{ .reg .u32 clock; mov.u32 %0, %%clock; }" : "=r"(n)); ' + BODY)],
        [(BODY, 'asm("{ .reg .u32 a, clock, b; mov.u32 %0, %%clock; }" : "=r"(n)); ' + BODY)],
        [(BODY, 'asm("{ .reg .u64 %%gridid; mov.u32 %0, %%gridid; }" : "=r"(n)); ' + BODY)],
        [(BODY, 'asm("mov.u32 %0, %%CLOCK;" : "=r"(n)); ' + BODY)],
        [(BODY, 'asm("mov.u32 %0, %%/**/clock;" : "=r"(n)); ' + BODY)],
        [(BODY, 'asm("} .visible .entry e() { ret;"); ' + BODY)],
        [(BODY, 'asm("} { mov.u32 %0, 1;" : "=r"(n)); ' + BODY)],
        [(BODY, 'asm("trap;"); ' + BODY)],
        [(LAUNCH, '    asm("mov.u32 %0, 1;");\n' + LAUNCH)],
        [(LAUNCH, "    cudaFuncSetAttribute(rows, cudaFuncAttributeMaxDynamicSharedMemorySize, f());\n" + LAUNCH)],
        [(LAUNCH, "    if (n) cudaFuncSetAttribute(rows, cudaFuncAttributeMaxDynamicSharedMemorySize, 8);\n" + LAUNCH)],
        [(LAUNCH, "    cudaFuncSetAttribute(rows, cudaFuncAttributePreferredSharedMemoryCarveout, 8);\n" + LAUNCH)],
        [(LAUNCH, "    dim3 grid(f()), block(g());\n    rows<<<grid, block>>>")],
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_caught(pairs: list[tuple[str, str]]) -> None:
    """Other headers, other namespaces, host objects and instructions that know time or place."""
    text = ROWS
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    assert violations(ROWS, text) != ()


def test_host_code_that_may_change_may_use_the_toolkits_algorithms() -> None:
    """Its headers, and those that hold data; none that reach the system."""
    for header, inside in (("thrust/sort.h", True), ("vector", True), ("fstream", False)):
        text = ROWS.replace(HEAD, f"{HEAD}#include <{header}>\n")
        assert (violations(ROWS, text, allow_host=True) == ()) == inside
        assert violations(ROWS, text) != ()


BEFORE = "__global__ void"


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("static __host__ __device__ inline int twice(int v) { return 2 * v; }\n", True),
        ("__host__ int twice(int v) { return 2 * v; }\n", True),
        ("void twice(int n) { auto f = [=] __host__ __device__ (int v) { return v * n; }; f(2); }\n", True),
        ("struct Step { __host__ __device__ int of(int v) const { return v + 1; } };\n", True),
        ("struct Any { virtual int of(int v) { return v; } };\n", True),
        ("class Own { int a = 1; friend int look(const Own &o) { return o.a; } };\n", True),
        ("struct Sum { int v; __host__ __device__ Sum operator+(Sum o) { return {v + o.v}; } };\n", True),
        ("__attribute__((constructor)) void early() {}\n", False),
        ("__managed__ int seen;\n", False),
        ("thread_local int seen;\n", False),
        ("static __thread int seen;\n", False),
        ("__host__ __attribute__((constructor)) void early() {}\n", False),
        ('__host__ __device__ int now() { asm("rdtsc"); return 1; }\n', False),
        ("[[gnu::constructor]] void early() {}\n", False),
    ],
)  # fmt: skip
def test_host_code_that_may_change_may_share_functions_with_device_code(
    text: str, inside: bool
) -> None:
    """What runs by itself, or knows who calls, stays out."""
    changed = ROWS.replace(BEFORE, text + BEFORE, 1)
    assert changed != ROWS
    assert (violations(ROWS, changed, allow_host=True) == ()) == inside
    assert inside or violations(ROWS, changed) != ()


@pytest.mark.parametrize(
    "text",
    [
        "__host__ __device__ int twice() { return early(); }\n",
        "__host__ int twice(int v) { return 2 * v; }\n",
        "struct Any { virtual int of(int v) { return v; } };\n",
    ],
)
def test_host_functions_stay_out_where_host_code_may_not_change(text: str) -> None:
    assert violations(ROWS, ROWS.replace(BEFORE, text + BEFORE, 1)) != ()


def test_what_no_launch_uses_is_told_apart_in_functions_of_one_name() -> None:
    text = (
        "__global__ void k(float *a, int n) { int i = threadIdx.x; if (i < n) a[i] = 2 * a[i]; }\n"
        "void go(float *a, int n) { dim3 grid(n / 32); k<<<grid, 32>>>(a, n); }\n"
        "void go(double *b, float *a, int n) {\n"
        "  dim3 grid(n / 32), all(n);\n  k<<<all, 32>>>(a, n);\n}\n"
    )
    assert violations(text, text.replace("2 * a[i]", "a[i] + a[i]")) == ()


@pytest.mark.parametrize(
    ("name", "free"), [("Scores", True), ("Said", True), ("Known", False), ("LIMIT", False), ("Tensor", False)]
)  # fmt: skip
def test_a_type_may_have_a_name_that_only_comments_and_texts_mention(name: str, free: bool) -> None:
    """But no name that code has, nor a header for which a comment stands."""
    original = (
        "/* words of headers: Tensor Layout */\n"
        '// Scores of queries and keys.\n#define LIMIT 7\nstruct Known;\nconst char *text = "Said";\n'
        "__global__ void k(float *x) { x[threadIdx.x] = 1.f; }\n"
        "int main() { k<<<1, 32>>>(nullptr); }\n"
    )
    new = original.replace("__global__", f"struct {name} {{ float a[4]; }};\n__global__")
    said = f"gives the original's {name} another meaning"
    found = violations(original, new)
    assert free == (found == ())
    # A type of the original's own is no new one: that its text changes is said.
    assert any(said in one for one in found) == (not free and name != "Known")
