"""Launches back to back for seconds, on rotating contents, while somebody reads the energy counter.

As many argument sets as are worth three times L2 take turns, so that each launch finds its data in
DRAM, as it does where it is timed. What a kernel updates in place is refilled before every launch.
A kernel's launches are queued as one graph, so that the GPU does not wait for the host. At the end
of an arm its outputs are checked as behind a timed region.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from runners.arena import INOUT
from runners.bench import Bench
from runners.contents import Combination
from runners.energy import EMPTY, Mark
from runners.gpu import DeviceError, OutOfMemoryError, Repeated
from runners.launchable import Launchable
from runners.nvml import Unmeasured
from runners.stage import SLAB_ROOM, DeviceStage, Findings, Limit
from runners.timing import BASELINE, CANDIDATE

CACHES = 3  # argument sets are worth so many L2 caches
MOST_SLABS = 512
# One launch on every set takes no longer, so that an arm holds many.
PASS_US = 250_000
# Work queued before the host looks again: long beside a look, short beside an arm.
CHUNK_SECONDS = 0.03
QUEUED = 2


class BurnStage(DeviceStage):
    """Candidate and baseline of one case, to be run for seconds."""

    def __init__(
        self,
        bench: Bench,
        pair: tuple[Launchable, Launchable],
        combination: Combination,
        limits: Mapping[str, Limit],
        *,
        warm: bool,
        seconds: float,
    ) -> None:
        super().__init__(bench, pair, combination, limits, warm=warm, seconds=seconds)
        self.in_place = any(buffer.kind == INOUT for buffer in self.layout.buffers)
        self._passes: dict[int, Callable[[], None]] = {}
        self._graphs: list[Repeated] = []

    def light(self) -> None:
        """Lay out the argument sets. Raise `Unmeasured` for a kernel that remembers launches."""
        slowest = 1.0
        for position, which in enumerate((BASELINE, CANDIDATE)):
            slowest = max(slowest, self.arm(which, second_of_pair=position == 1).us)
        if any(one.retained is not None and one.retained.changed() for one in self._pair):
            raise Unmeasured("the kernel keeps something on the device between launches")
        stride, used = self.layout.stride, max(1, self.layout.payload_bytes)
        room = min(SLAB_ROOM, self._gpu.free_bytes() // 4) // (2 * stride)
        l2 = int(self._gpu.facts["l2_bytes"]) or 32 << 20
        wanted = 1 if self._warm else math.ceil(CACHES * l2 / used) + 1
        count = max(1, min(wanted, MOST_SLABS, room, int(PASS_US / slowest)))
        if count > 1:
            try:
                self.resize(count)
            except OutOfMemoryError:
                self.resize(1)

    def burn(self, which: int, seconds: float, *, second_of_pair: bool) -> list[Mark]:
        """Run one back to back; return when how many launches had ended."""
        gpu = self._gpu
        gpu.reset_cache()
        self._fresh(BASELINE if which == EMPTY else which, second_of_pair=second_of_pair)
        once = self._once(which)
        gpu.settle(self._seconds)
        repeats = self._repeats(once)
        waiting: deque[tuple[Any, int]] = deque()
        done = launched = 0
        marks: list[Mark] = [(time.monotonic(), 0)]
        end, chunk = marks[0][0] + seconds, 0.0
        while time.monotonic() < end or waiting:
            while len(waiting) < QUEUED and time.monotonic() < end:
                for _ in range(repeats):
                    once()
                launched += repeats * self._slabs
                event = gpu.event()
                gpu.record(event)
                waiting.append((event, launched))
            event, done = waiting.popleft()
            if chunk > 0.002:
                time.sleep(0.7 * chunk)  # leaves the interpreter to whoever reads the meter
            gpu.wait(event, max(self._seconds, 4 * seconds))
            marks.append((time.monotonic(), done))
            chunk = marks[-1][0] - marks[-2][0]
        gpu.synchronize(self._seconds)
        if which != EMPTY:
            self._judge(which, second_of_pair=second_of_pair)
        return marks

    def quench(self) -> Findings:
        """Give device memory back; return what the checks behind the arms saw."""
        self.close()
        return self.findings

    def close(self) -> None:
        """Give device memory back."""
        self._forget()
        super().close()

    def resize(self, slabs: int) -> None:
        """Lay out that many argument sets."""
        self._forget()
        super().resize(slabs)

    def _fresh(self, which: int, *, second_of_pair: bool) -> None:
        """Fill every slab; a captured refill has the poison of its time: capture it anew."""
        super()._fresh(which, second_of_pair=second_of_pair)
        if self.in_place and not second_of_pair:
            self._forget()

    def _forget(self) -> None:
        graphs, self._graphs = getattr(self, "_graphs", []), []
        for graph in graphs:
            graph.close()
        self._passes = {}

    def _once(self, which: int) -> Callable[[], None]:
        """Return what queues one launch on every argument set."""
        if which not in self._passes:
            bound = [] if which == EMPTY else self._bound[which]
            refills = self.in_place

            def queue() -> None:
                if refills:
                    self._refill()
                for one in bound:
                    one()

            self._passes[which] = queue
            if which == EMPTY or not self._pair[which].hosted:
                try:
                    graph = self._gpu.captured(queue)
                except DeviceError:
                    return queue  # the host queues them one by one
                self._graphs.append(graph)
                self._passes[which] = graph
        return self._passes[which]

    def _repeats(self, once: Callable[[], None]) -> int:
        """Return how often to queue all sets before looking again."""
        begun = time.monotonic()
        once()
        self._gpu.settle(self._seconds)
        return max(1, int(CHUNK_SECONDS / max(1e-6, time.monotonic() - begun)))
