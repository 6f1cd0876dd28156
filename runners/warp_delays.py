"""Sleeps of warps and blocks, in PTX: before what others see, and at a kernel's beginning.

A quarter of the warps sleep at each place: which, depends on warp, block, place and the seed. So
short a sleep is made up for where the others have a loop, delayed as well, before they need what
should have been done first. So at some places of a block half of its warps sleep for 20 to 160 µs:
at each of a kernel's first places and first stores to shared memory in one block of 8, at others in
one of 32, spread evenly, so that among a hundred blocks are some for each place. A thread has four
such sleeps at most, and of a large grid only some 256 blocks have any.

No block may count on the first one to begin first: under half of the seeds that one, and some of
the next few, begin up to a millisecond late.

An entry declares %optiml_f: the number that says at which places its block sleeps long.
"""

from __future__ import annotations

import re

from runners.seeded import BLOCK, FIRST, LATE_BIT, MIXED, SEED, drawn

LATE = "optiml_shaking_late"
FAR = "optiml_shaking_far"
_SHARED_STORE = re.compile(r"^\s*(?:@!?%p\w+\s+)?st\.(?:\w+\.)*shared\b")
# A program may launch a kernel ten thousand times.
_MOST_LATE = 256
# Long sleeps: in the first launches of a kernel and one of 64 behind them, in so many blocks. The
# places that a block has are those whose share of the numbers below `_NUMBERS` has its number;
# `_NO_PLACE` is no share's. The last two bits of a thread's number count its long sleeps down.
_FAR_LAUNCHES, _FAR_BLOCKS, _FAR_NS = 256, 256, 20000
_EARLY = 8
_NUMBERS, _NO_PLACE = 1 << 31, 0xFFFFFFFF
_OFTEN, _SELDOM = _NUMBERS >> 3, _NUMBERS >> 5
_GOLDEN = 0x9E3779B1


class Shares:
    """Deals a kernel's places out, in the order of its text."""

    def __init__(self) -> None:
        self._places = self._stores = 0

    def next(self, line: str) -> tuple[int, int]:
        """Return the first number of a place's share and how many there are: multiples of 4.

        Shares lie over one another: the more places a kernel has, the more a block has.
        """
        self._places += 1
        stores = _SHARED_STORE.match(line) is not None
        self._stores += stores
        early = self._places <= _EARLY or (stores and self._stores <= _EARLY)
        size = _OFTEN if early else _SELDOM
        at = (self._places * _GOLDEN & 0xFFFFFFFF) * (_NUMBERS - size) >> 32
        return at & ~3, size


def delay(place: int, share: tuple[int, int] | None) -> str:
    """Return a sleep of 0.5 to 1.5 µs that a quarter of the warps take, and maybe a long one."""
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s;
{drawn(place)}{_long(place, *share) if share else ""}
and.b32 %optiml_b, %optiml_a, 3;
setp.eq.u32 %optiml_p, %optiml_b, 0;
setp.ne.and.u32 %optiml_q, %optiml_s, 0, %optiml_p;
shr.u32 %optiml_b, %optiml_a, 8;
and.b32 %optiml_b, %optiml_b, 1023;
add.u32 %optiml_b, %optiml_b, 500;
@!%optiml_q bra $optiml_{place};
nanosleep.u32 %optiml_b;
$optiml_{place}:
}}"""


def _long(place: int, first: int, size: int) -> str:
    """Return a sleep of 20, 40, 80 or 160 µs of half of the warps, in blocks that have the place.

    All of a block count it, and sleep equally long: together they keep it no longer than one does.
    Only those that read the number of launches before it is counted up may have other places.
    """
    return f"""
sub.u32 %optiml_c, %optiml_f, {first};
setp.ge.u32 %optiml_p, %optiml_c, {size};
@%optiml_p bra $optiml_near_{place};
mul.lo.u32 %optiml_b, %optiml_a, %optiml_f;
setp.lt.s32 %optiml_q, %optiml_b, 0;
bfe.u32 %optiml_b, %optiml_f, 8, 2;
mov.u32 %optiml_c, {_FAR_NS};
shl.b32 %optiml_c, %optiml_c, %optiml_b;
@%optiml_q nanosleep.u32 %optiml_c;
and.b32 %optiml_b, %optiml_f, 3;
setp.eq.u32 %optiml_p, %optiml_b, 0;
sub.u32 %optiml_f, %optiml_f, 1;
@%optiml_p mov.b32 %optiml_f, {_NO_PLACE:#x};
$optiml_near_{place}:"""


def begins_late() -> str:
    """Return a sleep of up to 1 ms for the first block, and half of the first 4, 16 or 64.

    Of a module's launches only so many have it, counted where blocks look before they sleep.
    """
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
ld.global.u32 %optiml_s, [{SEED}];
{BLOCK}
mad.lo.u32 %optiml_a, %optiml_l, 0x9E3779B1, %optiml_s;
{MIXED}
and.b32 %optiml_a, %optiml_a, 1;
setp.ne.u32 %optiml_p, %optiml_a, 0;
setp.eq.or.u32 %optiml_p, %optiml_l, 0, %optiml_p;
bfe.u32 %optiml_b, %optiml_s, {LATE_BIT + 1}, 2;
shl.b32 %optiml_b, %optiml_b, 1;
mov.u32 %optiml_c, 1;
shl.b32 %optiml_b, %optiml_c, %optiml_b;
setp.lt.and.u32 %optiml_p, %optiml_l, %optiml_b, %optiml_p;
and.b32 %optiml_b, %optiml_s, {1 << LATE_BIT};
setp.ne.and.u32 %optiml_p, %optiml_b, 0, %optiml_p;
ld.volatile.global.u32 %optiml_b, [{LATE}];
setp.lt.and.u32 %optiml_p, %optiml_b, {_MOST_LATE}, %optiml_p;
{FIRST}
setp.eq.and.u32 %optiml_q, %optiml_a, 0, %optiml_p;
@%optiml_q red.global.add.u32 [{LATE}], 1;
mov.u32 %optiml_b, 250000;
@%optiml_p nanosleep.u32 %optiml_b;
@%optiml_p nanosleep.u32 %optiml_b;
bfe.u32 %optiml_a, %optiml_s, {LATE_BIT + 3}, 1;
setp.ne.and.u32 %optiml_p, %optiml_a, 0, %optiml_p;
@%optiml_p nanosleep.u32 %optiml_b;
@%optiml_p nanosleep.u32 %optiml_b;
}}"""


def numbered(entry: int) -> str:
    """Give a thread the number that says at which places its block sleeps long, in %optiml_f.

    Numbers of blocks that follow each other lie far apart, so that few leave no large gap; so do
    those of one block in launches that follow each other. These are counted for each kernel.
    """
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
ld.global.u32 %optiml_s, [{SEED}];
{BLOCK}
mov.b32 %optiml_a, %optiml_s;
{MIXED}
mad.lo.u32 %optiml_f, %optiml_l, {_GOLDEN:#x}, %optiml_a;
{FIRST}
setp.ne.u32 %optiml_p, %optiml_s, 0;
setp.eq.and.u32 %optiml_q, %optiml_a, 0, %optiml_p;
ld.volatile.global.u32 %optiml_c, [{FAR}+{4 * entry}];
@%optiml_q red.global.add.u32 [{FAR}+{4 * entry}], 1;
mad.lo.u32 %optiml_f, %optiml_c, 0x91E10DA5, %optiml_f;
and.b32 %optiml_b, %optiml_c, 63;
setp.eq.and.u32 %optiml_q, %optiml_b, 0, %optiml_p;
setp.lt.and.u32 %optiml_p, %optiml_c, {_FAR_LAUNCHES}, %optiml_p;
or.pred %optiml_p, %optiml_p, %optiml_q;
mov.b32 %optiml_a, %optiml_f;
{MIXED}
mov.u32 %optiml_b, %nctaid.x;
mov.u32 %optiml_c, %nctaid.y;
mul.lo.u32 %optiml_b, %optiml_b, %optiml_c;
mov.u32 %optiml_c, %nctaid.z;
mul.lo.u32 %optiml_b, %optiml_b, %optiml_c;
mul.hi.u32 %optiml_b, %optiml_a, %optiml_b;
setp.lt.and.u32 %optiml_p, %optiml_b, {_FAR_BLOCKS}, %optiml_p;
shr.u32 %optiml_f, %optiml_f, 1;
or.b32 %optiml_f, %optiml_f, 3;
@!%optiml_p mov.b32 %optiml_f, {_NO_PLACE:#x};
}}"""
