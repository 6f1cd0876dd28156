"""Machine code as the compiler reports and the disassembler shows it. Stdlib only."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runners.cubin import plain_name

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+)(?:\+(\d+))? bytes smem")
_FUNCTION = re.compile(r"^\.text\.(\S+):|^\s*Function : (\S+)")
_LABEL = re.compile(r"^(\.L_\w+):")
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;/]*)")


def resources(printed: str) -> dict[str, dict[str, int | None]]:
    """Return registers, static shared, stack and spill bytes of each kernel by plain name.

    `printed` is what `ptxas -v` wrote. Of several instances of a template each figure's largest
    counts. Spill bytes are stores and loads together.
    """
    found: dict[str, dict[str, int | None]] = {}
    entry = function = ""
    for line in printed.splitlines():
        if (match := _ENTRY.search(line)) is not None:
            entry = match[1]
        elif (match := _PROPERTIES.search(line)) is not None:
            function = match[1]
        elif (match := _FRAME.search(line)) is not None and function == entry:
            stack, stores, loads = map(int, match.groups())
            _raise(found, entry, stack_bytes=stack, spill_bytes=stores + loads)
        elif (match := _USED.search(line)) is not None and entry:
            shared = _SHARED.search(line)
            size = sum(int(n) for n in shared.groups() if n) if shared is not None else 0
            _raise(found, entry, registers=int(match[1]), shared_bytes=size)
    return found


def histogram(listing: str) -> dict[str, int]:
    """Return how often each opcode, with its suffixes, occurs: `{"saxpy/LDG.E.128": 2}`.

    `listing` is the output of `nvdisasm -c` or `cuobjdump -sass`. Padding (NOP and the branch to
    itself behind the last EXIT) is left out; of a template's instances the largest count stays.
    """
    counts: dict[str, dict[str, int]] = {}
    function = label = ""
    for line in listing.splitlines():
        if (match := _FUNCTION.match(line)) is not None:
            function = match[1] or match[2]
            counts.setdefault(function, {})
        elif (match := _LABEL.match(line)) is not None:
            label = match[1]
        elif function and (match := _INSTRUCTION.match(line)) is not None:
            opcode, operands = match.groups()
            padding = opcode == "NOP" or (opcode == "BRA" and label and f"({label})" in operands)
            label = ""
            if not padding:
                counts[function][opcode] = counts[function].get(opcode, 0) + 1
    return _by_plain_name(counts)


def _by_plain_name(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for symbol, opcodes in counts.items():
        for opcode, count in opcodes.items():
            key = f"{plain_name(symbol)}/{opcode}"
            found[key] = max(count, found.get(key, 0))
    return found


def _raise(found: dict[str, dict[str, int | None]], symbol: str, **figures: int) -> None:
    empty = dict.fromkeys(("registers", "shared_bytes", "stack_bytes", "spill_bytes"), 0)
    known = found.setdefault(plain_name(symbol), {**empty, "occupancy": None})
    for name, figure in figures.items():
        known[name] = max(figure, known[name] or 0)
