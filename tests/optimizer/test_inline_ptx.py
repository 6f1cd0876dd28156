"""Inline assembly: what only computes, moves, waits and synchronises is taken, nothing leaves it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.boundary import violations
from optimizer.inline_ptx import plain
from optimizer.tokens import code_tokens


def taken(statement: str) -> bool:
    return plain([t.text for t in code_tokens(statement)])


def block(text: str) -> bool:
    """Tell whether this PTX is taken, with three operands."""
    lines = "".join(f'"{line}\\n\\t"\n' for line in text.splitlines())
    return taken(f'asm volatile({lines} : "+r"(a) : "l"(p), "r"(b) : "memory")')


WAIT = """{
.reg .pred P1;
LAB_WAIT:
mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;
@P1 bra.uni DONE;
bra.uni LAB_WAIT;
DONE:
}"""


@pytest.mark.parametrize(
    "text",
    [
        WAIT,
        WAIT.replace("LAB_WAIT", "LAB_WAIT_%=").replace("DONE", "DONE_%="),
        WAIT.replace("LAB_WAIT", "$wait").replace("DONE", "$done"),
        WAIT.replace("P1", "%%p1"),
        WAIT.replace("\n", " "),
        WAIT.replace("@P1 bra.uni DONE;\nbra.uni LAB_WAIT;", "@!P1 bra LAB_WAIT;"),
        "{ .reg .pred p; L: { .reg .u32 t; mov.u32 t, %2; setp.ne.u32 p, t, 0; @p bra L; } }",
        "{ .reg .pred p, q; setp.lt.u32 p|q, %0, %2; selp.b32 %0, 1, 0, p; @q add.u32 %0, %0, 1; }",
        "{ .reg .b32 t<4>, u; mov.b32 t3, 0x7FU; mov.b32 u, t3; mov.b32 %0, u; }",
        "{ .reg .v4 .f32 v; ld.global.nc.L1::no_allocate.L2::128B.v4.f32 v, [%1]; mov.f32 %0, v.x; }",
        "{ .reg .pred P; elect.sync _|P, 0xffffffff; selp.u32 %0, 1, 0, P; }",
        "{ .reg .b16 h; .reg .f16x2 d; .reg .bf16 e; .reg .b128 w; .reg .f64 g; cvt.rn.f16.f32 h, %0; }",
        "{ .reg .u32 %%r; mov.u32 %%r, %%tid.x; mov.u32 %%r, %ctaid.y; mov.u32 %0, %%lanemask_lt; }",
        ".reg .u32 t1; mul.lo.u32 t1, %0, %0; mul.lo.u32 %0, t1, 0f3F800000;",
        "{ .reg .pred __p; setp.eq.u32 __p, %0, WARP_SZ; vote.ballot.sync.b32 %0, __p, -1; }",
        "mov.u32 %0, %%cluster_ctarank; mapa.shared::cluster.u32 %0, %0, 1;",
    ],
)  # fmt: skip
def test_a_block_that_stays_within_itself_is_taken(text: str) -> None:
    assert block(text)


MOVING = """fence.proxy.async; fence.proxy.async.shared::cta; fence.proxy.async.global;
    fence.mbarrier_init.release.cluster; fence.acq_rel.gpu; fence.acq_rel.cluster; membar.gl;
    mbarrier.init.shared::cta.b64 [%0], 1; mbarrier.inval.shared.b64 [%0];
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %2;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %2;
    cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2; cp.async.mbarrier.arrive.noinc.shared.b64 [%0];
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%0];
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 64, [%0], %2;
    cp.async.bulk.global.shared::cta.bulk_group [%1], [%0], %2; cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 1; cp.async.bulk.prefetch.L2.global [%1], 64;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%1], [%0], %2;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%0];
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; barrier.cluster.arrive.relaxed;
    bar.sync 1, 64; barrier.sync.aligned 0; bar.warp.sync 0xffffffff; bar.arrive 2, %2;
    mapa.shared::cluster.u32 %0, %0, %2; getctarank.shared::cluster.u32 %0, %2;
    ld.shared::cluster.u32 %0, [%2]; ld.acquire.gpu.global.u32 %0, [%1]; ld.global.nc.v2.f32 {%0, %2}, [%1+8];
    ld.relaxed.sys.u32 %0, [%1]; ld.global.cg.v2.u32 {%0, %2}, [%1]; st.global.cs.b32 [%1], %0; st.release.gpu.global.u32 [%1], %2; st.shared::cluster.f32 [%0], 1.5e-3;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %2, [%0]; ld.volatile.global.b32 %0, [%1+-4];
    red.async.relaxed.cluster.global.add.u32 [%0], %2; setmaxnreg.inc.sync.aligned.u32 232;
    setmaxnreg.dec.sync.aligned.u32 40; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%2};
    ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%2]; movmatrix.sync.aligned.m8n8.trans.b16 %0, %2;
    wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    cvt.rn.satfinite.e4m3x2.f32 %0, %2, %2; cvt.rna.tf32.f32 %0, %2; prefetch.global.L2 [%1];
    red.global.add.f32 [%1], %0; red.release.gpu.global.add.u32 [%1], 1; atom.global.acq_rel.gpu.cas.b32 %0, [%1], 0, 1;
    match.any.sync.b32 %0, %2, -1; redux.sync.add.s32 %0, %2, 0xffffffff; activemask.b32 %0;
    prmt.b32 %0, %2, 0, 0xbbbb; lop3.b32 %0, %2, %2, %2, 0x1e; dp4a.s32.s32 %0, %2, %2, %0;
    dp2a.lo.u32.u32 %0, %2, %2, %0; bfind.u32 %0, %2; vadd4.u32.u32.u32.sat %0, %2, %2, %0;
    vabsdiff4.u32.u32.u32.add %0, %2, %2, %0; szext.clamp.u32 %0, %2, 8; bmsk.clamp.b32 %0, 3, %2;
    shf.l.wrap.b32 %0, %2, %2, 4; ex2.approx.ftz.f32 %0, %0; tanh.approx.f32 %0, %0"""


@pytest.mark.parametrize("line", MOVING.split(";"))
def test_an_instruction_that_only_computes_moves_or_waits_is_taken(line: str) -> None:
    assert block(f"{line.strip()};")


@pytest.mark.parametrize(
    "text",
    [
        # Branches that leave.
        "bra L;", "{ bra L; }", "{ { L: } bra L; }", "{ { L: } { bra L; } }", "{ L: } bra L;",
        "L: bra L;", "L_%=: bra L_%=;", "{ bra $L__BB0_2; }", "{ $L__BB0_2: bra $L__BB0_2; }",
        "{ L: brx.idx %0, L; }", "{ .reg .pred p; @p bra %2; L: }", "{ L: bra L, L; }",
        "{ L: bra L%2; }", "{ L%2: bra L; }", "{ %%L: bra %%L; }", "{ .reg .u32 L; L: bra L; }",
        "{ L: bra l; }", "{ L: L: bra L; }", "{ L: mov.u64 %1, L; }", "{ bra _Z3foov; }",
        "{ ts: .branchtargets L; L: }", "{ bra.uni optiml_1; optiml_1: }", "{ L:: bra L; }",
        # Calls, ends and sleeps.
        "call foo;", "call.uni (%0), foo, (%2);", "{ .reg .u64 f; mov.u64 f, foo; }",
        "mov.u64 %1, _Z3foov;", "mov.u64 %1, {foo, %2};", "ld.global.u32 %0, [counter];",
        "exit;", "ret;", "trap;", "brkpt;", "@%0 exit;", "{ .reg .pred p; @p trap; }",
        "pmevent 1;", "nanosleep.u32 100;", "griddepcontrol.wait;",
        "griddepcontrol.launch_dependents;", "discard.global.L2 [%1], 128;",
        "applypriority.global.L2::evict_normal [%1], 128;",
        "createpolicy.fractional.L2::evict_last.b64 %1, 1.0;", "alloca.u64 %1, 8;",
        "multimem.red.release.sys.global.add.f32 [%1], %0;", "multimem.ld_reduce.global.add.u32 %0, [%1];",
        "tex.1d.v4.f32.s32 {%0}, [%1, {%2}];", "sust.b.1d.b32.trap [%1, {%2}], {%0};",
        "ld.param.u64 %1, [k_param_0];", "ld.param.u64 %1, [%1];", "ld.mmio.relaxed.sys.u32 %0, [%1];",
        "st.bulk.shared::cta [%0], 64, 0;", "stacksave.u64 %1;", "isspacep.global foo, %1;",
        # What tells time, place and launch, by any name.
        "mov.u32 %0, %%clock;", "mov.u32 %0, %clock;", "mov.u64 %1, %%globaltimer;",
        "mov.u64 %1, %%clock%2;", "mov.u32 %0, %%clock%=;", "mov.u32 %0, %%smid;",
        "mov.u32 %0, %%pm0;", "mov.u32 %0, %%envreg1;", "mov.u64 %1, %%gridid;",
        "mov.u32 %0, %%warpid;", "mov.u32 %0, %%CLOCK;", "mov.u32 %0, %%%2;", "mov.u32 %0, %%2;",
        "{ .reg .u32 %%pm0; mov.u32 %0, %%pm0; }", "{ .reg .u32 %%pm<8>; mov.u32 %0, %%pm0; }",
        "{ .reg .u32 %%clock6<5>; mov.u32 %0, %%clock64; }", "{ .reg .u32 %%tid; mov.u32 %0, %%tid; }",
        "{ { .reg .u32 %%t; } mov.u32 %0, %%t; }", "{ mov.u32 %0, t; .reg .u32 t; }",
        "{ .reg .u32 %%optiml_m; }", "{ .reg .u32 WARP_SZ; }", "{ .reg .u32 _; }", "{ .reg .u32 t%=<4>; }", "{ .reg .u32 t, t; }", "{ .reg .u32 t<9999>; }",
        # Directives, and what hides in them.
        ".global .u32 g;", ".shared .b8 s[64];", ".func f;", ".visible .entry e() { ret; }",
        ".pragma nounroll;", ".version 8.0;", ".reg .param p;", ".param .u32 p;", ".local .u32 l;",
        "{ .reg u32 t; }", "{ .reg .u32; }", ".extern .func f;", ".alias a, b;", ".section x { }",
        ".file 1;", ".loc 1 1 1;", "#line 1;", "@@DWARF x;", ".const .u32 c = 1;",
        # Text that does not hold together.
        "}", "{", "} {", "} .visible .entry e() { ret;", "mov.u32 %0, %2", "@%0", "add.u32 %0, {%2;",
        "{ mov.u32 %0, %2 }", "mov.u32 %0, [%2;", "mov.u32 %0, ];", "mov.u32 %0, 0x%2;",
        "mov.u32 %0%2, 1;", "mov .u32 %0, 1;", "mov.%2 %0, 1;", "ld%2.u32 %0, [%1];",
        "mov.u32 %0, %2 // x;", "mov.u32 %0, /* ; */ %2;", "mov.u32 %0, (%2);", "mov.u32 %0, 1 = 2;",
        "mov.u32 %0, %2; ex/**/it;", "mov.u32 %0, %[b];", "mov.u32 %0, \\\\x41;", "mov.u32 %0, ?;",
        "mov.u32 %0, 'a';", 'mov.u32 %0, \\"a\\";', "ex2x %0;", "add %0; exit;", "@!exit;",
        "{ .reg .pred p; @p @p mov.u32 %0, 1; }", "{ .reg .pred p; @p { exit; } }",
        "{ .reg .pred p; @p L: bra L; }", "mov.u32 %0, µ;",
    ],
)  # fmt: skip
def test_what_leaves_the_block_is_refused(text: str) -> None:
    assert not block(text)


@pytest.mark.parametrize(
    ("statement", "inside"),
    [
        ('asm("mov.u32 %0, %1;" : "=r"(a) : "r"(b))', True),
        ('asm("mov.u32 %0, %1;" : "=&r"(a) : "r"(f(b)[1]))', True),
        ('__asm__ __volatile__("mov.u32 %0, %1;" : "=r"(a) : "n"(N) : "memory", "cc")', True),
        ('asm volatile("bar.sync 1;" ::: "memory")', True),
        ('asm volatile("bar.sync 1;" : : : )', True),
        ('asm volatile("bar." "sync 1;")', True),
        ('asm("mov.u32 %0, %1;" : "=r"(a) : "C"(text))', False),  # puts its text in
        ('asm("mov.u32 %0, %1;" : "=r"(a) : KIND(text))', False),
        ('asm("mov.u32 %0, %1;" : "=r"(a) : "r" KIND(text))', False),
        ('asm("mov.u32 %0, %1;" : "=r"(a) : "r"(b) KIND)', False),
        ('asm("mov.u32 %0, %1;" : "=r"(a) : "r"(b), KIND)', False),
        ('asm("mov.u32 %0, %1;" : "=r"(a) : "r"(b]))', False),
        ('asm("mov.u32 %0, %1;" : [a] "=r"(a) : "r"(b))', False),
        ('asm("bar.sync 1;" :::: L)', False),
        ('asm goto("bar.sync 1;" :::: L)', False),
        ('asm("bar.sync 1;" TEXT)', False),
        ('asm("bar.sync 1;" #x)', False),
        ('asm(TEXT "bar.sync 1;")', False),
        ('asm("bar.sync 1;"_x)', False),
        ('asm(R"(bar.sync 1;)")', False),
        ('asm(L"bar.sync 1;")', False),
        ('asm("bar.sync \\\n1;")', False),
        ('asm("ex" "it;")', False),
        ('asm("b" "ra L;")', False),
        ('asm("bar.sync 1;" : "+r"(a)', False),
        ("asm()", False),
        ("asm", False),
    ],
)
def test_operands_are_values(statement: str, inside: bool) -> None:
    """Text comes from literals alone: not from operands, macros or arguments."""
    assert taken(statement) == inside


PIECES = (
    "{", "}", "{", "}", "L:", "M:", "$n_%=:", "bra L;", "bra.uni M;", "@p bra L;", "@!p bra $n_%=;",
    ".reg .pred p;", ".reg .u32 t;", "setp.eq.u32 p, %0, 1;", "mov.u32 t, %0;", "@p mov.u32 %0, t;",
    "bar.sync 0;", "mov.b64 {%0, %2}, %1;", "exit;", "ret;", "mov.u32 %0, %%clock;", "call f;",
    "trap;", ".global .u32 g;", "brx.idx %0, L;", "mov.u64 %1, L;", "bra f;", "/*", "*/", "//", ";",
    "@p", "L", ":", "bra", ",", "%1", "%%", "\\\\", ".func", "x<4>",
)  # fmt: skip
FORBIDDEN = re.compile(r"(?<![.\w])\W?(?:exit|ret|clock|call|trap|brx|\.global|\.func|/|\\)")


def branches_inside(text: str) -> bool:
    """Tell whether each branch has its label in a brace around it: pieces are one blank apart."""
    open_braces: list[int] = []
    count = 0
    labels: set[tuple[int, str]] = set()
    branches: list[tuple[tuple[int, ...], str]] = []
    vector = False
    words = text.replace(";", " ; ").split()
    for before, word in zip(["", *words], words, strict=False):
        if vector:
            vector = not word.startswith("%2}")
        elif word.startswith("{%"):
            vector = True
        elif word == "{":
            count += 1
            open_braces.append(count)
        elif word == "}":
            open_braces.pop()
        elif word.endswith(":"):
            labels.add((open_braces[-1], word[:-1]))
        elif before.startswith("bra"):
            branches.append((tuple(open_braces), word))
    return all(any((b, name) in labels for b in around) for around, name in branches)


@settings(max_examples=700, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.booleans())
def test_every_branch_of_a_taken_block_is_inside_it(pieces: list[str], wrapped: bool) -> None:
    if wrapped:
        pieces = ["{", ".reg .pred p;", ".reg .u32 t;", *pieces, "}"]
    text = " ".join(pieces)
    if block(text):
        assert not FORBIDDEN.search(text)
        assert branches_inside(text.replace(" :", ":"))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_cut_through_a_block_opens_it(data: st.DataObject) -> None:
    """A taken block with a piece put in anywhere is taken with its branches inside, or refused."""
    at = data.draw(st.integers(0, len(WAIT)))
    piece = data.draw(st.sampled_from((*PIECES, "%", "=", '" X "', "$", "_", "\n", "!", "|")))
    text = WAIT[:at] + piece + WAIT[at:]
    if block(text):
        assert not FORBIDDEN.search(text)
        targets = re.findall(r"(?<![\w.])bra(?:\.uni)?\s+([\w$%=]+)", text)
        assert set(targets) <= set(re.findall(r"([\w$%=]+)\s*:(?!:)", text))


ROWS = """#define ASM(s) asm volatile(s ::: "memory")
#define SLOW(x) asm("nanosleep.u32 %0;" :: "r"(x))
__device__ void meet() { ASM("membar.gl;"); SLOW(5); }
__global__ void rows(const float* x, float* y, int n) { meet(); y[threadIdx.x] = x[threadIdx.x] * n; }
__global__ void other(float* y);
__global__ void other(float* y) { y[0] = 1; }
void run(const float* x, float* y, int n) {
    rows<<<(n + 127) / 128, 128>>>(x, y, n);
}
"""
BEFORE, CALL = "__device__ void meet", "meet(); y"


@pytest.mark.parametrize(
    ("pairs", "inside"),
    [
        ([(BEFORE, f'#define HERE(p) asm volatile("membar.gl;" :: "l"(p))\n{BEFORE}'), (CALL, f"HERE(x); {CALL}")], True),
        ([(BEFORE, f"#define NAME(a, b) a##b\n{BEFORE}"), (CALL, f"int NAME(q, 1) = 0; {CALL}")], True),
        ([(CALL, "meet(); meet(); y")], True),
        ([('ASM("membar.gl;"); SLOW(5); ', "")], True),
        ([('ASM("', 'asm volatile("bar.sync 0;"); ASM("')], True),
        ([(CALL, f'ASM("exit;"); {CALL}')], False),
        ([('"membar.gl;"', '"exit;"')], False),
        ([("SLOW(5)", "SLOW(50000)")], False),
        ([(BEFORE, f'#define END ASM("exit;")\n{BEFORE}'), (CALL, f"END; {CALL}")], False),
        ([(BEFORE, f"#define NAME(a, b) a##b\n{BEFORE}"), (CALL, f'NAME(as, m)("exit;"); {CALL}')], False),
        ([(BEFORE, f'#define END(x) int q##x; asm("exit;")\n{BEFORE}'), (CALL, f"END(1); {CALL}")], False),
        ([(BEFORE, f'#define END(x) f(#x); asm("exit;")\n{BEFORE}'), (CALL, f"END(1); {CALL}")], False),
        ([(BEFORE, f"#define END(x) q##x }}\n{BEFORE}")], False),
        ([(BEFORE, f"#define KEEP(x) sta##x int kept\n{BEFORE}"), (CALL, f"KEEP(tic); {CALL}")], False),
    ],
)  # fmt: skip
def test_macros_bring_no_other_assembly(pairs: list[tuple[str, str]], inside: bool) -> None:
    """Neither by the original's macros, nor behind `#`, nor from parts."""
    text = ROWS
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    assert (violations(ROWS, text) == ()) == inside


CLUSTER = "__cluster_dims__(2, 1, 1)"


@pytest.mark.parametrize(
    ("old", "new", "inside"),
    [
        ("__global__ void rows", f"__global__ void {CLUSTER} rows", True),
        ("__global__ void rows", f"{CLUSTER} __global__ void __launch_bounds__(128) rows", True),
        ("__global__ void other(float* y)", f"__global__ void {CLUSTER} other(float* y)", True),
        ("__global__ void rows", "__global__ void __block_size__((64, 1, 1)) rows", False),
        ("void run", f"void {CLUSTER} run", False),
        ("    rows<<<", f"    {CLUSTER} rows<<<", False),
        ("(x, y, n);", "(x, y, n); cudaLaunchKernelEx(&c, rows, x, y, n);", False),
        ("rows<<<(n + 127) / 128, 128>>>", "cudaLaunchAttribute a; rows<<<(n + 127) / 128, 128>>>", False),
    ],
)  # fmt: skip
def test_clusters_are_launch_geometry(old: str, new: str, inside: bool) -> None:
    """As an attribute of a kernel; not as what the host says of a launch."""
    text = ROWS.replace(old, new)
    assert text != ROWS
    assert (violations(ROWS, text) == ()) == inside
    if inside:
        assert violations(text, ROWS) == ()
