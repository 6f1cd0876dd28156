"""Layer 2 of verification: what a candidate's host code calls and runs by itself, from its symbols.

Text can hide a call from whoever reads it; the dynamic linker cannot be told less than the truth.
A candidate that may not change host code must import what its original imports, with CUDA's own
functions and arithmetic aside, and run as many constructors. Source: System V ABI, chapters 4, 5.
"""

from __future__ import annotations

import re
import struct

_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNSYM = 11
# Launching, registering variables and kernels; arithmetic in launch geometry; what a compiler
# calls of its own accord.
_FREE = re.compile(
    r"__cuda\w*|cudaFuncSetAttribute|cudaLaunchKernel\w*|(ceil|floor|round|trunc|sqrt|cbrt|log|log2|log10|exp|exp2|pow|fmax|fmin|fmod)[fl]?"
    r"|mem(cpy|set|move)|__stack_chk_fail|_Unwind_Resume|__gxx_personality_v0|__cxa_\w+|atexit"
    r"|_Z(nw|na|dl|da)\w+|_ITM_\w+|__gmon_start__|__libc_start_main"
)


def imports(data: bytes) -> frozenset[str]:
    """Return the names a shared object or executable asks of others; empty for anything else."""
    found = set()
    for (name, _, _, section, _, _), strings in _dynamic(data):
        end = strings.find(b"\0", name)
        if section == 0 and name and end > 0:
            found.add(strings[name:end].decode(errors="replace"))
    return frozenset(found)


def constructors(data: bytes) -> int:
    """Return how many functions run before anything is called."""
    return sum(row[5] // 8 for row in _sections(data) if row[1] == 14)  # SHT_INIT_ARRAY


def beyond(candidate: bytes, original: bytes) -> tuple[str, ...]:
    """Return what a candidate's host code does that its original does not, a sentence each."""
    more = sorted(n for n in imports(candidate) - imports(original) if not _FREE.fullmatch(n))
    found = [f"host code calls {name}, which the original does not" for name in more[:8]]
    was, now = constructors(original), constructors(candidate)
    if now > was:
        found.append(f"{now} functions run on loading, {was} in the original")
    return tuple(found)


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
    except struct.error:
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
