"""What NVML tells, and why a counter is not read where it is missing or not this GPU's alone."""

from __future__ import annotations

import pytest

from runners.nvml import Nvml, Unmeasured
from tests.runners.fake_meter import FakeNvml

BUS = "00000000:18:00.0"


def test_driver_temperature_and_energy_are_read() -> None:
    """The counter is in mJ, as NVML gives it."""
    found = Nvml(BUS, FakeNvml(energy=987_654_321_012))
    assert (found.driver, found.temperature()) == ("580.1", 41.0)
    assert found.energy_mj() == 987_654_321_012


@pytest.mark.parametrize(
    ("library", "why"),
    [
        (FakeNvml(nvmlInit_v2=9), "NVML does not open the GPU: NVML error 9"),
        (FakeNvml(nvmlDeviceGetHandleByPciBusId_v2=4), "denies it to this user"),
        (FakeNvml(nvmlDeviceGetTotalEnergyConsumption=3), "no energy counter"),
        (FakeNvml(nvmlDeviceGetTotalEnergyConsumption=15), "the GPU is lost"),
        (FakeNvml(mig=1), "MIG is on"),
        (FakeNvml(virtual=2), "virtual GPU"),
    ],
)
def test_an_energy_that_cannot_be_had_says_why(library: FakeNvml, why: str) -> None:
    """MIG, a virtual GPU, an old GPU, a refusal: each is named."""
    with pytest.raises(Unmeasured, match=why):
        Nvml(BUS, library).energy_mj()


def test_a_driver_without_the_counter_or_without_mig_is_no_error() -> None:
    """Functions that an old libnvidia-ml lacks are taken as what they would say."""
    old = FakeNvml()
    old.missing = {"nvmlDeviceGetMigMode"}
    assert Nvml(BUS, old).energy_mj() == 123_456
    older = FakeNvml()
    older.missing = {"nvmlDeviceGetTotalEnergyConsumption"}
    with pytest.raises(Unmeasured, match="NVML has no energy counter"):
        Nvml(BUS, older).energy_mj()


def test_a_card_passed_through_whole_counts_its_own_energy() -> None:
    """Passthrough (mode 1) is not a virtual GPU."""
    assert Nvml(BUS, FakeNvml(virtual=1)).energy_mj() == 123_456


def test_without_nvml_nothing_is_known() -> None:
    """No library at all: no driver, no temperature, and a reason."""
    found = Nvml(BUS)
    assert (found.driver, found.temperature()) == ("", None)
    with pytest.raises(Unmeasured, match="NVML cannot be loaded"):
        found.energy_mj()
