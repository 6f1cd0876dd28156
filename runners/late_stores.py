"""Stores that some lanes or warps do later than others, where nothing orders them.

Which lane of a warp wins where several store to one place is undefined, but in practice always
the same. So a store is done in two turns, of lanes that the seed chooses and of the others.

A store that the memory model lets a thread do behind the atomic or flag that follows it
(`runners.reordering`) is done there by half of the warps, some microseconds later. So is one before
a barrier behind which the block counts itself, just before the next barrier.

An entry declares %optiml_t, how many stores a thread has done late, and %optiml_h, whether it keeps
one for later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from runners.late_blocks import HELD_NS
from runners.reordering import Counter, Keep, Place, Swap
from runners.seeded import BLOCK, LATE_BIT, MIXED, SEED, drawn

STORE = re.compile(
    r"^\s*(?:@(?P<guard>!?%p\w+)\s+)?(?P<store>st\.(?!param|local|async|bulk)[^;]*;)\s*$"
)
# A thread may count ten thousand times. How often one slept is kept for a kernel as a whole, so
# functions that are called have their stores in order.
_MOST_BEHIND = 32
# The block that counts itself last may be one that was held back before it did, at a few places:
# the first stores that a thread does late come behind that, too.
_FAR_BEHIND, _FAR_NS = 2, 4 * HELD_NS


def in_turns(store: str, guard: str, place: int) -> str:
    """Return a store that some lanes do before the others: those with an odd number of set bits.

    Bits of the lane's number, that is, under a mask of five bits; a sixth says who is first. The
    seed is read twice, so that nothing sees the turns as one store. With seed 0 all are first.
    """
    chosen = f"""ld.volatile.global.u32 %optiml_s, [{SEED}];
add.u32 %optiml_a, %optiml_s, {(place * 0x9E3779B1) & 0xFFFFFFFF:#x};
mul.lo.u32 %optiml_a, %optiml_a, 0x7FEB352D;
shr.u32 %optiml_b, %optiml_a, 15;
xor.b32 %optiml_a, %optiml_a, %optiml_b;
mul.lo.u32 %optiml_a, %optiml_a, 0x846CA68B;
shr.u32 %optiml_a, %optiml_a, 20;
and.b32 %optiml_b, %optiml_a, %optiml_l;
and.b32 %optiml_b, %optiml_b, 31;
popc.b32 %optiml_b, %optiml_b;
shr.u32 %optiml_a, %optiml_a, 5;
xor.b32 %optiml_b, %optiml_b, %optiml_a;
and.b32 %optiml_b, %optiml_b, 1;"""
    also = f"and.pred %optiml_p, %optiml_p, {guard.lstrip('!')};"
    if guard.startswith("!"):
        other = f"not.pred %optiml_q, {guard[1:]};"
        also = f"{other}\nand.pred %optiml_p, %optiml_p, %optiml_q;"
    also = also if guard else ""
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_l, %optiml_s;
mov.u32 %optiml_l, %laneid;
{chosen}
setp.ne.u32 %optiml_p, %optiml_b, 0;
setp.eq.or.u32 %optiml_p, %optiml_s, 0, %optiml_p;
{also}
@%optiml_p {store}
{chosen}
setp.eq.u32 %optiml_p, %optiml_b, 0;
setp.ne.and.u32 %optiml_p, %optiml_s, 0, %optiml_p;
{also}
@%optiml_p {store}
}}"""


def behind(swap: Swap, found: re.Match[str], signal: str, place: int) -> str:
    """Return a signal with the store that stood before it in front of it, or 8 to 32 µs behind.

    The first two times of a thread 400 µs more.

    Which, the seed says for each warp; in front where both touch the same memory. So long a sleep,
    since whoever sees the count may be delayed at a few places before it looks at what was stored.
    """
    store, guard = found["store"], found["guard"] or ""
    given = f"not.pred %optiml_g, {guard[1:]};" if guard.startswith("!") else ""
    given = given or f"mov.pred %optiml_g, {guard or 1};"
    one, other = address_in("%optiml_x", swap.stored), address_in("%optiml_y", swap.counted)
    flag = STORE.match(signal)
    if flag is not None:
        signal = in_turns(flag["store"], flag["guard"] or "", place - 2)
    return f"""{{
.reg .pred %optiml_p, %optiml_g, %optiml_u, %optiml_v;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s, %optiml_z;
.reg .b64 %optiml_x, %optiml_y, %optiml_d;
{drawn(place)}
and.b32 %optiml_b, %optiml_a, 1;
setp.ne.u32 %optiml_v, %optiml_s, 0;
setp.ne.and.u32 %optiml_v, %optiml_b, 0, %optiml_v;
bfe.u32 %optiml_z, %optiml_a, 8, 2;
mad.lo.u32 %optiml_z, %optiml_z, 8000, 8000;
{one}
{other}
{apart("%optiml_v", swap.stored.size, swap.counted.size)}
{given}
not.pred %optiml_u, %optiml_v;
and.pred %optiml_u, %optiml_u, %optiml_g;
and.pred %optiml_v, %optiml_v, %optiml_g;
{in_turns(store, "%optiml_u", place - 1)}
{signal}
setp.lt.and.u32 %optiml_p, %optiml_t, {_MOST_BEHIND}, %optiml_v;
setp.lt.and.u32 %optiml_u, %optiml_t, {_FAR_BEHIND}, %optiml_p;
@%optiml_u add.u32 %optiml_z, %optiml_z, {_FAR_NS};
@%optiml_p add.u32 %optiml_t, %optiml_t, 1;
@%optiml_p nanosleep.u32 %optiml_z;
{in_turns(store, "%optiml_v", place)}
}}"""


def kept_back(keep: Keep, found: re.Match[str], place: int) -> str:
    """Return a store that some lanes do and others keep for later: those with %optiml_h.

    Half of the warps of half of the blocks; what is counted until then must not be what is stored.
    A block that keeps none looks at the others' first, if it is the last one to count itself.
    """
    store, guard = found["store"], found["guard"] or ""
    given = f"not.pred %optiml_g, {guard[1:]};" if guard.startswith("!") else ""
    given = given or f"mov.pred %optiml_g, {guard or 1};"
    others = "\n".join(_apart_from(keep.stored, one) for one in keep.counted)
    return f"""{{
.reg .pred %optiml_p, %optiml_g, %optiml_u;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
.reg .b64 %optiml_x, %optiml_y, %optiml_d;
{drawn(place)}
and.b32 %optiml_b, %optiml_a, 1;
setp.ne.u32 %optiml_h, %optiml_s, 0;
setp.ne.and.u32 %optiml_h, %optiml_b, 0, %optiml_h;
{BLOCK}
xor.b32 %optiml_a, %optiml_l, %optiml_s;
{MIXED}
and.b32 %optiml_b, %optiml_a, 1;
setp.ne.and.u32 %optiml_h, %optiml_b, 0, %optiml_h;
setp.lt.and.u32 %optiml_h, %optiml_t, {_MOST_BEHIND}, %optiml_h;
{address_in("%optiml_x", keep.stored)}
{others}
{given}
not.pred %optiml_u, %optiml_h;
and.pred %optiml_u, %optiml_u, %optiml_g;
and.pred %optiml_h, %optiml_h, %optiml_g;
{in_turns(store, "%optiml_u", place)}
}}"""


def _apart_from(stored: Place, counted: Counter) -> str:
    """Make %optiml_h false where what is counted lies in what is stored, at %optiml_x."""
    if counted.root.startswith("["):
        at = f"""ld.param.u64 %optiml_y, {counted.root};
cvta.to.global.u64 %optiml_y, %optiml_y;
add.s64 %optiml_y, %optiml_y, {counted.plus};"""
    else:
        at = f"mov.u64 %optiml_y, {counted.root};\nadd.s64 %optiml_y, %optiml_y, {counted.plus};"
    return f"{at}\n{apart('%optiml_h', stored.size, counted.size)}"


def endings(keep: Keep, found: re.Match[str]) -> dict[int, Callable[[str, int], str]]:
    """Return what does a store that is kept in front of a line, by the lines' numbers."""

    def before(line: str, place: int, *, how: Callable[[re.Match[str], int], str]) -> str:
        return f"{how(found, place)}\n{line}"

    fences = dict.fromkeys(keep.fences, partial(before, how=_at_once))
    return {**fences, keep.barrier: partial(before, how=_given_up)}


def _given_up(found: re.Match[str], place: int) -> str:
    """Return the store that %optiml_h says is still to be done, 8 to 32 µs later.

    The first two times of a thread 400 µs more.

    64 times as much under seeds with which no block begins late: the one that counts itself last
    may be a good deal later than the others, and it alone looks at what was stored. In two sleeps,
    since one takes 1 ms at most.
    """
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s, %optiml_z;
{drawn(place)}
bfe.u32 %optiml_z, %optiml_a, 8, 2;
mad.lo.u32 %optiml_z, %optiml_z, 7800, 7800;
and.b32 %optiml_b, %optiml_s, {1 << LATE_BIT};
setp.eq.and.u32 %optiml_p, %optiml_b, 0, %optiml_h;
@%optiml_p shl.b32 %optiml_z, %optiml_z, 5;
setp.ne.and.u32 %optiml_q, %optiml_b, 0, %optiml_h;
setp.lt.and.u32 %optiml_q, %optiml_t, {_FAR_BEHIND}, %optiml_q;
@%optiml_q add.u32 %optiml_z, %optiml_z, {_FAR_NS};
@%optiml_h add.u32 %optiml_t, %optiml_t, 1;
@%optiml_h nanosleep.u32 %optiml_z;
@%optiml_p nanosleep.u32 %optiml_z;
{_at_once(found, place)}
}}"""


def _at_once(found: re.Match[str], place: int) -> str:
    """Return the store that %optiml_h says is still to be done, where a fence says no later.

    Without a sleep: a thread that comes by a fence counts its block behind it, so that of all
    blocks those that slept here would be the last, when what the others keep is long done.
    """
    return f"""{in_turns(found["store"], "%optiml_h", place)}
mov.pred %optiml_h, 0;"""


def apart(register: str, size: int, other: int) -> str:
    """Make a predicate false where the bytes at %optiml_x and %optiml_y lap over."""
    return f"""sub.s64 %optiml_d, %optiml_y, %optiml_x;
setp.ge.and.u64 {register}, %optiml_d, {size}, {register};
sub.s64 %optiml_d, %optiml_x, %optiml_y;
setp.ge.and.u64 {register}, %optiml_d, {other}, {register};"""


def address_in(register: str, place: Place) -> str:
    """Put an address into a register; with one that is not global %optiml_v becomes false."""
    if not place.base.startswith("%"):
        return f"mov.u64 {register}, {place.base}+{place.plus};"
    sum_ = f"add.s64 {register}, {place.base}, {place.plus};"
    if not place.generic:
        return sum_
    return f"""{sum_}
isspacep.global %optiml_p, {register};
and.pred %optiml_v, %optiml_v, %optiml_p;
cvta.to.global.u64 {register}, {register};"""
