"""What `Source` tells about whole programs, and that no text makes it raise."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.boundary import violations
from optimizer.functions import Function
from optimizer.model import Kernel
from optimizer.rules.coarsen import coarsen
from optimizer.source import Source
from optimizer.syntax import walk
from optimizer.tuning import tune
from tests.optimizer.cuda_texts import NAMES, broken, read


def kernel(body: str, parameters: str = "const float* a, float* b, int n, int w") -> Function:
    """Return a kernel of the given body."""
    return Source(f"__global__ void k({parameters}) {{\n{body}\n}}\n").kernels[0]


def ask_everything(text: str) -> None:
    source = Source(text)
    assert source.replace([]) == text
    _ = (source.errors, source.includes, source.has_main, source.words, source.inactive)
    for launch in source.launches:
        _ = (launch.threads, source.only_launched(launch.kernel))
    for f in source.functions:
        _ = (f.broken, f.unknown_names, f.shared, f.barriers, f.unknown_calls, f.divisions)
        _ = (f.double_literals, f.thread_ids, f.guards, f.pure, f.has_asm, f.warp_calls)
        for access in f.accesses:
            _ = (access.thread_stride(), f.type_of(access.node), str(access.index))
            _ = [access.loop_stride(lp) for lp in access.loops]
        for loop in f.loops:
            _ = (loop.leaves_early, f.changed_names(loop))
            for node in loop.body_statements()[:3]:
                _ = (f.reads(node), f.writes(node), f.is_invariant(node, loop), f.affine(node))
                _ = (f.divergent(node), f.leaves(node), source.statement_span(node))
        for one, other in product(f.variables.all[:5], repeat=2):
            f.may_alias(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_every_program_is_understood(name: str) -> None:
    """No program under tests/data has a place the grammar stumbles over or a broken kernel."""
    source = Source(read(name))
    assert source.has_main
    assert source.errors == ()
    assert source.kernels
    assert [f.name for f in source.functions if f.broken] == []


@settings(max_examples=150, deadline=None)
@given(broken())
def test_no_mutilated_program_raises(text: str) -> None:
    """Whatever a program is mangled into, every question gets an answer."""
    ask_everything(text)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400).map(lambda b: b.decode("latin-1")))
def test_no_bytes_raise(text: str) -> None:
    """Random bytes are a source, too, and replacing nothing changes nothing."""
    ask_everything(text)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200))
def test_no_unicode_raises(text: str) -> None:
    """Any Unicode text is a source, lone surrogates included."""
    ask_everything(text)


@pytest.mark.parametrize(
    "text",
    [
        "int x = " + "(" * 5000,
        "__global__ void k(int* a) { a[" + "(" * 2000 + "1" + ")" * 2000 + "] = 1; }",
        "CHECK(" * 3000,
        "{" * 20000,
        "__global__ void k(int n) { n = " + "(int)" * 2000 + "n; }",
        "#define A " + "-" * 4000 + "1\n#if A\n#endif\n",
        "#define F(x) G(x)+G(x)\n#define G(x) F(x)*F(x)\n__global__ void k(int* a) { a[F(1)] = 1; }",
    ],
    ids=["open", "nested", "macros", "braces", "casts", "signs", "endless macro"],
)
def test_no_depth_raises(text: str) -> None:
    """Deep nesting and macros that call themselves end in an answer."""
    ask_everything(text)


def test_same_text_is_the_same_source() -> None:
    """A text is parsed once."""
    text = read("saxpy_checked")
    assert Source(text) is Source(str(text))


def test_kernels_parameters_and_qualifiers() -> None:
    """Types, pointees, const, restrict, template parameters and launch bounds are told."""
    source = Source(read("matmul_template"))
    f = source.function("linalg::detail::matmul<float, 16>")
    assert f is not None
    assert f.is_kernel
    assert f.namespace == ("linalg", "detail")
    assert f.launch_bounds == ("TILE * TILE",)
    assert [(t.name, t.kind, t.default) for t in f.templates] == [
        ("T", "typename", None),
        ("TILE", "int", "kTile"),
    ]
    a, c, m = (f.parameter(n) for n in ("a", "c", "m"))
    assert a is not None
    assert c is not None
    assert m is not None
    assert (a.element, a.is_pointer, a.const, a.restrict) == ("T", True, True, True)
    assert (c.element, c.is_pointer, c.const, c.restrict) == ("T", True, False, False)
    assert (m.type, m.is_pointer) == ("int", False)
    assert source.text[a.span[0] : a.span[1]] == "const T* __restrict__ a"


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void __launch_bounds__(256) k(float* p)",
        "__launch_bounds__(256, 2) __global__ void k(float* p)",
        'extern "C" __global__ void k(float* p)',
        "static __global__ void __cluster_dims__(2, 1, 1) k(float* p)",
        "template <typename T> __global__ static void k(T* p)",
        "void __global__ k(float* p)",
        "GLOBAL k(float* p)",
        "__attribute__((noinline)) __global__ void k(float* p)",
    ],
)
def test_a_kernel_is_found_however_it_is_declared(head: str) -> None:
    """The order and kind of qualifiers do not matter, nor a macro that stands for them."""
    source = Source(f"#define GLOBAL __global__ void\n{head} {{ p[0] = 1; }}\n")
    assert [f.name for f in source.kernels] == ["k"]
    assert source.text[slice(*source.kernels[0].span)].startswith(head[:8])
    assert not source.kernels[0].broken


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ("dim3 t; t = dim3(512, 1); k<<<9, t>>>(a);", [(512, 1)]),
        ("dim3 t; t = 64; t.y = 2; k<<<9, t>>>(a);", [(64, 2)]),
        ("dim3 t(8); t = dim3(64); for (;;) k<<<9, t>>>(a);", [(64,)]),
        (
            "dim3 t; t = dim3(512); k<<<9, t>>>(a); t = dim3(64); while (n--) { k<<<9, t>>>(a); }",
            [(512,), (64,)],
        ),
        ("dim3 t; t = dim3(512); for (;;) { k<<<9, t>>>(a); t = dim3(64); }", [None]),
        ("dim3 t; t = dim3(512); if (n) t = dim3(64); k<<<9, t>>>(a);", [None]),
        ("dim3 t; if (n) { t = dim3(64); } else { t = dim3(32); } k<<<9, t>>>(a);", [None]),
        ("dim3 t; t = dim3(64); change(&t); k<<<9, t>>>(a);", [None]),
        ("dim3 t; k<<<9, t>>>(a); t = dim3(64);", [None]),
    ],
)
def test_a_block_set_behind_its_declaration_is_what_it_surely_was_set_to_last(
    body: str, blocks: list[tuple[int, ...] | None]
) -> None:
    source = Source(
        "__global__ void k(float* a) { a[threadIdx.x] = 1; }\n"
        f"void run(float* a, int n) {{ {body} }}\n"
    )
    set_to = [launch.block for launch in source.launches]
    found = [None if block is None else tuple(one.value for one in block) for block in set_to]
    assert found == blocks


def test_enumerators_that_count_on_are_known() -> None:
    source = Source(
        "enum Mode { FIRST, SECOND, FIFTH = 5, SIXTH };\n"
        "__global__ void k(float* a, Mode m) { if (m == FIRST) a[SIXTH] = MISSING; }\n"
    )
    assert [source.constant(name) for name in ("FIRST", "SECOND", "FIFTH", "SIXTH")] == [0, 1, 5, 6]
    assert source.kernels[0].unknown_names == {"MISSING"}


def test_launches_lead_to_their_literals() -> None:
    """A block extent tells its number and where that is written, through names."""
    source = Source(read("stencil_macros"))
    stencil, row_sum = source.launches
    assert stencil.block is not None
    assert [e.value for e in stencil.block] == [32, 8, 1]
    assert stencil.threads == 256
    first = stencil.block[0].literal
    assert first is not None
    assert source.text[first[0] - 8 : first[1]] == "BLOCK_X 32"
    assert row_sum.block is not None
    assert row_sum.block[0].defined == ("threads",)
    assert row_sum.threads == 128
    assert row_sum.shared_span is not None
    assert source.text[slice(*row_sum.shared_span)] == "threads * sizeof(float)"
    assert [source.of(a) for a in row_sum.arguments] == ["out", "sums", "w"]


def test_a_block_chosen_at_run_time_is_unknown() -> None:
    """A block size that a call fills in has no number and no literal."""
    source = Source(read("nbody_structs"))
    block = source.launches_of("bodyForce")[0].block
    assert block is not None
    assert (block[0].value, block[0].literal) == (None, None)


def test_other_mentions_of_a_kernel_are_told() -> None:
    """A kernel whose address is taken or that a CUDA function is given is not only launched."""
    source = Source(read("modern_attributes"))
    assert not source.only_launched("copy_scaled")
    assert not source.only_launched("sum_vectors")
    assert Source(read("saxpy_checked")).only_launched("saxpy")


@pytest.mark.parametrize(
    ("body", "stride"),
    [
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; b[i] = 0;", 1),
        ("const unsigned i = threadIdx.x + 256 * blockIdx.x; b[2 * i + 1] = 0;", 2),
        ("int i = threadIdx.x; int j = i * 4; b[(size_t)j] = 0;", 4),
        ("b[blockIdx.x] = 0;", 0),
        ("int r = blockIdx.x; r += threadIdx.x; b[r] = 0;", None),
        ("int x = threadIdx.y; x = threadIdx.x; b[x + w] = 0;", 1),
        ("int x = threadIdx.x; if (n) x = 3; b[x] = 0;", None),
        ("int x = threadIdx.x; for (int q = 0; q < n; ++q) { b[x] = 0; x += 2; }", None),
        ("for (int i = threadIdx.x; i < n; i += blockDim.x) b[i] = 0;", 1),
        ("int i = threadIdx.x; while (i < n) { b[i] = 0; i += 32; }", 1),
        ("int i = threadIdx.x; while (i < n) { if (w) continue; b[i] = 0; i += 32; }", None),
        ("float f = threadIdx.x; b[(int)(f * 2)] = 0;", None),
        ("int i = threadIdx.x / 2; b[i] = 0;", None),
        ("int i; i = threadIdx.x; goto end; i = 4; end: b[i] = 0;", None),
        ("int i = threadIdx.x; swap(i, n); b[i] = 0;", None),
        ("float* p = b + threadIdx.x * 3; p[n] = 0;", 3),
        ("float* p = &b[threadIdx.x]; p[w] = 0;", 1),
        ("float* p = b; p += threadIdx.x; p[w] = 0;", None),
        ("*(b + threadIdx.x) = 0;", 1),
        ("b[AT(n, threadIdx.x)] = 0;", 1),
        ("b[AT(threadIdx.x, n)] = 0;", None),
    ],
)
def test_thread_stride_of_a_store(body: str, stride: int | None) -> None:
    """The distance between neighbours is a number only where it can be proved."""
    text = (
        f"#define AT(y, x) ((y) * w + (x))\n__global__ void k(float* b, int n, int w) {{ {body} }}"
    )
    stores = [a for a in Source(text).kernels[0].accesses if a.writes]
    assert [a.root for a in stores] in (["b"], ["p"])
    assert stores[0].thread_stride() == stride


def test_two_indices_are_equal_only_when_nothing_came_between() -> None:
    """The same name after a change is another value."""
    f = kernel("int i = n; if (w) i = a[0]; b[i] = 1; i++; b[i] = 2;")
    first, second = (x.index for x in f.accesses if x.writes)
    assert first is not None
    assert second is not None
    assert not first.same(second)


def test_loop_strides_and_trip_counts() -> None:
    """A matrix product reads one operand along the loop and the other across it."""
    f = Source(read("matmul_template")).function("matmul_naive")
    assert f is not None
    (loop,) = f.loops
    assert loop.counted
    assert loop.name == "i"
    strides = {a.root: str(a.loop_stride(loop)) for a in f.accesses if a.loops}
    assert strides == {"a": "1", "b": "n"}
    spmv = Source(read("spmv_pointers")).function("blur_rows")
    assert spmv is not None
    assert [lp.trips for lp in spmv.loops] == [None, 5, 5]
    assert spmv.loops[2].pragma is not None
    assert {a.root for a in spmv.accesses if a.space == "global"} == {"img", "out"}


@pytest.mark.parametrize(
    ("header", "trips"),
    [
        ("int i = 0; i < 10; ++i", 10),
        ("int i = 0; i <= 10; i += 3", 4),
        ("int i = 9; i >= 0; i--", 10),
        ("unsigned i = 0; 8 > i; i = i + 2", 4),
        ("int i = 0; i != 6; i += 2", 3),
        ("int i = 0; i < n; ++i", None),
        ("int i = 1; i < 64; i *= 2", None),
        ("int i = 0; i < TILE / 4; ++i", 8),
    ],
)
def test_trip_counts(header: str, trips: int | None) -> None:
    """Loops written in the usual ways are counted."""
    text = f"#define TILE 32\n__global__ void k(float* b, int n) {{ for ({header}) b[i] = 0; }}"
    (loop,) = Source(text).kernels[0].loops
    assert loop.counted
    assert loop.trips == trips


@pytest.mark.parametrize(
    "text",
    [
        "for (int i = 0; i < n; ++i) { b[i] = 0; i += w; }",
        "for (int i = 0; i < n; ++i) { b[i] = 0; n--; }",
        "for (int i = 0; i < n; ++i) { f(&i); }",
        "for (int i = 0; b[i] > 0; ++i) { b[i + 1] = 0; }",
        "while (n > 0) { b[n] = 0; if (w) n -= 1; }",
    ],
)
def test_irregular_loops_are_not_counted(text: str) -> None:
    """A loop whose variable or bound changes in its body is not counted."""
    assert not kernel(text).loops[0].counted


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        ("w * 3", True),
        ("a[w]", False),
        ("expf(1.0f + w)", True),
        ("i + 1", False),
        ("t", False),
        ("c[w]", True),
        ("f(w)", False),
        ("MACRO_OF_A_HEADER", False),
    ],
)
def test_invariance_in_a_loop(expression: str, same: bool) -> None:
    """Loads are invariant only where no store may hit them, calls only where they are pure."""
    text = (
        "__global__ void k(float* a, float* b, const float* __restrict__ c, int n, int w) {"
        f" float t = 0; for (int i = 0; i < n; ++i) {{ t += 1; b[i] = ({expression}); }} }}"
    )
    f = Source(text).kernels[0]
    (loop,) = f.loops
    node = next(n for n in walk(loop.body, "parenthesized_expression"))
    assert f.is_invariant(node, loop) is same


def test_aliasing_follows_restrict_types_and_origins() -> None:
    """Pointers of one type may meet unless restrict, type or shared memory keeps them apart."""
    text = (
        "__global__ void k(float* a, float* b, int* c, float* __restrict__ d) {"
        " __shared__ float s[4]; float* p = a + 4; float* q = p; q = b; s[0] = 0; }"
    )
    f = Source(text).kernels[0]
    by_name = {v.name: v for v in f.variables.all}

    def meet(one: str, other: str) -> bool:
        return f.may_alias(by_name[one], by_name[other])

    assert meet("a", "b")
    assert meet("a", "p")
    assert meet("q", "d")
    assert not meet("a", "c")
    assert not meet("a", "d")
    assert not meet("p", "s")


def test_numbers_that_do_not_start_at_zero_are_told_apart() -> None:
    source = Source(
        "__global__ void k(float *a, int first) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;\n"
        "  int j = first + threadIdx.y + blockIdx.y * 16;\n"
        "  int o = blockIdx.x * (blockDim.x - 2) + threadIdx.x;\n"
        "  int m = blockIdx.x * blockDim.x + threadIdx.x + threadIdx.y;\n"
        "  a[i + j + o + m] = 0;\n}\n"
    )
    kernel = source.kernels[0]
    assert [(t.variable.name, t.axis, t.block, str(t.shift)) for t in kernel.shifted_ids] == [
        ("i", "x", "blockDim.x", "1"),
        ("j", "y", "16", "first"),
    ]
    assert [t.never_negative for t in kernel.shifted_ids] == [True, False]
    assert kernel.thread_ids == ()


PASSED = """\
__global__ void k(float *a) { a[threadIdx.x] = 0; }
static void run(float *a, int n, int threads) { k<<<(n + threads - 1) / threads, threads>>>(a); }
int main() {
  const int t = 128;
  float *a = 0;
  run(a, 4096, t);
  run(a, 100, 64 * 2);
}
"""


MACROS = """\
#define RUN(k, grid, block, ...) k<<<grid, (block)>>>(__VA_ARGS__)
#define SCALE(n, a) do { scale<<<(n), 256>>>(a); } while (0)
#define TIMED(k, g, b, x) start(); k<<<g, b, 0, 0>>>(x); stop(g)
__global__ void scale(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}
void run(float *a, int n) {
  const int threads = 128;
  RUN(scale, (n + threads - 1) / threads, threads, a, n);
}
"""


def test_a_macro_that_is_a_launch_is_seen_as_one() -> None:
    source = Source(MACROS)
    assert list(source.launch_macros) == ["RUN"], "of others the grid or block is not theirs alone"
    (launch,) = source.launches
    assert (launch.kernel, launch.threads, launch.function) == ("scale", 128, "run")
    assert MACROS[slice(*launch.grid_span)] == "(n + threads - 1) / threads"
    assert [source.of(a) for a in launch.arguments] == ["a", "n"]
    assert source.only_launched("scale")
    texts = [e.source for e in coarsen(Kernel("run", MACROS), [])]
    wanted = "RUN(scale, ((n + threads - 1) / threads + 3) / 4, threads, a, n);"
    assert any(wanted in text for text in texts)
    assert all(not violations(MACROS, text) for text in texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("threads, a, n)", "threads, a, n + 1)"),
        ("RUN(scale, (n", "RUN(scale, next(n"),
        ("threads, a, n)", "dim3{threads, 1}, a, n)"),
        ("(block)>>>", "(block) / 2>>>"),
        ("(block)>>>(__VA_ARGS__)", "(block)>>>(__VA_ARGS__); other()"),
    ],
)
def test_only_the_geometry_of_such_a_macro_may_change(old: str, new: str) -> None:
    assert old in MACROS
    assert violations(MACROS, MACROS.replace(old, new))
    assert not violations(MACROS, MACROS.replace("threads = 128", "threads = 256"))


LATE = """\
__global__ void k(float *a, int n) { a[threadIdx.x] = n; }
void run(float *a, int n) {
  int threads, blocks;
  threads = 128;
  blocks = (n + threads - 1) / threads;
  auto shape = dim3(threads, 2);
  cudaOccupancyMaxPotentialBlockSize(&n, &n, k, 0, 0);
  k<<<blocks, threads>>>(a, n);
  k<<<blocks, shape>>>(a, n);
}
"""


def test_a_block_set_once_behind_its_declaration_is_seen_with_its_literal() -> None:
    source = Source(LATE)
    first, second = source.launches
    assert (first.threads, second.threads) == (128, 256)
    assert first.block is not None
    assert first.block[0].literal is not None
    assert LATE[slice(*first.block[0].literal)] == "128"
    assert first.block[0].defined == ("threads",)
    assert source.only_launched("k"), "to ask for its occupancy is no launch"
    assert {"128", "64"} & {
        e.source.partition("threads = ")[2].partition(";")[0] for e in tune(Kernel("k", LATE))
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  blocks =", "  if (n > 9) threads = 64;\n  blocks ="),
        ("  threads = 128;", "  if (n > 9) { threads = 128; }"),
        ("  threads = 128;", "  threads = n;"),
        ("  threads = 128;", "  scanf(&threads);"),
    ],
)
def test_a_block_that_may_have_several_values_is_not_seen(old: str, new: str) -> None:
    assert old in LATE
    assert Source(LATE.replace(old, new)).launches[0].threads is None


def test_a_grid_that_a_function_returns_has_three_extents() -> None:
    source = Source(
        "dim3 shape(int n) { return dim3(n, 2); }\nint count(int n) { return n; }\n"
        "__global__ void k(float *a) { a[0] = 0; }\n"
        "void run(float *a, int n) {\n  dim3 grid = shape(n), other = shape(n);\n  other.x = 3;\n"
        "  k<<<shape(n), 64>>>(a);\n  k<<<grid, 64>>>(a);\n  k<<<other, 64>>>(a);\n"
        "  k<<<count(n), 64>>>(a);\n}\n"
    )
    grids = [launch.grid for launch in source.launches]
    assert [g and [e.text for e in g] for g in grids] == [
        ["shape(n).x", "shape(n).y", "shape(n).z"],
        ["shape(n).x", "shape(n).y", "shape(n).z"],
        None,
        ["count(n)"],
    ]


def test_a_block_that_all_callers_pass_is_seen() -> None:
    launch = Source(PASSED).launches[0]
    assert launch.threads == 128
    assert launch.block is not None
    assert launch.block[0].literal is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("64 * 2", "64"),
        ("64 * 2", "a != 0"),
        ("int main() {", "int main() {\n  auto f = run;"),
        ("k<<<", "threads += 1; k<<<"),
        ("int main() {", "void other() {"),
        ("  run(a, 100, 64 * 2);", "  run(a, 100);"),
    ],
)
def test_a_block_that_callers_pass_differently_is_not_seen(old: str, new: str) -> None:
    text = PASSED.replace("static ", "") if "other" in new else PASSED
    assert old in text
    assert Source(text.replace(old, new)).launches[0].threads is None


def test_guards_and_thread_ids() -> None:
    """Both forms of the bounds test say under which comparisons work is done."""
    source = Source(read("matmul_template"))
    f = source.function("matmul_naive")
    assert f is not None
    assert [(t.variable.name, t.axis, t.block) for t in f.thread_ids] == [
        ("col", "x", "blockDim.x"),
        ("row", "y", "blockDim.y"),
    ]
    (guard,) = f.guards
    assert guard.exits
    assert guard.bounds is not None
    assert [(a, s, source.of(n)) for a, s, n in guard.bounds] == [
        ("row", "<", "m"),
        ("col", "<", "n"),
    ]
    (inner,) = Source(read("saxpy_checked")).kernels[0].guards
    assert not inner.exits


def test_names_of_headers_are_unknown() -> None:
    """A name that nothing defines may be a macro; CUDA's own names and locals are known."""
    f = kernel("int i = threadIdx.x; b[i] = SCALE * fminf(a[i], INFINITY); FLUSH(i);")
    assert f.unknown_names == {"SCALE", "FLUSH"}
    f = Source(read("stencil_macros")).kernels[0]
    assert f.unknown_names == frozenset()
    assert f.unknown_calls == ()


def test_a_macro_that_uses_locals_is_unknown() -> None:
    """A macro with hidden uses of a local cannot be judged where it is called."""
    text = "#define BUMP (i + 1)\n__global__ void k(int* b) { int i = 0; b[0] = BUMP; }"
    assert Source(text).kernels[0].unknown_names == {"BUMP"}


def test_text_that_if_turns_off_is_not_code() -> None:
    """Branches of `#if` that are off hold no kernels; a function cut by `#if` says so."""
    source = Source(read("histogram_externc"))
    assert [f.name for f in source.kernels] == ["histogram", "warp_max", "for_each"]
    assert source.kernels[0].conditional
    assert not source.kernels[1].conditional
    assert any("ghost" in source.text[a:b] for a, b in source.inactive)


def test_calls_that_only_compute() -> None:
    """Device functions without effects are told from those that write or synchronize."""
    text = (
        "__device__ float good(const float3& v) { float s = 0; s += v.x; return sqrtf(s); }\n"
        "__device__ float bad(float* p) { return p[0] = 1; }\n"
        "__device__ void worse(float& x) { x = 1; }\n"
        "__device__ float sync() { __syncthreads(); return 1; }\n"
    )
    assert [f.pure for f in Source(text).functions] == [True, False, False, False]


def test_types_of_expressions() -> None:
    """Element types of pointers, usual conversions and calls are told; the rest is None."""
    f = kernel("int i = n; float4 v; b[i] = a[i] + 1.0 * n; v.x = i + 1u; b[0] = sqrtf(w); odd(i);")
    nodes = {f.file.syntax.plain(n): n for n in walk(f.body)}
    assert f.type_of(nodes["a[i]"]) == "float"
    assert f.type_of(nodes["a[i]+1.0*n"]) == "double"
    assert f.type_of(nodes["i+1u"]) == "unsigned int"
    assert f.type_of(nodes["v.x"]) == "float"
    assert f.type_of(nodes["sqrtf(w)"]) == "float"
    assert f.type_of(nodes["odd(i)"]) is None


def test_edits_keep_other_text_and_line_ends() -> None:
    """Text outside the spans stays, positions count characters, new lines end like the file's."""
    source = Source(read("unicode_comments"))
    f = source.function("transpose")
    assert f is not None
    store = next(a for a in f.accesses if a.root == "odata")
    assert store.statement is not None
    edited = source.replace(
        [source.insert_before(store.loops[0].node, "// neu: ü\nint k = 0;"), (0, 0, "// A\n")]
    )
    assert "  // neu: ü\n  int k = 0;\n  for (int j = 0; j < TILE_DIM" in edited
    assert edited.replace("// A\n", "", 1).replace("// neu: ü\n  int k = 0;\n  ", "") == source.text
    windows = Source(read("crlf_vadd"))
    body = windows.kernels[0].body.named_children[0]
    text = windows.replace([windows.insert_before(body, "int q = 1;\nint r = 2;")])
    assert "\r\n\tint q = 1;\r\n\tint r = 2;\r\n\tconst int i" in text
    assert text.count("\n") == text.count("\r\n")


def test_fresh_names_occur_nowhere() -> None:
    """A fresh name is not in code, comments or macros."""
    source = Source("// acc\n#define M acc2\nint acc3;")
    assert source.fresh_name("acc") == "acc4"
    assert source.fresh_name("sum") == "sum"
    assert source.fresh_name("sum", "sum") == "sum2"


def test_includes_are_resolved_within_the_root(tmp_path: Path) -> None:
    """Quoted includes are read transitively, missing and outer ones left out."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.h").write_text('#include "b.h"\n#include "../../out.h"\n')
    (tmp_path / "b.h").write_text("int b;\n")
    source = Source('#include "a.h"\n#include <cstdio>\n#include "none.h"\n')
    assert source.includes == ("a.h", "none.h")
    assert source.resolve_includes("src/main.cu", tmp_path).keys() == {"src/a.h", "b.h"}


def test_a_type_of_the_file_is_judged_by_what_it_stands_for_and_declared_as_written() -> None:
    text = (
        "#define REAL float\ntypedef REAL real;\ntypedef struct { real x; int *links; } Body;\n"
        "__device__ real weight(real d) { return d; }\n"
        "__global__ void k(const real *a, Body *b, int n) {\n"
        "  REAL s = exp(a[0]);\n  s += b[n].x + weight(s) + max(s, a[1]);\n}\n"
    )
    fn = Source(text).kernels[0]
    a, s = fn.variable("a"), fn.variable("s")
    assert a is not None
    assert s is not None
    assert (a.element, a.written, s.element, s.written) == ("float", "real", "float", "REAL")
    assert fn.type_of(s.init) == "float"
    sides = fn.variables.nodes("binary_expression", "call_expression")
    assert {fn.type_of(n) for n in sides} == {"float"}
    assert Source(text).members["Body"] == {"x": "float", "links": "int*"}


def test_a_cast_to_a_named_type_is_no_call() -> None:
    """`(real)(i - 1)` neither changes `i` nor does anything else."""
    text = "typedef float real;\n__global__ void k(float* o, int i) { o[i] = (real)(i) / (real)(i - 1); }"
    f = Source(text).kernels[0]
    assert not f.unknown_calls
    variable = f.variable("i")
    assert variable is not None
    assert variable.settled
    assert f.type_of(f.divisions[0]) == "float"


@pytest.mark.parametrize("parameter", ["dim3 block", "const dim3& block", "dim3 block = 64"])
def test_a_block_that_callers_give_is_not_known(parameter: str) -> None:
    """A dim3 without a value is one thread where it is a local, and anything as a parameter."""
    kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
    (launch,) = Source(f"{kernel}void run({parameter}) {{ k<<<4, block>>>(nullptr); }}").launches
    assert launch.block is None
    (launch,) = Source(kernel + "void run() { dim3 block; k<<<4, block>>>(nullptr); }").launches
    assert launch.block is not None
    assert [extent.value for extent in launch.block] == [1]


def test_a_launch_macro_may_print_what_it_launches() -> None:
    """A number of the launch that is printed, too, is no argument alone: it stays unknown."""
    macro = (
        "#define LAUNCH(kernel, grid, block, ...) \\\n"
        "  do { kernel<<<(grid), (block)>>>(__VA_ARGS__); \\\n"
        "    if (cudaGetLastError()) { puts(PRINTED); exit(1); } } while (0)\n"
    )
    kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
    call = "int main() { LAUNCH(k, 4, 128, nullptr); }\n"
    (launch,) = Source(macro.replace("PRINTED", "#kernel") + kernel + call).launches
    assert launch.kernel == "k"
    assert launch.block is not None
    assert [extent.value for extent in launch.block] == [128]
    assert not Source(macro.replace("PRINTED", "#block") + kernel + call).launches
    assert not Source(macro.replace("PRINTED", "k ## ernel") + kernel + call).launches


MEMBERS = """\
struct Config { int threads; int blocks; dim3 tile; };
__global__ void k(float *x);
void run(float *x) {
  Config cfg, other;
  cfg.threads = 128;
  cfg.tile = dim3(16, 8);
  other.threads = 64;
  cfg.blocks = 8 * other.threads;
  dim3 block(32, 4), grid(1024 / block.x, 64 / block.y);
  k<<<cfg.blocks, cfg.threads>>>(x);
  k<<<grid, cfg.tile>>>(x);
}
"""


def test_geometry_in_members_of_a_struct_is_seen() -> None:
    one, two = Source(MEMBERS).launches
    assert [[e.value for e in part or ()] for part in (one.grid, one.block)] == [[512], [128]]
    assert [[e.value for e in part or ()] for part in (two.grid, two.block)] == [[32, 16], [16, 8]]
    assert [e.text for e in two.block or ()] == ["cfg.tile.x", "cfg.tile.y"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  cfg.threads = 128;", "  cfg.threads = 128; cfg.threads = 64;"),
        ("  cfg.threads = 128;", "  if (x) { cfg.threads = 128; }"),
        ("  cfg.threads = 128;", "  cfg.threads = 128; fill(&cfg);"),
        ("  cfg.threads = 128;", "  cfg.threads = 128; cfg = other;"),
        ("  cfg.threads = 128;", "  cfg.threads += 128;"),
        ("Config cfg,", "Config &cfg = config(),"),
    ],
)
def test_members_that_may_be_something_else_are_not_seen(old: str, new: str) -> None:
    one, _ = Source(MEMBERS.replace(old, new)).launches
    assert one.threads is None
