"""Run a kernel or entry function in a fresh world and bring back what it wrote.

Every run gets guard bands, poisoned outputs, dirtied shared memory and an address of its own;
every run is followed by a check of guards and inputs. Expected answers never come near it.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from runners import arena
from runners.allocations import Holdings
from runners.arena import INPUT, OUTPUT, Layout
from runners.contents import Combination, Contents
from runners.cuda_types import Storage
from runners.gpu import Gpu
from runners.inputs import Arrays
from runners.launchable import Launchable
from runners.lookalike import lookalike
from runners.poison import NAN_POISON, pattern
from runners.run import Damage, Run, damage
from runners.scenes import VERIFY_GUARD, Scene, Scenes
from runners.spec import Work

# Work that outlives the stream it was queued on by more than this was left behind.
LATE_US = 200.0
# By how much other streams are held up, each time and how often; and inputs, on the null stream.
HELD_US, MOST_HELD, LATE_INPUTS_NS = 1000, 24, 500_000
# For how long none of the calls in a row may begin on the device, if nothing else is said.
ROW_HELD_NS = 4_000_000
# For how long calls go before a row, at most.
WORN_SECONDS = 0.3
# Calls that nobody looks at: so many before the device is waited for, fewer where these take long.
MOST_AT_ONCE, QUICK_SECONDS = 256, 0.05
# Share of the runs behind one of the same case that are made where that one was.
AGAIN, AGAIN_BYTES = 0.5, 4 << 20
# Share of the other runs that are made behind one on contents that differ in some elements only.
ALIKE, ALIKE_BYTES = 0.4, 2 << 20


class Bench:
    """Holds contents on one device and runs things on them."""

    def __init__(
        self, gpu: Gpu, work: Work, *, promoted: bool = False, contents: Contents | None = None
    ) -> None:
        self.gpu, self.work, self.promoted = gpu, work, promoted
        self.contents = contents or Contents(work)
        self.scenes = Scenes(gpu, work, self.contents, promoted=promoted)
        self._space = (0, 0)
        self._last: tuple[Launchable, Combination, int] | None = None
        self._keeping: Launchable | None = None
        # Events around each run, if somebody wants to know what it takes.
        self.marks: tuple[Any, Any] | None = None
        self._damage = gpu.allocate(24)
        self._zeros = (0, 0)
        self._sink = gpu.allocate(256)
        self._rng = np.random.default_rng()

    def close(self) -> None:
        """Give all device memory back."""
        self.scenes.close()
        for address in (self._space[1], self._damage, self._zeros[1], self._sink):
            if address:
                self.gpu.free(address)
        self._space = self._zeros = (0, 0)
        self._last = self._keeping = None

    def _place(self, stride: int) -> int:
        """Return a base address for a slab, another one nearly every time."""
        slack = 1 << 20
        if self._space[0] < stride + slack:
            if self._space[1]:
                self.gpu.free(self._space[1])
            self._space = (0, 0)
            self._space = (stride + slack, self.gpu.allocate(stride + slack))
        steps = (self._space[0] - stride) // arena.ALIGN
        # A few places, so that some runs share an address with other contents.
        step = int(self._rng.integers(0, 4)) * (steps // 4) + int(self._rng.integers(0, 2))
        return self._space[1] + min(step, steps) * arena.ALIGN

    def zeros(self, words: int) -> int:
        """Return the address of that many 64-bit zeros (no buffer shifted)."""
        if self._zeros[0] < words:
            if self._zeros[1]:
                self.gpu.free(self._zeros[1])
            self._zeros = (words, self.gpu.allocate(words * 8))
            self.gpu.upload(self._zeros[1], np.zeros(words, np.uint64))
        return self._zeros[1]

    def grid(self, layout: Layout) -> int:
        """Return blocks enough to pass over a slab."""
        return max(1, min(layout.stride // 4096, 8 * int(self.gpu.facts["sms"])))

    def restore(self, scene: Scene, base: int, slabs: int, rotations: int, poison: int) -> None:
        """Queue: write guards, contents and poison into slabs."""
        arguments = _of_slabs(scene, base, rotations, poison)
        self.gpu.helper("restore", (self.grid(scene.layout), slabs), 256, arguments)

    def check(
        self, scene: Scene, base: int, slabs: int, rotations: int, poison: int, out: int
    ) -> None:
        """Queue: count damaged words of guards and inputs into `out`."""
        arguments = _of_slabs(scene, base, rotations, poison) + struct.pack("<Q", out)
        self.gpu.helper("check", (self.grid(scene.layout), slabs), 256, arguments)

    def dirty(self) -> None:
        """Queue: fill shared and thread-local memory with patterns."""
        facts = self.gpu.facts
        shared = int(facts.get("shared_optin_bytes", 48 << 10))
        value = int(self._rng.integers(1, 2**32)) if self._rng.random() < 0.5 else 0xFFFFFFFF
        arguments = struct.pack("<IIQ", shared, value, self._sink)
        self.gpu.helper("dirty", (int(facts["sms"]) * 2,), 512, arguments, shared)

    def _before(
        self, launchable: Launchable, combination: Combination, layout: Layout
    ) -> tuple[Combination | None, Arrays | None]:
        """Return on whose heels this run is to follow, at times: one of two kinds, or none.

        The last run, where that was; or, anywhere, one of inputs that look like this run's own,
        which are given for some buffers.
        """
        if self._last is None or self._last[0] is not launchable or self.promoted:
            return None, None
        last = self._last[1]
        # The same contents again tell nothing, and what counts launches is to see one a run there.
        if last.key == combination.key:
            return None, None
        same = dict(last.case) == dict(combination.case) and layout.stride <= AGAIN_BYTES
        if same and self._rng.random() < AGAIN:
            return last, None
        if layout.stride <= ALIKE_BYTES and self._rng.random() < ALIKE:
            own = self.contents.of(combination)
            made = lookalike(self.work, own, self._rng, any_order=self._keeps(launchable))
            others = {name: data for name, data in made.items() if data is not own[name]}
            return None, others or None
        return None, None

    def _keeps(self, launchable: Launchable) -> bool:
        """Tell whether it has left something in variables of its module."""
        kept = launchable.retained
        if self._keeping is not launchable and kept is not None and kept.changed():
            self._keeping = launchable
        return self._keeping is launchable

    @staticmethod
    def _image(layout: Layout, made: Arrays, poison: int) -> Storage:
        """Return a slab as `restore` would leave it."""
        image = pattern(0, layout.stride, poison).copy()
        for b in layout.buffers:
            if b.name in made:
                image[b.offset : b.offset + b.size] = made[b.name]
        return image

    def run(
        self,
        launchable: Launchable,
        combination: Combination,
        *,
        nan: bool = False,
        beside: bool = False,
        seconds: float = 10.0,
        poison: int | None = None,
        again: bool = False,
        held: bool = False,
        late: bool = False,
    ) -> Run:
        """Run once in a fresh world.

        `nan` poisons with NaN instead of random bytes; `beside` keeps half of the multiprocessors
        busy with something else at first. With `again` another run is at times made before, and
        this one behind it at the same addresses: the last one once more, if that was of the same
        case, and then shared memory is as that one left it; or one whose inputs differ from these
        in some elements. Of host code that uses streams of its own, `held` holds up what it queues
        there, so that what was not waited for is not done; `late` has the null stream bring the
        inputs only when it has been called, so that what does not wait for that stream finds none.
        Raises the errors of `runners.gpu`.
        """
        scene = self.scenes.of(combination, VERIFY_GUARD)
        layout = scene.layout
        before = alike = None
        if again and not late:
            before, alike = self._before(launchable, combination, layout)
        base = self._place(layout.stride) if before is None or self._last is None else self._last[2]
        self._last = (launchable, combination, base)
        zeros = self.zeros(len(layout.segments))
        if poison is None:
            poison = NAN_POISON if nan else int(self._rng.integers(0, 2**62))
        bound = launchable.bind(combination.case, layout.addresses(base))
        launchable.begins()
        streams = launchable.streams
        if streams is not None:
            streams.strays()
            streams.refused()
        self._undamaged()
        if late:
            self.gpu.fill(base, 0xFFFFFFFF, layout.stride // 4)
            self.gpu.synchronize(seconds)  # inputs are to come behind that
            self.gpu.helper("gate", (1,), 1, struct.pack("<QQ", LATE_INPUTS_NS, self._sink))
        if alike is not None:
            self.restore(scene, base, 1, zeros, poison)
            for buffer in layout.buffers:
                if buffer.name in alike:
                    self.gpu.upload(base + buffer.offset, alike[buffer.name])
            bound()
            self.gpu.synchronize(seconds)
        if before is None:
            self.restore(scene, base, 1, zeros, poison)
            self.dirty()
        else:
            self.restore(self.scenes.of(before, VERIFY_GUARD), base, 1, zeros, poison)
            bound()
            self.gpu.synchronize(seconds)
            # Copies alone between the two: a kernel of ours might use what they leave.
            made = self.contents.of(combination)
            self.gpu.upload(base, self._image(layout, made, poison))
        if beside:
            # Host code may have streams of its own: there the device is kept full for long, so
            # that what was left on one of them is not done when the null stream is.
            sms = int(self.gpu.facts["sms"])
            busy = (2_000_000, 2 * sms - 6) if launchable.hosted else (60_000, sms * 2 // 3)
            self.gpu.beside(busy[0], max(1, busy[1]))
        with streams.held(HELD_US, MOST_HELD) if streams and held else contextlib.nullcontext():
            self._marked(bound)
        outputs, behind = {}, 0.0
        if launchable.hosted:
            # Results have to be there when the null stream is done, not when the device is.
            self.gpu.settle(seconds)
            outputs = {b.name: self.gpu.download(base + b.offset, b.size) for b in layout.written}
            behind = self.gpu.synchronize(seconds)
        # In one go with a kernel: a device that others use, too, is waited for once.
        self.check(scene, base, 1, zeros, poison, self._damage)
        behind = max(behind, self.gpu.synchronize(seconds))
        counts = self.gpu.download(self._damage, 24).view(np.uint64)
        for b in layout.written:
            if b.name not in outputs:
                outputs[b.name] = self.gpu.download(base + b.offset, b.size)
        # Under delays what is queued behind the results, as memory that is given back, is late.
        behind = 0.0 if beside or held or late else behind
        seen = (streams.strays(), streams.refused()) if streams is not None else (0, 0)
        took_us = self.gpu.elapsed_us(*self.marks) if self.marks else 0.0
        return Run(outputs, damage(layout, counts), behind, poison, *seen, took_us)

    def _marked(self, bound: Callable[[], None]) -> None:
        """Queue a call, and what tells how long it takes, if that is asked."""
        if self.marks is None:
            bound()
            return
        start, end = self.marks
        self.gpu.record(start)
        bound()
        self.gpu.record(end)

    def row(
        self,
        launchable: Launchable,
        combinations: Sequence[Combination],
        *,
        nan: bool = False,
        seconds: float = 10.0,
        apart: bool = True,
        held_ns: int = ROW_HELD_NS,
        keeps: bool = False,
        before: int = 1,
        by_turns: bool = False,
    ) -> list[Run]:
        """Run once on each of several combinations, one behind the other.

        `apart`, each has buffers of its own, and all are called before the device begins with the
        first: what host code keeps for a call, as a table, it must not touch in the next one before
        that call is done. With a shorter `held_ns` the device begins so much later and follows:
        what comes back from one call it must not take for the next one's. Otherwise all are of one
        size, share their buffers, and each is done before the next is called; with `keeps` every
        other one finds the results of the one before, as a caller leaves them, instead of poison.
        The first is run once before, so that nothing is done for the first time; where they share
        their buffers it may be as often as `before` says, as long as there is time, or all
        `by_turns`. Raises the errors of `runners.gpu`.
        """
        scenes = [self.scenes.of(combination, VERIFY_GUARD) for combination in combinations]
        poisons = [NAN_POISON if nan else int(self._rng.integers(0, 2**62)) for _ in scenes]
        strides = [scene.layout.stride for scene in scenes]
        bases = [self._place(sum(strides) if apart else max(strides))] * len(scenes)
        if apart:
            bases = [bases[0] + sum(strides[:at]) for at in range(len(scenes))]
        self._last = None  # what lies there is no longer as a run leaves it
        zeros = self.zeros(max(len(scene.layout.segments) for scene in scenes))
        launchable.begins()
        calls = [
            launchable.bind(one.case, scene.layout.addresses(base))
            for one, scene, base in zip(combinations, scenes, bases, strict=True)
        ]
        places = list(zip(scenes, bases, poisons, strict=True))
        turns = len(calls) if by_turns and not apart else 1

        def worn(number: int) -> None:
            at = number % turns
            if not number or turns > 1 or self._changes_inputs():
                self.restore(*places[at][:2], 1, zeros, poisons[at])
            calls[at]()

        self._over_and_over(worn, 1 if apart else before, WORN_SECONDS, seconds)
        if not apart:
            found: list[Run] = []
            for number, (call, place) in enumerate(zip(calls, places, strict=True)):
                kept = found[-1].outputs if keeps and number % 2 else {}
                self.restore(*place[:2], 1, zeros, place[2])
                for buffer in place[0].layout.buffers:
                    if buffer.kind == OUTPUT and len(kept.get(buffer.name, ())) == buffer.size:
                        self.gpu.upload(place[1] + buffer.offset, kept[buffer.name])
                self.gpu.synchronize(seconds)
                call()
                found += self._brought([place], zeros, seconds, hosted=launchable.hosted)
            return found
        for scene, base, poison in places:
            self.restore(scene, base, 1, zeros, poison)
        self.dirty()
        self.gpu.synchronize(seconds)
        self.gpu.helper("gate", (1,), 1, struct.pack("<QQ", held_ns, self._sink))
        for call in calls:
            call()
        return self._brought(places, zeros, seconds, hosted=launchable.hosted)

    def moved(
        self,
        launchable: Launchable,
        combination: Combination,
        names: Sequence[str],
        *,
        nan: bool = False,
        seconds: float = 10.0,
    ) -> list[Run]:
        """Run on one combination with one buffer elsewhere at a time, and where all were between.

        What is left where a buffer was is not what it holds, so that who still reads there is
        wrong. Each call is done before the next; one more goes before the first. There are
        `2 * len(names) + 1` runs. Raises the errors of `runners.gpu`.
        """
        scene = self.scenes.of(combination, VERIFY_GUARD)
        layout = scene.layout
        first = self._place(2 * layout.stride)
        second = first + layout.stride
        usual, others = layout.addresses(first), layout.addresses(second)
        self._last = None  # what lies there is no longer as a run leaves it
        zeros = self.zeros(len(layout.segments))
        poison = NAN_POISON if nan else int(self._rng.integers(0, 2**62))
        launchable.begins()
        found = []
        for name in ["", "", *chain.from_iterable((name, "") for name in names)]:
            moved = {name: others[name]} if name else {}
            for base in (first, second):
                self.restore(scene, base, 1, zeros, poison)
            idle = others | {one: usual[one] for one in moved}
            self._emptied(layout, idle, combination)
            self.gpu.synchronize(seconds)
            launchable.bind(combination.case, usual | moved)()
            self._finished(seconds, hosted=launchable.hosted)
            written = layout.written
            outputs = {b.name: self.gpu.download((usual | moved)[b.name], b.size) for b in written}
            self.gpu.synchronize(seconds)
            made = self.contents.of(combination)
            for buffer in layout.buffers:
                if buffer.kind == INPUT:
                    self.gpu.upload(idle[buffer.name], made[buffer.name])
            both = [self._damaged(scene, base, zeros, poison) for base in (first, second)]
            found.append(Run(outputs, both[0] or both[1], 0.0, poison))
        return found[1:]

    def _emptied(self, layout: Layout, places: Mapping[str, int], combination: Combination) -> None:
        """Put zeros where inputs lie that a call is not given; of zeros alone, ones."""
        made = self.contents.of(combination)
        for buffer in layout.buffers:
            if buffer.name in made and buffer.size >= 4:
                value = int(not made[buffer.name].any())
                self.gpu.fill(places[buffer.name], value, buffer.size // 4)

    def holdings(
        self,
        launchable: Launchable,
        combination: Combination,
        calls: int,
        seconds: float,
        patience: float,
    ) -> list[Holdings] | None:
        """Call it on one combination over and over; return what it holds behind each call.

        At one address, and each call is done before the next: nothing is then new to it. There are
        fewer when `seconds` are over; none where it is not seen. One call has its `patience`.
        Raises the errors of `runners.gpu`.
        """
        if launchable.holds() is None:
            return None
        scene = self.scenes.of(combination, VERIFY_GUARD)
        base = self._place(scene.layout.stride)
        self._last = None
        zeros = self.zeros(len(scene.layout.segments))
        launchable.begins()
        bound = launchable.bind(combination.case, scene.layout.addresses(base))
        deadline = time.monotonic() + seconds
        found: list[Holdings] = []
        while len(found) < calls and time.monotonic() < deadline:
            self.restore(scene, base, 1, zeros, NAN_POISON)
            bound()
            self.gpu.synchronize(patience)
            held = launchable.holds()
            if held is not None:
                found.append(held)
        return found

    def many(
        self,
        launchable: Launchable,
        combination: Combination,
        calls: int,
        seconds: float,
        patience: float,
    ) -> int:
        """Call it so often on one combination; return how often, fewer when `seconds` are over.

        Nothing is compared, and only what it changes in place is filled anew for each. The device
        is waited for behind some calls, more of them the quicker they are; with `patience`.
        Raises the errors of `runners.gpu`.
        """
        scene = self.scenes.of(combination, VERIFY_GUARD)
        base = self._place(scene.layout.stride)
        self._last = None
        zeros = self.zeros(len(scene.layout.segments))
        launchable.begins()
        bound = launchable.bind(combination.case, scene.layout.addresses(base))

        def one(number: int) -> None:
            if not number or self._changes_inputs():
                self.restore(scene, base, 1, zeros, NAN_POISON)
            bound()

        return self._over_and_over(one, calls, seconds, patience)

    def _changes_inputs(self) -> bool:
        return any(a.type.pointer and a.role == "inout" for a in self.work.arguments)

    def _over_and_over(
        self, one: Callable[[int], None], calls: int, seconds: float, patience: float
    ) -> int:
        """Make calls, which get their numbers, as long as there is time; return how many."""
        deadline = time.monotonic() + seconds
        made, at_once = 0, 1
        while made < calls:
            begun = time.monotonic()
            if begun >= deadline:
                break
            some = min(at_once, calls - made)
            for number in range(made, made + some):
                one(number)
            self.gpu.synchronize(patience)
            made += some
            quick = time.monotonic() - begun < QUICK_SECONDS
            at_once = min(2 * at_once, MOST_AT_ONCE) if quick else max(1, at_once // 2)
        return made

    def _brought(
        self, places: Sequence[tuple[Scene, int, int]], zeros: int, seconds: float, *, hosted: bool
    ) -> list[Run]:
        """Wait for calls; return what they wrote, as it is when the null stream is done."""
        self._finished(seconds, hosted=hosted)
        outputs = [
            {b.name: self.gpu.download(base + b.offset, b.size) for b in scene.layout.written}
            for scene, base, _ in places
        ]
        self.gpu.synchronize(seconds)
        found = []
        for (scene, base, poison), written in zip(places, outputs, strict=True):
            harm = self._damaged(scene, base, zeros, poison)
            found.append(Run(written, harm, 0.0, poison))
        return found

    def _finished(self, seconds: float, *, hosted: bool) -> None:
        """Wait for the null stream where host code was called, else for the device."""
        if hosted:
            self.gpu.settle(seconds)
        else:
            self.gpu.synchronize(seconds)

    def _undamaged(self) -> None:
        """Queue: nothing was counted yet. Nobody waits for it, as for a copy."""
        self.gpu.fill(self._damage, 0, 4)
        self.gpu.fill(self._damage + 16, 0xFFFFFFFF, 2)

    def _damaged(self, scene: Scene, base: int, zeros: int, poison: int) -> Damage:
        """Return what was changed in a slab that should not have been."""
        self._undamaged()
        self.check(scene, base, 1, zeros, poison, self._damage)
        counts = self.gpu.download(self._damage, 24).view(np.uint64)
        return damage(scene.layout, counts)


def _of_slabs(scene: Scene, base: int, rotations: int, poison: int) -> bytes:
    """Return what two kernels that go over slabs take first: where these are, what is in them."""
    layout = scene.layout
    where = (base, layout.stride, scene.segments, len(layout.segments), scene.master)
    return struct.pack("<QQQI4xQQQ", *where, rotations, poison)
