"""Kernels that differ in the size of their clusters alone are not the same machine code."""

from __future__ import annotations

import struct

from runners.cubin import Cubin, Section


def attribute(kind: int, *words: int) -> bytes:
    data = struct.pack(f"<{len(words)}I", *words)
    return bytes((4, kind)) + len(data).to_bytes(2, "little") + data


def digest(*attributes: bytes) -> str:
    code = Section(".text._Z1kPf", b"code", 4, 0, 6)
    info = b"".join((attribute(0x37, 130), *attributes, bytes((3, 0x1B, 0xFF, 0))))
    return Cubin((code, Section(".nv.info._Z1kPf", info, len(info), 0, 0)), ("_Z1kPf",)).digest()


def test_the_size_of_clusters_counts() -> None:
    explicit = bytes((1, 0x3E, 0, 0))
    sizes = [(2, 1, 1), (4, 1, 1), (1, 2, 1)]
    found = [digest(explicit, attribute(0x3D, *size)) for size in sizes]
    assert len({digest(), *found}) == 4
    assert digest(attribute(0x0A, 0x3D, 0x3E)) == digest()  # what other attributes hold
    assert digest(attribute(0x05, 128, 1, 1)) == digest()


def test_a_damaged_attribute_ends_what_is_read() -> None:
    assert digest(bytes((4, 0x37, 255, 255))) == digest()
