"""Device memory that was given back, kept for who asks for as much again.

Each candidate is timed in memory of the same sizes as the one before it. The driver hands memory
out to one process of a host at a time: four workers that allocate at once wait for each other.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Generic, TypeVar

MOST_BYTES = 4 << 30
# Of a device's memory, what may be kept.
SHARE = 32

Block = TypeVar("Block")


class Spares(Generic[Block]):
    """Blocks of memory by their size, up to a sum of bytes."""

    def __init__(self, memory_bytes: int) -> None:
        self._most = min(MOST_BYTES, memory_bytes // SHARE)
        self._blocks: defaultdict[int, list[Block]] = defaultdict(list)
        self.held = 0

    def take(self, size: int) -> Block | None:
        """Return a block of exactly that size, if one is kept."""
        blocks = self._blocks[size]
        if not blocks:
            return None
        self.held -= size
        return blocks.pop()

    def put(self, size: int, block: Block) -> bool:
        """Keep a block; tell whether there was room for it."""
        if self.held + size > self._most:
            return False
        self.held += size
        self._blocks[size].append(block)
        return True

    def clear(self) -> list[Block]:
        """Return all blocks, which are kept no longer."""
        found = [block for blocks in self._blocks.values() for block in blocks]
        self._blocks.clear()
        self.held = 0
        return found
