"""A record that differs passes only when what was kept of it shows that it may."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from runners.program_compare import Bounds, Expectation
from runners.program_profile import Profile, Reference, checks
from runners.program_report import Record
from runners.program_run import Ran
from tests.runners.test_program import nothing_seen

WANT = np.linspace(1, 2, 256, dtype=np.float32)


def _checked(
    got: np.ndarray | None, *, sampled: bool = False, expected: Expectation | None = None
) -> tuple[bool, str]:
    record = Record("copy", 0, 0, 1 << 30, "aa", None, 0, sampled)
    original = replace(nothing_seen(), records=(record,))
    raw = None if got is None else np.ascontiguousarray(got).view(np.uint8)
    kept = replace(record, digest="bb", at=None if raw is None else 0, length=1024)
    report = replace(nothing_seen(), records=(kept,))
    want = WANT.view(np.uint8) if got is not None else None
    reference = Reference("nan", original, ("aa",), (want,))
    profile = Profile(
        (), {"nan": reference}, (expected or Expectation(("f4",)),), (), {}, 1.0, 1.0, 1, 1,
        frozenset(), frozenset(), 0,
    )  # fmt: skip
    run = Ran(0, "", "", 1.0, report, np.zeros(0, np.uint8) if raw is None else raw)
    ((_, passed, _, why),) = checks(profile, run, "nan", Bounds())
    return passed, why


def test_rounding_is_seen_in_what_was_kept() -> None:
    """Another digest is no other result."""
    assert _checked(WANT * np.float32(1 + 1e-7)) == (True, "")
    assert not _checked(WANT * np.float32(1.01))[0]


def test_what_differs_and_was_not_kept_is_not_passed() -> None:
    """Nobody can say that it is rounding, unless runs of the original differ there, too."""
    passed, why = _checked(None)
    assert not passed
    assert "too large to be kept" in why
    assert _checked(None, expected=Expectation(("f4",), unstable=True))[0]


@pytest.mark.parametrize(
    ("expected", "passed"),
    [(Expectation(("f4",)), False), (Expectation(("f4",), noise={"f4": 1e-6}), True)],
)
def test_a_difference_outside_of_the_sample_is_a_difference(
    expected: Expectation, passed: bool
) -> None:
    """The sample agrees and the whole does not: something else was computed elsewhere."""
    assert _checked(WANT, sampled=True, expected=expected)[0] == passed
    assert _checked(WANT, sampled=False, expected=expected)[0]
