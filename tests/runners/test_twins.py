"""Two arrays of whole numbers that are equal but for a place or two in each row."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import twins
from runners.contents import Combination, Contents
from runners.families import TWINS
from runners.spec import Work
from runners.twins import BARE, PLACES
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Rows = npt.NDArray[Any]


def _array(
    name: str, init: str = "randint:0:90", kind: str = "const int*", shape: str = "rows*cols"
) -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _two(init: str, kind: str = "const int*", cols: int = 40, rows: int = 48) -> Work:
    return _work(_array("a", init, kind), _array("b", init, kind), rows=rows, cols=cols)


def _made(work: Work, family: str, dtype: Any, **case: float) -> tuple[Rows, Rows]:
    case = case or dict(work.cases[0].values)
    made = Contents(work).of(Combination(case, family, 1))
    shape = int(case["rows"]), int(case["cols"])
    return made["a"].view(dtype).reshape(shape), made["b"].view(dtype).reshape(shape)


def _asked(label: str, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(once_read.parsed(label).work, checks, 1)[1]
    return [one for one in extra if one.family in twins.FAMILIES]


def test_rows_that_are_declared_and_rows_that_are_long_are_asked_in_a_confirmation() -> None:
    asked = [(one.family, dict(one.case)) for one in _asked("abacus/base")]
    declared, longest = {"n": 611.0, "m": 45.0}, {"n": 24.0, "m": 4096.0}
    assert asked == [(kind, case) for case in (declared, longest) for kind in (TWINS, BARE)]
    assert not _asked("abacus/base", "screen")


@pytest.mark.parametrize(
    "others",
    [
        (_array("a"),),
        (_array("a"), _array("b", "randint:0:91")),
        (_array("a"), _array("b", kind="const short*")),
        (_array("a"), _array("b", shape="cols*rows")),
        (_array("a"), {**_array("b", kind="int*"), "role": "inout"}),
        (_array("a", "sorted"), _array("b", "sorted")),
        (_array("a", "normal", "const float*"), _array("b", "normal", "const float*")),
        # What ends beside a size may be places of something.
        (_array("a", "randint:0:1000"), _array("b", "randint:0:1000")),
        (_array("a", "randint:0:1"), _array("b", "randint:0:1")),
        (_array("a", shape="rows"), _array("b", shape="rows")),
    ],
)
def test_arrays_that_have_less_in_common_are_no_twins(others: tuple[dict[str, Any], ...]) -> None:
    work = _work(*others, rows=1000, cols=40)
    assert not [*twins.cases(work)]
    made, plain = (
        Contents(work).of(Combination(work.cases[0].values, family, 1))
        for family in (TWINS, "declared")
    )
    assert all(np.array_equal(made[name], plain[name]) for name in plain)


def test_originals_that_make_floats_are_not_asked() -> None:
    """Of equal rows an angle is zero, or by a rounding error no number."""
    for label in ("codeword/base", "saxpy/base", "attention/base"):
        if label in once_read.candidates():
            assert not _asked(label)


@pytest.mark.parametrize("family", twins.FAMILIES)
@pytest.mark.parametrize(
    ("init", "kind", "dtype"),
    [
        ("randint:0:90", "const int*", np.int32),
        ("randint:0:4294967296", "const unsigned*", np.uint32),
        ("randint:97:99", "const unsigned char*", np.uint8),
        ("randint:-128:128", "const signed char*", np.int8),
        ("randint:-9:-2", "const long long*", np.int64),
    ],
)
def test_rows_differ_in_a_place_or_two_within_their_range(
    family: str, init: str, kind: str, dtype: Any
) -> None:
    low, high = (int(word) for word in init.split(":")[1:])
    one, other = _made(_two(init, kind), family, dtype)
    first, second = one.astype(object), other.astype(object)
    for array in (first, second):
        assert low <= array.min() <= array.max() < high
    apart = first - second
    assert {*np.unique(apart)} == {-1, 0, 1}
    assert (apart > 0).sum(axis=1).max() == (apart < 0).sum(axis=1).max() == 1
    # Rows that are equal, that differ in one place, and in two in either order.
    kinds = {tuple(step for step in row if step) for row in apart}
    assert kinds == {(), (1,), (-1,), (1, -1), (-1, 1)}


def test_all_places_have_their_turn_those_first_that_are_far_apart() -> None:
    one, other = _made(_two("randint:0:1000000"), TWINS, np.int32)
    more = [(int(np.argmax(a - b)), int(np.argmin(a - b))) for a, b in zip(one, other, strict=True)]
    assert more[:6] == [(37, 0), (0, 37), (2, 39), (39, 2), (39, 0), (0, 39)]
    assert (20, 0) in more
    assert len(set(more)) > 20
    assert len(set(PLACES)) == len(PLACES)


def test_bare_rows_have_one_number_at_an_end() -> None:
    one, other = _made(_two("randint:0:1000001"), BARE, np.int32)
    there = {(int(row.argmax()), int(row.max())) for row in np.minimum(one, other)}
    assert there == {(39, 500000), (0, 500000)}
    assert int((np.minimum(one, other) > 1).sum()) == len(one)


def _head(row: Rows) -> float:
    """72 digits of a long number, in a double that holds sixteen."""
    head = 0.0
    for limb in row[::-1][:8]:
        head = head * 1e9 + float(limb)
    return head


def _signs(row: Rows, other: Rows) -> tuple[int, int]:
    """Which of two long numbers is larger: by all limbs, and by heads and what is below them."""
    steps = [int(a > b) - int(a < b) for a, b in zip(row[::-1], other[::-1], strict=True)]
    right = next((step for step in steps if step), 0)
    by_heads = int(_head(row) > _head(other)) - int(_head(row) < _head(other))
    return right, by_heads or next((step for step in steps[8:] if step), 0)


def test_numbers_that_are_ordered_by_leading_digits_are_in_another_order() -> None:
    """Drawn limbs differ in the first place."""
    work = once_read.parsed("abacus/leading").work
    wrong = set()
    asked = once_read.combinations(work, "confirm", 1)[1]
    for one in asked:
        if one.family in {*twins.FAMILIES, "mixed"} and one.case["n"] in {24.0, 611.0}:
            made = Contents(work).of(one)
            rows = [made[name].view(np.uint32).reshape(int(one.case["n"]), -1) for name in "ab"]
            pairs = itertools.islice(zip(*rows, strict=True), 64)
            if any(right != told for right, told in (_signs(*pair) for pair in pairs)):
                wrong.add((one.family, one.case["m"]))
    assert wrong == {(family, m) for family in twins.FAMILIES for m in (45.0, 4096.0)}
