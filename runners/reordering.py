"""Find stores that the memory model lets a thread do behind an atomic or a flag that follows them.

A block that leaves its share in global memory and then counts itself, or sets a flag by a volatile
or relaxed store, needs a fence between. Without one, who sees the count may not see the share yet,
though today's hardware nearly always shows both in the order of the program. Here are the pairs of
such a store and such a signal that stand in one straight-line piece of a kernel's PTX, with nothing
between that orders them or that touches memory the store could mean. Whether their addresses differ
is for the kernel itself to tell, as it runs.

A barrier between does not help: it orders a store for the block, not for who sees the count
elsewhere. So a store may be kept past a barrier and the counting behind it until just before the
next barrier, if until there nothing orders more than the block and nothing of the block could read
or write what is stored. A fence that some threads jump over before the barrier orders nothing for
these, and one behind the counting comes too late. All threads that have not ended are between the
same two barriers then: that is asked of the whole kernel, and whatever is not understood keeps its
stores where they are.

PTX ISA 9.0, "Memory Consistency Model": a store without a qualifier is weak, an atomic without one
is relaxed, and so is a volatile store; without a fence none is ordered with what else the thread
does elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

INSTRUCTION = re.compile(
    r"^(?:@(?P<guard>!?%p\w+)\s+)?(?P<opcode>[a-z]\w*(?:(?:\.|::)\w+)*)(?P<rest>[\s{\[][^;]*)?;$"
)
_ADDRESS = re.compile(r"\[\s*(?P<base>%?[A-Za-z_$][\w$]*)\s*(?:\+\s*(?P<plus>-?\d+)\s*)?\]")
_REGISTER = re.compile(r"%\w+")
_TYPE = re.compile(r"(?:[busf]|bf)(?P<bits>8|16|32|64|128)(?P<pair>x2)?")
_VECTOR = {"v2": 2, "v4": 4, "v8": 8}
# What touches registers alone.
_ARITHMETIC = re.compile(
    r"mov|add|sub|mul|mad|fma|div|rem|abs|neg|min|max|sad|setp?|selp|slct|cvta?|and|or|xor|c?not"
    r"|lop3|sh[lrf]|prmt|bf[ei]|bfind|popc|clz|brev|m(?:ul|ad)24|dp[24]a|rcp|r?sqrt|sin|cos|lg2"
    r"|ex2|tanh|copysign|testp"
)
# What makes a load or store more than one of the thread's own, or anything else than one.
_STRONG = re.compile(r"volatile|relaxed|acquire|release|acq_rel|sc|mmio|async|bulk|multimem")
# Of these a store is strong, and still orders nothing.
_FLAG = frozenset(("volatile", "relaxed", "mmio"))
_ELSEWHERE = frozenset(("shared", "shared::cta", "local"))
_BODY = re.compile(r"(?:\.\w+\s+)*\.(?P<what>entry|func)\b")
LABEL = re.compile(r"(?P<name>[$%_A-Za-z][\w$]*):")
_VARIABLE = re.compile(
    r"(?:\.(?:visible|extern|weak|common)\s+)*\.global\s+(?:\.align\s+\d+\s+)?\.\w+\s+(?P<name>[\w$]+)"
)
_DECLARED = re.compile(r"\.reg\s+\.\w+\s+%[\w<>]+(?:\s*,\s*%[\w<>]+)*\s*;")
_PARAMETER = re.compile(r"\[[A-Za-z_$][\w$]*(?:\+\d+)?\]")
_FENCES = frozenset(
    (
        "membar.gl",
        "membar.sys",
        *(f"fence.{how}.{who}" for how in ("acq_rel", "sc") for who in ("gpu", "sys")),
    )
)
# What keeps a thread from going on, and what goes where the text does not say.
_ENDS = frozenset(("ret", "exit", "trap"))
_UNKNOWN = frozenset(("call", "brx", "vcall", "brkpt"))
# Where all of a kernel's threads begin, as if there were a barrier.
_BEGIN = -1
# An address is followed back over so many registers.
_MOST_STEPS = 16


@dataclass(frozen=True, slots=True)
class Place:
    """An address as PTX writes it, and how many bytes are touched there.

    A generic one may turn out to be of another space than the global one.
    """

    base: str
    plus: int
    size: int
    generic: bool


@dataclass(frozen=True, slots=True)
class Swap:
    """A store and a signal behind it, an atomic or a flag, by the numbers of their lines."""

    store: int
    signal: int
    stored: Place
    counted: Place


@dataclass(frozen=True, slots=True)
class Counter:
    """What an atomic touches that all threads compute alike: a kernel's parameter, or a variable.

    `root` is the parameter as `ld.param` takes it, in brackets, or the variable's name.
    """

    root: str
    plus: int
    size: int


@dataclass(frozen=True, slots=True)
class Keep:
    """A store that may be kept until before a barrier, and what is counted in between.

    Whoever comes by one of `fences` keeps it no longer than that.
    """

    store: int
    barrier: int
    stored: Place
    counted: tuple[Counter, ...]
    fences: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Held:
    line: int
    place: Place
    registers: frozenset[str]


def swaps(lines: Sequence[str]) -> list[Swap]:
    """Return the pairs that may change places; no line belongs to two of them."""
    found: list[Swap] = []
    held: _Held | None = None
    for number, line in enumerate(lines):
        text = line.partition("//")[0].strip()
        if not text or text.startswith((".loc", ".file")):
            continue
        match = INSTRUCTION.match(text)
        if match is None:
            held = None
            continue
        opcode = match["opcode"].split(".")
        rest = (match["rest"] or "").strip()
        if held is not None and held.registers & written_by(rest):
            held = None
        if opcode[0] in ("atom", "red") or _sets_flag(opcode):
            counted = place_of(opcode, rest) if _orders_nothing(opcode) else None
            if held is not None and counted is not None:
                found.append(Swap(held.line, number, held.place, counted))
            held = None
        elif opcode[0] == "st" and is_plain(opcode) and not _ELSEWHERE & set(opcode):
            held = _begun(number, match["guard"], opcode, rest)
        elif held is not None and not is_passed(opcode, generic=held.place.generic):
            held = None
    return found


def keeps(lines: Sequence[str]) -> list[Keep]:
    """Return the stores that may be kept past a barrier; no line belongs to two of them.

    Counters lie a fixed distance behind what a kernel is given, so that whoever stores can tell
    whether anybody counts there: two parameters may be one buffer.
    """
    variables = frozenset(
        match["name"] for line in lines if (match := _VARIABLE.match(line.strip())) is not None
    )
    found: list[Keep] = []
    for first, last in entries(lines):
        kernel = _read(lines, first, last)
        if kernel is None or len(kernel.barriers) < 2:
            continue
        for barrier in sorted(kernel.barriers):
            keep = _kept(kernel, barrier, variables)
            if keep is not None and _together(kernel, barrier, keep.barrier):
                found.append(keep)
    return found


def _begun(number: int, guard: str | None, opcode: list[str], rest: str) -> _Held | None:
    place = place_of(opcode, rest)
    if place is None:
        return None
    registers = set(_REGISTER.findall(rest))
    if guard:
        registers.add(guard.lstrip("!"))
    return _Held(number, place, frozenset(registers))


def is_plain(opcode: Sequence[str]) -> bool:
    """Tell whether an access orders nothing. An atomic is no more than relaxed, if it says so."""
    atomic = opcode[0] in ("atom", "red")
    return not any(
        _STRONG.fullmatch(part) for part in opcode[1:] if not (atomic and part == "relaxed")
    )


def _sets_flag(opcode: Sequence[str]) -> bool:
    """Tell whether an access is a store to global memory that others may wait for."""
    return opcode[0] == "st" and bool(_FLAG & set(opcode)) and not _ELSEWHERE & set(opcode)


def _orders_nothing(opcode: Sequence[str]) -> bool:
    return is_plain([part for part in opcode if part not in _FLAG])


def is_passed(opcode: Sequence[str], *, generic: bool) -> bool:
    """Tell whether a store may as well be done behind an instruction."""
    name, parts = opcode[0], set(opcode)
    if _ARITHMETIC.fullmatch(name):
        return True
    if name not in ("ld", "st") or not is_plain(opcode):
        return False
    if name == "ld" and (parts & {"const", "param"} or {"global", "nc"} <= parts):
        return True
    return bool(_ELSEWHERE & parts) and not generic


def written_by(rest: str) -> set[str]:
    """Return the registers of an instruction's first operand, if that is not an address."""
    if rest.startswith("["):
        return set()
    first = rest.partition("}")[0] if rest.startswith("{") else rest.partition(",")[0]
    return set(_REGISTER.findall(first))


def place_of(opcode: Sequence[str], rest: str) -> Place | None:
    """Return what an access touches; None where that is not global memory, or cannot be read."""
    spaces = [part for part in opcode if part.partition("::")[0] in ("global", "shared", "local")]
    address, kind = _ADDRESS.search(rest), _TYPE.fullmatch(opcode[-1])
    if address is None or kind is None or rest.count("[") != 1 or spaces not in ([], ["global"]):
        return None
    if not spaces and not address["base"].startswith("%"):
        return None
    size = int(kind["bits"]) // 8 * (2 if kind["pair"] else 1)
    for part in opcode:
        size *= _VECTOR.get(part, 1)
    return Place(address["base"], int(address["plus"] or 0), size, not spaces)


@dataclass(frozen=True, slots=True)
class _Line:
    guard: str
    opcode: list[str]
    rest: str


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel's instructions by their lines; labels; barriers; what writes a register."""

    first: int
    last: int
    code: Mapping[int, _Line]
    labels: Mapping[str, int]
    braces: frozenset[int]
    barriers: frozenset[int]
    written: Mapping[str, list[_Line]]


def _text(line: str) -> str:
    return line.partition("//")[0].strip()


def entries(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines between the braces of each kernel, first and behind the last."""
    entry = heading = False
    depth = first = 0
    for number, line in enumerate(lines):
        text = _text(line)
        if not depth:
            begins = _BODY.match(text)
            entry = begins["what"] == "entry" if begins else entry
            heading = (heading or begins is not None) and not text.endswith(";")
            if heading and text == "{":
                depth, first, heading = 1, number + 1, False
        elif text in ("{", "}"):
            depth += 1 if text == "{" else -1
            if not depth and entry:
                yield first, number


def _read(lines: Sequence[str], first: int, last: int) -> _Kernel | None:
    """Read a kernel; None if anything in it may do what is not known here.

    That is: a call, a jump without a place, a barrier of some threads or under a condition, a
    cluster, registers without the sign of one, and whatever is not one instruction in a line.
    """
    code: dict[int, _Line] = {}
    labels: dict[str, int] = {}
    braces, barriers = set(), set()
    written: dict[str, list[_Line]] = {}
    for number in range(first, last):
        text = _text(lines[number])
        label = LABEL.fullmatch(text)
        if not text or text.startswith("."):
            if text.startswith(".reg") and not _DECLARED.fullmatch(text):
                return None
            if text and not text.startswith((".loc", ".file", ".pragma")):
                braces.add(number)
            continue
        if text in ("{", "}"):
            braces.add(number)
            continue
        if label is not None:
            if label["name"] in labels:
                return None
            labels[label["name"]] = number
            continue
        match = INSTRUCTION.match(text)
        if match is None:
            return None
        opcode, rest = match["opcode"].split("."), (match["rest"] or "").strip()
        line = _Line(match["guard"] or "", opcode, rest)
        if opcode[0] in _UNKNOWN or "cluster" in text:
            return None
        if opcode[0] in ("bar", "barrier") and "warp" not in opcode:
            whole = "sync" in opcode and set(opcode[1:]) <= {"sync", "cta", "aligned"}
            if not whole or rest != "0" or line.guard:
                return None
            barriers.add(number)
        code[number] = line
        for register in written_by(rest):
            written.setdefault(register, []).append(line)
    kernel = _Kernel(first, last, code, labels, frozenset(braces), frozenset(barriers), written)
    jumps = (line.rest for line in code.values() if line.opcode[0] == "bra")
    return kernel if all(place in labels for place in jumps) else None


def _kept(kernel: _Kernel, barrier: int, variables: frozenset[str]) -> Keep | None:
    """Return the last store before a barrier, if it may be kept until before the next one.

    From the store on a thread only goes ahead, and all its ways lead to that next barrier. Nothing
    on them sees memory that the store could mean, or makes anything else be seen elsewhere.
    """
    held = _last_store(kernel, barrier)
    end = min((other for other in kernel.barriers if other > barrier), default=None)
    if held is None or end is None or any(held.line < brace < end for brace in kernel.braces):
        return None
    counted: list[Counter] = []
    fences: list[int] = []
    jumped = held.line  # as far as jumps lead from behind the store
    returns = closed = False
    for number in range(held.line + 1, end):
        line = kernel.code.get(number)
        if line is None or number == barrier:
            continue
        name = line.opcode[0]
        if name == "bra":
            if not number < kernel.labels[line.rest] < end:
                return None
            jumped = max(jumped, kernel.labels[line.rest] if line.guard else 0)
            continue
        if _fence(line) and (number > barrier or number < jumped):
            # Before the barrier some go by without it; behind it nobody counts any more.
            fences += [number] if number < barrier else []
            closed = closed or number > barrier
            continue
        if held.registers & written_by(line.rest):
            return None
        if number > barrier and name in ("atom", "red"):
            counter = _counter(kernel, line, variables) if is_plain(line.opcode) else None
            if counter is None or closed:
                return None
            counted.append(counter)
            returns = returns or name == "atom"
        elif not is_passed(line.opcode, generic=False):
            return None
    if not returns:
        return None
    return Keep(held.line, end, held.place, tuple(dict.fromkeys(counted)), tuple(fences))


def _fence(line: _Line) -> bool:
    """Tell whether an instruction orders all memory, of everybody who comes by."""
    return not line.guard and ".".join(line.opcode) in _FENCES


def _last_store(kernel: _Kernel, barrier: int) -> _Held | None:
    """Return the store nearest before a barrier, of those to global memory that order nothing."""
    for number in range(barrier - 1, kernel.first - 1, -1):
        line = kernel.code.get(number)
        if line is None or line.opcode[0] == "bra" or _fence(line):
            continue
        if line.opcode[0] == "st" and "global" in line.opcode and is_plain(line.opcode):
            return _begun(number, line.guard, line.opcode, line.rest)
        if not is_passed(line.opcode, generic=False):
            return None
    return None


def _counter(kernel: _Kernel, line: _Line, variables: frozenset[str]) -> Counter | None:
    """Return what an atomic touches, if that is so far behind a parameter or a variable."""
    place = place_of(line.opcode, line.rest)
    if place is None:
        return None
    at, plus = place.base, place.plus
    for _ in range(_MOST_STEPS):
        if not at.startswith("%"):
            return Counter(at, plus, place.size) if at in variables else None
        made = kernel.written.get(at, [])
        if len(made) != 1 or made[0].guard:
            return None
        opcode = ".".join(made[0].opcode)
        operands = [word.strip() for word in made[0].rest.split(",")]
        if operands[0] != at:
            return None
        if re.fullmatch(r"ld\.param\.[bus]64", opcode):
            known = len(operands) == 2 and _PARAMETER.fullmatch(operands[1]) is not None
            return Counter(operands[1], plus, place.size) if known else None
        if re.fullmatch(r"add\.[us]64", opcode) and len(operands) == 3:
            if not re.fullmatch(r"-?\d+", operands[2]):
                return None
            plus += int(operands[2])
        elif not re.fullmatch(r"mov\.[bus]64|cvta(?:\.to)?\.global\.u64", opcode):
            return None
        at = operands[1]
    return None


def _together(kernel: _Kernel, barrier: int, end: int) -> bool:
    """Tell whether all threads between two barriers have come by the first and go to the second.

    From the kernel's beginning, and each barrier that threads may come from, there is one barrier
    to come to next: whoever has not ended comes to it, and as often as all others.
    """
    following = {one: _next(kernel, one) for one in (_BEGIN, *kernel.barriers)}
    coming = {barrier}
    while more := {one for one, others in following.items() if others & coming} - coming:
        coming |= more
    if _BEGIN not in coming or following[barrier] != {end}:
        return False
    return all(len(following[one]) == 1 for one in coming)


def _next(kernel: _Kernel, barrier: int) -> set[int]:
    """Return the barriers that may be the next one."""
    found: set[int] = set()
    seen: set[int] = set()
    ways = [kernel.first if barrier == _BEGIN else barrier + 1]
    while ways:
        number = ways.pop()
        while number < kernel.last and number not in seen:
            seen.add(number)
            line = kernel.code.get(number)
            if number in kernel.barriers:
                found.add(number)
                break
            if line is not None and line.opcode[0] == "bra":
                ways.append(kernel.labels[line.rest])
            if line is not None and not line.guard and line.opcode[0] in {"bra", *_ENDS}:
                break
            number += 1
    return found
