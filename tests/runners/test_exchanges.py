"""Exchanges that nobody reads become stores in PTX, and nothing else changes."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.exchanges import as_stores

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def body(*lines: str, name: str = "k") -> str:
    """Return a kernel of these lines."""
    inside = "\n".join(f"\t{line}" for line in lines)
    declared = "\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<99>;\n\t.reg .b64 \t%rd<99>;\n"
    return (
        f".visible .entry {name}(\n\t.param .u64 {name}_0\n)\n{{\n{declared}{inside}\n\tret;\n}}\n"
    )


@pytest.mark.parametrize(
    ("exchange", "store"),
    [
        ("atom.global.exch.b32 \t%r1, [%rd1], 1;", "st.relaxed.gpu.global.b32 [%rd1], 1;"),
        ("atom.shared.exch.b64 %rd7, [%r2+8], %rd3;", "st.relaxed.gpu.shared.b64 [%r2+8], %rd3;"),
        ("@%p1 atom.exch.b32 %r1, [%rd1], %f2;", "@%p1 st.relaxed.gpu.b32 [%rd1], %f2;"),
        ("@!%p1 atom.global.cta.exch.b32 %r1, [%rd1], 2;", "@!%p1 st.relaxed.cta.global.b32 [%rd1], 2;"),
        ("atom.exch.acq_rel.sys.b64 %rd7,[%rd1],%rd3;", "st.release.sys.b64 [%rd1], %rd3;"),
        ("atom.acquire.gpu.global.exch.b32 %r1,[%rd1],%r3;", "st.relaxed.gpu.global.b32 [%rd1], %r3;"),
        ("{ .reg .b32 t; atom.shared::cta.exch.b32 t, [%r2], 1; }", "{ .reg .b32 t; st.relaxed.gpu.shared::cta.b32 [%r2], 1; }"),
        ("atom.global.exch.b32 _, [%rd1], 1; mov.b32 %r5, _;", "st.relaxed.gpu.global.b32 [%rd1], 1; mov.b32 %r5, _;"),
        ("atom.global.exch.b32 %r1, [%rd1], 1; // %r1 is not used", "st.relaxed.gpu.global.b32 [%rd1], 1; // %r1 is not used"),
    ],
)  # fmt: skip
def test_an_exchange_whose_result_is_not_used_is_a_store(exchange: str, store: str) -> None:
    """Of the same width and space, under the same guard, as strong and as far."""
    before, after = body(exchange), body(store)
    assert as_stores(HEAD + before + body("add.u32 %r1, %r1, %rd7;", name="other")) == (
        HEAD + after + body("add.u32 %r1, %r1, %rd7;", name="other")
    )


@pytest.mark.parametrize(
    "line",
    [
        "mov.u32 %r5, %r1;",
        "st.global.v2.u32 [%rd4], {%r4, %r1};",
        "setp.eq.s32 %p2, %r1, 0;",
        "@%r1 bra $L__BB0_1;",
        "ld.shared.u32 %r6, [%r1+4];",
        "mov.b64 {%r1, %r8}, %rd2;",
        "call.uni (%r9), f, (%r1);",
        "{ mov.b32 %r5, /* so */%r1;}",
        "atom.global.exch.b32 %r1, [%rd2], 2;",
        "mov.b32 %r5, %r1.x;",
    ],
)
def test_one_whose_result_stands_anywhere_else_stays(line: str) -> None:
    """Before it or behind it, read or written."""
    exchange = "atom.global.exch.b32 %r1, [%rd1], 1;"
    for text in (body(exchange, line), body(line, exchange)):
        assert as_stores(HEAD + text) == HEAD + text


@pytest.mark.parametrize(
    "line",
    [
        "atom.global.exch.b128 %rq1, [%rd1], %rq2;",
        "atom.global.exch.L2::cache_hint.b32 %r1, [%rd1], 1, %rd5;",
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "atom.global.cas.b32 %r1, [%rd1], 0, 1;",
        "atom.shared.exch.b32 %r1, [%r1], 1;",
        "atom.shared.exch.b32 %r1, [%r2], %r1;",
        "red.global.add.u32 [%rd1], 1;",
        "// atom.global.exch.b32 %r1, [%rd1], 1;",
        '.pragma "atom.global.exch.b32 %r1, [%rd1], 1;";',
        "myatom.global.exch.b32 %r1, [%rd1], 1;",
        "atom.global.exch.shared.b32 %r1, [%rd1], 1;",
    ],
)
def test_what_is_no_plain_exchange_stays(line: str) -> None:
    assert as_stores(HEAD + body(line)) == HEAD + body(line)


def test_a_comment_does_not_part_an_exchange_from_what_reads_it() -> None:
    """A function that begins in a comment or in a string is none."""
    text = body(
        "atom.global.exch.b32 %r1, [%rd1], 1;", "/*", ".func f()", "*/", "mov.u32 %r5, %r1;"
    )
    assert as_stores(text) == text


LINES = st.sampled_from(
    [
        "atom.global.exch.b32 %r{}, [%rd{}], {};",
        "@%p{} atom.shared.exch.b64 %rd{}, [%r{}], 7;",
        "atom.exch.release.cta.b32 %r{},[%rd{}],%r{};",
        "atom.global.add.u32 %r{}, [%rd{}], %r{};",
        "mov.u32 %r{}, %r{}; // {}",
        "st.global.v2.u32 [%rd{}], {{%r{}, %r{}}};",
        "ld.shared.u32 %r{}, [%r{}+{}];",
    ]
)
NUMBERS = st.integers(1, 6)


@given(st.lists(st.lists(st.tuples(LINES, NUMBERS, NUMBERS, NUMBERS), max_size=8), max_size=3))
def test_only_exchanges_that_nobody_reads_change(
    kernels: list[list[tuple[str, int, int, int]]],
) -> None:
    """Each line is what it was, or the store of an exchange whose result stands on no other."""
    texts = [[line.format(a, b, c) for line, a, b, c in lines] for lines in kernels]
    whole = HEAD + "".join(body(*lines, name=f"k{n}") for n, lines in enumerate(texts))
    made = as_stores(whole)
    assert as_stores(made) == made
    old, new = whole.splitlines(), made.splitlines()
    assert len(old) == len(new)
    starts = [n for n, line in enumerate(old) if ".entry" in line] + [len(old)]
    for begin, end in pairwise(starts):
        code = [line.partition("//")[0] for line in old[begin:end]]
        for number in range(begin, end):
            found = re.search(r"\batom\.\S*exch\S*\s+(%\w+)\s*,", old[number])
            uses = len(re.findall(rf"{found[1]}\b", "\n".join(code))) if found else 0
            assert (old[number] != new[number]) == (uses == 1)
            if uses == 1:
                assert re.search(r"\bst\.\w+\.\w+\.", new[number])
                assert old[number].partition("atom")[0] == new[number].partition("st.")[0]
                assert old[number].rpartition("[")[2].replace(" ", "") == new[number].rpartition(
                    "["
                )[2].replace(" ", "")


CODE = """#include <cuda/atomic>
extern "C" __global__ void k(int* a, unsigned long long* b, float* f, int* out) {
    __shared__ int s;
    atomicExch(&s, 3);
    atomicExch_block(a + 1, 2);
    atomicExch_system(a + 2, 4);
    atomicExch(f, 1.f);
    if (a[7]) atomicExch(b, 5ull);
    out[0] = atomicExch(a, 1);
    cuda::atomic_ref<int, cuda::thread_scope_device> r(a[3]);
    r.exchange(7, cuda::std::memory_order_relaxed);
    r.exchange(9);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_block> q(b[4]);
    q.exchange(9, cuda::std::memory_order_acq_rel);
    q.exchange(9, cuda::std::memory_order_release);
    out[1] = r.exchange(9) + s;
}
"""


@needs_nvcc
def test_what_the_compiler_writes_is_read_and_assembled_again(tmp_path: Path) -> None:
    """CUDA's own functions and the library's: all but the two that are read."""
    (tmp_path / "k.cu").write_text(CODE)
    line = ["nvcc", "-std=c++17", "-arch=sm_90"]
    subprocess.run([*line, "-ptx", "-o", "k.ptx", "k.cu"], cwd=tmp_path, check=True)
    before = (tmp_path / "k.ptx").read_text()
    after = as_stores(before)
    (tmp_path / "k.ptx").write_text(after)
    subprocess.run([*line, "-cubin", "-o", "k.cubin", "k.ptx"], cwd=tmp_path, check=True)
    assert len(re.findall(r"\batom\S*exch", before)) == 11
    assert len(re.findall(r"\batom\S*exch", after)) == 2
