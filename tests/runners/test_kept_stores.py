"""Which stores may be kept past a barrier and what is counted behind it, and that they are done.

A small machine runs what comes of it: each store is done once, before the next barrier.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runners import shaking
from runners.reordering import Counter, Place, keeps
from runners.seeded import SEED
from runners.shaking import shaken
from tests.runners.test_reordering import CASES, assembled, compiled, needs_nvcc

KEPT = """.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 ended;

.visible .entry inner(
	.param .u64 inner_param_0,
	.param .u64 inner_param_1,
	.param .u32 inner_param_2
)
{
	.reg .pred 	%p<9>;
	.reg .b32 	%r<19>;
	.reg .b64 	%rd<19>;
	.shared .align 4 .b8 last[512];

	ld.param.u64 	%rd1, [inner_param_0];
	ld.param.u64 	%rd2, [inner_param_1];
	ld.param.u32 	%r8, [inner_param_2];
	cvta.to.global.u64 	%rd3, %rd1;
	cvta.to.global.u64 	%rd4, %rd2;
	mov.u32 	%r1, %tid.x;
	and.b32 	%r3, %r1, 1;
	setp.ne.s32 	%p1, %r3, 0;
	setp.ne.s32 	%p2, %r1, 0;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd3, %rd5;
	mov.u32 	%r9, 0;
	// begins
$AGAIN:
	add.s32 	%r7, %r1, %r9;
	@%p1 bra 	$FIRST; // odd
	st.global.u32 	[%rd6+8], %r7;
	// stored
$FIRST:
	bar.sync 	0;
	@%p2 bra 	$SECOND; // others
	atom.global.add.u32 	%r4, [%rd4], 1;
	st.shared.u32 	[last], %r4;
	// counted
$SECOND:
	bar.sync 	0;
	ld.shared.u32 	%r5, [last];
	ld.global.u32 	%r6, [%rd6+8];
	st.global.u32 	[%rd6+4096], %r6;
	// end
	ret;
}
"""
LOOP = """add.s32 %r9, %r9, 1;
	bar.sync 0;
	setp.lt.s32 %p5, %r9, %r8;
	@%p5 bra $AGAIN;"""


def keeping(*changes: tuple[str, str]) -> str:
    text = KEPT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def kept(text: str) -> list[tuple[str, tuple[Counter, ...]]]:
    lines = text.splitlines()
    for one in keeps(lines):
        assert "bar.sync" in lines[one.barrier]
    return [(lines[one.store].strip(), one.counted) for one in keeps(lines)]


FIRST_STORE = "st.global.u32 \t[%rd6+8], %r7;"
ATOMIC = "atom.global.add.u32 \t%r4, [%rd4], 1;"
COUNTED = (Counter("[inner_param_1]", 0, 4),)


def test_a_store_may_be_kept_past_a_barrier_and_what_is_counted_behind_it() -> None:
    (one,) = keeps(KEPT.splitlines())
    lines = KEPT.splitlines()
    assert lines[one.store].strip() == FIRST_STORE
    assert lines[one.barrier - 1] == "$SECOND:"
    assert (one.stored, one.counted) == (Place("%rd6", 8, 4, generic=False), COUNTED)


@pytest.mark.parametrize(
    "changes",
    [
        [("// stored", "st.shared.u32 [last+4], %r1;\n\tld.shared.u32 %r11, [last+8];")],
        [("// counted", "ld.global.nc.u32 %r11, [%rd6];")],
        [("// counted", "setp.eq.s32 %p3, %r4, 3;\n\t@%p3 bra $SECOND;")],
        [("@%p2 bra \t$SECOND; // others", ""), ("\t" + ATOMIC, "\t@!%p2 " + ATOMIC)],
        [("// begins", "@%p1 ret;")],
        [("// begins", "membar.gl;\n\tld.volatile.global.u32 %r11, [%rd3];")],
        [("// end", "membar.gl;\n\tbar.sync 0;\n\tld.global.u32 %r11, [%rd3];")],
        [("// end", LOOP)],
        [("// begins", "bar.sync 0;")],
        [("// begins", "@%p1 bra $SKIP;\n\tst.global.u32 [%rd6+8], %r1;\n$SKIP:")],
    ],
)
def test_what_harms_nobody_may_be_between(changes: list[tuple[str, str]]) -> None:
    """Or before and behind: also a loop around all of it, and threads that have ended before."""
    assert kept(keeping(*changes)) == [(FIRST_STORE, COUNTED)]


FENCED = "// stored\n$FIRST:\n\t@%p2 bra $THERE;\n\tmembar.gl;\n$THERE:"


def test_a_fence_of_one_thread_before_the_barrier_is_one_for_itself() -> None:
    """Whoever comes by it keeps nothing any longer; all others' stores it does not order."""
    text = keeping(("$FIRST:\n", ""), ("// stored", FENCED))
    (one,) = keeps(text.splitlines())
    lines = text.splitlines()
    (fence,) = one.fences
    assert "membar.gl" in lines[fence]
    changed = shaken(text)
    assert changed is not None
    before, _, behind = changed.partition("membar.gl;")
    # At once: who slept there would count last, when all others' stores are done.
    assert before.rpartition("$THERE;")[2].count("@%optiml_h nanosleep") == 0
    assert behind.count("@%optiml_h nanosleep") == 1


@pytest.mark.parametrize("fence", ["membar.gl;", "fence.acq_rel.gpu;", "fence.sc.sys;"])
def test_a_fence_behind_the_counting_comes_too_late(fence: str) -> None:
    assert kept(keeping(("// counted", fence))) == [(FIRST_STORE, COUNTED)]


@pytest.mark.parametrize(
    "changes",
    [
        # Of all who store; of whoever counts, before it counts; under a condition of its own; before
        # another count.
        [("// stored", "membar.gl;")],
        [("$FIRST:\n", "$FIRST:\n\tmembar.gl;\n")],
        [("\t" + ATOMIC, "\tmembar.gl;\n\t" + ATOMIC)],
        [("\t" + ATOMIC, "\tfence.acq_rel.gpu;\n\t" + ATOMIC)],
        [("// stored", "@%p2 membar.gl;")],
        [("// counted", "membar.gl;\n\tred.global.add.u32 [%rd4], 1;")],
        [("// stored", FENCED.replace("membar.gl", "fence.proxy.async"))],
    ],
)
def test_a_fence_that_orders_what_is_stored_keeps_it_where_it_is(
    changes: list[tuple[str, str]],
) -> None:
    if "$THERE" in changes[0][1]:
        changes = [("$FIRST:\n", ""), *changes]
    assert kept(keeping(*changes)) == []


@pytest.mark.parametrize(
    ("made", "counter"),
    [
        ("cvta.to.global.u64 \t%rd4, %rd2;\n\tadd.s64 %rd7, %rd4, 8;", "[inner_param_1]"),
        ("mov.u64 %rd4, ended;\n\tadd.s64 %rd7, %rd4, 8;", "ended"),
        ("add.u64 %rd4, %rd2, 8;\n\tmov.b64 %rd7, %rd4;", "[inner_param_1]"),
    ],
)
def test_a_counter_is_followed_to_where_it_comes_from(made: str, counter: str) -> None:
    text = keeping(
        ("cvta.to.global.u64 \t%rd4, %rd2;", made),
        (ATOMIC, "atom.relaxed.gpu.global.cas.b64 %rd9, [%rd7+-4], %rd1, %rd2;"),
    )
    assert kept(text) == [(FIRST_STORE, (Counter(counter, 4, 8),))]
    assert kept(keeping((ATOMIC, "atom.global.add.u32 %r4, [ended], 1;"))) == [
        (FIRST_STORE, (Counter("ended", 0, 4),))
    ]


ORDERS = [
    "membar.gl;",
    "membar.cta;",
    "fence.acq_rel.gpu;",
    "fence.proxy.async;",
    "bar.warp.sync -1;",
    "shfl.sync.down.b32 %r11|%p4, %r1, 16, 31, -1;",
    "vote.sync.ballot.b32 %r11, %p1, -1;",
    "ld.volatile.shared.u32 %r11, [last];",
    "st.volatile.shared.u32 [last], %r1;",
    "st.release.gpu.global.u32 [%rd4], %r1;",
    "ld.acquire.gpu.global.u32 %r11, [%rd4];",
    "ld.global.u32 %r11, [%rd3];",
    "ld.u32 %r11, [%rd3];",
    "ld.shared::cluster.u32 %r11, [%r1];",
    "atom.shared.add.u32 %r11, [last], 1;",
    "atom.acq_rel.gpu.global.add.u32 %r11, [%rd4], 1;",
    "red.release.gpu.global.add.u32 [%rd4], 1;",
    "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
    "cp.async.ca.shared.global [%r1], [%rd3], 16;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
    "mbarrier.arrive.shared.b64 %rd11, [%r1];",
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd3, {%r1}];",
    "griddepcontrol.launch_dependents;",
    "nanosleep.u32 20;",
    "ret;",
    "@%p1 ret;",
    "@%p1 exit;",
    "trap;",
    "@%p1 bra $AGAIN;",
    "@%p1 bra $END;",
    "mov.u32 %r7, %r1;",
    "ld.shared.u32 %r7, [last];",
    "add.s64 %rd6, %rd6, 8;",
    "{\n\t}",
    ".reg .b32 %own;",
    "mov.u32 %r11, 1; mov.u32 %r12, 2;",
]


# Behind the counting these order what nobody waits for any more.
LATE_FENCES = {("// counted", "membar.gl;"), ("// counted", "fence.acq_rel.gpu;")}


@pytest.mark.parametrize(
    ("place", "between"),
    sorted({*itertools.product(["// stored", "// counted"], ORDERS)} - LATE_FENCES),
)
def test_nothing_between_may_order_see_end_or_go_back(place: str, between: str) -> None:
    assert kept(keeping((place, between), ("// end", "$END:"))) == []


@pytest.mark.parametrize(
    "changes",
    [
        [("// counted", "st.global.u32 [%rd3+64], %r1;")],
        [("// counted", "st.u32 [%rd3+64], %r1;")],
        [("// stored", "st.u32 [%rd3+64], %r1;")],
        [("// stored", "atom.global.add.u32 %r11, [%rd4], 1;")],
        [(FIRST_STORE, "st.u32 [%rd6+8], %r7;")],
        [(FIRST_STORE, "st.volatile.global.u32 [%rd6+8], %r7;")],
        [(FIRST_STORE, "st.relaxed.gpu.global.u32 [%rd6+8], %r7;")],
        [(FIRST_STORE, "st.shared.u32 [last+8], %r7;")],
        [(FIRST_STORE, "@%p1 " + FIRST_STORE), ("// counted", "setp.ne.s32 %p1, %r4, 0;")],
        [(ATOMIC, "red.global.add.u32 [%rd4], 1;")],
        [(ATOMIC, "")],
        [(ATOMIC, "atom.global.add.u32 %r4, [%rd6], 1;")],
        [(ATOMIC, "atom.global.add.u32 %r4, [last], 1;")],
        [("// counted", "red.global.add.u32 [%rd6+64], 1;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "ld.global.u64 %rd4, [%rd2];")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "mad.wide.u32 %rd4, %r1, 4, %rd2;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "add.s64 %rd4, %rd2, %rd5;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "ld.param.u64 %rd4, [%rd2];")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "cvta.shared.u64 %rd4, %rd2;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "@%p1 mov.u64 %rd4, %rd2;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "mov.u64 %rd4, last;")],
        [("// end", "add.s64 %rd4, %rd4, 4;")],
    ],
)
def test_what_is_stored_and_counted_must_be_known_to_lie_apart(
    changes: list[tuple[str, str]],
) -> None:
    assert kept(keeping(*changes)) == []


@pytest.mark.parametrize(
    "elsewhere",
    [
        "bar.sync 1;",
        "bar.sync 0, 64;",
        "@%p1 bar.sync 0;",
        "bar.arrive 1, 64;",
        "bar.red.popc.u32 %r11, 0, %p1;",
        "barrier.cluster.arrive;",
        "mapa.shared::cluster.u32 %r11, %r1, 0;",
        "call.uni (retval0), f, (param0);",
        "@%p1 brx.idx %r1, ways;",
        "bra $NOWHERE;",
        "$FIRST:",
        ".reg .b32 own;",
        "{ .reg .b32 own; mov.u32 own, 1; }",
        # Not all threads come to the first barrier: some come to another one, or more often.
        "@%p1 bra $SECOND;",
        "@%p1 bra $ONCE;\n\tbar.sync 0;\n$ONCE:",
        "$MORE:\n\tbar.sync 0;\n\t@%p1 bra $MORE;",
    ],
)
def test_a_kernel_whose_threads_may_be_elsewhere_keeps_its_order(elsewhere: str) -> None:
    assert kept(keeping(("// begins", elsewhere))) == []


@pytest.mark.parametrize(
    "end",
    [
        "@%p1 bra $AGAIN;\n\tbar.sync 0;\n\tbra $AGAIN;",
        "@%p1 bra $FIRST;\n\tbra $SECOND;",
    ],
)
def test_threads_that_come_again_must_come_together(end: str) -> None:
    assert kept(keeping(("// end", end))) == []


def test_a_function_that_is_called_keeps_no_store() -> None:
    assert keeps(KEPT.replace(".entry", ".func").splitlines()) == []
    assert len(keeps((KEPT + KEPT.partition("ended;")[2]).splitlines())) == 2


COMPARED: dict[str, Callable[[int, int], bool]] = {
    one: getattr(operator, one) for one in ("eq", "ne", "lt", "ge")
}
DONE: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "cvta": lambda a: a,
    "not": lambda a: not a,
    "popc": int.bit_count,
    "add": operator.add,
    "sub": operator.sub,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "mul": operator.mul,
    "mul.hi": lambda a, b: a * b >> 32,
    "mad": lambda a, b, c: a * b + c,
    "bfe": lambda a, at, bits: a >> at & ((1 << bits) - 1),
}


Instruction = tuple[bool, str, list[str], list[str]]


def instruction(line: str) -> Instruction:
    """Read a line: negated, guard, opcode, operands."""
    match = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([\w.:]+)\s*(.*);", line)
    assert match, line
    operands = [word.strip() for word in match[4].split(",")]
    return bool(match[1]), match[2] or "", match[3].split("."), operands


@functools.cache
def instructions(text: str) -> tuple[list[Instruction], dict[str, int]]:
    """Read a text once, however many threads come by: instructions, and which a label is before."""
    lines = [line.partition("//")[0].strip() for line in text.splitlines()]
    found: list[Instruction] = []
    places: dict[str, int] = {}
    for line in lines:
        if not line or line.startswith((".", "{", "}", ")")):
            continue
        if line.endswith(":"):
            places.setdefault(line[:-1], len(found))
        else:
            found.append(instruction(line))
    return found, places


@dataclass
class Block:
    """A block whose threads run one after the other from barrier to barrier."""

    number: int
    memory: dict[int | str, int]
    passed: int = 0
    slept: int = 0
    stores: list[tuple[int, int, int, int]] = field(default_factory=list)

    def run(self, text: str, threads: list[int]) -> None:
        lines, places = instructions(text)
        running = [self._thread(lines, places, thread) for thread in threads]
        while running:
            running = [one for one in running if next(one, None) is not None]
            self.passed += 1

    def left(self) -> dict[int | str, int]:
        """Return what the kernel's own memory holds."""
        own = self.memory.items()
        return {at: value for at, value in own if "optiml" not in str(at)}

    def _thread(
        self, lines: list[Instruction], places: dict[str, int], thread: int
    ) -> Iterator[int]:
        values: dict[str, int] = {"%tid.x": thread, "%laneid": thread % 32, "%ctaid.x": self.number}
        values |= {"%ntid.x": 128, "%nctaid.x": 4} | {f"%n{a}.{b}": 1 for a, b in OTHERS}
        values |= {f"%{a}.{b}": 0 for a, b in OTHERS} | {"%globaltimer_lo": 0}

        def value(operand: str) -> int:
            if operand.startswith("["):
                base, _, plus = operand[1:-1].partition("+")
                at = value(base) + int(plus or 0) if base.startswith("%") else base + plus
                return self.memory.get(at, 0)
            if operand.startswith("%"):
                return values[operand]
            return int(operand, 0) if operand[0] in "-0123456789" else SYMBOLS[operand]

        at = 0
        while at < len(lines):
            (unless, guard, opcode, operands), at = lines[at], at + 1
            if guard and bool(values[guard]) == unless:
                continue
            name, to = opcode[0], operands[0]
            if name == "bra":
                at = places[to]
            elif name == "ret":
                return
            elif name == "bar":
                yield 1
            elif name == "nanosleep":
                self.slept += 1
            elif name in ("st", "red", "atom"):
                place = operands[1 if name == "atom" else 0]
                base, _, plus = place[1:-1].partition("+")
                where = value(base) + int(plus or 0) if base.startswith("%") else base
                before = self.memory.get(where, 0)
                given = value(operands[-1])
                self.memory[where] = given if name == "st" else before + given
                if name == "atom":
                    values[to] = before
                elif name == "st" and isinstance(where, int):
                    self.stores.append((thread, self.passed, where, given))
            elif name == "setp":
                made = COMPARED[opcode[1]](*map(value, operands[1:3]))
                if len(operands) == 4:
                    also = bool(value(operands[3]))
                    made = made and also if opcode[2] == "and" else made or also
                values[to] = made
            elif name == "ld":
                values[to] = value(operands[1])
            else:
                of = DONE[name + (".hi" if "hi" in opcode else "")](*map(value, operands[1:]))
                bits = 1 if opcode[-1] == "pred" else 64 if "64" in opcode[-1] else 32
                bits = 64 if "wide" in opcode else bits
                values[to] = int(of) & ((1 << bits) - 1)


OTHERS = [(a, b) for a in ("tid", "ctaid") for b in "yz"]
SYMBOLS = {"ended": 1 << 20, "last": 0}
THREADS = [0, 1, 2, 32, 33, 34, 64, 66, 67, 96, 97, 98]
OUT, COUNT_AT = 1 << 21, 1 << 22


def done(text: str, seed: int, count_at: int = COUNT_AT) -> list[Block]:
    memory: dict[int | str, int] = {SEED: seed, "inner_param_2": 3}
    memory |= {"inner_param_0": OUT, "inner_param_1": count_at}
    blocks = []
    for number in range(4):
        blocks.append(Block(number, memory))
        blocks[-1].run(text, THREADS)
        memory = dict(memory)
    return blocks


EMULATED = {
    "once": [],
    "again": [("// end", LOOP)],
    "ends": [("// begins", "setp.ge.s32 %p6, %r1, 64;\n\t@%p6 ret;")],
    "sometimes": [
        ("@%p1 bra \t$FIRST; // odd", "setp.eq.s32 %p1, %r9, %r3;\n\t@%p1 bra $FIRST;"),
        ("// end", LOOP),
    ],
    "own": [("@%p1 bra \t$FIRST; // odd", ""), ("@%p2 bra \t$SECOND; // others", "")],
    "guard": [("@%p1 bra \t$FIRST; // odd", ""), ("\t" + FIRST_STORE, "\t@!%p1 " + FIRST_STORE)],
    "branches": [
        ("// begins", "setp.ge.s32 %p6, %r1, 64;"),
        ("// stored", "@%p6 bra $FIRST;\n\tmov.u32 %r11, 5;"),
        ("// counted", "@%p1 bra $LATER;\n\tmov.u32 %r11, 6;\n$LATER:"),
    ],
}


@pytest.fixture
def unfilled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave shared memory as it is: what fills it is run in its own tests, and hides what is kept."""
    monkeypatch.setattr(shaking, "filled", lambda lines, *_: list(lines))


@pytest.mark.usefixtures("unfilled")
@pytest.mark.parametrize("what", EMULATED)
def test_a_kept_store_is_done_once_before_the_next_barrier(what: str) -> None:
    """Whatever way a thread goes; the memory is the same at the end, and each turn of a loop."""
    text = keeping(*EMULATED[what])
    assert len(keeps(text.splitlines())) == 1
    changed = shaken(text)
    assert changed is not None
    late = 0
    for seed in range(12):
        for right, block in zip(done(text, 0), done(changed, seed), strict=True):
            assert block.left() == right.left()
            assert block.passed == right.passed
            moved = 0
            mine = sorted((thread, at, given, when) for thread, when, at, given in block.stores)
            theirs = sorted((thread, at, given, when) for thread, when, at, given in right.stores)
            for one, other in zip(mine, theirs, strict=True):
                assert one[:3] == other[:3]
                assert one[3] - other[3] in (0, 1)
                moved += one[3] - other[3]
            late += moved
            assert not moved or seed
    assert late


@pytest.mark.usefixtures("unfilled")
def test_half_of_the_warps_of_half_of_the_blocks_keep_a_store() -> None:
    """A block that keeps none is the first to look at the others' shares."""
    changed = shaken(KEPT)
    assert changed is not None
    keepers, warps = [], []
    for seed in range(1, 41):
        for block in done(changed, seed):
            late = {
                thread // 32 for thread, when, at, _ in block.stores if when and at < OUT + 4096
            }
            keepers.append(bool(late))
            warps += [len(late)] if late else []
    assert 0.35 < sum(keepers) / len(keepers) < 0.65
    assert 1.5 < sum(warps) / len(warps) < 2.7


@pytest.mark.usefixtures("unfilled")
def test_what_is_counted_itself_is_not_kept() -> None:
    """The kernel finds out that its two buffers are one; else half would be stored later."""
    changed = shaken(KEPT)
    assert changed is not None
    late = {}
    own = OUT + 8 + 4 * 96
    for at in (COUNT_AT, OUT + 8, own - 2, own, own + 2):
        late[at] = {
            thread
            for seed in range(20)
            for block in done(changed, seed, at)
            for thread, when, where, _ in block.stores
            if when == 1 and where < OUT + 4096
        }
    every = {thread for thread in THREADS if thread % 2 == 0}
    assert late[COUNT_AT] == every
    assert late[OUT + 8] == every - {0}
    assert late[own - 2] == late[own] == late[own + 2] == every - {96}


@needs_nvcc
@pytest.mark.parametrize(
    "changes",
    [
        [],
        [("// end", LOOP)],
        [(FIRST_STORE, "@!%p1 " + FIRST_STORE)],
        [(FIRST_STORE, "@%p2 st.global.v2.u32 [%rd6+8], {%r7, %r1};")],
        [(FIRST_STORE, "st.global.u32 [ended+8], %r7;")],
        [(ATOMIC, "atom.global.add.u32 %r4, [ended+4], 1;")],
    ],
)
def test_ptxas_accepts_a_kept_store(changes: list[tuple[str, str]], tmp_path: Path) -> None:
    changed = shaken(keeping(*changes))
    assert changed is not None
    assert changed.count("mov.pred %optiml_h, 0;") == 2
    assembled(changed, tmp_path)


BEHIND_A_BARRIER = """
#define KERNEL(name) extern "C" __global__ void name( \\
    const float* x, float* part, unsigned* count, float* out)
#define SUM float own = x[blockIdx.x * 256 + threadIdx.x]; __shared__ bool last;
#define ADD if (last) { \\
    for (int k = threadIdx.x; k < gridDim.x; k += 256) own += part[k]; \\
    out[threadIdx.x] = own; }
#define TELL last = atomicAdd(count, 1u) == gridDim.x - 1
KERNEL(fenced_by_each) { SUM
    if (threadIdx.x % 32 == 0) part[blockIdx.x * 8 + threadIdx.x / 32] = own;
    __threadfence(); __syncthreads();
    if (threadIdx.x == 0) TELL;
    __syncthreads(); ADD }
KERNEL(fenced_by_who_stores) { SUM
    if (threadIdx.x == 0) { part[blockIdx.x] = own; __threadfence(); }
    __syncthreads();
    if (threadIdx.x == 0) TELL;
    __syncthreads(); ADD }
KERNEL(fenced_by_who_counts) { SUM
    if (threadIdx.x % 32 == 0) part[blockIdx.x * 8 + threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); TELL; }
    __syncthreads(); ADD }
KERNEL(fenced_behind) { SUM
    part[blockIdx.x * 256 + threadIdx.x] = own;
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0) TELL;
    __syncthreads(); ADD }
KERNEL(read_by_the_block) { SUM
    part[blockIdx.x * 256 + threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) TELL;
    own += part[blockIdx.x * 256 + (threadIdx.x ^ 32)];
    __syncthreads(); ADD }
KERNEL(cleared_and_counted) { SUM
    if (threadIdx.x < 4) count[blockIdx.x * 4 + threadIdx.x] = 0;
    __syncthreads();
    last = atomicAdd(&count[blockIdx.x * 4 + threadIdx.x % 4], 1u) == 5;
    __syncthreads(); ADD }
"""


@needs_nvcc
def test_no_store_of_a_right_kernel_is_kept(tmp_path: Path) -> None:
    """With a fence before or behind the barrier, or where the block needs what was stored."""
    (tmp_path / "right.cu").write_text(BEHIND_A_BARRIER)
    text = compiled(tmp_path / "right.cu", tmp_path)
    assert text.count(".entry") == BEHIND_A_BARRIER.count("KERNEL(") - 1
    assert keeps(text.splitlines()) == []


@needs_nvcc
def test_the_red_teams_sums_without_a_fence_are_kept(tmp_path: Path) -> None:
    text = compiled(CASES / "unitise/sums_without_a_fence.cu", tmp_path)
    (one,) = keeps(text.splitlines())
    assert [counter.plus for counter in one.counted] == [0]
    changed = shaken(text)
    assert changed is not None
    assembled(changed, tmp_path)
    fenced = compiled(CASES / "unitise/last_block_adds.cu", tmp_path)
    assert keeps(fenced.splitlines()) == []


@needs_nvcc
def test_a_fence_before_the_barrier_is_told_from_one_behind_it(tmp_path: Path) -> None:
    """Of one thread, as the last block's counter has it."""
    text = compiled(CASES / "yonder/fence_before_the_barrier.cu", tmp_path)
    (one,) = keeps(text.splitlines())
    assert len(one.fences) == 1
    changed = shaken(text)
    assert changed is not None
    assembled(changed, tmp_path)
    assert keeps(compiled(CASES / "yonder/one_fences_for_all.cu", tmp_path).splitlines()) == []
