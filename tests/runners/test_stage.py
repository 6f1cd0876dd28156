"""Timed regions: what is laid out, checked and freed, on a device of host memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from runners import spec, timing
from runners.bench import Bench
from runners.contents import Combination
from runners.launchable import Bound
from runners.stage import DeviceStage, Limit, Suspect
from tests.runners.host_gpu import COMPILER, HostGpu
from tests.runners.test_judge import SCALE, _job

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


class Numpy:
    """A launchable in Python; `wrong` runs come after the given number of calls."""

    hosted = False
    retained = None
    streams = None

    def __init__(self, gpu: HostGpu, wrong_after: int = 10**9, stray: int | None = None) -> None:
        self.gpu, self.wrong_after, self.stray, self.calls = gpu, wrong_after, stray, 0

    def failed(self) -> str:
        return ""

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        size = int(case["n"]) * 4

        def run() -> None:
            self.calls += 1
            x = self.gpu.download(addresses["x"], size).view("f4")
            y = 3 * x + np.float32(1)
            if self.calls > self.wrong_after:
                y[7] += 1
            self.gpu.upload(addresses["y"], y)
            if self.stray is not None:
                self.gpu.upload(addresses["y"] + self.stray, np.zeros(1, "f4"))

        return run


def _stage(gpu: HostGpu, candidate: Any, limit: float = 1e-5) -> DeviceStage:
    work = spec.parse(_job(SCALE)).work
    bench = Bench(gpu, work)
    combination = Combination({"n": 3000.0}, "declared", 1)
    return DeviceStage(
        bench, (candidate, Numpy(gpu)), combination, {"y": Limit(limit, 1.0)}, warm=False, seconds=5
    )


def _pairs(stage: DeviceStage, count: int) -> None:
    for number in range(count):
        order = (timing.CANDIDATE, timing.BASELINE)[:: 1 if number % 2 else -1]
        for position, which in enumerate(order):
            stage.arm(which, second_of_pair=position == 1)


def test_every_launch_is_checked() -> None:
    """As many launches are checked as were made."""
    gpu = HostGpu()
    candidate = Numpy(gpu)
    stage = _stage(gpu, candidate)
    stage.resize(5)
    _pairs(stage, 4)
    assert stage.findings.checked == 5 * 8
    assert candidate.calls == 5 * 4
    assert not stage.findings.damage
    assert all(s.why == "sampled" for s in stage.findings.suspects)


def test_one_wrong_element_in_one_late_launch_is_seen() -> None:
    """The outputs of that launch come to the host, both sides of them."""
    gpu = HostGpu()
    stage = _stage(gpu, Numpy(gpu, wrong_after=17))
    stage.resize(5)
    _pairs(stage, 4)
    wrong = [s for s in stage.findings.suspects if s.why == "differs"]
    assert wrong
    gap = wrong[0].got.view("f4") - wrong[0].want.view("f4")
    assert gap[7] == pytest.approx(1, abs=1e-5)
    assert np.count_nonzero(gap) == 1


@pytest.mark.parametrize("stray", [-4, 12000, 12000 + 512])
def test_a_write_beside_the_output_is_seen(stray: int) -> None:
    """Guard bands are checked behind timed launches too."""
    gpu = HostGpu()
    stage = _stage(gpu, Numpy(gpu, stray=stray))
    _pairs(stage, 1)
    assert stage.findings.damage.guards == 1


def test_contents_are_fresh_for_every_pair() -> None:
    """No launch of a kind sees inputs that an earlier one of its kind has seen."""
    gpu = HostGpu()
    seen: list[bytes] = []

    class Watching(Numpy):
        def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
            run = super().bind(case, addresses)

            def watched() -> None:
                seen.append(self.gpu.download(addresses["x"], 12000).tobytes())
                run()

            return watched

    stage = _stage(gpu, Watching(gpu))
    stage.resize(3)
    _pairs(stage, 6)
    assert len(seen) == 18
    assert len(set(seen)) > 15  # 750 shifts are possible; two may coincide


def test_memory_is_given_back() -> None:
    """A stage leaves the device as it found it, contents aside."""
    gpu = HostGpu()
    stage = _stage(gpu, Numpy(gpu))
    before = len(gpu.memory)
    stage.resize(7)
    stage.resize(2)
    assert len(gpu.memory) == before
    stage.close()
    stage._bench.close()
    assert not gpu.memory


def suspects(stage: DeviceStage) -> list[Suspect]:
    """Return what was brought to the host."""
    return stage.findings.suspects


class Decoy(Numpy):
    """Answers that are a little off in the first argument set, and nothing at all in the others."""

    number = -1

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        run = super().bind(case, addresses)
        number = self.number = self.number + 1

        def odd() -> None:
            if number < 2:  # alone in its region, then the first of several
                run()
                near = self.gpu.download(addresses["y"], 4).view("f4") * np.float32(1.001)
                self.gpu.upload(addresses["y"], near)

        return odd


def test_what_is_a_little_off_hides_nothing_that_is_worse() -> None:
    """Of the launches beyond the limit the worst ones are looked at, however many came before."""
    gpu = HostGpu()
    stage = _stage(gpu, Decoy(gpu))
    _pairs(stage, 3)
    assert any(s.why == "differs" for s in suspects(stage))
    stage.resize(4)
    _pairs(stage, 2)
    with np.errstate(all="ignore"):
        close = [np.allclose(s.got.view("f4"), s.want.view("f4"), 0.01) for s in suspects(stage)]
    assert not all(close)


class Shifted(Numpy):
    """The same values at other places; from a call on, others."""

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        run = super().bind(case, addresses)

        def moved() -> None:
            run()
            y = self.gpu.download(addresses["y"], 12000).view("f4")
            wrong = self.calls > self.wrong_after
            self.gpu.upload(addresses["y"], np.roll(y, 5) if not wrong else y * 2)

        return moved


def _unordered(gpu: HostGpu, candidate: Any) -> DeviceStage:
    work = spec.parse(_job(SCALE)).work
    combination = Combination({"n": 3000.0}, "declared", 1)
    pair = (candidate, Shifted(gpu))
    limits = {"y": Limit(None, 0.0)}
    return DeviceStage(Bench(gpu, work), pair, combination, limits, warm=False, seconds=5)


def test_launches_whose_outputs_come_in_any_order_are_checked_on_the_device() -> None:
    """Another order is none of its business, other values are, however late."""
    gpu = HostGpu()
    stage = _unordered(gpu, Numpy(gpu))
    stage.resize(4)
    _pairs(stage, 6)
    assert len(suspects(stage)) <= 2
    late = _unordered(gpu, Shifted(gpu, wrong_after=4 * 5 + 1))
    late.resize(4)
    _pairs(late, 6)
    assert any(
        not np.array_equal(np.sort(s.got.view("f4")), np.sort(s.want.view("f4")))
        for s in suspects(late)
    )


def test_argument_sets_come_in_no_order_of_their_addresses() -> None:
    """What fetches the next set's data for the next launch fetches another's."""
    gpu = HostGpu()
    seen: list[int] = []

    class Noting(Numpy):
        def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
            run = super().bind(case, addresses)

            def noted() -> None:
                seen.append(addresses["x"])
                run()

            return noted

    stage = _stage(gpu, Noting(gpu))
    stage.resize(8)
    _pairs(stage, 4)
    turns = [seen[at : at + 8] for at in range(0, len(seen), 8)]
    assert len(turns) == 4
    assert all(len(set(turn)) == 8 for turn in turns)
    assert len({tuple(turn) for turn in turns}) > 1
