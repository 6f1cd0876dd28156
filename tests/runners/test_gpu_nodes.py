"""A sandbox is shown the device file of one GPU, and the control files."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.gpu_nodes import Card, cards, nodes, visible

FIRST, SECOND = (
    Card(f"GPU-{digit * 8}-1111-2222-3333-{digit * 12}", n) for digit, n in (("a", 1), ("b", 0))
)


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """Two GPUs whose device numbers are not in the order of their buses."""
    for place, card in (("0000:17:00.0", FIRST), ("0000:65:00.0", SECOND)):
        folder = tmp_path / "gpus" / place
        folder.mkdir(parents=True)
        (folder / "information").write_text(
            f"Model: \t\t NVIDIA H200\nGPU UUID: \t {card.uuid}\nDevice Minor: \t {card.minor}\n"
        )
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    return tmp_path


def test_cards_are_read_in_the_order_of_their_buses(driver: Path) -> None:
    assert cards(driver / "gpus") == (FIRST, SECOND)
    assert cards(driver / "nothing") == ()


def test_a_gpu_is_named_so_that_hiding_others_does_not_rename_it() -> None:
    assert visible(0, "", (FIRST, SECOND)) == FIRST.uuid
    assert visible(0, "1", (FIRST, SECOND)) == SECOND.uuid
    assert visible(1, "MIG-x,MIG-y", (FIRST, SECOND)) == "MIG-y"
    assert visible(2, "", ()) == "2"


def test_only_its_own_device_file_is_shown(driver: Path) -> None:
    known = cards(driver / "gpus")
    shown = [Path(path).name for path in nodes(SECOND.uuid, driver, known)]
    assert shown == ["nvidia-uvm", "nvidia0", "nvidiactl"]


@pytest.mark.parametrize("unknown", ["", "0", "GPU-none"])
def test_all_are_shown_where_none_is_named(driver: Path, unknown: str) -> None:
    assert len(nodes(unknown, driver, cards(driver / "gpus"))) == 4
