"""Delay warps at random inside a kernel: what only works under one schedule stops working.

What a shuffle brings from a lane that does not take part is undefined, and here it is a NaN
(`runners.lanes`). Clocks, timers and the launch's number are moved ahead as well, by an amount that
belongs to the seed: as if the launch came years and a million launches later.

A missing barrier rarely shows: warps of a block mostly run in step. So the candidate's PTX gets a
sleep in front of every access to shared and global memory, every atomic and every barrier, taken
by a quarter of the warps: which, depends on warp, block, place and a seed that is set at run time.
No delay can make a correct kernel wrong, so a wrong result under delays is the candidate's fault,
and the only thing that counts; a race that harms nothing stays accepted.

Delays that short are made up for where the others have a loop, so some are long, and first blocks
begin late (`runners.warp_delays`), or half of all are, where others may see it
(`runners.late_blocks`). Stores of lanes and warps come in another order, too
(`runners.late_stores`), and loads behind a loop that waits before it (`runners.early_loads`).

What a block reads in shared memory before it has written it is not what an earlier one left:
`runners.poisoned_shared`.

Instructions: PTX ISA 9.0, "nanosleep" (sm_70 and later).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from runners import early_loads, lanes, late_blocks, late_stores, warp_delays
from runners.poisoned_shared import filled
from runners.reordering import keeps, swaps
from runners.seeded import LATE_BIT, SEED

LEAST_SM = 70

_TOUCHES = re.compile(
    r"^\s*(?:@!?%p\w+\s+)?"
    r"(?:ld\.(?!param|const|local)|st\.(?!param|local)|atom\.|red\.(?!async)"
    r"|bar(?:rier)?\.(?:\w+\.)?(?:sync|arrive|red)|membar\.|fence\.|cp\.async\."
    r"|wmma\.(?:load|store)|ldmatrix|stmatrix)"
)
_CLOCK = re.compile(
    r"^\s*mov\.[ub](?P<bits>32|64)\s+(?P<to>%\w+),\s*"
    r"%(?:clock|clock64|clock_hi|globaltimer|globaltimer_lo|globaltimer_hi|gridid);"
)
_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?P<what>entry|func)\b")
_MOST_PLACES = 4000
# How many stores a thread has done late, and whether it keeps one for later.
_BEGUN = """.reg .b32 %optiml_t, %optiml_f;
mov.b32 %optiml_t, 0;
.reg .pred %optiml_h;
mov.pred %optiml_h, 0;"""


def shaken(ptx: str, seed: int = 0) -> str | None:
    """Return PTX with delays; None when there is no place for any.

    The seed is the 32-bit global `SEED`; with zero there, nothing is delayed. `seed` is what it is
    loaded with, for code that nobody can reach it in.
    """
    lines: list[str] = []
    places = entries = 0
    declared = heading = entry = False
    shuffles = lanes.SHUFFLES if "shfl.sync" in ptx else []
    original = ptx.splitlines()
    moved = {one.store: one for one in swaps(original)}
    kept, ahead = {one.store: one for one in keeps(original)}, early_loads.early(original)
    in_front = _in_front(original, ahead)
    done: dict[int, Callable[[str, int], str]] = {
        one.load: partial(early_loads.instead, one) for one in ahead
    }
    shares = warp_delays.Shares()
    for number, line in enumerate(filled(original, SEED, LATE_BIT)):
        lines += in_front.get(number, []) if declared else []
        if not declared and line.startswith(".address_size"):
            lines += [line, *_declared(seed, sum(".entry" in text for text in original))]
            declared = True
            continue
        begins = _BODY.match(line)
        entry = begins["what"] == "entry" if begins else entry
        heading = (heading or begins is not None) and not line.rstrip().endswith(";")
        if declared and heading and line.strip() == "{":
            lines += [line, *shuffles]
            if entry:
                lines += _begun(entries)
                entries += 1
                shares = warp_delays.Shares()
            heading = False
            continue
        told = lanes.told(line) if declared else None
        if told is not None:
            places += 1
            lines += told
            continue
        if number in done:
            places += 2
            lines.append(warp_delays.delay(places - 1, shares.next(line)))
            lines.append(done[number](line, places))
            continue
        if declared and _TOUCHES.match(line) and places < _MOST_PLACES:
            places += 1
            lines.append(warp_delays.delay(places, shares.next(line) if entry else None))
            store = late_stores.STORE.match(line)
            if entry and store is not None and number in moved:
                done[moved[number].signal] = partial(late_stores.behind, moved[number], store)
                continue
            if entry and store is not None and number in kept:
                places += 1
                done |= late_stores.endings(kept[number], store)
                lines.append(late_stores.kept_back(kept[number], store, places))
                continue
            if store is not None:
                lines.append(late_stores.in_turns(store["store"], store["guard"] or "", places))
                continue
        lines.append(line)
        clock = _CLOCK.match(line)
        if declared and clock is not None:
            places += 1
            lines.append(_later(clock["to"], int(clock["bits"])))
    return "\n".join(lines) + "\n" if places else None


def _in_front(lines: Sequence[str], ahead: Sequence[early_loads.Early]) -> dict[int, list[str]]:
    """Return what stands in front of lines: sleeps of late blocks, then loads that are early."""
    holds, loads = late_blocks.holds(lines), early_loads.put(ahead)
    return {number: [*holds.get(number, []), *loads.get(number, [])] for number in {*holds, *loads}}


def _declared(seed: int, entries: int) -> list[str]:
    names = (
        f"{SEED} = {seed}" if seed else SEED,
        lanes.ZERO,
        warp_delays.LATE,
        f"{warp_delays.FAR}[{max(entries, 1)}]",
        f"{late_blocks.LAUNCHES}[{max(entries, 1)}]",
    )
    return [f".visible .global .align 4 .u32 {name};" for name in names]


def _begun(entry: int) -> list[str]:
    late = late_blocks.begins(entry)
    return [_BEGUN, warp_delays.begins_late(), warp_delays.numbered(entry), late]


def _later(register: str, bits: int) -> str:
    """Move a reading of a clock ahead, the same for all readings of a launch."""
    wide = "cvt.u64.u32 %optiml_w, %optiml_s;\nmul.lo.u64 %optiml_w, %optiml_w, 0x1FFFFF;\n"
    if bits == 64:
        add = f"{wide}add.u64 {register}, {register}, %optiml_w;"
    else:
        add = f"add.u32 {register}, {register}, %optiml_s;"
    return f"""{{
.reg .b32 %optiml_s;
.reg .b64 %optiml_w;
ld.global.u32 %optiml_s, [{SEED}];
{add}
}}"""
