"""Layer 2 of verification: what a candidate's host code calls and runs by itself, from its symbols.

Text can hide a call from whoever reads it; the dynamic linker cannot be told less than the truth.
A candidate that may not change host code must import what its original imports, with CUDA's own
functions and arithmetic aside, and run as many constructors. Source: System V ABI, chapters 4, 5.

In place of every device function that another file could call, nvcc gives the host's compiler one
that ends the process with a status of one. None is ever called, and they are no call of the text.
"""

from __future__ import annotations

import re
import struct

import numpy as np

_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNSYM, _RELA, _EXECUTED, _X86_64 = 11, 4, 4, 62
_RELOCATION = struct.Struct("<QQq")
_SLOTS = (6, 7)  # R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT: an address only calls are made through
_STUB = "exit"
# What stands before the call in such a function: one, stored in a volatile variable, is read again.
_BEFORE = re.compile(
    rb"\xc7\x44\x24(?P<top>.)\x01\0\0\0\x8b(?:\x7c\x24(?P=top)|\x44\x24(?P=top)\x89\xc7)"
    rb"(?:\xc5\xf8\x77)?\Z"
    rb"|\xc7\x45(?P<base>.)\x01\0\0\0\x8b(?:\x7d(?P=base)|\x45(?P=base)\x89\xc7)"
    rb"(?:\xc5\xf8\x77)?\Z",
    re.DOTALL,
)
_MOST_BEFORE = 20
# What a distance stands behind: a call, a jump, an address that is loaded. Between instructions,
# as at the end of a jump, bytes may look like one.
_BRANCH = re.compile(rb"(?:[\xe8\xe9]|\x0f[\x80-\x8f]|\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d])\Z")
_ADDRESSES = 1 << 47  # of a process; a damaged file may name others
# Launching, registering variables and kernels; arithmetic in launch geometry; what a compiler
# calls of its own accord.
_FREE = re.compile(
    r"__cuda\w*|cudaFuncSetAttribute|cudaLaunchKernel\w*|(ceil|floor|round|trunc|sqrt|cbrt|log|log2|log10|exp|exp2|pow|fmax|fmin|fmod)[fl]?"
    r"|mem(cpy|set|move)|__stack_chk_fail|_Unwind_Resume|__gxx_personality_v0|__cxa_\w+|atexit"
    r"|_Z(nw|na|dl|da)\w+|_ITM_\w+|__gmon_start__|__libc_start_main"
)


def imports(data: bytes) -> frozenset[str]:
    """Return the names a shared object or executable asks of others; empty for anything else."""
    return _names(data, defined=False)


def exports(data: bytes) -> frozenset[str]:
    """Return the names a shared object has for others; empty for anything else."""
    return _names(data, defined=True)


def _names(data: bytes, *, defined: bool) -> frozenset[str]:
    found = set()
    for (name, _, _, section, _, _), strings in _dynamic(data):
        end = strings.find(b"\0", name)
        if (section != 0) == defined and name and end > 0:
            found.add(strings[name:end].decode(errors="replace"))
    return frozenset(found)


def constructors(data: bytes) -> int:
    """Return how many functions run before anything is called."""
    return sum(row[5] // 8 for row in _sections(data) if row[1] == 14)  # SHT_INIT_ARRAY


def beyond(candidate: bytes, original: bytes) -> tuple[str, ...]:
    """Return what a candidate's host code does that its original does not, a sentence each."""
    called, before = (imports(data) - _stubs(data) for data in (candidate, original))
    more = sorted(name for name in called - before if not _FREE.fullmatch(name))
    found = [f"host code calls {name}, which the original does not" for name in more[:8]]
    was, now = constructors(original), constructors(candidate)
    if now > was:
        found.append(f"{now} functions run on loading, {was} in the original")
    return tuple(found)


def _stubs(data: bytes) -> frozenset[str]:
    """Return what is asked of others for nvcc's stand-ins of device functions alone.

    Every place in the code that refers to it has to be such a call. Other processors than x86-64
    have other instructions, of which nothing is said.
    """
    rows = _sections(data)
    if not rows or int.from_bytes(data[18:20], "little") != _X86_64:
        return frozenset()
    slots = _slots(data, rows)
    if not slots:
        return frozenset()
    code = [
        (row[3], data[row[4] :][: row[5]])
        for row in rows
        if row[2] & _EXECUTED and row[3] < _ADDRESSES
    ]
    calls: list[tuple[bytes, bytes]] = []
    entries: set[int] = set()
    for at, text in code:
        for place in _referring(at, text, slots):
            jump = re.search(rb"(?:\xf3\x0f\x1e\xfa)?\xf2?\xff\x25\Z", text[:place])
            if jump:
                entries |= {at + jump.start(), at + place - 2}
            else:
                calls.append((text[:place], b"\xff\x15"))
    for start, text in code:
        places = _referring(start, text, entries)
        calls += [(text[:at], b"\xe8") for at in places if _BRANCH.search(text[:at][-3:])]
    found = all(
        before.endswith(call) and _BEFORE.search(before[: -len(call)][-_MOST_BEFORE:])
        for before, call in calls
    )
    return frozenset({_STUB}) if calls and found else frozenset()


def _slots(data: bytes, rows: list[Row]) -> set[int]:
    """Return where the address is put when a file is loaded; nothing where it is put elsewhere."""
    found = set()
    for row in rows:
        if row[1] != _RELA or row[6] >= len(rows) or rows[row[6]][1] != _DYNSYM:
            continue
        table = data[row[4] :][: row[5]]
        symbols = rows[row[6]]
        for place, info, _ in _RELOCATION.iter_unpack(table[: len(table) // 24 * 24]):
            symbol = data[symbols[4] + (info >> 32) * _SYMBOL.size :][: _SYMBOL.size]
            if len(symbol) < _SYMBOL.size or symbols[6] >= len(rows):
                continue
            name, _, _, _, value, _ = _SYMBOL.unpack(symbol)
            strings = data[rows[symbols[6]][4] :][: rows[symbols[6]][5]]
            if strings[name : name + len(_STUB) + 1] != _STUB.encode() + b"\0":
                continue
            if value or info & 0xFFFFFFFF not in _SLOTS or place >= _ADDRESSES:
                return set()
            found.add(place)
    return found


def _referring(at: int, text: bytes, targets: set[int]) -> list[int]:
    """Return where four bytes are the distance from what follows them to one of some addresses."""
    if not targets:
        return []
    raw = np.frombuffer(text, np.uint8)
    found: list[int] = []
    for first in range(4):
        words = raw[first:][: (len(raw) - first) // 4 * 4].view(np.int32).astype(np.int64)
        places = np.arange(len(words), dtype=np.int64) * 4 + first
        met = np.isin(words + places + at + 4, sorted(targets))
        found += places[met].tolist()
    return found


Row = tuple[int, ...]


def _sections(data: bytes) -> list[Row]:
    """Return the section headers of an ELF file for a 64-bit host; none for anything else."""
    try:
        if data[:5] != b"\x7fELF\x02":
            return []
        fields = _HEADER.unpack_from(data)
        return [
            _SECTION.unpack_from(data, fields[5] + i * _SECTION.size) for i in range(fields[11])
        ]
    except (struct.error, OverflowError):  # a place beyond any file
        return []


def _dynamic(data: bytes) -> list[tuple[Row, bytes]]:
    """Return the dynamic symbols, each with the table its name is in."""
    rows = _sections(data)
    found: list[tuple[Row, bytes]] = []
    for row in rows:
        if row[1] == _DYNSYM and row[6] < len(rows):
            strings = data[rows[row[6]][4] :][: rows[row[6]][5]]
            table = data[row[4] :][: row[5]]
            whole = len(table) // _SYMBOL.size * _SYMBOL.size
            found += [(symbol, strings) for symbol in _SYMBOL.iter_unpack(table[:whole])]
    return found
