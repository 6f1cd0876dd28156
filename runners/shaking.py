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

Delays that short are made up for where the others have a loop, delayed as well, before they need
what should have been done first. So at some places of a block half of its warps sleep for 20 to
160 µs: at each of a kernel's first places and first stores to shared memory in one block of 8, at
others in one of 32, spread evenly, so that among a hundred blocks are some for each place. A thread
has four such sleeps at most, and of a large grid only some 256 blocks have any.

Which lane of a warp wins where several store to one place is undefined, too, but in practice always
the same. So a store is done in two turns, of lanes that the seed chooses and of the others.

A store that the memory model lets a thread do behind the atomic that follows it
(`runners.reordering`) is done there by half of the warps, some microseconds later. So is one before
a barrier behind which the block counts itself, just before the next barrier. And no block may
count on the first one to begin first: under half of the seeds that one, and some of the next few,
begin up to a millisecond late.

What a block reads in shared memory before it has written it is not what an earlier one left:
`runners.poisoned_shared`.

Instructions: PTX ISA 9.0, "nanosleep" (sm_70 and later).
"""

from __future__ import annotations

import re

from runners.poisoned_shared import filled
from runners.reordering import Counter, Keep, Place, Swap, keeps, swaps

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
_SHARED_STORE = re.compile(r"^\s*(?:@!?%p\w+\s+)?st\.(?:\w+\.)*shared\b")
_CLOCK = re.compile(
    r"^\s*mov\.[ub](?P<bits>32|64)\s+(?P<to>%\w+),\s*"
    r"%(?:clock|clock64|clock_hi|globaltimer|globaltimer_lo|globaltimer_hi|gridid);"
)
_SHUFFLE = re.compile(
    r"^\s*shfl\.sync\.(?P<mode>\w+)\.b32\s+(?P<to>%\w+)(?:\|%\w+)?,\s*[^,;]+(?P<rest>,[^;]+);"
)
# What a lane may ask of its warp only if the mask, the last operand, has its bit.
_ASKED = re.compile(
    r"^\s*(?:@(?P<guard>!?%p\w+)\s+)?(?P<name>(?:vote|match|redux)\.[.\w]*\bsync\b[.\w]*)"
    r"\s+(?P<to>%\w+)(?:\|(?P<also>%\w+))?,[^;]*,\s*(?P<mask>[^,;\s]+)\s*;"
)
_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?P<what>entry|func)\b")
ZERO = "optiml_shaking_zero"
LATE = "optiml_shaking_late"
FAR = "optiml_shaking_far"
# Zero in every lane, as far as anybody knows, until it takes part in a shuffle.
_SHUFFLES = [".reg .b32 %optiml_m;", f"ld.volatile.global.u32 %optiml_m, [{ZERO}];"]
_MOST_PLACES = 4000
_MIXED = """mul.lo.u32 %optiml_a, %optiml_a, 0x7FEB352D;
shr.u32 %optiml_b, %optiml_a, 15;
xor.b32 %optiml_a, %optiml_a, %optiml_b;
mul.lo.u32 %optiml_a, %optiml_a, 0x846CA68B;
shr.u32 %optiml_b, %optiml_a, 16;
xor.b32 %optiml_a, %optiml_a, %optiml_b;"""
# A block's number.
_BLOCK = """mov.u32 %optiml_l, %ctaid.z;
mov.u32 %optiml_b, %nctaid.y;
mov.u32 %optiml_c, %ctaid.y;
mad.lo.u32 %optiml_l, %optiml_l, %optiml_b, %optiml_c;
mov.u32 %optiml_b, %nctaid.x;
mov.u32 %optiml_c, %ctaid.x;
mad.lo.u32 %optiml_l, %optiml_l, %optiml_b, %optiml_c;"""
# How many stores a thread has done late, and whether it keeps one for later.
_BEGUN = """.reg .b32 %optiml_t, %optiml_f;
mov.b32 %optiml_t, 0;
.reg .pred %optiml_h;
mov.pred %optiml_h, 0;"""
# Zero in the first thread of the first block.
_FIRST = """mov.u32 %optiml_a, %tid.x;
mov.u32 %optiml_b, %tid.y;
mov.u32 %optiml_c, %tid.z;
or.b32 %optiml_a, %optiml_a, %optiml_b;
or.b32 %optiml_a, %optiml_a, %optiml_c;
or.b32 %optiml_a, %optiml_a, %optiml_l;"""
# Under seeds with this bit first blocks begin late; the next two say how many are looked at. Code
# whose seed cannot be set is built twice, with odd seeds that differ in it. It also chooses what
# shared memory is filled with.
LATE_BIT = 5
# A program may launch a kernel ten thousand times, and a thread may count as often. How often one
# slept is kept for a kernel as a whole, so functions that are called have their stores in order.
_MOST_LATE, _MOST_BEHIND = 256, 32
# Long sleeps: in the first launches of a kernel and one of 64 behind them, in so many blocks. The
# places that a block has are those whose share of the numbers below `_NUMBERS` has its number;
# `_NO_PLACE` is no share's. The last two bits of a thread's number count its long sleeps down.
_FAR_LAUNCHES, _FAR_BLOCKS, _FAR_NS = 256, 256, 20000
_EARLY = 8
_NUMBERS, _NO_PLACE = 1 << 31, 0xFFFFFFFF
_OFTEN, _SELDOM = _NUMBERS >> 3, _NUMBERS >> 5
_GOLDEN = 0x9E3779B1


def shaken(ptx: str, seed: int = 0) -> str | None:
    """Return PTX with delays; None when there is no place for any.

    The seed is the 32-bit global `SEED`; with zero there, nothing is delayed. `seed` is what it is
    loaded with, for code that nobody can reach it in.
    """
    lines: list[str] = []
    places = 0
    declared = heading = entry = False
    shuffles = _SHUFFLES if "shfl.sync" in ptx else []
    original = ptx.splitlines()
    moved = {one.store: one for one in swaps(original)}
    late: dict[int, tuple[Swap, re.Match[str]]] = {}
    kept = {one.store: one for one in keeps(original)}
    pending: dict[int, re.Match[str]] = {}
    entries = 0
    shares = _Shares()
    for number, line in enumerate(filled(original, SEED, LATE_BIT)):
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
                lines += [_BEGUN, _begins_late(), _numbered(entries)]
                entries += 1
                shares = _Shares()
            heading = False
            continue
        told = _told(line) if declared else None
        if told is not None:
            places += 1
            lines += told
            continue
        if number in late or number in pending:
            places += 2
            lines.append(_delay(places - 1, shares.next(line)))
            if number in late:
                lines.append(_behind(*late[number], line, places))
            else:
                lines += [_given_up(pending[number], places), line]
            continue
        if declared and _TOUCHES.match(line) and places < _MOST_PLACES:
            places += 1
            lines.append(_delay(places, shares.next(line) if entry else None))
            store = _STORE.match(line)
            if entry and store is not None and number in moved:
                late[moved[number].atomic] = moved[number], store
                continue
            if entry and store is not None and number in kept:
                places += 1
                pending[kept[number].barrier] = store
                lines.append(_kept_back(kept[number], store, places))
                continue
            if store is not None:
                lines.append(_in_turns(store["store"], store["guard"] or "", places))
                continue
        lines.append(line)
        clock = _CLOCK.match(line)
        if declared and clock is not None:
            places += 1
            lines.append(_later(clock["to"], int(clock["bits"])))
    return "\n".join(lines) + "\n" if places else None


def _declared(seed: int, entries: int) -> list[str]:
    names = (f"{SEED} = {seed}" if seed else SEED, ZERO, LATE, f"{FAR}[{max(entries, 1)}]")
    return [f".visible .global .align 4 .u32 {name};" for name in names]


class _Shares:
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


def _told(line: str) -> list[str] | None:
    """Return what stands for a line in which a lane asks others of its warp; None for others."""
    for pattern, altered in ((_SHUFFLE, _shuffled), (_ASKED, _answered)):
        found = pattern.match(line)
        if found is not None:
            return altered(line, found)
    return None


def _shuffled(line: str, found: re.Match[str]) -> list[str]:
    """Put a NaN where a shuffle reads from a lane that is not there, or has no bit in the mask."""
    to, mode, rest = found["to"], found["mode"], found["rest"]
    mask = rest.rpartition(",")[2].strip()
    return [
        "{",
        ".reg .b32 %optiml_n, %optiml_x;",
        ".reg .pred %optiml_p;",
        "or.b32 %optiml_m, %optiml_m, 1;",
        f"shfl.sync.{mode}.b32 %optiml_n, %optiml_m{rest};",
        line,
        "setp.ne.u32 %optiml_p, %optiml_n, 1;",
        "mov.u32 %optiml_x, %lanemask_eq;",
        f"and.b32 %optiml_x, %optiml_x, {mask};",
        "setp.eq.or.u32 %optiml_p, %optiml_x, 0, %optiml_p;",
        "mov.b32 %optiml_x, 0x7FFFBAAD;",
        f"@%optiml_p mov.b32 {to}, %optiml_x;",
        "}",
    ]


def _answered(line: str, found: re.Match[str]) -> list[str]:
    """Have a lane that the mask does not name get another answer than its warp gives."""
    to, also, guard = found["to"], found["also"], found["guard"] or ""
    wrong = [f"@%optiml_p xor.b32 {to}, {to}, 0x7FFFBAAD;"]
    if found["name"].endswith(".pred"):
        wrong = [f"@%optiml_p not.pred {to}, {to};"]
    if also:
        wrong.append(f"@%optiml_p not.pred {also}, {also};")
    given = f"not.pred %optiml_q, {guard[1:]};" if guard.startswith("!") else ""
    given = given or f"mov.pred %optiml_q, {guard or 1};"
    # What the answer is put into may hold the mask, or whether there is to be one.
    return [
        "{",
        ".reg .b32 %optiml_a;",
        ".reg .pred %optiml_p, %optiml_q;",
        given,
        "mov.u32 %optiml_a, %lanemask_eq;",
        f"and.b32 %optiml_a, %optiml_a, {found['mask']};",
        "setp.eq.and.u32 %optiml_p, %optiml_a, 0, %optiml_q;",
        line,
        *wrong,
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


def _drawn(place: int) -> str:
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
{_MIXED}"""


def _delay(place: int, share: tuple[int, int] | None) -> str:
    """Return a sleep of 0.5 to 1.5 µs that a quarter of the warps take, and maybe a long one."""
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s;
{_drawn(place)}{_long(place, *share) if share else ""}
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


def _behind(swap: Swap, found: re.Match[str], atomic: str, place: int) -> str:
    """Return an atomic with the store that stood before it in front of it, or 8 to 32 µs behind.

    Which, the seed says for each warp; in front where both touch the same memory. So long a sleep,
    since whoever sees the count may be delayed at a few places before it looks at what was stored.
    """
    store, guard = found["store"], found["guard"] or ""
    given = f"not.pred %optiml_g, {guard[1:]};" if guard.startswith("!") else ""
    given = given or f"mov.pred %optiml_g, {guard or 1};"
    one, other = _address("%optiml_x", swap.stored), _address("%optiml_y", swap.counted)
    return f"""{{
.reg .pred %optiml_p, %optiml_g, %optiml_u, %optiml_v;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s, %optiml_z;
.reg .b64 %optiml_x, %optiml_y, %optiml_d;
{_drawn(place)}
and.b32 %optiml_b, %optiml_a, 1;
setp.ne.u32 %optiml_v, %optiml_s, 0;
setp.ne.and.u32 %optiml_v, %optiml_b, 0, %optiml_v;
bfe.u32 %optiml_z, %optiml_a, 8, 2;
mad.lo.u32 %optiml_z, %optiml_z, 8000, 8000;
{one}
{other}
sub.s64 %optiml_d, %optiml_y, %optiml_x;
setp.ge.and.u64 %optiml_v, %optiml_d, {swap.stored.size}, %optiml_v;
sub.s64 %optiml_d, %optiml_x, %optiml_y;
setp.ge.and.u64 %optiml_v, %optiml_d, {swap.counted.size}, %optiml_v;
{given}
not.pred %optiml_u, %optiml_v;
and.pred %optiml_u, %optiml_u, %optiml_g;
and.pred %optiml_v, %optiml_v, %optiml_g;
{_in_turns(store, "%optiml_u", place - 1)}
{atomic}
setp.lt.and.u32 %optiml_p, %optiml_t, {_MOST_BEHIND}, %optiml_v;
@%optiml_p add.u32 %optiml_t, %optiml_t, 1;
@%optiml_p nanosleep.u32 %optiml_z;
{_in_turns(store, "%optiml_v", place)}
}}"""


def _kept_back(keep: Keep, found: re.Match[str], place: int) -> str:
    """Return a store that some lanes do and others keep for later: those with %optiml_h.

    Half of the warps of half of the blocks; what is counted until then must not be what is stored.
    A block that keeps none looks at the others' first, if it is the last one to count itself.
    """
    store, guard = found["store"], found["guard"] or ""
    given = f"not.pred %optiml_g, {guard[1:]};" if guard.startswith("!") else ""
    given = given or f"mov.pred %optiml_g, {guard or 1};"
    apart = "\n".join(_apart(keep.stored, one) for one in keep.counted)
    return f"""{{
.reg .pred %optiml_p, %optiml_g, %optiml_u;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
.reg .b64 %optiml_x, %optiml_y, %optiml_d;
{_drawn(place)}
and.b32 %optiml_b, %optiml_a, 1;
setp.ne.u32 %optiml_h, %optiml_s, 0;
setp.ne.and.u32 %optiml_h, %optiml_b, 0, %optiml_h;
{_BLOCK}
xor.b32 %optiml_a, %optiml_l, %optiml_s;
{_MIXED}
and.b32 %optiml_b, %optiml_a, 1;
setp.ne.and.u32 %optiml_h, %optiml_b, 0, %optiml_h;
setp.lt.and.u32 %optiml_h, %optiml_t, {_MOST_BEHIND}, %optiml_h;
{_address("%optiml_x", keep.stored)}
{apart}
{given}
not.pred %optiml_u, %optiml_h;
and.pred %optiml_u, %optiml_u, %optiml_g;
and.pred %optiml_h, %optiml_h, %optiml_g;
{_in_turns(store, "%optiml_u", place)}
}}"""


def _apart(stored: Place, counted: Counter) -> str:
    """Make %optiml_h false where what is counted lies in what is stored, at %optiml_x."""
    if counted.root.startswith("["):
        at = f"""ld.param.u64 %optiml_y, {counted.root};
cvta.to.global.u64 %optiml_y, %optiml_y;
add.s64 %optiml_y, %optiml_y, {counted.plus};"""
    else:
        at = f"mov.u64 %optiml_y, {counted.root};\nadd.s64 %optiml_y, %optiml_y, {counted.plus};"
    return f"""{at}
sub.s64 %optiml_d, %optiml_y, %optiml_x;
setp.ge.and.u64 %optiml_h, %optiml_d, {stored.size}, %optiml_h;
sub.s64 %optiml_d, %optiml_x, %optiml_y;
setp.ge.and.u64 %optiml_h, %optiml_d, {counted.size}, %optiml_h;"""


def _given_up(found: re.Match[str], place: int) -> str:
    """Return the store that %optiml_h says is still to be done, 8 to 32 µs later."""
    return f"""{{
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s, %optiml_z;
{_drawn(place)}
bfe.u32 %optiml_z, %optiml_a, 8, 2;
mad.lo.u32 %optiml_z, %optiml_z, 8000, 8000;
@%optiml_h add.u32 %optiml_t, %optiml_t, 1;
@%optiml_h nanosleep.u32 %optiml_z;
{_in_turns(found["store"], "%optiml_h", place)}
mov.pred %optiml_h, 0;
}}"""


def _address(register: str, place: Place) -> str:
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


def _begins_late() -> str:
    """Return a sleep of up to 1 ms for the first block, and half of the first 4, 16 or 64.

    Of a module's launches only so many have it, counted where blocks look before they sleep.
    """
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
ld.global.u32 %optiml_s, [{SEED}];
{_BLOCK}
mad.lo.u32 %optiml_a, %optiml_l, 0x9E3779B1, %optiml_s;
{_MIXED}
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
{_FIRST}
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


def _numbered(entry: int) -> str:
    """Give a thread the number that says at which places its block sleeps long, in %optiml_f.

    Numbers of blocks that follow each other lie far apart, so that few leave no large gap; so do
    those of one block in launches that follow each other. These are counted for each kernel.
    """
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_l, %optiml_s;
ld.global.u32 %optiml_s, [{SEED}];
{_BLOCK}
mov.b32 %optiml_a, %optiml_s;
{_MIXED}
mad.lo.u32 %optiml_f, %optiml_l, {_GOLDEN:#x}, %optiml_a;
{_FIRST}
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
{_MIXED}
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
