"""Comparisons keep how near they came, where a compiler takes it, and nothing else is changed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import nearest
from runners.building import Building
from runners.nearest import NAME, watched
from tests.redteam import table

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")

PTX = """\
.version 9.0
.target sm_90
.address_size 64

.visible .entry k(
	.param .u64 k_param_0
)
{
	.reg .pred 	%p<9>;
	setp.lt.s32 	%p1, %r1, -8;
	setp.gt.u32 	%p2, %r1, -3;
	setp.ne.and.s16 	%p3|%p4, %rs1, %rs2, %p1;
	setp.hs.u64 	%p5, %rd1, %rd2;
	setp.leu.f32 	%p6, %f1, 0f3F800000;
	setp.lt.f64 	%p6, %fd1, %fd2;
	@%p1 setp.eq.s32 	%p7, %r1, 5;
	cvt.u16.u32 	%rs1, %r7;
	cvt.u32.u16 	%r7, %rs1;
	and.b32 	%r2, %r1, 255;
	and.b32 	%r2, %r1, 31;
	and.b32 	%r2, %r1, 254;
	shl.b32 	%r2, %r1, 16;
	shl.b32 	%r2, %r1, 2;
	ret;

}
	.section	.debug_str
	{
	setp.lt.s32 	%p1, %r1, 8;
	}
"""


def test_each_comparison_is_kept_and_each_part_of_a_word() -> None:
    found = watched(PTX)
    assert found is not None
    assert found.sites == 8
    after = found.ptx.splitlines()
    added = re.compile(
        r"\{\n\.reg \.pred %optiml_gp.*?\n\}\n|\.visible \.global[^\n]*\n", re.DOTALL
    )
    assert added.sub("", found.ptx) == PTX
    assert f".visible .global .align 4 .b8 {NAME}[64];" in after
    places = re.findall(r"selp\.b64 %optiml_ga, (\d+), (\d+), %optiml_gp;", found.ptx)
    assert places == [(str(8 * n + 4), str(8 * n)) for n in range(8)]
    orders = re.findall(r"setp\.(\S+) %optiml_gp,", found.ptx)
    assert orders == ["lt.s64", "gt.s64", "ne.s64", "hs.u64", "leu.f32", *3 * ["gt.u64"]]
    # Numbers of an unsigned comparison are no negative ones.
    numbers = re.findall(r"mov\.b64 %optiml_gb, (-?\d+);", found.ptx)
    assert numbers == ["-8", str((1 << 32) - 3), "65535", "255", "65535"]
    # Each stands behind its own comparison.
    for one in ("setp.lt.s32", "setp.hs.u64", "shl.b32 \t%r2, %r1, 16"):
        at = next(at for at, line in enumerate(after) if line.strip().startswith(one))
        assert after[at + 1] == "{"


@pytest.mark.parametrize(
    "ptx",
    [
        "",
        "no PTX",
        PTX.replace(".address_size 64", ""),
        PTX.replace(".visible .entry k(", ".visible .global k("),
        re.sub(r"\t(?:setp|cvt|and|shl).*\n", "", PTX),
    ],
)
def test_where_nothing_is_compared_nothing_is_kept(ptx: str) -> None:
    assert watched(ptx) is None


def test_of_a_large_kernel_the_first_are_kept() -> None:
    many = "\tsetp.lt.s32 \t%p1, %r1, 8;\n" * (nearest.MOST_SITES + 9)
    found = watched(PTX.replace("\tret;\n", f"{many}\tret;\n"))
    assert found is not None
    assert found.sites == nearest.MOST_SITES


@given(st.text(alphabet="{}.;%setplandshvc 0123456789rb\n\t,|@-", max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    watched(f".address_size 64\n.visible .entry k()\n{{\n{text}\n}}\n")


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    made = Building(90, tmp_path_factory.mktemp("watched"))
    yield made
    made.close()


@needs_nvcc
@pytest.mark.parametrize("label", ["gbm/base", "fp4/base", "shallow/base", "rmsnorm/base"])
def test_a_compiler_takes_what_is_kept_of_the_red_teams_kernels(
    building: Building, label: str
) -> None:
    one = next(c for c in table.load() if c.label == label)
    job = one.job("confirm", 1)
    built = building.watched(one.source, job)
    if one.base.kind == "program":
        assert built is None
        return
    assert built is not None
    tool = shutil.which("cuobjdump")
    if tool is not None:
        listed = subprocess.run(
            [tool, "-elf", built["path"]], capture_output=True, text=True, check=True
        ).stdout
        assert NAME in listed
    assert NAME.encode() in Path(built["path"]).read_bytes()
