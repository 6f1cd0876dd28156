"""What a cubin holds, read from its ELF sections: kernels, their symbols, a digest of its code.

The layout is that of ELF64 little endian with machine EM_CUDA (190); a kernel is a function symbol
with STO_CUDA_ENTRY (0x10) in `st_other` and lies in a section `.text.<symbol>`; `cuobjdump -elf`
prints the same. Stdlib only.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

EM_CUDA = 190
ENTRY = 0x10
MAX_ARGUMENTS = 500  # of a mangled name; arguments nest
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NOBITS = 8
_SIZED = 4  # an attribute of a kernel that says how long it is
_CLUSTER = frozenset({0x3D, 0x3E})  # `cuobjdump -elf` calls them CTA_PER_CLUSTER, EXPLICIT_CLUSTER
_ALLOCATED = 2  # SHF_ALLOC
_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
_ANONYMOUS = re.compile(r"(\d{1,4})(?=_GLOBAL__N_)")


class NotCubin(ValueError):  # noqa: N818 - says what it is
    """The bytes are no cubin."""


@dataclass(frozen=True, slots=True)
class Section:
    """One ELF section: its name, bytes (empty if it has none in the file), size and info word."""

    name: str
    data: bytes
    size: int
    info: int
    flags: int


@dataclass(frozen=True, slots=True)
class Cubin:
    """Sections of a cubin and the symbols of its kernels, in the order of the file."""

    sections: tuple[Section, ...]
    kernels: tuple[str, ...]

    def digest(self) -> str:
        """Identify the machine code: equal for sources that differ only in names and layout.

        Kernel code, constants, initial values of globals, registers, shared memory and the size of
        clusters count, which decides whether a grid can be launched at all; addresses, line tables,
        paths and the file's own hash in anonymous namespaces do not.
        """
        found = []
        for section in self.sections:
            kind = _counts(section.name)
            if kind:
                name = _without_hash(section.name)
                head = f"{name} {section.size} {section.info >> 24} {section.flags & 0xFFFF0000}"
                found.append(head.encode() + b"\0" + section.data)
            elif section.name.startswith(".nv.info.") and (size := _cluster(section.data)):
                found.append(_without_hash(section.name).encode() + b"\0" + size)
        return hashlib.sha256(b"\0\0".join(sorted(found))).hexdigest()[:32]


def read(data: bytes) -> Cubin:
    """Read a cubin. Raise `NotCubin` for anything else or a damaged one."""
    try:
        return _read(data)
    except NotCubin:
        raise
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise NotCubin(f"a damaged cubin: {error}") from error


def carve(data: bytes) -> Iterator[bytes]:
    """Yield the cubins embedded uncompressed in an executable or shared object.

    Files compiled with `nvcc -no-compress` hold them byte for byte in `.nv_fatbin`.
    """
    at = data.find(b"\x7fELF", 1)
    while at > 0:
        header = data[at : at + 64]
        if len(header) == 64 and struct.unpack_from("<H", header, 18)[0] == EM_CUDA:
            yield data[at : at + _end(header)]
        at = data.find(b"\x7fELF", at + 4)


def exports(data: bytes) -> tuple[str, ...]:
    """Return the functions that a shared object of the host exports, empty for anything else."""
    try:
        if data[:5] != b"\x7fELF\x02":
            return ()
        return _functions(data, 11, lambda other, at: at != 0 and other & 3 == 0)  # SHT_DYNSYM
    except (struct.error, IndexError, ValueError, OverflowError):
        return ()


def loaded_bytes(data: bytes) -> int:
    """Return the device memory that loading a cubin takes: code, constants and variables.

    Those are its allocated sections but for shared and local memory; 0 for anything else.
    """
    try:
        if data[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", data, 18)[0] != EM_CUDA:
            return 0
        sections = read(data).sections
    except (NotCubin, struct.error):
        return 0
    mine = [s for s in sections if s.flags & _ALLOCATED]
    return sum(s.size for s in mine if not s.name.startswith((".nv.shared", ".nv.local")))


def shared(data: bytes) -> dict[str, int]:
    """Return the bytes of shared memory that each kernel of a cubin declares, by its section.

    Raises `NotCubin`.
    """
    found = read(data).sections
    return {s.name: s.size for s in found if s.name.startswith(".nv.shared.")}


def variables(data: bytes) -> tuple[tuple[str, int], ...]:
    """Return name and size of what a cubin keeps in global memory between launches."""
    try:
        if data[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", data, 18)[0] != EM_CUDA:
            return ()
        offset, count = _table(data)
        rows = [_SECTION.unpack_from(data, offset + i * _SECTION.size) for i in range(count)]
        names = _bytes(data, rows[struct.unpack_from("<H", data, 62)[0]])
        held = {i for i, row in enumerate(rows) if _text(names, row[0]).startswith(".nv.global")}
        found: dict[str, int] = {}
        for row in rows:
            if row[1] != 2:  # SHT_SYMTAB
                continue
            strings = _bytes(data, rows[row[6]])
            for name, info, _, section, _, size in _SYMBOL.iter_unpack(_bytes(data, row)):
                if info & 0xF == 1 and section in held and size:  # STT_OBJECT
                    found[_text(strings, name)] = size
    except (struct.error, IndexError, ValueError, OverflowError):
        return ()
    return tuple(found.items())


def added(candidate: bytes, original: bytes) -> tuple[str, ...]:
    """Return the names of what a candidate keeps in global memory and its original does not."""
    known = {_without_hash(name) for name, _ in variables(original)}
    mine = (name for name, _ in variables(candidate) if not name.startswith("$"))
    return tuple(name for name in mine if _without_hash(name) not in known)


def plain_name(symbol: str) -> str:
    """Return a kernel's name as written in source, without scopes and template arguments.

    >>> plain_name("_Z5saxpyifPKfPf"), plain_name("_ZN1q3fooEPd"), plain_name("cname")
    ('saxpy', 'foo', 'cname')
    >>> plain_name("_Z4scanIfLi256EEvPT_i")
    'scan'
    """
    return _names(symbol)[0][-1]


def source_name(symbol: str) -> str:
    """Return a kernel's name with scopes and, as far as they are simple, template arguments.

    Arguments beyond builtin types, numbers and plain class names are left as they are mangled.

    >>> source_name("_Z4scanIfLi256EEvPT_i"), source_name("_ZN1q3addIdEEvPT_")
    ('scan<float, 256>', 'q::add<double>')
    """
    names, rest = _names(symbol)
    scopes = "::".join(name for name in names if not name.startswith("_GLOBAL__N_"))
    simple = rest.startswith("I") and len(rest) < MAX_ARGUMENTS
    return scopes + (_arguments(rest)[0] if simple else "")


def _read(data: bytes) -> Cubin:
    if data[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", data, 18)[0] != EM_CUDA:
        raise NotCubin("not an ELF file for CUDA")
    offset, count = _table(data)
    names_at = struct.unpack_from("<H", data, 62)[0]
    rows = [_SECTION.unpack_from(data, offset + i * _SECTION.size) for i in range(count)]
    names = _bytes(data, rows[names_at])
    sections = tuple(
        Section(_text(names, row[0]), _bytes(data, row), row[5], row[7], row[2]) for row in rows
    )
    return Cubin(sections, _functions(data, 2, lambda other, _: bool(other & ENTRY)))


def _functions(data: bytes, table: int, keep: Callable[[int, int], bool]) -> tuple[str, ...]:
    """Return the function symbols of a symbol table; `keep` sees st_other and the section."""
    offset, count = _table(data)
    rows = [_SECTION.unpack_from(data, offset + i * _SECTION.size) for i in range(count)]
    found: list[str] = []
    for row in rows:
        if row[1] != table:
            continue
        strings = _bytes(data, rows[row[6]])
        for name, info, other, section, _, _ in _SYMBOL.iter_unpack(_bytes(data, row)):
            if info & 0xF == 2 and keep(other, section):  # STT_FUNC
                found.append(_text(strings, name))
    return tuple(found)


def _table(data: bytes) -> tuple[int, int]:
    """Return offset and number of the section headers, which lie at the end of a cubin."""
    fields = _HEADER.unpack_from(data)
    offset, count = fields[5], fields[11]
    return offset, count


def _end(header: bytes) -> int:
    """Return the size of a file that ends with its section or program headers."""
    fields = _HEADER.unpack_from(header)
    programs, sections = fields[4], fields[5]
    end: int = max(programs + fields[8] * fields[9], sections + fields[10] * fields[11])
    return end


def _bytes(data: bytes, row: tuple[int, ...]) -> bytes:
    return b"" if row[1] == _NOBITS else data[row[4] : row[4] + row[5]]


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode()


def _counts(name: str) -> bool:
    kept = (".text.", ".nv.constant", ".nv.global", ".nv.shared.", ".rela.nv.constant")
    return name.startswith(kept)


def _cluster(info: bytes) -> bytes:
    """Return what a kernel's attributes say of its clusters: their size, and that it has one."""
    found, at = b"", 0
    while at + 4 <= len(info):
        length = int.from_bytes(info[at + 2 : at + 4], "little")
        end = at + 4 + (length if info[at] == _SIZED else 0)
        if info[at + 1] in _CLUSTER:
            found += info[at:end]
        at = end
    return found


def _without_hash(name: str) -> str:
    found = _ANONYMOUS.search(name)
    if found is None:
        return name
    # The digits are a length that may be preceded by digits of something else; N or S goes first.
    end = found.end() + int(found[1])
    return name[: found.start()] + "anonymous" + name[end:]


def _names(symbol: str) -> tuple[list[str], str]:
    """Split an Itanium-mangled function name into its source names and what follows them."""
    if not symbol.startswith("_Z"):
        return [symbol], ""
    rest = symbol[2:]
    nested = rest.startswith("N")
    rest = rest[1:] if nested else rest
    names: list[str] = []
    while rest:
        rest = rest.lstrip("KVL") if not names else rest.removeprefix("L")
        digits = re.match(r"\d{1,6}", rest)
        if digits is not None:
            length = int(digits[0])
            names.append(rest[digits.end() : digits.end() + length])
            rest = rest[digits.end() + length :]
            if not nested:
                break
        elif nested and rest.startswith("I") and names:
            after = _arguments(rest)[1]
            if after.startswith("E") or not after:
                break
            rest = after
        else:
            break
    return (names or [symbol]), rest


def _arguments(text: str) -> tuple[str, str]:
    """Read template arguments from `I...E`; return them as written and what follows."""
    at, found = 1, []
    while at < len(text) and text[at] != "E":
        argument, at = _argument(text, at)
        found.append(argument)
    return f"<{', '.join(found)}>", text[at + 1 :]


def _argument(text: str, at: int) -> tuple[str, int]:
    literal = re.compile(r"L([a-z])(n?)(\d{1,20})E").match(text, at)
    if literal is not None:
        kind, sign, digits = literal.groups()
        value = ("false", "true")[int(digits) % 2] if kind == "b" else f"{'-' * len(sign)}{digits}"
        return value, literal.end()
    if at >= len(text):
        return "", at + 1
    if text[at] in "PK":
        inner, end = _argument(text, at + 1)
        return (f"{inner}*" if text[at] == "P" else f"{inner} const"), end
    digits = re.compile(r"\d{1,6}").match(text, at)
    if digits is not None:
        end = digits.end() + int(digits[0])
        name = text[digits.end() : end]
        if text[end : end + 1] == "I":
            inner, rest = _arguments(text[end:])
            return name + inner, len(text) - len(rest)
        return name, end
    return _BUILTIN.get(text[at], text[at]), at + 1
