"""Marks are put where a block begins, nowhere else, and name the lines that it was made of."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import marks
from runners.building import Building
from runners.marks import NAME, marked, unseen
from tests.redteam import table

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")

# As nvcc writes a kernel with a loop, a choice and what it includes, and debug data behind it.
PTX = """\
.version 9.0
.target sm_90
.address_size 64

.func  (.param .b32 r) other(.param .b32 a);
.extern .shared .align 4 .b8 room[];
.visible .entry k(
	.param .u64 k_param_0
)
{
	.reg .pred 	%p<2>;
	.loc	1 3 5
	mov.u32 	%r1, %tid.x;
	.loc	2 70 5
	setp.lt.s32 	%p1, %r1, 3;
	@%p1 bra 	$L__BB0_2;
	.loc	1 5 9
	st.shared.v2.u32 	[room], {%r1, %r1};
$L__BB0_1:
	.pragma "nounroll";
	.loc	1 6 9, function_name $L__info_string0, inlined_at 1 12 3
	add.s32 	%r1, %r1, 1;
	{ // callseq 0, 0
	call.uni (retval0), other, (param0);
	} // callseq 0
	bra.uni 	$L__BB0_1;
$L__BB0_2:
	.loc	1 9 1
	ret;

}
	.file	1 "/tmp/some/k.cu"
	.file	2 "/usr/include/other.h"
	.section	.debug_str
	{
$L__info_string0:
.b8 95
	}
"""


def test_blocks_begin_at_labels_and_behind_branches() -> None:
    found = marked(PTX, "k.cu")
    assert found is not None
    assert found.lines == (frozenset({3}), frozenset({5}), frozenset({6}), frozenset({9}))
    before, after = PTX.splitlines(), found.ptx.splitlines()
    added = [line for line in after if NAME in line]
    assert [line for line in after if NAME not in line] == before
    assert added == [
        f".visible .global .align 4 .b8 {NAME}[4];",
        *(f"st.global.u8 [{NAME}+{n}], 1;" for n in range(4)),
    ]
    follows = {one: after[at + 1].strip() for at, one in enumerate(after) if NAME in one}
    assert follows[added[2]].startswith("st.shared.v2")
    assert follows[added[3]].startswith("add.s32")
    assert follows[added[4]] == "ret;"


@pytest.mark.parametrize(
    ("ptx", "file"),
    [
        (PTX, "other.cu"),
        (PTX.replace(".file	1", "//"), "k.cu"),
        ("", "k.cu"),
        ("no PTX", "k.cu"),
        (PTX.replace(".address_size 64", ""), "k.cu"),
        (PTX.replace(".visible .entry k(", ".visible .global k("), "k.cu"),
    ],
)
def test_where_nothing_tells_lines_there_are_no_marks(ptx: str, file: str) -> None:
    assert marked(ptx, file) is None


def test_a_large_kernel_is_left_alone() -> None:
    many = "".join(
        f"$L__BB0_{n}:\n\tadd.s32 %r1, %r1, 1;\n" for n in range(3, marks.MOST_MARKS + 3)
    )
    assert marked(PTX.replace("$L__BB0_2:\n", f"{many}$L__BB0_2:\n"), "k.cu") is None


@given(st.text(alphabet='{}$L:;.@%pbra \n\tfile1"kcu', max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    marked(f'.address_size 64\n.visible .entry k()\n{text}\n.file 1 "k.cu"\n', "k.cu")


def test_a_line_has_run_if_any_block_of_it_has() -> None:
    lines = [[3, 4], [4], [5], [4, 9], []]
    assert unseen(lines, [0, 0, 0, 0, 0]) == [3, 4, 5, 9]
    assert unseen(lines, [0, 1, 0, 0, 0]) == [3, 5, 9]
    assert unseen(lines, [1, 1, 1, 1, 1]) == []
    with pytest.raises(ValueError, match="shorter"):
        unseen(lines, [1])


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    made = Building(90, tmp_path)
    yield made
    made.close()


@needs_nvcc
@pytest.mark.parametrize("label", ["bishop/few_gaps", "treespec/warps_rounds", "heddle/leaps"])
def test_what_nvcc_makes_is_assembled_with_its_marks(building: Building, label: str) -> None:
    candidate = next(one for one in table.load() if one.label == label)
    job = candidate.job("confirm")
    made = building.marked(candidate.source, job)
    assert made is not None
    mine = building.compiled(candidate.source, job)
    assert made["symbols"].keys() == mine["symbols"].keys()
    told = {line for block in made["lines"] for line in block}
    texts = candidate.source.splitlines()
    assert max(told) <= len(texts)
    assert sum(not texts[line - 1].strip() for line in told) == 0
    if (tool := shutil.which("nm")) is not None:
        listed = subprocess.run([tool, made["path"]], check=True, capture_output=True, text=True)
        assert NAME in listed.stdout


@needs_nvcc
def test_what_does_not_compile_or_is_no_kernel_has_no_marks(building: Building) -> None:
    candidate = next(one for one in table.load() if one.label == "bishop/few_gaps")
    assert building.marked("no CUDA", candidate.job("confirm")) is None
    entry = next(one for one in table.load() if one.label == "leaveout/base")
    assert building.marked(entry.source, entry.job("confirm")) is None
