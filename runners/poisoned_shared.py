"""Fill shared memory at the entry of every kernel: what a block reads before it has written it.

A program's launches follow each other, so a block finds what an earlier one left, and that is
mostly one of the same kernel: threads that return before they fill their place in a block's maximum
leave an earlier block's there, and the answer is right. So a kernel's threads first write to each
static array that it or a function it calls names, and to its dynamic shared memory, and wait for
each other. A kernel that reads only what its block has written cannot tell.

A maximum hides a NaN and a minimum hides large numbers. Under half of the seeds there are large
numbers; under the others each 8 bytes are a NaN or a large negative number, which depends on block
and place. They are so as numbers of 16, 32 and 64 bits alike; none is the -1 that says "none".

Addresses are the assembler's own, so what the system reserves in front of them is left alone. What
a neighbour in a cluster writes comes later: until both have met it may not write there.

PTX ISA 9.0, "State Spaces: .shared", "%dynamic_smem_size", "Async proxy".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# NaN and about -1e288 as doubles, or two of about 1e285; finite as numbers of 16 bits as well.
NAN, NEGATIVE = 0xFFFDFFFD, 0xFBFBFBFB
LARGE, LESS = 0x7B7B7B7B, 0x7A7A7A7A

_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?P<what>entry|func)\b")
_NAME = re.compile(r"\.(?:entry|func)\s*(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_$][\w$]*)")
_SHARED = re.compile(
    r"^\s*(?P<how>(?:\.(?:visible|weak|extern|common)\s+)*)\.shared\s+(?:\.align\s+(?P<align>\d+)\s+)?"
    r"\.[busf](?P<bits>8|16|32|64|128)\s+(?P<name>[A-Za-z_$][\w$]*)(?P<counts>(?:\[\d*\])*)\s*;\s*$"
)
_DECLARES = re.compile(r"^\s*(?:\.(?:reg|shared|local|loc|pragma)\b.*)?(?://.*)?$")
_GIVEN = re.compile(
    r"^\s*(?:\.\w+\s+)*\.(?:global|const)\b.*?(?P<name>[A-Za-z_$][\w$]*)[\[\]\d]*\s*="
)
_OPCODE = re.compile(r"^\s*(?:@!?%\w+\s+)?[a-z][\w.:]*\s+")
_WORD = re.compile(r"(?<![\w$.%])[A-Za-z_$][\w$]*")
_VERSION = re.compile(r"^\.version\s+(\d+)\.", re.MULTILINE)
_TARGET = re.compile(r"^\.target\s+sm_(\d+)", re.MULTILINE)
_GOLDEN = 0x9E3779B1


@dataclass(frozen=True, slots=True)
class _Array:
    """A variable in shared memory; bytes are None where a launch says how many there are."""

    name: str
    align: int
    bytes: int | None
    line: int


@dataclass(slots=True)
class _Function:
    """A body: lines `first` to `last` between its braces, and what its text names."""

    name: str
    entry: bool
    first: int
    last: int
    arrays: dict[str, _Array] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


def filled(lines: Sequence[str], seed: str, bit: int) -> list[str]:
    """Return a module's lines, some with PTX behind them that fills shared memory.

    `seed` names a 32-bit global: with zero in it nothing is filled, and its bit of number `bit`
    chooses between large numbers and the others. There are as many lines as before: what a kernel
    begins with is behind its last declaration, and arrays that functions declare are so behind the
    address size, where kernels can name them.
    """
    head = next((n for n, line in enumerate(lines) if line.startswith(".address_size")), None)
    if head is None:
        return list(lines)
    functions = list(_functions(lines))
    common = _common(lines, functions)
    named = {one.name: one.names for one in functions}
    named.update(_given(lines, functions))
    made = list(lines)
    moved: dict[str, _Array] = {}
    for number, one in enumerate(one for one in functions if one.entry):
        place = _place(lines, one)
        reached = _reached(one.names, named)
        within = _movable([f for f in functions if not f.entry and f.name in reached], functions)
        arrays = {**common, **within, **one.arrays}
        # What is declared behind the first instruction cannot be named there.
        chosen = [
            array
            for name, array in sorted(arrays.items())
            if name in reached and (name not in one.arrays or array.line <= place)
        ]
        if chosen and place >= one.first:
            moved.update({name: array for name, array in within.items() if array in chosen})
            text = _stores(chosen, number, seed, bit, fenced=_asynchronous(lines))
            made[place] = f"{lines[place]}\n{text}"
    for array in moved.values():
        made[array.line] = ""
    if moved:
        made[head] = "\n".join([lines[head], *(lines[array.line] for array in moved.values())])
    return made


def _functions(lines: Sequence[str]) -> Iterator[_Function]:
    """Read the bodies, one brace on a line of its own before each."""
    heading = ""
    body: _Function | None = None
    depth = 0
    for number, line in enumerate(lines):
        text = line.partition("//")[0]
        if body is None:
            begins = _BODY.match(text)
            heading = text if begins else heading and f"{heading} {text}"
            if heading and text.rstrip().endswith(";"):
                heading = ""
            elif heading and text.strip() == "{":
                name = _NAME.search(heading)
                entry = re.search(r"\.entry\b", heading) is not None
                body = _Function(name["name"] if name else "", entry, number + 1, number + 1)
                heading, depth = "", 1
            continue
        array = _array(line, number)
        if array is not None and depth == 1:
            body.arrays[array.name] = array
            continue
        depth += text.count("{") - text.count("}")
        body.last = number
        if depth <= 0:
            yield body
            body = None
            continue
        body.names.update(_WORD.findall(_OPCODE.sub("", text)))


def _array(line: str, number: int) -> _Array | None:
    found = _SHARED.match(line.partition("//")[0])
    if found is None:
        return None
    counts = re.findall(r"\[(\d*)\]", found["counts"])
    size = int(found["bits"]) // 8
    align = int(found["align"] or size)
    if "" in counts:
        return _Array(found["name"], align, None, number) if "extern" in found["how"] else None
    if "extern" in found["how"]:
        return None
    return _Array(found["name"], align, size * math.prod(int(one) for one in counts), number)


def _outside(lines: Sequence[str], functions: Sequence[_Function]) -> Iterator[tuple[int, str]]:
    inside = {number for one in functions for number in range(one.first, one.last + 1)}
    return ((number, line) for number, line in enumerate(lines) if number not in inside)


def _common(lines: Sequence[str], functions: Sequence[_Function]) -> dict[str, _Array]:
    """Return what several functions may name."""
    found = (_array(line, number) for number, line in _outside(lines, functions))
    return {one.name: one for one in found if one is not None}


def _given(lines: Sequence[str], functions: Sequence[_Function]) -> dict[str, set[str]]:
    """Return what variables begin with: tables of functions, mostly."""
    found: dict[str, set[str]] = {}
    for _, line in _outside(lines, functions):
        given = _GIVEN.match(line)
        if given is not None:
            found[given["name"]] = set(_WORD.findall(line[given.end() :]))
    return found


def _reached(names: set[str], named: Mapping[str, set[str]]) -> set[str]:
    """Return what is named directly, or by what is named."""
    found, more = set(names), list(names)
    while more:
        new = named.get(more.pop(), set()) - found
        found |= new
        more += new
    return found


def _movable(called: Sequence[_Function], functions: Sequence[_Function]) -> dict[str, _Array]:
    """Return arrays within functions whose names are their own, so that they can be everybody's."""
    known = [name for one in functions for name in one.arrays]
    return {
        name: array
        for one in called
        for name, array in one.arrays.items()
        if known.count(name) == 1 and array.bytes is not None
    }


def _place(lines: Sequence[str], one: _Function) -> int:
    """Return the last line of a body's first declarations, or the one before the body."""
    last = one.first - 1
    for number in range(one.first, one.last):
        if _DECLARES.match(lines[number]) is None:
            break
        if lines[number].strip():
            last = number
    return last


def _asynchronous(lines: Sequence[str]) -> bool:
    """Tell whether there are copies that only a fence puts behind a thread's own stores."""
    head = "\n".join(lines[:40])
    version, target = _VERSION.search(head), _TARGET.search(head)
    if version is None or target is None:
        return False
    return int(version[1]) >= 8 and int(target[1]) >= 90


def _stores(arrays: Sequence[_Array], entry: int, seed: str, bit: int, *, fenced: bool) -> str:
    """Return the stores of a kernel and the barrier behind them.

    The dynamic arrays of a kernel are one: they begin at one address.
    """
    static = [one for one in arrays if one.bytes is not None]
    dynamic = sorted((one for one in arrays if one.bytes is None), key=lambda one: one.align)
    parts = [
        _stored(one, f"{entry}_{number}") for number, one in enumerate([*static, *dynamic[-1:]])
    ]
    fence = "fence.proxy.async.shared::cta;\n" if fenced else ""
    return f"""{{
.reg .pred %optiml_p, %optiml_q;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_d, %optiml_h, %optiml_i, %optiml_n, %optiml_s;
.reg .b32 %optiml_v, %optiml_w;
ld.global.u32 %optiml_s, [{seed}];
setp.eq.u32 %optiml_p, %optiml_s, 0;
@%optiml_p bra $optiml_filled_{entry};
mov.u32 %optiml_a, %tid.z;
mov.u32 %optiml_b, %ntid.y;
mov.u32 %optiml_c, %tid.y;
mad.lo.u32 %optiml_a, %optiml_a, %optiml_b, %optiml_c;
mov.u32 %optiml_n, %ntid.x;
mov.u32 %optiml_c, %tid.x;
mad.lo.u32 %optiml_a, %optiml_a, %optiml_n, %optiml_c;
mul.lo.u32 %optiml_n, %optiml_n, %optiml_b;
mov.u32 %optiml_b, %ntid.z;
mul.lo.u32 %optiml_n, %optiml_n, %optiml_b;
mov.u32 %optiml_b, %ctaid.x;
mad.lo.u32 %optiml_h, %optiml_b, 0x85EBCA77, %optiml_s;
mov.u32 %optiml_b, %ctaid.y;
mad.lo.u32 %optiml_h, %optiml_b, 0xC2B2AE3D, %optiml_h;
mov.u32 %optiml_b, %ctaid.z;
mad.lo.u32 %optiml_h, %optiml_b, 0x27D4EB2F, %optiml_h;
shr.u32 %optiml_b, %optiml_h, 15;
xor.b32 %optiml_h, %optiml_h, %optiml_b;
and.b32 %optiml_b, %optiml_s, {1 << bit};
setp.ne.u32 %optiml_p, %optiml_b, 0;
selp.b32 %optiml_v, {LARGE:#x}, {NAN:#x}, %optiml_p;
selp.b32 %optiml_w, {LESS:#x}, {NEGATIVE:#x}, %optiml_p;
{"".join(parts)}{fence}barrier.sync 0;
$optiml_filled_{entry}:
}}"""


def _stored(array: _Array, label: str) -> str:
    """Return a loop in which a block's threads fill an array, in units that its address allows."""
    unit = math.gcd(array.align, 4 if array.bytes is None else array.bytes, 4)
    if array.bytes is None:
        count = (
            f"mov.u32 %optiml_d, %dynamic_smem_size;\nshr.u32 %optiml_d, %optiml_d, {unit >> 1};"
        )
    else:
        count = f"mov.u32 %optiml_d, {array.bytes // unit};"
    store = f"st.shared.b{8 * unit} [%optiml_b], %optiml_c;"
    if unit == 1:
        # The lower byte alone would make no NaN.
        store = f"""and.b32 %optiml_s, %optiml_i, 3;
shl.b32 %optiml_s, %optiml_s, 3;
shr.u32 %optiml_c, %optiml_c, %optiml_s;
{store}"""
    return f"""{count}
mov.u32 %optiml_i, %optiml_a;
$optiml_fill_{label}:
setp.ge.u32 %optiml_p, %optiml_i, %optiml_d;
@%optiml_p bra $optiml_full_{label};
shr.u32 %optiml_c, %optiml_i, {3 - (unit >> 1)};
mad.lo.u32 %optiml_c, %optiml_c, {_GOLDEN:#x}, %optiml_h;
setp.lt.s32 %optiml_q, %optiml_c, 0;
selp.b32 %optiml_c, %optiml_v, %optiml_w, %optiml_q;
mov.u32 %optiml_b, {array.name};
mad.lo.u32 %optiml_b, %optiml_i, {unit}, %optiml_b;
{store}
add.u32 %optiml_i, %optiml_i, %optiml_n;
bra $optiml_fill_{label};
$optiml_full_{label}:
"""
