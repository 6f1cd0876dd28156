"""Late blocks: which are, at which places, how often, and what is seen by that."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners import late_blocks
from runners.late_blocks import HELD_NS, LAUNCHES, LEAVES_NS, begins, holds
from runners.seeded import LATE_BIT
from runners.shaking import shaken
from tests.runners.test_shaking import Warps

CASES = Path(__file__).parents[1] / "redteam" / "cases"
# A grid barrier in a loop, then a maximum of all blocks that is read behind the block's barrier.
BODY = """\
$L_LEVEL:
\tld.global.u32 \t%r2, [%rd2];
\tst.global.u32 \t[%rd2+4], %r2;
\tst.global.u32 \t[%rd2+8], %r2;
\tbarrier.sync \t0;
\t@%p1 bra \t$L_OUT;
\tatom.add.release.gpu.u32 %r3,[%rd4],%r2;
$L_SPIN:
\tld.acquire.gpu.u32 %r4,[%rd4];
\t@%p2 bra \t$L_SPIN;
$L_OUT:
\tbarrier.sync \t0;
\t@%p3 bra \t$L_LEVEL;
\tatom.shared.add.u32 \t%r4, [%r1], 1;
\tst.shared.u32 \t[%r1], %r2;
\tatom.global.max.s32 \t%r5, [%rd3], %r2;
\tmembar.gl;
\tbar.sync \t0;
\tld.global.cg.s32 \t%r6, [%rd3];
\tred.global.add.u32 \t[%rd3+4], 1;
\tst.global.u32 \t[%rd2+12], %r6;
\tret;
"""
HEAD = """.version 8.0
.target sm_90
.address_size 64

.visible .entry levels(
\t.param .u64 levels_param_0
)
{
\t.reg .pred \t%p<4>;
\t.reg .b32 \t%r<8>;
\t.reg .b64 \t%rd<5>;

"""
LINES = f"{HEAD}{BODY}}}\n".splitlines()
FOUND = holds(LINES)


def _line(words: str) -> int:
    """Return the number of the only line with these words."""
    (number,) = (at for at, line in enumerate(LINES) if words in line)
    return number


def _launched(blocks: int, seed: int, launch: int = 0, warps: int = 8) -> Warps:
    made = Warps(blocks, warps, seed, {f"{LAUNCHES}+0": launch})
    made.run(begins(0))
    assert not made.slept.any()
    return made


def _slept(warps: Warps, number: int) -> Any:
    warps.slept[:] = 0
    for text in FOUND.get(number, []):
        warps.run(text)
    return warps.slept.reshape(int(warps.block.max()) + 1, -1).copy()


def test_places_are_global_atomics_and_the_first_stores_of_a_piece() -> None:
    """And where blocks come out of a grid barrier: behind it, wherever they go then."""
    held = {number for number, texts in FOUND.items() if f"{HELD_NS};" in texts[-1]}
    assert held == {
        _line("[%rd2+4]"),
        _line("atom.add.release"),
        _line("atom.global.max"),
        _line("red.global"),
        _line("[%rd2+12]"),
    }
    left = [number for number, texts in FOUND.items() if f"{LEAVES_NS};" in texts[0]]
    assert left == [_line("$L_LEVEL;")]
    assert "barrier.sync" in LINES[left[0] - 1]


def test_the_sleep_is_right_before_the_access_and_none_before_what_is_read() -> None:
    text = shaken("\n".join(LINES))
    assert text is not None
    lines = text.splitlines()
    at = lines.index("\tatom.global.max.s32 \t%r5, [%rd3], %r2;")
    read = lines.index("\tld.global.cg.s32 \t%r6, [%rd3];")
    labels = [line for line in lines[:at] if line.startswith("$optiml_held_")]
    assert labels[-1] == f"$optiml_held_{_line('atom.global.max')}:"
    assert not any("optiml_held" in line for line in lines[at:read])
    assert text.count(late_blocks.BEGUN) == 1


def test_functions_have_no_late_blocks() -> None:
    """How often one slept is kept for a kernel."""
    assert holds([line.replace(".entry", ".func") for line in LINES]) == {}


@pytest.mark.parametrize("seed", [1, 12345, 2**32 - 1])
@pytest.mark.parametrize("blocks", [2, 5, 64])
def test_of_two_blocks_one_is_late_and_under_the_other_seed_the_other(
    blocks: int, seed: int
) -> None:
    place = _line("atom.global.max")
    one, other = (_slept(_launched(blocks, each), place) for each in (seed, seed ^ 1 << LATE_BIT))
    assert (one + other == HELD_NS).all()  # all warps of a block alike
    pairs = one[: blocks // 2 * 2, 0].reshape(-1, 2)
    assert (pairs.sum(axis=1) == HELD_NS).all()


def test_which_of_two_blocks_depends_on_the_seed() -> None:
    place = _line("red.global")
    assert {_slept(_launched(2, seed), place)[0, 0] for seed in range(1, 20)} == {0, HELD_NS}


def test_nobody_is_late_alone_or_without_a_seed_or_in_most_launches() -> None:
    def late(blocks: int, seed: int, launch: int = 0) -> int:
        warps = _launched(blocks, seed, launch)
        return sum(int((_slept(warps, number).max(axis=1) > 0).sum()) for number in FOUND)

    assert late(1, 7) == 0
    assert late(64, 0) == 0
    assert late(64, 7) > 0
    launches = [launch for launch in range(200) if late(4, 7, launch)]
    assert launches == [*range(16), 64, 65, 128, 129, 192, 193]
    far = _slept(_launched(2000, 9, warps=1), _line("red.global"))[:, 0]
    assert (far[:512] > 0).sum() == 256
    assert not far[512:].any()


def test_a_thread_sleeps_once_at_each_place() -> None:
    """In a loop without end, too, and not when it has run for long, as behind a lock."""
    warps = _launched(2, 5)
    places = [number for number, texts in FOUND.items() if len(texts) == 1]
    total = np.zeros((2, 8))
    for _ in range(100):
        for number in places:
            if number != _line("$L_LEVEL;"):
                total += _slept(warps, number)
    assert sorted(set(total.ravel())) == [0, 5 * HELD_NS]
    warps = _launched(2, 5)
    warps.special["%globaltimer_lo"] = np.full(16, late_blocks.LONGEST_NS, np.uint64)
    assert not any(_slept(warps, number).any() for number in places if number != _line("$L_LEVEL;"))


def test_blocks_leave_grid_barriers_late_ever_more_seldom() -> None:
    """Each time others, and one block of two at a time."""
    warps = _launched(2, 77, warps=1)
    turns = np.array([_slept(warps, _line("$L_LEVEL;"))[:, 0] for _ in range(3000)])
    assert (turns[:8].sum(axis=1) == LEAVES_NS).all()
    assert set(turns.sum(axis=1)) == {0, LEAVES_NS}
    assert turns[:, 0].any()
    assert turns[:, 1].any()
    assert 20 < (turns.sum(axis=1) > 0).sum() < 100


@pytest.mark.parametrize("most", [0, 1])
@pytest.mark.parametrize("levels", [1, 41])
def test_a_maximum_is_read_before_the_other_block_has_added_to_it(most: int, levels: int) -> None:
    """In one of two builds, whichever block has it; behind a grid barrier in none.

    Time on the device is guessed, and not in favour: sleeps half as long as asked for who should
    be late, twice for others, who take 5 µs at their own places.
    """
    early = []
    for seed in (9, 9 ^ 1 << LATE_BIT):
        warps, turns = _launched(2, seed), []
        for _ in range(levels):
            for words in ("[%rd2+4]", "atom.add.release"):
                _slept(warps, _line(words))
            turns.append(_slept(warps, _line("$L_LEVEL;")))
        left, adds = turns[-1], _slept(warps, _line("atom.global.max"))
        added = (left[most] + adds[most]).max() / 2
        seen = (left[1 - most] + adds[1 - most]).max() * 2 + 5000
        early.append(bool(seen < added))
    assert sum(early) == 1


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.parametrize("sm", [80, 90])
def test_ptxas_accepts_late_blocks(sm: int, tmp_path: Path) -> None:
    """Of a cooperative kernel; its grid barrier is seen for one."""
    made, changed = tmp_path / "made.ptx", tmp_path / "changed.ptx"
    case = CASES / "slack" / "one_launch.cu"
    command = ["nvcc", "-std=c++17", f"-arch=sm_{sm}", "-ptx", "-o", str(made), str(case)]
    subprocess.run(command, check=True, capture_output=True)
    text = shaken(made.read_text(), 7)
    assert text is not None
    syncs = case.read_text().count("grid.sync();")
    assert text.count(f"mov.u32 %optiml_b, {LEAVES_NS};") >= syncs
    changed.write_text(text)
    command = ["nvcc", "-cubin", f"-arch=sm_{sm}", "-o", str(tmp_path / "made.cubin"), str(changed)]
    subprocess.run(command, check=True, capture_output=True)
