"""What outside authors have labelled and nobody has judged can be judged, and is new."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners import spec
from tests.redteam.table import BLIND, load

SETS = sorted(path.parent for path in BLIND.glob("*/table.toml"))


@pytest.mark.parametrize("folder", SETS, ids=lambda path: str(path.name))
def test_a_set_is_read_as_the_table_is(folder: Path) -> None:
    """What it says of the verifier is seen on a GPU, and nowhere before."""
    every, known = load(folder), {one.base.name for one in load()}
    assert {one.expect for one in every} == {"accept", "refuse"}
    assert not known & {one.base.name for one in every}
    assert len({one.digest for one in every}) == len(every)
    for one in every:
        assert spec.parse(one.job("confirm")).work.cases
        assert one.name == "base" or one.source != one.base.source
    assert len([*(folder / "cases").rglob("*.cu")]) == len(every)
