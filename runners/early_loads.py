"""Loads that are done before a thread has waited for another block, where nothing orders them.

Who waits in a loop for a flag, by volatile or relaxed loads or by atomics, needs a fence before it
reads what the flag announces. Without one the memory model lets it read first and wait then, and
what it finds may be what was there before, though today's hardware shows that only now and then.

Here are the loads whose address can be known before such a loop, that come behind it in any case,
with nothing between that orders them or that stores to memory which others see. Half of the warps
go on with what was there before the loop. What is waited for must not be what is loaded: that is
for the kernel to tell, as it runs.

PTX ISA 9.0, "Memory Consistency Model": a load without a qualifier is weak, and without a fence or
an acquire nothing orders it behind a relaxed one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runners.late_stores import address_in, apart
from runners.reordering import (
    INSTRUCTION,
    LABEL,
    Place,
    entries,
    is_passed,
    is_plain,
    place_of,
    written_by,
)
from runners.seeded import drawn

_LOAD = re.compile(
    r"ld(?:\.[\w:]+)*?\.global(?:\.[\w:]+)*?(?:\.(?P<vector>v[24]))?\.[busf](?P<bits>32|64)"
)
_REGISTER = re.compile(r"%(?P<kind>[a-z]+)\d+")
_BITS = {"r": "32", "f": "32", "rd": "64", "fd": "64"}
# What makes addresses: of registers of whole words, and without any other result.
_STEPS = frozenset(("add", "sub", "mul", "mad", "mov", "cvta", "cvt", "shl", "shr", "and", "or"))
_RELAXED = frozenset(("volatile", "relaxed", "mmio"))
_ELSEWHERE = frozenset(("shared", "shared::cta", "shared::cluster", "local"))
# What waits is short, and watches a word or two.
_MOST_LINES, _MOST_WATCHED = 64, 8


@dataclass(frozen=True, slots=True)
class Early:
    """A load by its line, the line in front of which it may be done, and what is waited for.

    `steps` make its address from what is known there.
    """

    load: int
    before: int
    loaded: Place
    registers: tuple[str, ...]
    bits: int
    watched: tuple[Place, ...]
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """An instruction, or a label; one with neither opcode nor label does nothing."""

    opcode: tuple[str, ...] = ()
    rest: str = ""
    guard: str = ""
    label: str = ""


# A kernel's lines by their numbers; None is what cannot be read.
_Code = Mapping[int, _Line | None]
_Jumps = Sequence[tuple[int, int]]


def early(lines: Sequence[str]) -> list[Early]:
    """Return the loads of kernels that may be done before a loop that waits."""
    found: list[Early] = []
    for first, last in entries(lines):
        code = {number: _read(lines[number]) for number in range(first, last)}
        jumps = _jumps(code)
        unread = (lines[number] for number, line in code.items() if line is None)
        if jumps is None or any("br" in text for text in unread):
            continue
        for number in code:
            one = _before(code, jumps, number, first)
            found += [one] if one is not None else []
    return found


def _read(line: str) -> _Line | None:
    text = line.partition("//")[0].strip()
    if not text or text.startswith((".loc", ".file", ".pragma")):
        return _Line()
    label, match = LABEL.fullmatch(text), INSTRUCTION.match(text)
    if label is not None:
        return _Line(label=label["name"])
    if match is None:
        return None
    opcode, rest = tuple(match["opcode"].split(".")), (match["rest"] or "").strip()
    return _Line(opcode, rest, match["guard"] or "")


def _jumps(code: _Code) -> _Jumps | None:
    """Return where a kernel jumps from and to; None where that cannot be told."""
    labels: dict[str, int] = {}
    for number, line in code.items():
        if line and line.label in labels:
            return None
        labels |= {line.label: number} if line and line.label else {}
    jumps = [(number, line) for number, line in code.items() if line and line.opcode]
    jumps = [(number, line) for number, line in jumps if line.opcode[0] in ("bra", "brx")]
    if any(line.rest not in labels for _, line in jumps):
        return None
    return [(number, labels[line.rest]) for number, line in jumps]


def _before(code: _Code, jumps: _Jumps, load: int, first: int) -> Early | None:
    """Return how far ahead a line may be done, if it is a load and passes a loop that waits."""
    found = _loaded(code[load])
    if found is None:
        return None
    way = _Way(found[0], needed={found[0].base})
    best: Early | None = None
    for number in range(load - 1, max(first, load - _MOST_LINES) - 1, -1):
        line = code[number]
        if line is None or not way.passes(line):
            break
        if way.watched and line != _Line() and _waits(code, jumps, number, load):
            watched = tuple(dict.fromkeys(way.watched))
            best = Early(load, number, *found, watched, tuple(reversed(way.steps)))
    return best


@dataclass(slots=True)
class _Way:
    """What lies between a load and where it may be done, from the load backwards.

    `needed` are the registers that its address is made of, by `steps`, the last one first;
    `changed` are all that are written meanwhile. Steps are taken behind the last label and jump
    alone, as what goes round in a loop may be another number each time.
    """

    loaded: Place
    needed: set[str]
    watched: list[Place] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    straight: bool = True

    def passes(self, line: _Line) -> bool:
        """Tell whether the load may as well be done before a line."""
        self.straight = self.straight and not line.label and line.opcode[:1] != ("bra",)
        if _nothing(line):
            return True
        written = _changed(line)
        if written & self.needed and not self._step(line, written):
            return False
        self.changed |= written
        if not (_passes(line) or self._disjoint(line) or self._watching(line)):
            return False
        return not any(place.base in self.changed for place in self.watched)

    def _step(self, line: _Line, written: set[str]) -> bool:
        """Take a step that an address is made by, if it can be done ahead as well."""
        named = _REGISTER.findall(line.rest)
        whole = len(named) == line.rest.count("%") and all(kind in _BITS for kind in named)
        arithmetic = line.opcode[0] in _STEPS and "cc" not in line.opcode and not line.guard
        if not (self.straight and whole and arithmetic) or line.rest.startswith("{"):
            return False
        self.steps.append(f"{'.'.join(line.opcode)} {line.rest};")
        self.needed -= written
        self.needed |= {one[0] for one in _REGISTER.finditer(line.rest.partition(",")[2])}
        return True

    def _disjoint(self, line: _Line) -> bool:
        """Tell whether a line loads other bytes: else the load behind must bring nothing older."""
        one = self.loaded
        place = place_of(line.opcode, line.rest) if line.opcode[0] == "ld" else None
        if place is None or not is_plain(line.opcode) or place.base != one.base:
            return False
        ends = place.plus + place.size <= one.plus or one.plus + one.size <= place.plus
        return not self.steps and ends

    def _watching(self, line: _Line) -> bool:
        """Add what a line watches for; tell whether it does, and orders nothing by it."""
        place = place_of(line.opcode, line.rest) if _watches(line) else None
        if place is None or not is_plain([one for one in line.opcode if one not in _RELAXED]):
            return False
        self.watched.append(place)
        return len(self.watched) <= _MOST_WATCHED


def _nothing(line: _Line) -> bool:
    return not line.opcode


def _changed(line: _Line) -> set[str]:
    """Return the registers that a line writes; those of a store, or none, come to no harm."""
    return set() if line.opcode[0] in ("bra", "st") else written_by(line.rest)


def _loaded(line: _Line | None) -> tuple[Place, tuple[str, ...], int] | None:
    """Return what a weak load of whole registers reads, and these; None for anything else."""
    if line is None or _nothing(line) or line.guard or not is_plain(line.opcode):
        return None
    match = _LOAD.fullmatch(".".join(line.opcode))
    place = place_of(line.opcode, line.rest) if match is not None else None
    if match is None or place is None or "nc" in line.opcode:
        return None
    names = tuple(_REGISTER.finditer(line.rest.partition("[")[0]))
    whole = all(_BITS.get(one["kind"]) == match["bits"] for one in names)
    if not whole or len(names) != int((match["vector"] or "v1")[1:]):
        return None
    return place, tuple(one[0] for one in names), int(match["bits"])


def _passes(line: _Line) -> bool:
    return line.opcode[0] in ("bra", "nanosleep") or is_passed(line.opcode, generic=False)


def _waits(code: _Code, jumps: _Jumps, first: int, last: int) -> bool:
    """Tell whether lines are a way to `last` that nothing enters or leaves, with such a loop."""
    waits = False
    for number, to in jumps:
        inside = first <= number < last
        if inside != (first <= to <= last):
            return False
        if inside and to < number:
            waits = waits or any(_watches(code[one]) for one in range(to, number))
    return waits


def _watches(line: _Line | None) -> bool:
    """Tell whether a line looks at what other blocks change."""
    if line is None or _nothing(line) or _ELSEWHERE & set(line.opcode):
        return False
    relaxed = bool(_RELAXED & set(line.opcode))
    return line.opcode[0] == "atom" or (line.opcode[0] == "ld" and relaxed)


def put(found: Sequence[Early]) -> dict[int, list[str]]:
    """Return the loads that are done early, by the lines in front of which they are."""
    texts: dict[int, list[str]] = {}
    for one in found:
        names = ", ".join(_kept(one))
        vector = f".v{len(one.registers)}" if len(one.registers) > 1 else ""
        to = f"{{{names}}}" if vector else names
        steps, base = _renamed(one)
        text = f""".reg .b{one.bits} {names};
{steps}ld.volatile.global{vector}.b{one.bits} {to}, [{base}+{one.loaded.plus}];"""
        texts.setdefault(one.before, []).append(text)
    return texts


def _renamed(one: Early) -> tuple[str, str]:
    """Return the steps with registers of their own, and what has the address then."""
    names: dict[str, str] = {}
    text = ""
    for number, step in enumerate(one.steps):
        opcode, _, rest = step.partition(" ")
        to, _, others = rest.partition(",")
        others = _REGISTER.sub(lambda name: names.get(name[0], name[0]), others)
        kind = _REGISTER.fullmatch(to.strip())
        bits = _BITS[kind["kind"]] if kind is not None else "64"
        names[to.strip()] = name = f"%optiml_e{one.load}_s{number}"
        text += f".reg .b{bits} {name};\n{opcode} {name},{others}\n"
    return text, names.get(one.loaded.base, one.loaded.base)


def instead(one: Early, line: str, place: int) -> str:
    """Return a load behind which half of the warps go on with what was loaded early."""
    checks = "\n".join(
        f"{address_in('%optiml_y', watched)}\n{apart('%optiml_v', one.loaded.size, watched.size)}"
        for watched in one.watched
    )
    moves = "\n".join(
        f"@%optiml_v mov.b{one.bits} {to}, {kept};"
        for to, kept in zip(one.registers, _kept(one), strict=True)
    )
    return f"""{{
.reg .pred %optiml_p, %optiml_v;
.reg .b32 %optiml_a, %optiml_b, %optiml_c, %optiml_s;
.reg .b64 %optiml_x, %optiml_y, %optiml_d;
{drawn(place)}
and.b32 %optiml_b, %optiml_a, 1;
setp.ne.u32 %optiml_v, %optiml_s, 0;
setp.ne.and.u32 %optiml_v, %optiml_b, 0, %optiml_v;
{address_in("%optiml_x", one.loaded)}
{checks}
{line}
{moves}
}}"""


def _kept(one: Early) -> Iterator[str]:
    return (f"%optiml_e{one.load}_{number}" for number in range(len(one.registers)))
