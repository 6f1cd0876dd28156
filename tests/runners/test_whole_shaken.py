"""An entry function under delays: one build a seed, each run for a while, errors say nothing."""

from __future__ import annotations

from typing import Any, cast

import pytest

from runners.bench import Damage, Run
from runners.contents import Combination
from runners.gpu import HungError, LaunchError
from runners.session import Session, WholeShaken

ANY = Combination({"n": 4.0}, "declared", 1)


class Loaded:
    """A session that says which build it is of."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, _combination: Combination, **_more: Any) -> Run:
        if self.name == "hangs":
            raise HungError("still running")
        return Run({}, Damage(), 0.0, int(self.name))


def test_each_build_is_loaded_once_and_run_for_its_share() -> None:
    loads: list[str] = []

    def load(artifact: dict[str, Any]) -> Session:
        loads.append(artifact["path"])
        return cast("Session", Loaded(artifact["path"]))

    shaken = WholeShaken(load, [{"path": "1"}, {"path": "2"}], 3)
    ran = [shaken.run(ANY, nan=False, seed=9, seconds=1.0).poison for _ in range(8)]
    assert ran == [1, 1, 1, 2, 2, 2, 2, 2]
    assert loads == ["1", "2"]


def test_what_keeps_it_from_ending_is_no_fault_of_the_candidates() -> None:
    """Delays make a long kernel longer; verification takes a failed launch for no answer."""
    shaken = WholeShaken(lambda _: cast("Session", Loaded("hangs")), [{"path": "hangs"}], 3)
    with pytest.raises(LaunchError, match="with delays: still running"):
        shaken.run(ANY, nan=False, seed=1, seconds=1.0)
