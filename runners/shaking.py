"""Delay warps at random inside a kernel: what only works under one schedule stops working.

What a shuffle brings from a lane that does not take part is undefined, and here it is a NaN, not
what happened to be in that lane's register. Clocks, timers and the launch's number are moved ahead
as well, by an amount that belongs to the seed: as if the launch came years and a million launches
later.

A missing barrier rarely shows: warps of a block mostly run in step. So the candidate's PTX gets a
sleep in front of every access to shared and global memory, every atomic and every barrier, taken
by a quarter of the warps: which, depends on warp, block, place and a seed that is set at run time.
No delay can make a correct kernel wrong, so a wrong result under delays is the candidate's fault,
and the only thing that counts; a race that harms nothing stays accepted.

Which lane of a warp wins where several store to one place is undefined, too, but in practice always
the same. So a store is done in two turns, of lanes that the seed chooses and of the others.

Instructions: PTX ISA 9.0, "nanosleep" (sm_70 and later).
"""

from __future__ import annotations

import re

SEED = "optiml_shaking_seed"
LEAST_SM = 70

_TOUCHES = re.compile(
    r"^\s*(?:@!?%p\w+\s+)?"
    r"(?:ld\.(?!param|const|local)|st\.(?!param|local)|atom\.|red\.(?!async)"
    r"|bar(?:rier)?\.(?:\w+\.)?(?:sync|arrive|red)|membar\.|fence\.|cp\.async\."
    r"|wmma\.(?:load|store)|ldmatrix|stmatrix)"
)
_STORE = re.compile(
    r"^\s*(?:@(?P<guard>!?%p\w+)\s+)?(?P<store>st\.(?!param|local|async|bulk)[^;]*;)\s*$"
)
_CLOCK = re.compile(
    r"^\s*mov\.[ub](?P<bits>32|64)\s+(?P<to>%\w+),\s*"
    r"%(?:clock|clock64|clock_hi|globaltimer|globaltimer_lo|globaltimer_hi|gridid);"
)
_SHUFFLE = re.compile(
    r"^\s*shfl\.sync\.(?P<mode>\w+)\.b32\s+(?P<to>%\w+)(?:\|%\w+)?,\s*[^,;]+(?P<rest>,[^;]+);"
)
_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?:entry|func)\b")
ZERO = "optiml_shaking_zero"
_MOST_PLACES = 4000


def shaken(ptx: str, seed: int = 0) -> str | None:
    """Return PTX with delays; None when there is no place for any.

    The seed is the 32-bit global `SEED`; with zero there, nothing is delayed. `seed` is what it is
    loaded with, for code that nobody can reach it in.
    """
    lines: list[str] = []
    places = 0
    declared = heading = False
    shuffles = "shfl.sync" in ptx
    for line in ptx.splitlines():
        if not declared and line.startswith(".address_size"):
            value = f" = {seed}" if seed else ""
            lines += [line, f".visible .global .align 4 .u32 {SEED}{value};"]
            lines.append(f".visible .global .align 4 .u32 {ZERO};")
            declared = True
            continue
        heading = (heading or bool(_BODY.match(line))) and not line.rstrip().endswith(";")
        if heading and shuffles and line.strip() == "{":
            # Zero in every lane, as far as anybody knows, until the lane takes part in a shuffle.
            lines += [line, ".reg .b32 %optiml_m;", f"ld.volatile.global.u32 %optiml_m, [{ZERO}];"]
            heading = False
            continue
        shuffle = _SHUFFLE.match(line)
        if declared and shuffle is not None:
            places += 1
            lines += _shuffled(line, shuffle)
            continue
        if declared and _TOUCHES.match(line) and places < _MOST_PLACES:
            places += 1
            lines.append(_delay(places))
            store = _STORE.match(line)
            if store is not None:
                lines.append(_in_turns(store["store"], store["guard"] or "", places))
                continue
        lines.append(line)
        clock = _CLOCK.match(line)
        if declared and clock is not None:
            places += 1
            lines.append(_later(clock["to"], int(clock["bits"])))
    return "\n".join(lines) + "\n" if places else None


def _shuffled(line: str, found: re.Match[str]) -> list[str]:
    """Put a NaN where a shuffle reads from a lane that is not there."""
    to, mode, rest = found["to"], found["mode"], found["rest"]
    return [
        "{",
        ".reg .b32 %optiml_n, %optiml_x;",
        ".reg .pred %optiml_p;",
        "or.b32 %optiml_m, %optiml_m, 1;",
        f"shfl.sync.{mode}.b32 %optiml_n, %optiml_m{rest};",
        line,
        "setp.ne.u32 %optiml_p, %optiml_n, 1;",
        "mov.b32 %optiml_x, 0x7FFFBAAD;",
        f"@%optiml_p mov.b32 {to}, %optiml_x;",
        "}",
    ]


def _in_turns(store: str, guard: str, place: int) -> str:
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


def _delay(place: int) -> str:
    """Return a sleep of 0.5 to 4 µs that a quarter of the warps take."""
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s;
ld.global.u32 %optiml_s, [{SEED}];
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
mul.lo.u32 %optiml_a, %optiml_a, 0x7FEB352D;
shr.u32 %optiml_b, %optiml_a, 15;
xor.b32 %optiml_a, %optiml_a, %optiml_b;
mul.lo.u32 %optiml_a, %optiml_a, 0x846CA68B;
shr.u32 %optiml_b, %optiml_a, 16;
xor.b32 %optiml_a, %optiml_a, %optiml_b;
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
