"""Few small whole numbers times a large odd factor, along the lines of a variable."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners.contents import Combination, Contents
from runners.scaled_numbers import FEW_LINES, LARGEST, MOST_KINDS, axis, family, few
from runners.spec import Work
from runners.whole_families import HOT
from tests.runners.test_inputs import _pointer, _work

Whole = npt.NDArray[np.int64]
WIDE = "randint:0:65536"
FLOATS = {"name": "out", "type": "float*", "shape": "n", "role": "output"}


def _array(init: str, kind: str = "const int*", shape: str = "k*n", name: str = "x") -> Any:
    return {**_pointer(kind, init, shape), "name": name}


def _made(work: Work, name: str = "x", along: str = "k", *, drawn: bool = False) -> Whole:
    kind = next(a for a in work.arguments if a.name == name).type.scalar
    assert kind is not None
    combination = Combination(work.cases[0].values, "declared" if drawn else family(along), 1)
    return Contents(work).of(combination)[name].view(kind.dtype).astype(np.int64)


@pytest.mark.parametrize(("shape", "along"), [("k*n", "k"), ("n*k", "k"), ("(k+1)*n", "k")])
@pytest.mark.parametrize(
    ("kind", "init", "last"),
    [
        ("const unsigned short*", WIDE, 65535),
        ("const int*", "randint:100:900001", 900_000),
        ("const unsigned char*", "randint:0:256", 255),
        ("const int64_t*", "randint:0:4611686018427387905", 1 << 62),
    ],
)
def test_a_line_has_few_numbers_that_are_small_but_for_a_large_odd_factor(
    shape: str, along: str, kind: str, init: str, last: int
) -> None:
    work = _work(_array(init, kind, shape), FLOATS, k=23, n=700)
    long = 24 if "+" in shape else 23
    found = _made(work, along=along)
    lines = found.reshape(long, 700).T if shape.endswith("n") else found.reshape(700, long)
    first = int(init.split(":")[1])
    assert found.min() >= first
    assert found.max() <= last
    some = 0
    for line in lines - first:
        assert len(np.unique(line)) <= MOST_KINDS
        factor = int(np.gcd.reduce(line))
        if factor:
            assert max(line) // factor <= max(LARGEST)
        # By their greatest divisor, numbers may be larger than they were made: two are no factor.
        some += bool(factor % 2) and factor >= (last - first) // (2 * max(LARGEST)) - 1
    assert some > 200


def test_one_or_two_places_are_as_likely_as_many() -> None:
    """What is far from the mean of a line is seldom in it."""
    lines = _made(_work(_array(WIDE), FLOATS, k=64, n=900)).reshape(64, 900).T
    others = [64 - int(np.unique(line, return_counts=True)[1].max()) for line in lines]
    for low, high in ((1, 2), (3, 8), (9, 64)):
        assert 0.1 < np.mean([low <= one <= high for one in others]) < 0.6


def test_the_first_half_of_the_lines_has_one_factor_and_arrays_alike_have_the_same() -> None:
    names = [_array("randint:0:900001", name=name) for name in "xy"]
    work = _work(*names, FLOATS, k=16, n=600)
    x, y = (_made(work, name).reshape(16, 600) for name in "xy")
    assert not np.array_equal(x, y)
    # Of each largest small number a factor of its own.
    assert len(np.unique(np.hstack([x, y])[:, :300])) <= sum(LARGEST) + 1
    assert len(np.unique(x[:, 300:])) > 300
    same = [np.gcd.reduce(np.hstack([one, other])) for one, other in zip(x.T, y.T, strict=True)]
    assert np.mean(np.asarray(same[:300]) > 1000) > 0.2


def test_where_results_are_whole_others_are_counted_from_the_upper_end() -> None:
    """Where floats come out, a difference of such numbers loses what it may lose."""
    whole = _made(_work(_array("randint:0:900001"), k=16, n=600)).reshape(16, 600)
    down = 900_000 - whole[:, 1::2]
    assert (down.min(axis=0) >= 0).all()
    assert np.mean(down.max(axis=0) < 9000) > 0.2
    assert np.mean(whole[:, ::2].max(axis=0) > 300_000) > 0.5
    floats = _made(_work(_array("randint:0:900001"), FLOATS, k=16, n=600)).reshape(16, 600)
    assert np.mean(floats[:, 1::2].min(axis=0) < 100_000) > 0.5


def test_a_range_on_both_sides_has_both_signs_and_a_mark_below_zero_is_none() -> None:
    both = _made(_work(_array("randint:-32768:32768"), FLOATS, k=16, n=600))
    assert both.min() < -16_000
    assert both.max() > 16_000
    assert both.min() >= -32768
    mark = _made(_work(_array("randint:-1:900000"), FLOATS, k=16, n=600))
    assert mark.min() == 0


@pytest.mark.parametrize("init", ["randint:0:100", "normal", "sorted"])
def test_what_is_narrow_or_has_no_range_stays_as_it_is(init: str) -> None:
    work = _work(_array(init), k=16, n=60)
    assert np.array_equal(_made(work), _made(work, drawn=True))


def test_few_lines_are_cut_and_few_of_what_may_be_indices_are_alike() -> None:
    found = _made(_work(_array("randint:0:900001", shape="n"), FLOATS, n=64_000), along="n")
    parts = found.reshape(FEW_LINES, -1)
    assert all(len(np.unique(part)) <= MOST_KINDS for part in parts)
    assert len(np.unique(found)) > MOST_KINDS
    work = _work(_array("randint:0:900001"), FLOATS, k=16, n=HOT // 4)
    same = (_made(work) == _made(work, drawn=True)).reshape(16, -1)
    assert same[:, HOT // 16 :].all()
    assert same[:, : HOT // 16].mean() < 0.1


@pytest.mark.parametrize(
    ("low", "high"), [(0, 65535), (100, 900_000), (-5000, 70_000), (-9, -3), (4, 4), (0, 1 << 63)]
)
def test_a_palette_is_small_numbers_of_a_range_times_a_factor(low: int, high: int) -> None:
    for seed in range(50):
        found = few(low, high, np.random.default_rng(seed))
        assert low <= found.min() <= found.max() <= high
        assert 2 <= len(found) <= 5
        first = min(high, max(0, low))
        factor = int(np.gcd.reduce(found - first))
        if factor and high > 1000:
            assert (found.max() - first) // factor <= max(LARGEST)
            assert factor >= (high - first) // (2 * max(LARGEST)) - 1 or high > 1 << 62


def test_a_line_is_what_a_variable_spans() -> None:
    case = {"b": 3.0, "k": 5.0, "n": 7.0}
    assert [axis("b*k*n", name, case) for name in "bkn"] == [(35, 3), (7, 5), (1, 7)]
    assert axis("b*n", "k", case) == (1, 7)
    assert axis("unknown", "k", case) == (1, 1)


def _inside(x: npt.NDArray[Any], kind: type[np.float32 | np.float64] | None) -> list[bool]:
    """Return what is within two and a half deviations of a line's mean; None: by whole numbers."""
    own, total, squares = len(x) * x, x.sum(axis=0), (x * x).sum(axis=0)
    apart, spread = own - total, len(x) * squares - total * total
    if kind is None:
        return list(np.ravel(4 * apart * apart <= 25 * spread))
    far, wide = apart.astype(kind), spread.astype(kind)
    return list(np.ravel(far * far <= np.asarray(6.25, kind) * wide))


@pytest.mark.parametrize(
    ("bits", "kind", "k"), [(16, np.float32, 8), (16, np.float32, 29), (30, np.float64, 8)]
)
def test_ties_beyond_floats_come_apart_and_none_that_floats_hold(
    bits: int, kind: type[np.float32 | np.float64], k: int
) -> None:
    """Drawn ones have no ties. Of 30 bits the products are exact in 128 alone."""
    work = _work(_array(f"randint:0:{1 << bits}", "const unsigned*"), FLOATS, k=k, n=4000)
    found, drawn = (_made(work, drawn=drawn).reshape(k, 4000) for drawn in (False, True))
    exact = found.astype(object) if bits > 16 else found
    assert _inside(exact, kind) != _inside(exact, None)
    exact = drawn.astype(object) if bits > 16 else drawn
    assert _inside(exact, kind) == _inside(exact, None)
    if kind is np.float32:
        assert _inside(found, np.float64) == _inside(found, None)


def test_the_largest_of_sums_is_another_one_in_floats() -> None:
    """In doubles it is the same, and sums that chance makes are not so near to each other."""
    work = _work(_array(WIDE, "const unsigned short*", "n*k"), k=1000, n=640)
    for drawn in (False, True):
        rows = _made(work, drawn=drawn).reshape(640, 1000)
        exact = rows.sum(axis=1).reshape(-1, 16).argmax(axis=1)
        for kind in (np.float32, np.float64):
            # One after the other, as a thread adds them up.
            sums = np.add.accumulate(rows.astype(kind), axis=1)[:, -1]
            other = sums.reshape(-1, 16).argmax(axis=1)
            assert (exact != other).any() == (kind is np.float32 and not drawn)
