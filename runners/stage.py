"""Timed regions on the device, each launch on contents it has never seen, each one checked.

For a region: restore the slabs (contents shifted by fresh amounts, outputs poisoned), empty the
L2 cache, hold the stream, queue start event, launches and end event, let go. Then count damage,
and compare what candidate and baseline made of the same contents. Between the two runs of a pair
the first one's outputs are enciphered, so that nothing on the device holds an answer.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from runners import coincidence, timing
from runners.arena import OUTPUT, Buffer
from runners.bench import Bench
from runners.contents import Combination
from runners.cuda_types import Storage
from runners.gpu import OutOfMemoryError
from runners.launchable import Bound, Launchable
from runners.poison import keystream, pattern
from runners.run import Damage, damage
from runners.scenes import TIMED_GUARD
from runners.timing import Arm

_DAMAGE = np.array([0, 0, 2**64 - 1], np.uint64)
SLAB_ROOM = 2 << 30
# Launches whose outputs are brought to the host: of those that the device can rank the worst, by
# their largest and by their mean error; of others so many, and so many bytes behind the first few.
RANKED, SAMPLED, FEWEST, SAMPLED_BYTES = 2, 16, 3, 32 << 20
# A launch is worse than the worst one so far by so much, else it is not worth a look.
WORSE = 1.05
# Elements this small equal the poison by chance.
NARROW = 2


@dataclass(frozen=True, slots=True)
class Limit:
    """What the device-side comparison of an output may find before a closer look is taken.

    `scaled` bounds |a-b| / (|b| + floor); None: the device tells only whether both hold the same
    elements, in whatever order they come.
    """

    scaled: float | None
    floor: float


@dataclass(frozen=True, slots=True)
class Suspect:
    """Outputs of candidate and baseline on the same contents, to be compared on the host."""

    output: str
    got: Storage
    want: Storage
    why: str
    shifts: tuple[tuple[str, int], ...] = ()  # of the contents, in bytes, by buffer


@dataclass(slots=True)
class Findings:
    """What the checks behind timed launches saw."""

    checked: int = 0
    damage: Damage = field(default_factory=Damage)
    largest: float = 0.0
    suspects: list[Suspect] = field(default_factory=list)


class DeviceStage:
    """Candidate and baseline on argument slabs of one case."""

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
        self._bench, self._gpu = bench, bench.gpu
        self._pair, self._case = pair, combination.case
        self._limits, self._warm, self._seconds = limits, warm, seconds
        self._scene = bench.scenes.of(combination, TIMED_GUARD)
        self.layout = self._scene.layout
        self._rng = np.random.default_rng()
        self._slabs = 0
        self._base = self._vault = self._rotations = self._damage = self._stats = 0
        self._bound: tuple[list[Bound], list[Bound]] = ([], [])
        self._gate_ns = 100_000
        self._clock = self._gpu.allocate(16)
        self._sink = self._gpu.allocate(16)
        l2 = int(self._gpu.facts["l2_bytes"]) or 32 << 20
        self._flush = (3 * l2, self._gpu.allocate(3 * l2))
        self._gpu.fill(self._flush[1], 0x3F800000, self._flush[0] // 4)
        self._events = (self._gpu.event(), self._gpu.event())
        self._empty = 0.0
        self._key = self._poison = 0
        self._shifts = np.zeros((0, 0), np.uint64)
        self._previous = timing.BASELINE
        self._arms = 0
        self._look_at = int(self._rng.integers(2, 9))
        self._worst: dict[tuple[str, str], tuple[float, Suspect]] = {}
        self._sampled: dict[str, list[Suspect]] = {}
        self.findings = Findings()
        self.resize(1)
        self._empty = min(self._region([])[0] for _ in range(5))

    def resize(self, slabs: int) -> None:
        """Lay out that many argument sets."""
        self._release_slabs()
        stride, rows = self.layout.stride, len(self.layout.segments)
        self._slabs = slabs
        self._base = self._gpu.allocate(stride * slabs)
        self._vault = self._gpu.allocate(stride * slabs)
        self._rotations = self._gpu.allocate(8 * rows * slabs)
        self._damage = self._gpu.allocate(24 * slabs)
        self._stats = self._gpu.allocate(32 * slabs)
        bases = [self._base + stride * n for n in range(slabs)]
        self._bound = tuple(  # type: ignore[assignment]
            [one.bind(self._case, self.layout.addresses(base)) for base in bases]
            for one in self._pair
        )

    def close(self) -> None:
        """Give device memory back."""
        self._release_slabs()
        for address in (self._clock, self._sink, self._flush[1]):
            self._gpu.free(address)

    def _release_slabs(self) -> None:
        for address in (self._base, self._vault, self._rotations, self._damage, self._stats):
            if address:
                self._gpu.free(address)
        self._base = self._vault = self._rotations = self._damage = self._stats = 0

    def prepare(self, rule: timing.Rule) -> int:
        """Learn roughly how long both take, then give each launch of a region its own set."""
        roughly: tuple[list[float], list[float]] = ([], [])
        for _ in range(2):
            for position, which in enumerate((timing.BASELINE, timing.CANDIDATE)):
                arm = self.arm(which, second_of_pair=position == 1)
                roughly[which].append(arm.us)
        if any(one.retained is not None and one.retained.changed() for one in self._pair):
            # It remembers: a launch of each region, from the memory it was loaded with, so that
            # no launch lives on what an earlier one has done.
            return self._slabs
        stride = self.layout.stride
        room = min(SLAB_ROOM, self._gpu.free_bytes() // 4)
        count = timing.launches([min(r) for r in roughly], rule, 2 * stride, room)
        if count > 1:
            try:
                self.resize(count)
            except OutOfMemoryError:
                self.resize(1)
        return self._slabs

    def arm(self, which: int, *, second_of_pair: bool) -> Arm:
        """Time one region of launches and check every one of them."""
        self._gpu.reset_cache()
        self._pair[which].begins()
        self._fresh(which, second_of_pair=second_of_pair)
        self._evict()
        # In no order that a launch could fetch the next one's data by.
        order = self._rng.permutation(self._slabs)
        us, clock, dry, wall, late = self._region([self._bound[which][int(n)] for n in order])
        self._judge(which, second_of_pair=second_of_pair)
        count = self._slabs
        each = max(1e-3, (us - self._empty) / count)
        return Arm(each, clock, dry=dry, wall_us=wall / count, late_us=late)

    def _fresh(self, which: int, *, second_of_pair: bool) -> None:
        """Fill every slab: what the first of a pair saw again for the second, else anew."""
        if not second_of_pair:
            self._shifts = self.layout.rotations(self._rng, self._slabs)
            self._gpu.upload(self._rotations, self._shifts)
            self._poison = int(self._rng.integers(0, 2**62))
        self._refill()
        self._gpu.upload(self._damage, np.tile(_DAMAGE, self._slabs))
        retained = self._pair[which].retained
        if retained is not None:
            retained.reset()

    def _refill(self) -> None:
        """Queue: write guards, contents and poison into every slab."""
        self._bench.restore(self._scene, self._base, self._slabs, self._rotations, self._poison)

    def _judge(self, which: int, *, second_of_pair: bool) -> None:
        """Look for damage, and hold the second of a pair against the first."""
        self._check()
        if second_of_pair:
            self._compare(which)
        else:
            self._key = int(self._rng.integers(0, 2**62))
            self._seal(self._vault, self._base)
        self._previous = which
        self._arms += 1

    def _evict(self) -> None:
        """Make every launch find its data in DRAM, or in L2 where `warm` is asked for."""
        size, address = self._flush
        if self._warm:
            size, address = self.layout.stride * self._slabs, self._base
        arguments = struct.pack("<QQQ", address, size // 16, self._sink)
        blocks = max(1, min(size // 65536, 8 * int(self._gpu.facts["sms"])))
        self._gpu.helper("sweep", (blocks,), 512, arguments)

    def _region(self, bound: list[Bound]) -> tuple[float, float | None, bool, float, float]:
        """Return µs of the region, SM clock, whether the queue ran dry, wall µs, late µs."""
        start, end = self._events
        gpu = self._gpu
        gpu.helper("gate", (1,), 1, struct.pack("<QQ", self._gate_ns, self._clock))
        gpu.record(start)
        began = time.perf_counter_ns()
        for one in bound:
            one()
        queued = time.perf_counter_ns()
        gpu.record(end)
        gpu.wait(end, self._seconds)
        ended = time.perf_counter_ns()
        late = gpu.synchronize(self._seconds)
        us = gpu.elapsed_us(start, end)
        cycles, held = (int(v) for v in gpu.download(self._clock, 16).view(np.uint64))
        clock = cycles * 1e3 / held if held else None
        took = queued - began
        dry = took > 0.8 * self._gate_ns and self._gate_ns < 2_000_000 and bool(bound)
        if dry:
            self._gate_ns = min(2_000_000, int(2 * took) + 20_000)
        return us, clock, dry, (ended - began) / 1e3, late

    def _check(self) -> None:
        """Count damage to guards and inputs of every slab."""
        self._bench.check(
            self._scene, self._base, self._slabs, self._rotations, self._poison, self._damage
        )
        counts = self._gpu.download(self._damage, 24 * self._slabs).view(np.uint64).reshape(-1, 3)
        self.findings.checked += self._slabs
        bad = np.flatnonzero(counts[:, 0] | counts[:, 1])
        if len(bad) and not self.findings.damage:
            self.findings.damage = damage(self.layout, counts[bad[0]])

    def _seal(self, to: int, source: int) -> None:
        """Encipher outputs from one set of slabs into another; the same call deciphers."""
        layout = self.layout
        arguments = struct.pack(
            "<QQQQI4xQ",
            to,
            source,
            layout.stride,
            self._scene.segments,
            len(layout.segments),
            self._key,
        )
        self._gpu.helper("seal", (self._bench.grid(layout), self._slabs), 256, arguments)

    def _compare(self, which: int) -> None:
        """Compare this arm's outputs with the sealed ones of its partner."""
        for buffer in self.layout.written:
            limit = self._limits.get(buffer.name)
            if limit is None or limit.scaled is None:
                other = np.flatnonzero(self._elements_differ(buffer))
                # The first few are looked at in any case.
                slabs = other if len(other) or self._arms >= 4 else np.arange(self._slabs)
                self._sample(buffer, slabs, which)
                continue
            stats = self._difference(buffer, limit.floor)
            errors = stats[:, 2].copy().view(np.float64)
            self.findings.largest = max(self.findings.largest, float(errors.max()))
            if buffer.type.scalar is None or buffer.type.scalar.kind != "f":
                errors = stats[:, 0].astype(np.float64)
                bad = errors > 0
            else:
                bad = (stats[:, 1] > 0) | (errors > limit.scaled)
                errors[stats[:, 1] > 0] = np.inf
            if bad.any():
                # One element far off may be right where a mean that is a little off is not.
                means = np.nan_to_num(stats[:, 3].copy().view(np.float64), nan=np.inf)
                taken: dict[int, Suspect] = {}
                for by, ranked in (("largest", errors), ("mean", means)):
                    self._rank(buffer, by, np.where(bad, ranked, -1.0), which, taken)
            elif self._arms == self._look_at:
                self._sample(buffer, np.arange(self._slabs), which)

    def _rank(
        self,
        buffer: Buffer,
        by: str,
        errors: npt.NDArray[np.float64],
        which: int,
        taken: dict[int, Suspect],
    ) -> None:
        """Keep the outputs of the worst launch so far: no other one is worse, then, unseen."""
        slab = int(np.argmax(errors))
        key, error = (buffer.name, by), float(errors[slab])
        if key in self._worst and not error > WORSE * self._worst[key][0]:
            return
        if slab not in taken:
            taken[slab] = self._take(buffer, slab, which, "differs")
        self._worst[key] = (error, taken[slab])
        self._tell()

    def _sample(self, buffer: Buffer, slabs: npt.NDArray[np.intp], which: int) -> None:
        """Keep the outputs of one of these launches, while few are kept."""
        held = self._sampled.setdefault(buffer.name, [])
        room = len(held) * buffer.size < SAMPLED_BYTES or len(held) < FEWEST
        if len(slabs) and len(held) < SAMPLED and room:
            held.append(self._take(buffer, int(self._rng.choice(slabs)), which, "sampled"))
            self._tell()

    def _tell(self) -> None:
        sampled = [one for held in self._sampled.values() for one in held]
        ranked = {id(one): one for _, one in self._worst.values()}
        self.findings.suspects = [*ranked.values(), *sampled]

    def _elements_differ(self, buffer: Buffer) -> npt.NDArray[np.bool_]:
        """Tell per slab whether both hold other elements, whatever their order."""
        sums = []
        for base, key, sealed in ((self._vault, self._key, 1), (self._base, 0, 0)):
            left_out = buffer.kind == OUTPUT and buffer.type.size > NARROW
            self._gpu.fill(self._stats, 0, 8 * self._slabs)
            arguments = struct.pack(
                "<QQQIIIIQQQ",
                base,
                self.layout.stride,
                self._scene.segments,
                buffer.segment,
                buffer.type.size,
                sealed,
                left_out,
                key,
                self._poison,
                self._stats,
            )
            grid = (self._bench.grid(self.layout), self._slabs)
            self._gpu.helper("elements", grid, 256, arguments)
            sums.append(self._gpu.download(self._stats, 8 * self._slabs).view(np.uint64))
        return np.asarray(sums[0] != sums[1])

    def _difference(self, buffer: Buffer, floor: float) -> npt.NDArray[np.uint64]:
        """Return per slab: differing words, NaN mismatches, largest error as bits, squares."""
        only = buffer.type.scalar
        code = 0 if only is None else only.code
        self._gpu.fill(self._stats, 0, 8 * self._slabs)
        arguments = struct.pack(
            "<QQQQIIQdQ",
            self._vault,
            self._base,
            self.layout.stride,
            self._scene.segments,
            buffer.segment,
            code,
            self._key,
            max(floor, 1e-30),
            self._stats,
        )
        self._gpu.helper("compare", (self._bench.grid(self.layout), self._slabs), 256, arguments)
        return self._gpu.download(self._stats, 32 * self._slabs).view(np.uint64).reshape(-1, 4)

    def _take(self, buffer: Buffer, slab: int, which: int, why: str) -> Suspect:
        """Bring both outputs of one launch to the host."""
        offset = self.layout.stride * slab + buffer.offset
        mine = self._gpu.download(self._base + offset, buffer.size)
        theirs = self._opened(self._vault + offset, offset, buffer.size)
        limit = self._limits.get(buffer.name)
        if (limit is None or limit.scaled is None) and buffer.kind == OUTPUT:
            self._leave_out_poison(buffer, slab, (mine, theirs))
        got, want = (mine, theirs) if which == timing.CANDIDATE else (theirs, mine)
        shifts = ((b.name, int(self._shifts[slab, b.segment])) for b in self.layout.buffers)
        return Suspect(buffer.name, got, want, why, tuple(one for one in shifts if one[1]))

    def _leave_out_poison(self, buffer: Buffer, slab: int, both: tuple[Storage, Storage]) -> None:
        """Clear what was not written: in another order it holds another place's poison."""
        size = buffer.type.size
        if size <= NARROW:
            return
        poison = pattern(buffer.offset, buffer.size, self._poison, slab)
        coincidence.cleared(both, poison, size)

    def _opened(self, address: int, offset: int, size: int) -> Storage:
        """Decipher sealed bytes on the host."""
        return np.asarray(self._gpu.download(address, size) ^ keystream(offset, size, self._key))
