"""A capture's contents on disk: chunks named by their digest, each kept once, packed if it pays."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

from runners.captured import CHUNK, Bytes

_SAMPLE = 64 << 10
_WORTH = 0.9  # packed only if it saves a tenth


class Chunks:
    """Writes chunks below a folder. `stored` counts the bytes of its files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "chunks"
        self._known: set[str] = set()
        self.stored = self.given = 0

    def put(self, data: Bytes) -> list[str]:
        """Keep contents; return the digests of their chunks."""
        return [self._one(data[at : at + CHUNK].tobytes()) for at in range(0, len(data), CHUNK)]

    def _one(self, data: bytes) -> str:
        self.given += len(data)
        digest = hashlib.sha256(data).hexdigest()
        if digest in self._known:
            return digest
        self._known.add(digest)
        base = self._folder / digest[:2] / digest
        base.parent.mkdir(parents=True, exist_ok=True)
        middle = len(data) // 2
        sample = data[middle : middle + _SAMPLE]
        if len(zlib.compress(sample, 1)) < _WORTH * len(sample):
            packed = zlib.compress(data, 1)
            base.with_suffix(".z").write_bytes(packed)
            self.stored += len(packed)
        else:
            base.write_bytes(data)
            self.stored += len(data)
        return digest
