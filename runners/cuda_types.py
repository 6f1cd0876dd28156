"""C types of kernel arguments: size, alignment, and the scalars they are made of.

Scalars, CUDA's vector types (`float4`), and plain structs written out as
`struct{float x; float y; int tag;}`; pointers to any of them. A half is numpy's float16; a
bfloat16 is held as its 16 bits, since numpy has none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Storage = npt.NDArray[np.uint8]


class TypeNameError(ValueError):
    """The text names no type an argument can have."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number as the device holds it. `code` is what the device-side comparison calls it."""

    name: str
    dtype: str
    size: int
    kind: str  # f float, i signed, u unsigned, b bool
    code: int

    @property
    def roundoff(self) -> float:
        """Return half the spacing of numbers near one; zero for integers."""
        return {"double": 2.0**-53, "float": 2.0**-24, "half": 2.0**-11, "bfloat16": 2.0**-8}.get(
            self.name, 0.0
        )


@dataclass(frozen=True, slots=True)
class Field:
    """`lanes` equal scalars at a byte offset of a value."""

    offset: int
    scalar: Scalar
    lanes: int = 1
    name: str = ""


@dataclass(frozen=True, slots=True)
class CudaType:
    """One argument's type. For a pointer, size, alignment and fields are of what it points to."""

    text: str
    size: int
    align: int
    fields: tuple[Field, ...]
    pointer: bool = False
    const: bool = False

    @property
    def scalar(self) -> Scalar | None:
        """Return the scalar all of a value is made of; None for a struct of several."""
        only = self.fields[0]
        return only.scalar if len(self.fields) == 1 else None


_FLOAT, _SIGNED, _UNSIGNED = "f", "i", "u"
SCALARS: dict[str, Scalar] = {
    "float": Scalar("float", "f4", 4, _FLOAT, 1),
    "double": Scalar("double", "f8", 8, _FLOAT, 2),
    "half": Scalar("half", "f2", 2, _FLOAT, 3),
    "bfloat16": Scalar("bfloat16", "u2", 2, _FLOAT, 4),
    "bool": Scalar("bool", "u1", 1, "b", 0),
    **{f"int{8 * n}": Scalar(f"int{8 * n}", f"i{n}", n, _SIGNED, 0) for n in (1, 2, 4, 8)},
    **{f"uint{8 * n}": Scalar(f"uint{8 * n}", f"u{n}", n, _UNSIGNED, 0) for n in (1, 2, 4, 8)},
}
_ALIASES = {
    "float32": "float",
    "float64": "double",
    "float16": "half",
    "__half": "half",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "uchar": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "ushort": "uint16",
    "int": "int32",
    "signed int": "int32",
    "signed": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "uint": "uint32",
    "long": "int64",
    "long int": "int64",
    "unsigned long": "uint64",
    "unsigned long int": "uint64",
    "long long": "int64",
    "long long int": "int64",
    "unsigned long long": "uint64",
    "unsigned long long int": "uint64",
    "size_t": "uint64",
    "ptrdiff_t": "int64",
    **{f"{name}_t": name for name in SCALARS if "int" in name},
}
_VECTORS = {
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "uint": "uint32",
    "longlong": "int64",
    "ulonglong": "uint64",
    "long": "int64",
    "ulong": "uint64",
    "float": "float",
    "double": "double",
}
_VECTOR = re.compile(rf"({'|'.join(_VECTORS)})([1-4])$")
_STRUCT = re.compile(r"struct\s*\w*\s*\{(.*)\}$", re.DOTALL)
_MEMBER = re.compile(r"(.+?)\s*(\w+)\s*(?:\[\s*(\d+)\s*\])?$", re.DOTALL)


def _value(name: str) -> CudaType:
    """Return the type of a value that is no pointer."""
    known = _ALIASES.get(name, name)
    if known in SCALARS:
        scalar = SCALARS[known]
        return CudaType(name, scalar.size, scalar.size, (Field(0, scalar),))
    if name in {"half2", "__half2", "__nv_bfloat162", "nv_bfloat162"}:
        scalar = SCALARS["bfloat16" if "bf" in name else "half"]
        return CudaType(name, 4, 4, (Field(0, scalar, 2),))
    if vector := _VECTOR.match(name):
        scalar, lanes = SCALARS[_VECTORS[vector[1]]], int(vector[2])
        size = scalar.size * lanes
        # CUDA aligns 2- and 4-vectors to their size, at most 16 (Programming Guide, built-ins).
        align = scalar.size if lanes in {1, 3} else min(16, size)
        return CudaType(name, size, align, (Field(0, scalar, lanes),))
    if struct := _STRUCT.match(name):
        return _structure(name, struct[1])
    raise TypeNameError(f"{name!r} is no argument type; use float, int, float4, struct{{...}}, ...")


def _structure(text: str, body: str) -> CudaType:
    """Lay out a struct's members as C does."""
    fields: list[Field] = []
    offset, align = 0, 1
    for part in filter(None, (line.strip() for line in body.split(";"))):
        shared: CudaType | None = None
        for declarator in part.split(","):
            member = _MEMBER.match(declarator.strip() if shared is None else f"x {declarator}")
            if member is None:
                raise TypeNameError(f"{declarator!r} is no member declaration")
            shared = shared or _value(" ".join(member[1].split()))
            offset = -(-offset // shared.align) * shared.align
            align = max(align, shared.align)
            for _ in range(int(member[3] or 1)):
                fields += [
                    Field(offset + f.offset, f.scalar, f.lanes, member[2]) for f in shared.fields
                ]
                offset += shared.size
    if not fields:
        raise TypeNameError(f"{text!r} has no members")
    return CudaType(text, -(-offset // align) * align, align, tuple(fields))


def parse(text: str) -> CudaType:
    """Return the type a C declaration without a name means.

    >>> parse("const float4* __restrict__").size, parse("unsigned int").align
    (16, 4)
    """
    words = re.sub(r"\b(__restrict__|__restrict|restrict|volatile)\b", " ", text)
    const = bool(re.search(r"\bconst\b", words))
    words = re.sub(r"\bconst\b", " ", words).strip()
    words = " ".join(words.replace("std::", "").split())
    pointer = words.endswith("*")
    base = words.removesuffix("*").strip()
    if base.endswith("*"):
        raise TypeNameError(f"{text!r}: pointers to pointers are not supported")
    value = _value(base)
    return CudaType(text, value.size, value.align, value.fields, pointer, const)


def promote(kind: CudaType) -> CudaType:
    """Return the type with every float as double, for a run in higher precision."""
    only = kind.scalar
    if only is None or only.name != "float":
        return kind
    lanes, double = kind.fields[0].lanes, SCALARS["double"]
    size = 8 * lanes
    align = 8 if lanes in {1, 3} else 16
    fields = (Field(0, double, lanes),)
    return CudaType(kind.text.replace("float", "double"), size, align, fields, kind.pointer)


def values(data: Storage, kind: CudaType, which: Field) -> npt.NDArray[np.generic]:
    """Return the scalars of one field in a buffer's bytes, as one flat array (a view if it can)."""
    flat = np.ascontiguousarray(data)
    if len(kind.fields) == 1:
        return flat.view(which.scalar.dtype).reshape(-1)
    rows = flat.reshape(-1, kind.size)
    end = which.offset + which.scalar.size * which.lanes
    return np.ascontiguousarray(rows[:, which.offset : end]).view(which.scalar.dtype).reshape(-1)


def to_float(data: npt.NDArray[np.generic], scalar: Scalar) -> npt.NDArray[np.float64]:
    """Widen a buffer's scalars to doubles.

    >>> to_float(np.array([0x3F80], "u2"), SCALARS["bfloat16"])
    array([1.])
    """
    if scalar.name == "bfloat16":
        with np.errstate(invalid="ignore"):
            return (data.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):  # signalling NaN in what a candidate left
        return data.astype(np.float64)


def from_float(data: npt.ArrayLike, scalar: Scalar) -> npt.NDArray[np.generic]:
    """Round doubles to a scalar type, to nearest even; NaN stays NaN."""
    wide = np.asarray(data)
    if scalar.name != "bfloat16":
        with np.errstate(all="ignore"):
            return wide.astype(scalar.dtype)
    with np.errstate(all="ignore"):
        bits = wide.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(wide), 0x7FC0, rounded).astype(np.uint16)


_SPELLED = {
    "float32": "float",
    "float64": "double",
    "float16": "half",
    "bfloat16": "__nv_bfloat16",
    **{name: f"{name}_t" for name in SCALARS if "int" in name},
}


def spelled(name: str) -> str:
    """Return a type as CUDA C++ spells it: `const bfloat16*` is `const __nv_bfloat16*`.

    >>> spelled("const bfloat16*"), spelled("int32"), spelled("unsigned int")
    ('const __nv_bfloat16*', 'int32_t', 'unsigned int')
    """
    return re.sub(r"\w+", lambda word: _SPELLED.get(word[0], word[0]), name)
