"""Whole numbers that stand alone, in arrays all of whose sizes are large: counts taken off again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, isolated, large_together, sizes
from runners.contents import Combination, Contents
from runners.families import DECLARED, ISOLATED
from runners.isolated import FAMILIES, FEW, HIGHER, LOWER
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]
# What signed counts of 16 bits hold.
SHORT = 1 << 15


def _array(
    init: str, shape: str = "h*w", kind: str = "const unsigned char*", name: str = "x"
) -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _exact(*arrays: dict[str, Any], **case: Any) -> Work:
    return dataclasses.replace(_work(*arrays, **case), whole=True)


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family.startswith(ISOLATED)]


def _made(
    work: Work, family: str, case: Mapping[str, float], kind: str = "u1", name: str = "x"
) -> Values:
    return np.asarray(Contents(work).of(Combination(case, family, 1))[name].view(kind))


def _curve(image: Values, of: Any) -> Values:
    """Return what each brightness comes to: pixels, less edges between two, plus squares of four."""
    many = int(image.max()) + 1
    across, down = of(image[:, 1:], image[:, :-1]), of(image[1:], image[:-1])
    squares = of(down[:, 1:], down[:, :-1])
    parts = (np.bincount(one.reshape(-1), minlength=many) for one in (image, across, down, squares))
    pixels, beside, below, four = parts
    return np.asarray(pixels - beside - below + four)


def _images(work: Work, one: Combination) -> list[Values]:
    images, h, w = (int(one.case[name]) for name in ("images", "h", "w"))
    return [*_made(work, one.family, one.case).reshape(images, h, w)]


def test_counts_that_others_take_off_are_more_than_16_bits_hold() -> None:
    work = _exact(_array("randint:0:256", "images*h*w"), images=19, h=64, w=64)
    for of in (np.maximum, np.minimum):
        most = {
            one.family: max(int(np.abs(_curve(two, of)).max()) for two in _images(work, one))
            for one in _asked(work)
        }
        assert {family for family, many in most.items() if many > SHORT} == {*FAMILIES}
    # All else that is asked of images as large has no such count.
    large = [
        one
        for one in once_read.combinations(work, "confirm", 1)[1]
        if one.case["h"] * one.case["w"] >= SHORT and not one.family.startswith(ISOLATED)
    ]
    for one in large:
        assert all(np.abs(_curve(two, np.maximum)).max() < SHORT for two in _images(work, one)[:2])


def test_all_sizes_of_a_plane_are_large_together() -> None:
    work = _exact(_array("randint:0:256", "images*h*w"), images=256, h=64, w=64)
    every = [*large_together.asked(work)]
    (before, first), *others = every
    case = others[0][0]
    assert [first, *(family for _, family in others)] == [FEW, *FAMILIES]
    assert all(one == case for one, _ in others)
    assert case["h"] * case["w"] >= large_together.ENOUGH
    assert sizes.elements(work, case) <= large_together.MOST_ELEMENTS
    # A whole row and an odd number of them; as many times as long in both.
    assert case["w"] % 32 == 0
    assert case["h"] % 2 == 1
    assert abs(case["h"] - case["w"]) < 40
    assert before["h"] * 3 < case["h"] < before["h"] * 5


def test_no_size_is_larger_than_a_candidate_has_to_be_right_for() -> None:
    work = _exact(_array("randint:0:256"), h=20, w=33)
    cases = [case for case, _ in large_together.asked(work)]
    assert {"h": 319.0, "w": 512.0} in cases
    assert all(case["h"] <= 320 and case["w"] <= 528 for case in cases)
    # A row by itself, where nobody says if others belong to it.
    rows = _exact(_array("randint:0:9", "r*n"), r=50, n=3000)
    assert {int(case["n"]) for case, _ in large_together.asked(rows)} >= {48000}


def test_every_second_along_each_axis_is_alone() -> None:
    work = _exact(_array("randint:0:256"), h=200, w=300)
    case = {"h": 201.0, "w": 320.0}
    for family, alone, others in ((LOWER, 0, 1), (HIGHER, 1, 0)):
        image = _made(work, family, case).reshape(201, 320)
        ends = image.min(), image.max()
        assert (image[::2, ::2] == ends[alone]).all()
        assert (image[1::2] == ends[others]).all()
        assert (image[:, 1::2] == ends[others]).all()
    few = _made(work, FEW, case)
    assert np.unique(few).size == isolated.MANY
    assert np.bincount(few).max() < 0.36 * few.size


def test_planes_take_turns_and_axes_of_a_volume_do_not() -> None:
    work = _exact(_array("randint:0:256", "d*h*w"), d=3, h=80, w=90)
    images = _made(work, LOWER, {"d": 3.0, "h": 80.0, "w": 90.0}).reshape(3, 80, 90)
    assert (images[0] == images[2]).all()
    assert set((images[0].astype(int) + images[1]).reshape(-1).tolist()) == {int(images.max())}
    volume = _made(work, LOWER, {"d": 60.0, "h": 80.0, "w": 90.0}).reshape(60, 80, 90)
    assert (volume == volume.min()).sum() == 30 * 40 * 45
    assert (volume[::2, ::2, ::2] == volume.min()).all()


def test_of_two_arrays_each_is_what_the_other_is_not() -> None:
    both = (_array("randint:0:50", name=name) for name in ("x", "y"))
    work = _exact(*both, h=200, w=300)
    case = {"h": 200.0, "w": 300.0}
    x, y = (_made(work, LOWER, case, name=name) for name in ("x", "y"))
    assert (x != y).all()
    assert (x == x.min()).sum() * 4 == x.size == 4 * (y == y.max()).sum()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("bounds", [(0, 4), (-3, 3000), (700, 1000), (5, 1 << 22)])
def test_what_may_be_indices_is_no_oftener_the_same_than_elsewhere(
    family: str, bounds: tuple[int, int]
) -> None:
    low, high = bounds
    work = _exact(_array(f"randint:{low}:{high}", kind="const int*"), h=60, w=70)
    made = _made(work, family, {"h": 991.0, "w": 1024.0}, "i4")
    assert low <= made.min() < made.max() < high
    most = np.unique(made, return_counts=True)[1].max()
    if high - low > 16:
        # What is drawn besides may be that number here and there.
        assert most <= 1.6 * HOT
        image = made.reshape(991, 1024)[:200]
        if family != FEW:
            end = made.min() if family == LOWER else made.max()
            assert (image[::2, ::2] == end).all()
            assert (image[1::2] != end).all()
    else:
        assert most > 3 * HOT


def test_sums_fit_into_the_words_of_an_original() -> None:
    work = _exact(_array("randint:-90000:90000", kind="const int*"), h=60, w=70)
    case = {"h": 991.0, "w": 1024.0}
    assert isolated.fits(work, case)
    assert np.abs(_made(work, LOWER, case, "i4").astype(np.int64)).sum() < 1 << 31
    assert not isolated.fits(_exact(_array("randint:5000:90000"), h=60, w=70), case)
    assert not isolated.fits(_exact(_array("randint:7:8"), h=60, w=70), case)


def test_originals_of_floats_and_a_screening_are_not_asked() -> None:
    work = _exact(_array("randint:0:256"), h=64, w=64)
    assert _asked(work)
    assert not _asked(work, "screen")
    assert not _asked(dataclasses.replace(work, whole=False))
    assert not _asked(_exact(_array("normal", kind="const float*"), h=64, w=64))
    assert not _asked(_exact(_array("randint:0:256"), h=4, w=5))


def test_a_smaller_one_tells_what_the_original_takes() -> None:
    small, large = {"h": 151.0, "w": 145.0}, {"h": 601.0, "w": 576.0}
    watch = capacities.Watch()
    assert "would take" in watch.objection(Combination(large, FEW, 1))
    watch.took(Combination({"h": 64.0, "w": 64.0}, DECLARED, 1), 0.0002)
    assert not watch.objection(Combination(small, FEW, 1))
    assert not watch.objection(Combination(large, FEW, 1))
    watch.took(Combination(small, FEW, 1), 0.01)
    assert "would take" in watch.objection(Combination(large, LOWER, 1))
    failed = [Combination(small, FEW, 1)]
    assert capacities.hopeless(Combination(large, HIGHER, 1), failed)
    assert not capacities.hopeless(Combination({**large, "h": 9.0}, HIGHER, 1), failed)
