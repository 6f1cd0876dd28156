"""Where a launch of host code fails is read off its text, however it is written."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import host_launches, plain_dims, sizes
from runners.guarded import guards
from runners.host_launches import Failure, HostLaunch
from runners.text import LONGEST, Text
from tests.redteam.table import load
from tests.runners.test_odd_texts import HOSTILE, WORDS

ARGUMENTS = ("x", "n", "k")
LAST = 65535 * 256
TALL = "go<<<dim3(1, b), 256>>>(x, n);"
B = "const int b = (n + 255) / 256;"
ALL = "void all(float* x, int n) { go<<<dim3(1, (n + 255) / 256), 256>>>(x, n); }"
SOURCES = sorted({one.source for one in load()})[::97]


def _read(body: str, before: str = "") -> tuple[HostLaunch, ...]:
    text = f'{before}\nextern "C" void f(float* x, int n, int k) {{ {body} }}'
    return host_launches.launches(text, "f", ARGUMENTS)


def _fails(body: str, before: str, n: int, k: int = 1) -> list[Failure]:
    found = (one.fails({1: n, 2: k}.get) for one in _read(body, before))
    return [one for one in found if one is not None]


FORMS: tuple[tuple[str, str], ...] = (
    ("go<<<dim3(1, (n + 255) / 256), 256>>>(x, n);", ""),
    (f"{B} {TALL}", ""),
    (f"{B} dim3 grid(1, b); go<<<grid, 256>>>(x, n);", ""),
    (f"{B} dim3 grid{{1, b}}; go<<<grid, 256>>>(x, n);", ""),
    (f"{B} const dim3 grid = {{1u, (unsigned)b}}; go<<<grid, 256>>>(x, n);", ""),
    (f"{B} dim3 block(256), grid(1, b, 1); go<<<grid, block, 0, 0>>>(x, n);", ""),
    (f"{B} dim3 block = dim3(min(256, k)), grid(1, b); go<<<grid, block>>>(x, n);", ""),
    (f"{B} dim3 block, grid; block.x = 256; grid.y = b; go<<<grid, block>>>(x, n);", ""),
    (f"{B} dim3 grid; grid.x = 1, grid.y = b; go<<<grid, 256>>>(x, n);", ""),
    (f"{B} go<<<dim3{{1, 1, static_cast<unsigned>(b)}}, 256>>>(x, n);", ""),
    (f"{B} go<<<{{1, unsigned(b)}}, 256>>>(x, n);", ""),
    (f"{B} auto grid = make_uint3(1, b, 1); go<<<grid, 256>>>(x, n);", ""),
    (f"{B} dim3 tall(1, b); auto grid = tall; go<<<grid, 256>>>(x, n);", ""),
    (f"{B} go<<<n > 5 ? dim3(1, b) : dim3(1), 256>>>(x, n);", ""),
    ("go<<<dim3(1, BLOCKS(n)), 256>>>(x, n);", "#define BLOCKS(m) (((m) + 255) / 256)"),
    ("go<<<dim3(1, (n + EACH - 1) / EACH), EACH>>>(x, n);", "constexpr int EACH = 1 << 8;"),
    ("go<<<dim3(1, up(n, 256)), 256>>>(x, n);", "int up(int a, int b) { return (a + b - 1) / b; }"),
    ("go<<<tall(n), 256>>>(x, n);", "dim3 tall(int m) { return dim3(1, (m + 255) / 256); }"),
    ("all(x, n);", ALL),
    (f"{B} all(x, dim3(1, b));", "void all(float* x, dim3 grid) { go<<<grid, 256>>>(x); }"),
    (
        f"{B} with(x, dim3(1, b)); with(x, dim3(1));",
        "template <class G> void with(float* x, G grid) { go<<<grid, 256>>>(x); }",
    ),
    ("auto up = [](int m) { return (m + 255) / 256; }; go<<<dim3(1, up(n)), 256>>>(x, n);", ""),
    (f"{B} auto all = [&](int way) {{ {TALL} }}; all(3);", ""),
    (f"{B} dim3 grid(1, b); auto all = [&] {{ go<<<grid, 256>>>(x, n); }}; all();", ""),
    (
        f"{B} void* a[] = {{&x, &n}}; cudaLaunchKernel((void*)go, dim3(1, b), dim3(256), a, 0, 0);",
        "",
    ),
    (f"{B} cudaLaunchKernel((const void*)go, {{1, unsigned(b)}}, {{256}}, args, 0, 0);", ""),
    (
        f"{B} cudaLaunchConfig_t how = {{}}; how.gridDim = dim3(1, b); run(&how, go, x, n);",
        "",
    ),
    (f"{B} cudaLaunchConfig_t how{{0}}; how.gridDim = {{1, unsigned(b)}}; run(&how);", ""),
    (f"{B} cudaLaunchConfig_t how = {{.gridDim = {{1, b}}, .blockDim = {{256}}}}; run(&how);", ""),
    (f"{B} cudaLaunchConfig_t how = {{{{1, b}}, {{256}}, 0}}; run(&how);", ""),
    (f"{B} dim3 grid = {{.x = 1, .y = b}}; go<<<grid, 256>>>(x, n);", ""),
    (f"{B} cudaLaunchConfig_t how; how.gridDim.y = b; run(&how);", ""),
    ("int b = n / 256; b += n % 256 != 0; go<<<dim3(1, (n + 255) / 256), 256>>>(x, n);", ""),
    (f"{B} go<<<dim3(1, min(b, 1 << 20)), 256>>>(x, n);", ""),
    (f"{B} if (n < 9) return; for (int t = 0; t < k; ++t) {{ {TALL} }}", ""),
)


@pytest.mark.parametrize(("body", "before"), FORMS, ids=[one[0] for one in FORMS])
def test_a_tall_grid_is_read_however_it_is_written(body: str, before: str) -> None:
    assert not _fails(body, before, LAST)
    (failure,) = _fails(body, before, LAST + 1)
    assert failure.why in {f"grid.{way} is 65536; it must be 1 to 65535" for way in "yz"}
    assert failure.sure == ("with(x" not in body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("go<<<1, n / 16384>>>(x);", "block.x is 1025; it must be 1 to 1024"),
        (
            "go<<<1, dim3(32, n / 16384 / 32 + 1)>>>(x);",
            "a block of 1056 threads; the most is 1024",
        ),
        ("go<<<1, 32, n / 72>>>(x);", "233,244 bytes of shared memory a block"),
        ("size_t s = n / 288 * sizeof(float); go<<<1, 32, s>>>(x);", "233,244 bytes of shared mem"),
        (
            "cudaLaunchConfig_t how = {}; how.gridDim = 1; how.dynamicSmemBytes = n / 72; go(&how);",
            "233,244 bytes",
        ),
    ],
)
def test_blocks_and_shared_memory_are_read_too(body: str, words: str) -> None:
    size = 72 * 233_244 if "bytes" in words else 16384 * 1025
    (failure,) = _fails(body, "", size)
    assert failure.why.startswith(words)
    assert failure.sure
    assert not _fails(body, "", 1 << 12)


ASKS = "cudaFuncSetAttribute"
MORE = "cudaFuncAttributeMaxDynamicSharedMemorySize, 65536"
KERNELS = "__global__ void go(float* x) {} __global__ void other(float* x) {}"
KIB_48 = 48 << 10
OWN = """constexpr int W = 32;
__global__ void __launch_bounds__(32) go(float* x) {
    extern __shared__ int own[];
    __shared__ float a[W][W + 1], b[8];
    __shared__ int c;
}"""


def _ends(body: str, before: str) -> tuple[int, bool]:
    """Return the first bytes that are too many, and whether that is sure."""
    exact = sizes.least_above(1024, 1 << 20, lambda size: bool(_fails(body, before, size)))
    return exact, any(one.sure for one in _fails(body, before, exact))


@pytest.mark.parametrize(
    ("body", "before", "most"),
    [
        ("go<<<1, 32, n>>>(x);", "", KIB_48),
        ("go<4, float><<<1, 32, n>>>(x);", f"template <int I, class T> {KERNELS}", KIB_48),
        ("void* all[] = {&x}; cudaLaunchKernel((void*)go, 1, 32, all, n, 0);", KERNELS, KIB_48),
        ("auto it = go; it<<<1, 32, n>>>(x);", KERNELS, KIB_48),
        # Its own arrays are in it.
        (
            "go<<<1, 32, n>>>(x);",
            OWN,
            KIB_48 - 32 * 33 * 4 - 32 - 4,
        ),
        # Of what is not known nothing is taken off.
        ("go<<<1, 32, n>>>(x);", "__global__ void go(float* x) { __shared__ Tile a[9]; }", KIB_48),
        ("go<<<1, 32, n>>>(x);", "__global__ void go(float* x) { __shared__ int a[N]; }", KIB_48),
        # Another one's, and what gives no more room.
        (f"{ASKS}(other, {MORE}); go<<<1, 32, n>>>(x);", KERNELS, KIB_48),
        (
            f"{ASKS}(go, cudaFuncAttributePreferredSharedMemoryCarveout, 100); go<<<1, 2, n>>>(x);",
            KERNELS,
            KIB_48,
        ),
    ],
)
def test_shared_memory_that_is_not_asked_for_ends_at_48_kib(
    body: str, before: str, most: int
) -> None:
    assert _ends(body, before) == (most + 1, True)


@pytest.mark.parametrize(
    ("body", "before"),
    [
        (f"{ASKS}(go, {MORE}); go<<<1, 32, n>>>(x);", KERNELS),
        (f"{ASKS}((const void*)&go<4>, {MORE}); go<4><<<1, 32, n>>>(x);", KERNELS),
        (f"{ASKS}(go, (cudaFuncAttribute)8, 65536); go<<<1, 32, n>>>(x);", KERNELS),
        (f"auto it = go; {ASKS}(it, {MORE}); it<<<1, 32, n>>>(x);", KERNELS),
        (f"auto it = go; {ASKS}(go, {MORE}); it<<<1, 32, n>>>(x);", KERNELS),
        (f"for (auto one : {{go, other}}) {ASKS}(one, {MORE}); go<<<1, 32, n>>>(x);", KERNELS),
        ("MORE(go); go<<<1, 32, n>>>(x);", f"#define MORE(k) {ASKS}(k, {MORE})\n{KERNELS}"),
        ("MORE(go, 8, n); go<<<1, 32, n>>>(x);", f"#define MORE {ASKS}\n{KERNELS}"),
        (f"cuFuncSetAttribute(function, 8, n); {ASKS}(go, 9, 1); go<<<1, 32, n>>>(x);", KERNELS),
        (f"auto ask = {ASKS}; ask(go, 8, n); go<<<1, 32, n>>>(x);", KERNELS),
    ],
)
def test_shared_memory_that_is_asked_for_ends_where_the_device_does(body: str, before: str) -> None:
    assert _ends(body, before) == ((227 << 10) + 1, True)


def test_a_header_of_ones_own_may_ask_for_more() -> None:
    """It is run there, and no limit is said of it."""
    before = f'#include "room.h"\n{KERNELS}'
    assert _ends("go<<<1, 32, n>>>(x);", before) == (KIB_48 + 1, False)
    assert _fails("go<<<1, 32, n>>>(x);", before, (227 << 10) + 1)[0].sure
    assert _ends("go<<<1, 32, n>>>(x);", f"#include <room.h>\n{KERNELS}") == (KIB_48 + 1, True)


@pytest.mark.parametrize(
    "body",
    [
        f"{B} go<<<b, 256>>>(x, n);",
        f"{B} go<<<dim3(b, 8), dim3(32, 8)>>>(x, n);",
        f"{B} go<<<dim3(1, min(b, 65535)), 256>>>(x, n);",
        f"{B} go<<<dim3(1, std::min<unsigned>(b, 1056u)), 256>>>(x, n);",
        f"{B} go<<<dim3(1, b > 65535 ? 65535 : b), 256>>>(x, n);",
        f"{B} dim3 grid(b, 1); if (b <= 65535) grid = dim3(1, 7); go<<<grid, 256>>>(x, n);",
        f"{B} if (b <= 65535) {TALL} else go<<<b, 256>>>(x, n);",
        f"{B} if (b > 65535) {{ go<<<b, 256>>>(x, n); return; }} {TALL}",
        f"{B} if (n < 0) return; else if (b > 65535) go<<<b, 256>>>(x, n); else {{ {TALL} }}",
        f"{B} const bool few = b <= 65535; if (few && k > 0) {{ {TALL} }}",
        f"{B} while (b <= 65535) {TALL}",
        f"{B} if (b <= 65535) go(x); else return; {TALL}",
        "for (int at = 0; at < n; at += 65535) go<<<dim3(1, min(65535, n - at)), 1>>>(x, n);",
        "go<<<dim3(1, blocks_of(x)), 256>>>(x, n);",
        "// go<<<dim3(1, n), 256>>>(x, n);",
    ],
)
def test_what_ends_nowhere_does_not(body: str) -> None:
    assert not [one for size in (LAST + 1, 1 << 30) for one in _fails(body, "", size)]


@pytest.mark.parametrize(
    ("body", "before"),
    [
        (f"int b = (n + 255) / 256; if (b > 65535) b = 65535; {TALL}", ""),
        (f"{B} dim3 grid(1, b); if (b > 9) grid.y = 9; go<<<grid, 256>>>(x, n);", ""),
        (f"{B} if (x[0] > 0) {TALL}", ""),
        (f"{B} switch (k) {{ case 1: {TALL} }}", ""),
        (f"{B} k == 1 ? go(x) : tall();", f"void tall() {{ {B} {TALL} }}"),
        (f"{B} run([&] {{ {TALL} }});", ""),
        ("all(x, n); all(x, n / 300);", "void all(float* x, int n) { go<<<dim3(1, n), 1>>>(x); }"),
        ("if (k > 5) all(x, n); if (k > 6) all(x, n);", ALL),
        ("TALL(go, n);", f"#define TALL(kernel, n) {B} kernel<<<dim3(1, b), 256>>>(x, n)"),
    ],
)
def test_where_not_all_is_read_it_is_not_sure(body: str, before: str) -> None:
    """No limit is said of it: it is run there, and nothing else follows."""
    found = _fails(body, before, LAST + 1)
    assert found
    assert not [one for one in found if one.sure]


def test_what_is_not_known_is_told() -> None:
    (one,) = _read("go<<<dim3(1, blocks_of(x)), 256>>>(x, n);")
    assert not one.knows("grid.y")
    assert one.knows("grid.z")
    (one,) = _read("go<<<dim3(1, min(blocks_of(x), 512)), 256>>>(x, n);")
    assert one.knows("grid.y")
    (one,) = _read("go<<<grid_of(x), 256, bytes>>>(x, n);", "dim3 grid_of(float* x);")
    assert not one.knows("shared")


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("auto [grid, block] = shape(n); go<<<grid, block>>>(x);", ""),
        ("const Plan plan = planned(n); go<<<plan.grid, 256>>>(x);", "struct Plan { dim3 grid; };"),
        (
            "go<<<tall(n), 256>>>(x);",
            "dim3 tall(int n) { if (n) return dim3(1); return dim3(1, n); }",
        ),
        ("go<<<grid, 256>>>(x);", "extern dim3 grid;"),
        ("dim3 grid; shape(&grid, n); go<<<grid, 256>>>(x);", ""),
    ],
)
def test_ways_that_are_hidden_are_not_taken_for_one(body: str, before: str) -> None:
    (one,) = _read(body, before)
    assert not one.knows("grid.y")


@pytest.mark.parametrize(
    "body",
    [
        "int many = blocks_of(x); go<<<many, 256>>>(x);",
        "int many; cudaGetIt(&many); go<<<many, 256>>>(x);",
        "go<<<blocks_of(x), 256>>>(x);",
        "go<<<plan.blocks, 256>>>(x);",
        "auto many = (n + 255) / 256; go<<<many, 256>>>(x);",
        "go<<<many_of(x) * 4, 256>>>(x);",
    ],
)
def test_a_number_of_blocks_has_one_way(body: str) -> None:
    (one,) = _read(body)
    assert one.knows("grid.y")


def test_a_text_that_is_too_long_is_not_read() -> None:
    assert not _read(f"{B} {TALL}", " " * LONGEST)


MORE = "dim3 <<< >>> grid gridDim n b = cudaLaunchConfig_t cudaLaunchKernel if else while do"
MORE += " switch case sizeof [ ] { } ( ) , ;"
BODIES = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from([*WORDS, *MORE.split()]), max_size=60).map(" ".join),
)


@given(
    BODIES, st.sampled_from(["", "dim3 grid(1, n", "go<<<grid, ", "if (n > 5) {", "how.gridDim ="])
)
def test_no_text_is_too_odd(text: str, begin: str) -> None:
    for one in _read(f"dim3 grid; {begin} {text}"):
        for values in ({1: 1 << 30, 2: 0}, {}):
            failure = one.fails(values.get)
            assert failure is None or failure.why
    assert isinstance(plain_dims.plain(f"{begin} {text}"), str)


@given(BODIES, st.integers(0, 40))
def test_any_place_of_any_text_has_its_guards(text: str, place: int) -> None:
    read = Text(f"void f(int n) {{ {text} }}")
    for one in read.definitions():
        found = guards(read, one, place)
        assert all(0 <= begin <= end for begin, end, _ in found.asked)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    _read(text)
    _read("go<<<dim3(1, n), 1>>>(x);", text)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "text",
    [
        "go<<<dim3(1, n), n, n>>>(x);" * 3000,
        "dim3 g(1, n);" * 5000 + "go<<<g, g>>>(x);",
        "if (n > 1) {" * 3000 + "go<<<dim3(1, n), 1>>>(x);",
        "if (n > 1) a(); else " * 3000 + "go<<<dim3(1, n), 1>>>(x);",
        "if (n > 1) return; " * 3000 + "go<<<dim3(1, n), 1>>>(x);",
        "do " * 9000 + "go<<<dim3(1, n), 1>>>(x);",
        "grid.y = grid.y = " * 3000 + "n; go<<<grid, grid>>>(x);",
        "auto a = [&] {" * 2000 + "go<<<dim3(1, n), 1>>>(x);",
        "grid = grid ? grid : grid;" * 2000 + "dim3 grid; go<<<grid, grid>>>(x);",
    ],
    ids=lambda text: text[:20],
)
def test_texts_that_are_made_to_take_long_do_not(text: str) -> None:
    begun = time.process_time()
    for one in _read(text):
        one.fails({1: 1 << 20, 2: 2}.get)
    assert time.process_time() - begun < 10


def test_every_source_of_the_red_team_is_read() -> None:
    for source in SOURCES:
        plain_dims.plain(source)
        host_launches.launches(source, "f", ARGUMENTS)
