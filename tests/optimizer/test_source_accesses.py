"""What a kernel reads and writes: strides, loops, aliases, and the threads that get there."""

from __future__ import annotations

import pytest

from optimizer.source import Source
from optimizer.syntax import walk
from tests.optimizer.cuda_texts import kernel, read


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
