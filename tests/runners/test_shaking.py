"""Delays in PTX: where they are put, and that ptxas takes them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runners.shaking import SEED, shaken

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
    source.write_text(str(shaken(PTX.replace("\tret;", timer + SHUFFLE[:-5] + "\n\tret;"))))
    command = ["nvcc", "-cubin", "-arch=sm_90", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    assert SEED.encode() in target.read_bytes()
