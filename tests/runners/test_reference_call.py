"""A project's numpy reference is called with what the kernel reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners.expectation import call
from runners.spec import SpecError


def test_a_reference_takes_one_dictionary_or_names() -> None:
    given = {"x": np.ones(3), "n": 3}
    assert call(lambda arguments: arguments["n"], given) == 3
    assert call(lambda n, x: n + len(x), given) == 6


def test_a_reference_that_asks_for_an_output_is_told_what_there_is() -> None:
    """`y` is written by the kernel: there is nothing to give."""

    def reference(x: Any, y: Any) -> Any:
        return {"y": x + y}

    with pytest.raises(SpecError, match=r"asks for y; a reference is given .* x, n"):
        call(reference, {"x": np.ones(3), "n": 3})
