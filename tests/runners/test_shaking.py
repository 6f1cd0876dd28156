"""Delays in PTX: where they are put, and that ptxas takes them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners.seeded import SEED
from runners.shaking import shaken
from runners.warp_delays import FAR

PTX = """.version 8.0
.target sm_90
.address_size 64

.visible .entry scale(
	.param .u64 scale_param_0
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<5>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<5>;
	.shared .align 4 .b8 part[128];

	ld.param.u64 	%rd1, [scale_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, %tid.x;
	setp.gt.u32 	%p1, %r1, 7;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd4];
	mov.u32 	%r2, part;
	@%p1 bra 	$L__BB0_2;
	st.shared.f32 	[%r2], %f1;
$L__BB0_2:
	bar.sync 	0;
	@!%p1 ld.shared.f32 	%f1, [%r2];
	atom.global.add.f32 	%f3, [%rd4], %f1;
	fence.acq_rel.gpu;
	st.volatile.global.f32 	[%rd4+4], %f1;
	ret;
}
"""
PLACES = 7


def test_every_access_barrier_and_fence_gets_a_delay_of_its_own() -> None:
    """Parameters are not memory that other threads change."""
    text = shaken(PTX)
    assert text is not None
    assert text.count("nanosleep.u32 %optiml_b;\n$optiml_") == PLACES
    for place in range(1, PLACES + 1):
        assert text.count(f"$optiml_{place}:") == 1
    lines = text.splitlines()
    at = lines.index("\tbar.sync \t0;")
    assert lines[at - 1] == "}"
    assert "$L__BB0_2:" in lines[: at - 1]
    assert lines[lines.index("\tld.param.u64 \t%rd1, [scale_param_0];") - 1] == ""


def test_nothing_but_delays_is_added() -> None:
    """Every line of the original is there, in its order; a store as that of some lanes."""
    text = shaken(PTX)
    assert text is not None
    left = iter(text.splitlines())
    for line in PTX.splitlines():
        store = line.strip().startswith("st.")
        assert (f"@%optiml_p {line.strip()}" if store else line) in left
    assert f".visible .global .align 4 .u32 {SEED};" in text


def test_a_store_is_done_in_two_turns_that_keep_its_own_condition() -> None:
    """Which lanes are first belongs to the seed; memory of a thread's own is left as it is."""
    guarded = PTX.replace("\tst.shared.f32", "\t@%p1 st.shared.f32").replace(
        "\tst.volatile", "\t@!%p1 st.volatile"
    )
    text = shaken(guarded.replace("\tret;", "\tst.local.f32 [%rd4], %f1;\n\tret;"))
    assert text is not None
    assert text.count("@%optiml_p st.shared.f32 \t[%r2], %f1;") == 2
    assert text.count("@%optiml_p st.volatile.global.f32 \t[%rd4+4], %f1;") == 2
    assert text.count("and.pred %optiml_p, %optiml_p, %p1;") == 2
    assert text.count("not.pred %optiml_q, %p1;\nand.pred %optiml_p, %optiml_p, %optiml_q;") == 2
    assert text.count("setp.eq.or.u32 %optiml_p, %optiml_s, 0, %optiml_p;") == 2
    assert text.count("st.local.f32") == 1


def test_a_kernel_that_touches_nothing_has_no_place_for_a_delay() -> None:
    """There is no schedule to change."""
    assert shaken("\n".join(PTX.splitlines()[:14]) + "\n\tret;\n}\n") is None


SHUFFLE = "\tshfl.sync.down.b32\t%r4|%p2, %r3, 16, 31, -1;\n\tret;"


def test_what_comes_from_a_lane_that_is_not_there_is_no_number() -> None:
    """A marker travels along, and says whether the source took part."""
    text = shaken(PTX.replace("\tret;", SHUFFLE))
    assert text is not None
    lines = text.splitlines()
    at = lines.index(SHUFFLE.splitlines()[0])
    assert lines[at - 1] == "shfl.sync.down.b32 %optiml_n, %optiml_m, 16, 31, -1;"
    assert "@%optiml_p mov.b32 %r4, %optiml_x;" in lines[at:]
    assert lines[lines.index("{") + 1] == ".reg .b32 %optiml_m;"


ASKS = """\tvote.sync.ballot.b32 \t%r4, %p1, %r3;
\tvote.sync.any.pred \t%p1, %p1, 65535;
\tmatch.any.sync.b32 \t%r4, %r2, %r3;
\tmatch.all.sync.b64 \t%r4|%p1, %rd1, %r3;
\t@!%p1 redux.sync.add.s32 %r4, %r2, %r3;
"""


def test_a_lane_that_the_mask_does_not_name_is_answered_wrongly() -> None:
    """What it gets is undefined: on one kind of GPU it may be what the kernel needs."""
    text = shaken(PTX.replace("\tret;", f"{ASKS}\tret;"))
    assert text is not None
    parts = [part.splitlines() for part in text.split("{\n") if ".sync" in part]
    found = {line: part for part in parts for line in part if line and line + "\n" in ASKS}
    assert list(found) == ASKS.splitlines()
    ballot, vote, some, whole, sums = found.values()
    for part, mask in ((ballot, "%r3"), (vote, "65535"), (some, "%r3"), (sums, "%r3")):
        assert f"and.b32 %optiml_a, %optiml_a, {mask};" in part
        assert "setp.eq.and.u32 %optiml_p, %optiml_a, 0, %optiml_q;" in part
    for part in (ballot, some, whole, sums):
        assert "@%optiml_p xor.b32 %r4, %r4, 0x7FFFBAAD;" in part
    assert "@%optiml_p not.pred %p1, %p1;" in vote
    assert "@%optiml_p not.pred %p1, %p1;" in whole
    assert "mov.pred %optiml_q, 1;" in ballot
    assert "not.pred %optiml_q, %p1;" in sums


def test_clocks_are_moved_ahead_by_the_seed() -> None:
    """A kernel that is right for a while only is found out at once."""
    clocks = "\tmov.u64 %rd1, %globaltimer;\n\tmov.u32 \t%r1, %clock;\n\tmov.u64 %rd2, %gridid;\n"
    text = shaken(PTX.replace("\tret;", f"{clocks}\tret;"))
    assert text is not None
    for line in ("add.u64 %rd1, %rd1,", "add.u32 %r1, %r1,", "add.u64 %rd2, %rd2,"):
        assert line in text


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
def test_ptxas_accepts_the_delays(tmp_path: Path) -> None:
    """The altered text is PTX."""
    source, target = tmp_path / "scale.ptx", tmp_path / "scale.cubin"
    timer = "\tmov.u64 %rd1, %globaltimer;\n\tmov.u32 \t%r1, %clock;\n"
    source.write_text(str(shaken(PTX.replace("\tret;", timer + ASKS + SHUFFLE[:-5] + "\n\tret;"))))
    command = ["nvcc", "-cubin", "-arch=sm_90", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    assert SEED.encode() in target.read_bytes()


CASES = Path(__file__).parents[1] / "redteam" / "cases"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.parametrize(
    ("case", "sm"),
    [("kmeans/cleared_without_waiting", 80), ("rowscale/block_sums", 75), ("histogram/base", 90)],
)
def test_ptxas_accepts_long_sleeps(case: str, sm: int, tmp_path: Path) -> None:
    """Of a program with two kernels, an entry function and a kernel, each for another device."""
    made, changed = tmp_path / "made.ptx", tmp_path / "changed.ptx"
    options = ["-std=c++17", f"-arch=sm_{sm}", "-o"]
    command = ["nvcc", "-ptx", *options, str(made), str(CASES / f"{case}.cu")]
    subprocess.run(command, check=True, capture_output=True)
    text = shaken(made.read_text(), 7)
    assert text is not None
    assert text.count("nanosleep.u32 %optiml_c;") > 1
    changed.write_text(text)
    command = ["nvcc", "-cubin", *options, str(tmp_path / "made.cubin"), str(changed)]
    subprocess.run(command, check=True, capture_output=True)


HISTOGRAM = (
    3 * ["\tst.shared.u32 \t[%r1], %r2;"]
    + 10 * ["\tld.global.u32 \t%r3, [%rd1];"]
    + ["\tst.global.u32 \t[%rd1], %r3;"]
    + 3 * ["\tatom.shared.add.u32 \t%r4, [%r1], 1;"]
)
STORES, LOOP, ADDS = (1, 2, 3), (6, 7, 8, 9, 10, 11, 12, 13), (15, 16, 17)


class Warps:
    """The first thread of each warp of a launch, as far as delays need it: registers of 32 bits."""

    def __init__(self, blocks: int, warps: int, seed: int, memory: dict[str, int]) -> None:
        number = np.arange(blocks * warps, dtype=np.uint64)
        self.block, self.warp = number // warps, number % warps
        one = np.ones_like(number)
        self.special = {"%ctaid.x": self.block, "%tid.x": self.warp * 32}
        self.special |= {"%nctaid.x": one * blocks, "%ntid.x": one * warps * 32}
        self.special |= {f"%n{what}.{of}": one for what in ("tid", "ctaid") for of in "yz"}
        self.special |= {f"%{what}.{of}": 0 * one for what in ("tid", "ctaid") for of in "yz"}
        self.special["%globaltimer_lo"] = 0 * one
        self.memory, self.seed = memory, seed
        self.registers: dict[str, Any] = {}
        self.slept = np.zeros(len(number))

    def run(self, text: str, chosen: Any = True) -> None:
        """Run a straight piece with branches ahead; no warp sleeps as if it were told to."""
        goes = np.full(self.block.shape, chosen)
        waiting: dict[str, Any] = {}
        for line in filter(None, map(str.strip, text.splitlines())):
            if line.endswith(":"):
                goes = goes | waiting.pop(line[:-1], False)
            elif not line.startswith((".", "{", "}")):
                guard, _, rest = line.partition(" ") if line.startswith("@") else ("", "", line)
                on = goes & self._guarded(guard)
                opcode, _, words = rest.rstrip(";").partition(" ")
                operands = words.split(", ")
                if opcode == "bra":
                    waiting[operands[0]], goes = on, goes & ~on
                else:
                    self._do(opcode.split("."), operands, on)

    def _guarded(self, guard: str) -> Any:
        if not guard:
            return True
        value = self.registers[guard.lstrip("@!")]
        return ~value if "!" in guard else value

    def _value(self, operand: str) -> Any:
        if operand.startswith("["):
            name = operand[1:-1]
            value = self.seed if name == SEED else self.memory.get(name, 0)
            return np.full(self.block.shape, value, np.uint64)
        if operand.startswith("%"):
            return self.special[operand] if operand in self.special else self.registers[operand]
        return np.uint64(int(operand, 0))

    def _do(self, opcode: list[str], operands: list[str], on: Any) -> None:
        to, *rest = operands
        if opcode[0] == "red":
            self.memory[to[1:-1]] = self.memory.get(to[1:-1], 0) + int(on.sum())
            return
        if opcode[0] == "nanosleep":
            self.slept = self.slept + np.where(on, self._value(to), 0)
            return
        values = [self._value(one) for one in rest]
        if opcode[0] == "setp":
            made = self._compared(opcode, values)
        else:
            made = self._made(opcode[0] + (".hi" if "hi" in opcode else ""), values)
            made = made if made.dtype == bool else made & np.uint64(0xFFFFFFFF)
        before = self.registers.get(to, np.zeros_like(made))
        self.registers[to] = np.where(on, made, before)

    @staticmethod
    def _compared(opcode: list[str], values: list[Any]) -> Any:
        one, other = values[:2]
        if opcode[-1] == "s32":
            one, other = (np.asarray(v).astype(np.uint32).view(np.int32) for v in (one, other))
        made = getattr(np, COMPARED[opcode[1]])(one, other)
        if len(values) == 3:
            made = made & values[2] if opcode[2] == "and" else made | values[2]
        return made

    @staticmethod
    def _made(opcode: str, values: list[Any]) -> Any:
        one, *rest = values
        two = rest[0] if rest else None
        simple: dict[str, Callable[[], Any]] = {
            "mov": lambda: one + np.uint64(0),
            "ld": lambda: one,
            "add": lambda: one + two,
            "sub": lambda: one - two,
            "and": lambda: one & two,
            "or": lambda: one | two,
            "xor": lambda: one ^ two,
            "shl": lambda: one << two,
            "shr": lambda: one >> two,
            "mul": lambda: one * two,
            "mul.hi": lambda: one * two >> np.uint64(32),
            "mad": lambda: one * two + rest[1],
            "bfe": lambda: one >> two & (np.uint64(1) << rest[1]) - np.uint64(1),
        }
        return np.asarray(simple[opcode]())


COMPARED = {"eq": "equal", "ne": "not_equal", "lt": "less", "ge": "greater_equal"}


def pieces(body: list[str], name: str = "entry") -> tuple[str, dict[int, str]]:
    """Return what a kernel with these accesses begins with under delays, and what is before each."""
    head, _, _ = PTX.partition("\tld.param")
    text = shaken(head.replace(".entry", f".{name}") + "\n".join(body) + "\n\tret;\n}\n")
    assert text is not None
    label = re.compile(r"^\$optiml_(\d+):\n", re.MULTILINE)
    ends = {int(one[1]): one.end() for one in label.finditer(text)}
    before = {place: text[text.rindex("\n{\n", 0, end) : end] for place, end in ends.items()}
    begins = text.index("mov.b32 %optiml_t") if name == "entry" else 0
    return text[begins : text.index(before[1])], before


def launched(
    begins: str, blocks: int, seed: int, memory: dict[str, int] | None = None, warps: int = 8
) -> Warps:
    made = Warps(blocks, warps, seed, {} if memory is None else memory)
    made.run(begins)
    made.slept[:] = 0
    return made


FAR_NS = 20000


def test_nobody_sleeps_and_no_launch_counts_without_a_seed() -> None:
    begins, before = pieces(HISTOGRAM)
    memory: dict[str, int] = {}
    warps = launched(begins, 300, 0, memory)
    for piece in before.values():
        warps.run(piece)
    assert not warps.slept.any()
    assert not any(memory.values())


@pytest.mark.parametrize("seed", [1, 33, 2**32 - 5])
def test_a_hundred_blocks_meet_each_early_place_in_one_launch(seed: int) -> None:
    """Nearly always with each of their warps; two launches are the least that anything gets."""
    begins, before = pieces(20 * ["\tld.global.u32 \t%r3, [%rd1];"] + HISTOGRAM)
    memory: dict[str, int] = {}
    met = {place: np.zeros(8, int) for place in (*range(1, 9), 21, 22, 23)}
    for _ in range(2):
        warps = launched(begins, 100, seed, memory)
        for place, piece in before.items():
            warps.slept[:] = 0
            warps.run(piece)
            if place in met:
                far = warps.warp[warps.slept >= FAR_NS].astype(int)
                assert len(set(far)) > 2
                met[place] += np.bincount(far, minlength=8)
    assert memory[f"{FAR}+0"] == 2
    assert np.mean([(counts > 0).mean() for counts in met.values()]) > 0.99


def test_a_thread_sleeps_long_a_few_times_only_and_the_block_as_often() -> None:
    """In a loop without end, too; and half of the warps do."""
    begins, before = pieces(HISTOGRAM)
    warps = launched(begins, 256, 77)
    counts = np.zeros(len(warps.block), int)
    for _ in range(6):
        for place in LOOP:
            warps.slept[:] = 0
            warps.run(before[place])
            counts += warps.slept >= FAR_NS
            assert warps.slept.max() < 8 * FAR_NS + 1600
    assert 2 <= counts.max() <= 4
    blocks = counts.reshape(256, 8).max(axis=1)
    assert 0.3 < counts[np.repeat(blocks > 0, 8)].mean() / blocks[blocks > 0].mean() < 0.8


@pytest.mark.parametrize(("blocks", "most"), [(1, 1), (256, 256), (20000, 330)])
def test_of_a_large_grid_some_blocks_sleep_long(blocks: int, most: int) -> None:
    begins, _ = pieces(HISTOGRAM)
    warps = launched(begins, blocks, 99, warps=1)
    chosen = int((warps.registers["%optiml_f"] != 0xFFFFFFFF).sum())
    assert most * 0.6 <= chosen <= most


def test_launches_of_a_long_program_have_long_sleeps_seldom() -> None:
    begins, _ = pieces(HISTOGRAM)
    numbers = [
        launched(begins, 1, 5, {f"{FAR}+0": before}).registers["%optiml_f"][0]
        for before in range(600)
    ]
    none = [number == 0xFFFFFFFF for number in numbers]
    assert not any(none[:256])
    assert [at for at, one in enumerate(none) if not one][256:] == [256, 320, 384, 448, 512, 576]
    assert len(set(numbers[:256])) == 256


def test_kernels_count_their_own_launches_and_functions_never_sleep_long() -> None:
    """How often a thread has slept is known for a kernel."""
    _, functions = pieces(HISTOGRAM, "func")
    assert not any("%optiml_f" in piece for piece in functions.values())
    other = PTX[PTX.index(".visible") :].replace("scale", "other").replace("$L__BB0", "$L__BB1")
    text = shaken(PTX + other)
    assert text is not None
    assert f".visible .global .align 4 .u32 {FAR}[2];" in text
    assert text.count(f"[{FAR}+0]") == text.count(f"[{FAR}+4]") == 2


def test_a_late_clear_comes_behind_a_loop_of_loads() -> None:
    """A histogram that the first warp clears without a barrier behind, in a program's one run.

    The others add to it behind 26 loads. Time on the device is guessed, and not in favour: half a
    microsecond for each place, and sleeps as they may be at their shortest, half as long as asked.
    """
    begins, before = pieces(HISTOGRAM)
    adds = (4, 5, *(3 * LOOP), 14, *ADDS)

    def shown(seed: int, *, far: bool) -> int:
        """Return how many blocks of a launch have sums that are cleared late."""
        warps = launched(begins, 391, seed)
        if not far:
            warps.registers["%optiml_f"][:] = 0xFFFFFFFF
        for place in STORES:
            warps.run(before[place], warps.warp == 0)
        cleared = (warps.slept / 2 + 500 * len(STORES)).reshape(391, 8)[:, 0]
        for place in adds:
            warps.run(before[place])
        added = (warps.slept / 2 + 500 * (len(adds) - 1)).reshape(391, 8)[:, 1:]
        return int((cleared > added.min(axis=1)).sum())

    assert min(shown(seed, far=True) for seed in range(1, 400, 20)) > 10
    assert not any(shown(seed, far=False) for seed in range(1, 400, 40))


def test_warps_are_late_behind_a_barrier_in_each_turn_of_blocks_that_stay() -> None:
    """Tiles in 528 blocks: some warps sleep long at what they read, while others fetch the next."""
    fill = 6 * ["\tld.global.f32 \t%f3, [%rd1];"] + ["\tst.shared.f32 \t[%r1], %f2;"]
    use = 9 * ["\tld.shared.f32 \t%f4, [%r1];"] + ["\tst.global.f32 \t[%rd1], %f3;"]
    begins, before = pieces([*fill, "\tbar.sync \t0;", *use])
    fills, reads = range(1, 8), range(9, 18)
    for seed in (3, 12345, 2**31 + 5):
        warps = launched(begins, 528, seed)
        for _ in range(4):
            for place in (*5 * [*fills], 8):
                warps.run(before[place])
            late = np.zeros(528 * 8, bool)
            for place in reads:
                warps.slept[:] = 0
                warps.run(before[place])
                late |= warps.slept >= FAR_NS
            blocks = late.reshape(528, 8)
            assert (blocks.any(axis=1) & ~blocks.all(axis=1)).sum() > 2
            warps.run(before[18])
