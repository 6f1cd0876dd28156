"""Numbers in PTX that depend on a seed: on it alone, or on warp, block and place as well.

The seed is a 32-bit global that is set at run time, or loaded with the module.
"""

from __future__ import annotations

SEED = "optiml_shaking_seed"
# Under seeds with this bit first blocks begin late; the next two say how many are looked at. Code
# whose seed cannot be set is built twice, with odd seeds that differ in it. It also chooses what
# shared memory is filled with.
LATE_BIT = 5
MIXED = """mul.lo.u32 %optiml_a, %optiml_a, 0x7FEB352D;
shr.u32 %optiml_b, %optiml_a, 15;
xor.b32 %optiml_a, %optiml_a, %optiml_b;
mul.lo.u32 %optiml_a, %optiml_a, 0x846CA68B;
shr.u32 %optiml_b, %optiml_a, 16;
xor.b32 %optiml_a, %optiml_a, %optiml_b;"""
# A block's number.
BLOCK = """mov.u32 %optiml_l, %ctaid.z;
mov.u32 %optiml_b, %nctaid.y;
mov.u32 %optiml_c, %ctaid.y;
mad.lo.u32 %optiml_l, %optiml_l, %optiml_b, %optiml_c;
mov.u32 %optiml_b, %nctaid.x;
mov.u32 %optiml_c, %ctaid.x;
mad.lo.u32 %optiml_l, %optiml_l, %optiml_b, %optiml_c;"""
# %optiml_a: zero in the first thread of the first block, whose number is in %optiml_l.
FIRST = """mov.u32 %optiml_a, %tid.x;
mov.u32 %optiml_b, %tid.y;
mov.u32 %optiml_c, %tid.z;
or.b32 %optiml_a, %optiml_a, %optiml_b;
or.b32 %optiml_a, %optiml_a, %optiml_c;
or.b32 %optiml_a, %optiml_a, %optiml_l;"""


def drawn(place: int) -> str:
    """Return what leaves the seed in %optiml_s, and in %optiml_a a number that depends on it.

    And on warp, block and place.
    """
    return f"""ld.global.u32 %optiml_s, [{SEED}];
mov.u32 %optiml_a, %tid.z;
mov.u32 %optiml_b, %ntid.y;
mov.u32 %optiml_c, %tid.y;
mad.lo.u32 %optiml_a, %optiml_a, %optiml_b, %optiml_c;
mov.u32 %optiml_b, %ntid.x;
mov.u32 %optiml_c, %tid.x;
mad.lo.u32 %optiml_a, %optiml_a, %optiml_b, %optiml_c;
shr.u32 %optiml_a, %optiml_a, 5;
mov.u32 %optiml_b, %ctaid.x;
mad.lo.u32 %optiml_a, %optiml_b, 0x9E3779B1, %optiml_a;
mov.u32 %optiml_b, %ctaid.y;
mad.lo.u32 %optiml_a, %optiml_b, 0x85EBCA77, %optiml_a;
add.u32 %optiml_a, %optiml_a, {(place * 0xC2B2AE3D) & 0xFFFFFFFF:#x};
xor.b32 %optiml_a, %optiml_a, %optiml_s;
{MIXED}"""
