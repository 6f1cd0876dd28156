"""Rows with one hash and different numbers in them, by the multiplier of a candidate's text."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import colliding, spec
from runners.contents import Combination, Contents
from runners.families import COLLIDING
from tests.runners.test_judge import _job

GOLDEN = 0x9E3779B97F4A7C15
BASE = "__global__ void scale(const int* pool, int* first, int rows, int width) { first[0] = pool[0]; }"
WORK: dict[str, Any] = {
    "arguments": [
        {"name": "pool", "type": "const int*", "shape": "rows*width", "init": "randint:-3:1000000"},
        {"name": "first", "type": "int*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "width", "type": "int", "value": "width"},
    ],
    "cases": [{"values": {"rows": 60, "width": 12}}, {"values": {"rows": 5, "width": 1}}],
    "launch": {"grid": ["1"], "block": ["64"], "shared": "0"},
    "tolerance": {"rtol": 0, "atol": 0},
}


def _parsed(more: str, less: str = "") -> spec.JobSpec:
    mine, theirs = (BASE.replace("{ ", "{ " + text) for text in (more, less))
    return spec.parse(_job(mine + "//", theirs, workload=WORK, effort="confirm"))


def _hash(row: npt.NDArray[Any], multiplier: int, bits: int) -> int:
    found = 0
    for one in row.tolist():
        found = (found * multiplier + one) % (1 << bits)
    return found


@pytest.mark.parametrize(
    ("text", "multiplier", "bits"),
    [
        ("unsigned long long h = 0x9e3779b97f4a7c15ull;", GOLDEN, 64),
        ("unsigned h = 2654435761u * pool[0];", 2654435761, 32),
        ("unsigned long long h = 1'000'003 * 3ull;", 1000003, 64),
    ],
)
def test_neighbours_have_one_hash_and_are_not_the_same(
    text: str, multiplier: int, bits: int
) -> None:
    job = _parsed(text)
    cases = [dict(case.values) for case in job.work.cases]
    asked = [Combination(*one) for one in colliding.asked(job, cases)]
    assert f"{COLLIDING} {multiplier} {bits}" in {one.family for one in asked}
    orders = 0
    for one in asked:
        if one.family != f"{COLLIDING} {multiplier} {bits}":
            continue
        width = int(one.case["width"])
        rows = Contents(job.work).of(one)["pool"].view(np.int32).reshape(-1, width)
        assert -3 <= rows.min() <= rows.max() < 1000000
        pairs = list(zip(rows[::2], rows[1::2], strict=False))
        assert all((a != b).any() for a, b in pairs)
        met, reversed_too = (
            [
                _hash(a[::way], multiplier, bits) == _hash(b[::way], multiplier, bits)
                for a, b in pairs
            ]
            for way in (1, -1)
        )
        # One way and the other in turns: whoever has such a hash goes one of them.
        assert all(one or other for one, other in zip(met, reversed_too, strict=True))
        assert any(met)
        assert any(reversed_too)
        orders += len({row.tobytes() for row in rows[::2]}) > 1
    assert orders > 1
    # The same to whoever makes it anew.
    again, first = (Contents(job.work).of(asked[0])["pool"] for _ in range(2))
    assert np.array_equal(again, first)


def test_what_the_original_has_as_well_or_is_no_multiplier_is_nobody_s_hash() -> None:
    text = "unsigned long long h = 0x9e3779b97f4a7c15ull;"
    case = [{"rows": 60.0, "width": 12.0}]
    assert not [*colliding.asked(_parsed(text, text), case)]
    for other in ("int h = 1;", "float h = 1.5f;", "h ^= h;", "int h = 2;"):
        assert not [*colliding.asked(_parsed(other), case)]


@pytest.mark.parametrize(
    ("text", "multiplier"), [("h = h * 41 + 7;", 41), ("h = h << 6 | 7;", 64), ("h <<= 6;", 64)]
)
def test_rows_are_as_long_as_a_vector_has_to_be(text: str, multiplier: int) -> None:
    """Of small numbers to a small base many have to come together, more than are declared."""
    job = _parsed(text)
    small = {"name": "pool", "type": "const int*", "shape": "rows*width", "init": "randint:0:40"}
    arguments = [small, *WORK["arguments"][1:]]
    work = {**WORK, "arguments": arguments, "cases": [{"values": {"rows": 9, "width": 2}}]}
    job = spec.parse(_job(BASE.replace("{ ", "{ " + text), BASE, workload=work, effort="confirm"))
    asked = [Combination(*one) for one in colliding.asked(job, [{"rows": 9.0, "width": 2.0}])]
    wide = [one for one in asked if one.family == f"{COLLIDING} {multiplier} 64"]
    assert wide
    for one in wide:
        width = int(one.case["width"])
        assert 11 <= width <= 16
        rows = Contents(job.work).of(one)["pool"].view(np.int32).reshape(-1, width)
        assert 0 <= rows.min() <= rows.max() < 40
    met = 0
    for one in wide:
        rows = Contents(job.work).of(one)["pool"].view(np.int32).reshape(-1, int(one.case["width"]))
        assert (rows[0] != rows[1]).any()
        met += _hash(rows[0], multiplier, 64) == _hash(rows[1], multiplier, 64)
    assert met


def test_rows_of_all_lengths_take_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finalist has forty cases, and its time is not for lattices."""
    searches = []
    reduced = colliding.reduced

    def counted(basis: list[list[int]]) -> list[list[int]]:
        searches.append(len(basis))
        return reduced(basis)

    monkeypatch.setattr(colliding, "reduced", counted)
    colliding.vector.cache_clear()
    job = _parsed("unsigned long long h = 0x9e3779b97f4a7c15ull;")
    cases = [{"rows": 9.0, "width": float(width)} for width in range(1, 60)]
    assert [*colliding.asked(job, cases)]
    assert 0 < len(searches) <= colliding.SPARE + 1


def test_rows_that_are_too_short_stay_as_declared() -> None:
    job = _parsed("unsigned long long h = 0x9e3779b97f4a7c15ull;")
    for case in ({"rows": 60.0, "width": 3.0}, {"rows": 1.0, "width": 90.0}):
        one = Combination(case, f"{COLLIDING} {GOLDEN} 64", 1)
        plain = Combination(case, "declared", 1)
        made = Contents(job.work)
        assert np.array_equal(made.of(one)["pool"], made.of(plain)["pool"])


@settings(max_examples=30)
@given(
    st.integers(colliding.LEAST, 2**64 - 1).map(lambda one: one | 1),
    st.sampled_from(colliding.BITS),
    st.integers(1, 2**31),
)
def test_a_vector_is_one_or_there_is_none(multiplier: int, bits: int, span: int) -> None:
    """Whatever the text says it is found in little time."""
    begun = time.process_time()
    found = colliding.vector(multiplier, bits, span)
    assert time.process_time() - begun < 5.0
    assert len(found) <= colliding.PLACES
    if found:
        powers = (pow(multiplier, at, 1 << bits) for at in range(len(found)))
        total = sum(one * power for one, power in zip(reversed(found), powers, strict=True))
        assert total % (1 << bits) == 0
        assert 0 < max(map(abs, found)) <= span


def test_bytes_have_vectors_of_some_places() -> None:
    found = colliding.vector(GOLDEN, 64, 255)
    assert 8 <= len(found) <= colliding.PLACES
    assert max(map(abs, found)) <= 255


@given(st.lists(st.lists(st.integers(-999, 999), min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_reduced_basis_is_of_the_same_lattice(basis: list[list[int]]) -> None:
    whole = round(abs(np.linalg.det(np.asarray(basis, float))))
    if whole == 0:
        return  # vectors that depend on each other are no basis
    found = colliding.reduced(basis)
    assert round(abs(np.linalg.det(np.asarray(found, float)))) == whole
    shortest = min(sum(one * one for one in row) for row in basis)
    assert sum(one * one for one in found[0]) <= 4 * shortest
