"""Contents of combinations on one device: uploaded once, kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from runners import arena, creeping
from runners.arena import Layout
from runners.contents import Combination, Contents
from runners.cuda_types import Storage
from runners.gpu import Gpu
from runners.poison import pattern
from runners.spec import Work

VERIFY_GUARD = 1 << 20
TIMED_GUARD = 4096
KEPT_BYTES = 6 << 30
# Layouts that are kept: there are far fewer sizes than contents.
MOST_LAYOUTS = 256
# Contents on the device that are compared with what was uploaded.
MOST_COMPARED = 32 << 20


@dataclass(slots=True)
class Scene:
    """Contents of one combination on the device; `promoted` ones hold doubles for floats."""

    layout: Layout
    master: int
    segments: int
    total: int = 0


class Scenes:
    """Holds what runs of one workload begin with, on one device."""

    def __init__(self, gpu: Gpu, work: Work, contents: Contents, *, promoted: bool) -> None:
        self.gpu, self.work, self.promoted = gpu, work, promoted
        self.contents = contents
        self._scenes: OrderedDict[tuple[str, int], Scene] = OrderedDict()
        self._held = 0  # bytes of all their contents
        self._layouts: dict[tuple[tuple[tuple[str, float], ...], int], Layout] = {}

    def close(self) -> None:
        """Give their device memory back."""
        for key in list(self._scenes):
            self._forget(key)

    def of(self, combination: Combination, most_guard: int) -> Scene:
        """Return contents on the device, uploading them at most once while there is room."""
        key = (combination.key, most_guard)
        if key in self._scenes:
            self._scenes.move_to_end(key)
            return self._scenes[key]
        made = self.contents.of(combination)
        if self.promoted:
            made = arena.promote_arrays(self.work, made)
            made = creeping.moved(combination.family, self.work, made, combination.seed)
        layout = self._layout(combination.case, most_guard)
        self._make_room(layout.master_bytes)
        scene = Scene(
            layout,
            self.gpu.allocate(layout.master_bytes + 16),
            self.gpu.allocate(layout.segments.nbytes),
        )
        data = arena.master(layout, made)
        scene.total = _total(data)
        self.gpu.upload(scene.master, data)
        self.gpu.upload(scene.segments, layout.segments)
        self._scenes[key] = scene
        self._held += layout.master_bytes
        return scene

    def _layout(self, case: Mapping[str, float], most_guard: int) -> Layout:
        """Return how the buffers of a case lie, which many contents share."""
        key = (tuple(case.items()), most_guard)
        found = self._layouts.get(key)
        if found is None:
            if len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.clear()
            found = _plan(self.work, case, most_guard, promoted=self.promoted)
            self._layouts[key] = found
        return found

    def renewed(self, only: Combination | None = None) -> int:
        """Let go of contents that are no longer what was uploaded; return how many there were.

        What writes far beyond its buffers may meet them, and whatever runs on them next is wrong.
        Of all contents those of up to `MOST_COMPARED` bytes are compared, or those of `only`.
        """
        spoilt = []
        for key, scene in self._scenes.items():
            if key[0] != only.key if only else scene.layout.master_bytes > MOST_COMPARED:
                continue
            held = self.gpu.download(scene.master, scene.layout.master_bytes)
            table = self.gpu.download(scene.segments, scene.layout.segments.nbytes)
            if _total(held) != scene.total or not np.array_equal(
                table, scene.layout.segments.view(np.uint8).reshape(-1)
            ):
                spoilt.append(key)
        for key in spoilt:
            self._forget(key)
        return len(spoilt)

    def _make_room(self, size: int) -> None:
        """Drop the contents used longest ago until there is room for more."""
        limit = min(KEPT_BYTES, int(self.gpu.facts["memory_bytes"]) // 4)
        while self._scenes and self._held + size > limit:
            self._forget(next(iter(self._scenes)))

    def _forget(self, key: tuple[str, int]) -> None:
        old = self._scenes.pop(key)
        self._held -= old.layout.master_bytes
        self.gpu.free(old.master)
        self.gpu.free(old.segments)


def _plan(
    work: Work, case: Mapping[str, float], most_guard: int, *, promoted: bool = False
) -> Layout:
    """Lay out buffers. Host code may keep what it made for an address: others come there, too."""
    places = work.kind == "entry" and most_guard == VERIFY_GUARD
    return arena.plan(work, case, most_guard, promoted=promoted, places=places)


def _total(data: Storage) -> int:
    """Return a sum of 64-bit words that any stray write changes, as good as surely."""
    whole = len(data) // 8 * 8
    with np.errstate(over="ignore"):
        words = int(np.add.reduce(data[:whole].view(np.uint64), dtype=np.uint64))
    return words + int(data[whole:].sum(dtype=np.uint64))


def poison_of(work: Work, case: Mapping[str, float], name: str, poison: int) -> Storage:
    """Return the bytes an output was full of before a verifying run."""
    layout = _plan(work, case, VERIFY_GUARD)
    buffer = next(b for b in layout.buffers if b.name == name)
    return pattern(buffer.offset, buffer.size, poison)
