"""Whole blocks that are late, in PTX: all of their warps, where other blocks may see it.

What one block reads and another has still to write is mostly there in time: blocks that leave a
grid barrier together stay within a microsecond or two of each other, and delays of single warps
hold a block back only where it waits for just these. So half of the blocks are late. Of each two
that follow each other one is, and under a seed that differs in `LATE_BIT` the other one; with two
blocks each is late in one of two such builds.

A late block sleeps for 100 µs, the first time a thread comes by, before each global atomic and
before the first global store of each straight piece of the text. Behind a barrier at whose end
somebody has waited for other blocks, half of the blocks sleep for 20 µs, each time others: the
first eight times, then ever more seldom.

That is bounded: a thread that began 50 ms ago sleeps before no atomic or store, as threads that
wait for each other, as for a lock, may sleep one after another. Of a grid the first 512 blocks
are late, in the first 16 launches of a kernel and two of 64 behind them. One block alone never is.

An entry declares %optiml_k0 and %optiml_k1, at which atomics and stores a thread has slept,
%optiml_since, when it began, and %optiml_e, how often it has come out of a grid barrier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from runners.reordering import entries
from runners.seeded import BLOCK, FIRST, LATE_BIT, MIXED, SEED

LAUNCHES = "optiml_shaking_launches"
HELD_NS, LEAVES_NS, LONGEST_NS = 100_000, 20_000, 50_000_000
BEGUN = ".reg .b32 %optiml_k0, %optiml_k1, %optiml_since, %optiml_e;"
_FIRST_LAUNCHES, _BLOCKS, _LEAVES = 16, 512, 8
# Of atomics as of stores of a kernel: one bit for each.
_MOST_PLACES = 32
_ALL, _NEVER = 0xFFFFFFFF, 1 << 31
# Whether a block, %optiml_l, is late, for a number in %optiml_a and the seed in %optiml_s.
_LATE = f"""shr.u32 %optiml_b, %optiml_l, 1;
mad.lo.u32 %optiml_a, %optiml_b, 0x9E3779B1, %optiml_a;
and.b32 %optiml_b, %optiml_s, {_ALL ^ 1 << LATE_BIT:#x};
xor.b32 %optiml_a, %optiml_a, %optiml_b;
{MIXED}
shr.u32 %optiml_b, %optiml_s, {LATE_BIT};
xor.b32 %optiml_a, %optiml_a, %optiml_b;
xor.b32 %optiml_a, %optiml_a, %optiml_l;
and.b32 %optiml_a, %optiml_a, 1;"""
_GUARD = r"\s*(?:@!?%\w+\s+)?"
_HERE = r"(?![\w.:]*(?:shared|async|bulk|local|param))"
_ATOMIC = re.compile(rf"{_GUARD}(?P<what>atom|red)\.{_HERE}")
_STORE = re.compile(rf"{_GUARD}st\.{_HERE}")
_STRONG_LOAD = re.compile(rf"{_GUARD}ld\.{_HERE}[\w.:]*(?:volatile|acquire|relaxed)\b")
_JUMP = re.compile(rf"{_GUARD}bra(?:\.uni)?\s+(?P<to>[$\w]+)\s*;")
_LABEL = re.compile(r"\s*(?P<name>[$\w]+):")
_BARRIER = re.compile(r"\s*bar(?:rier)?\.(?:cta\.)?sync\b")
_ENDS_PIECE = re.compile(rf"{_GUARD}(?:bra|bar|membar|fence|call|cp\.async)\w*\b|\s*[$\w]+:")


def holds(lines: Sequence[str]) -> dict[int, list[str]]:
    """Return sleeps of late blocks, by the numbers of the lines that they stand in front of."""
    found: dict[int, list[str]] = {}
    for first, last in entries(lines):
        for kind, places in enumerate(_places(lines, first, last)):
            for bit, number in enumerate(places[:_MOST_PLACES]):
                found[number] = [_held(number, f"%optiml_k{kind}", 1 << bit)]
        for number in _leaves(lines, first, last):
            found[number + 1] = [_left(number), *found.get(number + 1, [])]
    return found


def _places(lines: Sequence[str], first: int, last: int) -> tuple[list[int], list[int]]:
    """Return a kernel's global atomics, and its first global stores since anything but stores."""
    atomics: list[int] = []
    stores: list[int] = []
    fresh = True
    for number in range(first, last):
        line = lines[number]
        if _ATOMIC.match(line):
            atomics.append(number)
            fresh = True
        elif _STORE.match(line):
            stores += [number] if fresh else []
            fresh = False
        elif _ENDS_PIECE.match(line):
            fresh = True
    return atomics, stores


def _leaves(lines: Sequence[str], first: int, last: int) -> Iterator[int]:
    """Yield barriers behind a loop, and no barrier between, that looks at what others change."""
    labels: dict[str, int] = {}
    looks = -1
    waits = False
    for number in range(first, last):
        line = lines[number]
        atomic = _ATOMIC.match(line)
        if label := _LABEL.match(line):
            labels[label["name"]] = number
        elif _STRONG_LOAD.match(line) or (atomic and atomic["what"] == "atom"):
            looks = number
        elif jump := _JUMP.match(line):
            waits = waits or labels.get(jump["to"], last) < looks
        elif _BARRIER.match(line):
            if waits:
                yield number
            labels, looks, waits = {}, -1, False


def begins(entry: int) -> str:
    """Tell late blocks from others, and launches that have any, where a kernel begins.

    Who is not late has slept everywhere already.
    """
    return f"""{BEGUN}
mov.u32 %optiml_since, %globaltimer_lo;
{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
ld.global.u32 %optiml_s, [{SEED}];
{BLOCK}
{FIRST}
setp.ne.u32 %optiml_p, %optiml_s, 0;
setp.eq.and.u32 %optiml_q, %optiml_a, 0, %optiml_p;
ld.volatile.global.u32 %optiml_c, [{LAUNCHES}+{4 * entry}];
@%optiml_q red.global.add.u32 [{LAUNCHES}+{4 * entry}], 1;
and.b32 %optiml_b, %optiml_c, 63;
setp.lt.u32 %optiml_q, %optiml_b, 2;
setp.lt.or.u32 %optiml_q, %optiml_c, {_FIRST_LAUNCHES}, %optiml_q;
and.pred %optiml_p, %optiml_p, %optiml_q;
setp.lt.and.u32 %optiml_p, %optiml_l, {_BLOCKS}, %optiml_p;
mov.u32 %optiml_b, %nctaid.x;
mov.u32 %optiml_c, %nctaid.y;
mul.lo.u32 %optiml_b, %optiml_b, %optiml_c;
mov.u32 %optiml_c, %nctaid.z;
mul.lo.u32 %optiml_b, %optiml_b, %optiml_c;
setp.ge.and.u32 %optiml_p, %optiml_b, 2, %optiml_p;
mov.b32 %optiml_e, 0;
@!%optiml_p mov.b32 %optiml_e, {_NEVER:#x};
mov.b32 %optiml_a, {entry * 0xC2B2AE3D & 0xFFFFFFFF:#x};
{_LATE}
setp.ne.and.u32 %optiml_p, %optiml_a, 0, %optiml_p;
mov.b32 %optiml_k0, {_ALL:#x};
@%optiml_p mov.b32 %optiml_k0, 0;
mov.b32 %optiml_k1, %optiml_k0;
}}"""


def _held(place: int, register: str, bit: int) -> str:
    return f"""{{
.reg .pred %optiml_p;
.reg .b32 %optiml_a;
and.b32 %optiml_a, {register}, {bit:#x};
setp.ne.u32 %optiml_p, %optiml_a, 0;
@%optiml_p bra $optiml_held_{place};
or.b32 {register}, {register}, {bit:#x};
mov.u32 %optiml_a, %globaltimer_lo;
sub.u32 %optiml_a, %optiml_a, %optiml_since;
setp.lt.u32 %optiml_p, %optiml_a, {LONGEST_NS};
mov.u32 %optiml_a, {HELD_NS};
@%optiml_p nanosleep.u32 %optiml_a;
$optiml_held_{place}:
}}"""


def _left(place: int) -> str:
    """Return a sleep behind a barrier: the n-th time that a thread has any, 8 times of n."""
    return f"""{{
.reg .pred %optiml_p;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
ld.global.u32 %optiml_s, [{SEED}];
add.u32 %optiml_e, %optiml_e, 1;
mad.lo.u32 %optiml_a, %optiml_e, 0x85EBCA77, %optiml_s;
{MIXED}
mul.hi.u32 %optiml_b, %optiml_a, %optiml_e;
setp.ge.u32 %optiml_p, %optiml_b, {_LEAVES};
@%optiml_p bra $optiml_left_{place};
{BLOCK}
mul.lo.u32 %optiml_a, %optiml_e, 0x85EBCA77;
{_LATE}
setp.ne.u32 %optiml_p, %optiml_a, 0;
mov.u32 %optiml_b, {LEAVES_NS};
@%optiml_p nanosleep.u32 %optiml_b;
$optiml_left_{place}:
}}"""
