"""Amounts near the ends of their ranges, all together, and row by row in mixtures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import end_contents
from runners.contents import Combination, Contents
from runners.families import DECLARED, DENSITIES, FAR_ENDS, FULL_ENDS
from runners.spec import Work
from runners.whole_families import HOT
from tests.runners import test_inputs


def _array(name: str, init: str, kind: str = "const int*", shape: str = "n*k") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _work(*arguments: dict[str, Any], **case: float) -> Work:
    return test_inputs._work(*arguments, root=Path(), **case)


def _result() -> dict[str, Any]:
    return {**_array("y", "zeros", "long long*", "n"), "role": "output"}


def _two(n: float, k: float) -> Work:
    keys = _array("key", f"randint:0:{int(k)}", shape="n")
    snip, tmpl = _array("snip", "randint:-100:101"), _array("tmpl", "randint:0:256")
    return _work(snip, tmpl, keys, _result(), n=n, k=k)


def _made(work: Work, family: str, **case: float) -> dict[str, npt.NDArray[np.int32]]:
    made = Contents(work).of(Combination(case, family, 1))
    return {name: data.view(np.int32) for name, data in made.items()}


@pytest.mark.parametrize(
    ("end", "odd", "even"), [("high", (99, 255), (100, 254)), ("low", (-99, 1), (-100, 0))]
)
def test_short_arrays_are_the_last_two_numbers_odd_ones_mostly(
    end: str, odd: tuple[int, int], even: tuple[int, int]
) -> None:
    case = {"n": 9.0, "k": 2048.0}
    work = _two(**case)
    made = _made(work, f"{FULL_ENDS} {end}", **case)
    for which, name in enumerate(("snip", "tmpl")):
        assert set(made[name]) == {odd[which], even[which]}
        assert 0.85 < (made[name] == odd[which]).mean() < 0.9
    # Keys are no amounts, and stay as they are.
    assert np.array_equal(made["key"], _made(work, DECLARED, **case)["key"])


def test_sums_of_products_are_odd_somewhere_and_no_float_holds_them() -> None:
    case = {"n": 9.0, "k": 2048.0}
    snip = _array("snip", "randint:-100:101")
    tmpl = _array("tmpl", "randint:-100:101")
    work = _work(snip, tmpl, _result(), **case)

    def dots(family: str) -> npt.NDArray[np.int64]:
        rows = [
            data.reshape(9, 2048).astype(np.int64) for data in _made(work, family, **case).values()
        ]
        return np.asarray(rows[0] @ rows[1].T)

    for end in ("high", "low"):
        found = dots(f"{FULL_ENDS} {end}")
        assert found.min() > 1 << 24
        assert 0.2 < (found % 2).mean() < 0.8
        assert (found.astype(np.float32).astype(np.int64) != found).any()
    # Not by chance, nor where all are 100.
    assert np.abs(dots(DECLARED)).max() < 1 << 23
    assert np.float32(2048 * 100 * 100) == 2048 * 100 * 100


@pytest.mark.parametrize("end", ["high", "low"])
def test_no_more_of_what_may_be_an_index_are_alike_in_long_arrays(end: str) -> None:
    case = {"n": 2.0, "k": float(10 * HOT)}
    wide, byte = _array("a", "randint:-1000:1001"), _array("b", "randint:0:256", "const uint8_t*")
    work = _work(wide, byte, _result(), **case)
    made = Contents(work).of(Combination(case, f"{FAR_ENDS} {end}", 1))
    a, b = made["a"].view(np.int32), made["b"].view(np.uint8)
    assert (np.abs(a) > 1000 - 2001 // 16 - 1).all()
    assert (a > 0).all() == (end == "high")
    assert np.bincount(np.abs(a)).max() < 2 * len(a) * 16 / 2001
    # Bytes are alike in other families, too.
    assert set(b) == ({254, 255} if end == "high" else {0, 1})


def test_ranges_of_other_types_are_kept_to() -> None:
    case = {"n": 9.0, "k": 64.0}
    arrays = [
        _array("a", f"randint:{-(1 << 62)}:{1 << 62}", "const long long*"),
        _array("b", "randint:7:4294967296", "const unsigned int*"),
        _array("c", "randint:-128:128", "const signed char*"),
        _array("d", "randint:0:2", "const unsigned char*"),
    ]
    work = _work(*arrays, _result(), **case)
    bounds = [(-(1 << 62), (1 << 62) - 1), (7, (1 << 32) - 1), (-128, 127), (0, 1)]
    kinds: list[type[np.generic]] = [np.int64, np.uint32, np.int8, np.uint8]
    for family in (f"{FULL_ENDS} high", f"{FULL_ENDS} low", f"{DENSITIES} 0", f"{DENSITIES} 1"):
        made = Contents(work).of(Combination(case, family, 1))
        for name, (low, high), kind in zip("abcd", bounds, kinds, strict=True):
            data = made[name].view(kind)
            assert len(data) == 9 * 64
            assert int(data.min()) >= low
            assert int(data.max()) <= high


@pytest.mark.parametrize("turn", [0, 1])
def test_each_row_is_another_mixture_of_both_ends(turn: int) -> None:
    case = {"n": 9.0, "k": 8000.0}
    work = _work(_array("a", "randint:-1:3", "const int8_t*"), _result(), **case)
    assert end_contents.turns(work) == 2
    made = Contents(work).of(Combination(case, f"{DENSITIES} {turn}", 1))["a"]
    rows = made.view(np.int8).reshape(9, 8000)
    # A mark for none is no lower end in the second turn.
    assert set(rows.reshape(-1)) == {0 if turn else -1, 2}
    shares = (rows == 2).mean(axis=1)
    assert np.allclose(sorted(shares), np.arange(9) / 8, atol=0.02)
    assert {0.0, 1.0} <= {*shares}
    # Rows beside each other are far from being alike, and so are those of two arrays.
    assert np.abs(np.diff(shares)).min() > 0.3
    other = _array("b", "randint:0:3", "const int8_t*")
    two = _work(_array("a", "randint:0:3", "const int8_t*"), other, _result(), **case)
    assert end_contents.turns(two) == 1
    both = Contents(two).of(Combination(case, f"{DENSITIES} 0", 1))
    first, second = ((both[x].view(np.int8).reshape(9, 8000) == 2).mean(axis=1) for x in "ab")
    assert np.abs(first - second).min() > 0.2


def test_products_of_two_sums_change_their_order_modulo_a_word() -> None:
    """With drawn rows the distances are alike, and so is what is left of them in 32 bits."""
    case = {"n": 9.0, "s": 96000.0}
    work = _work(_array("a", "randint:-1:3", "const int8_t*", "n*s"), _result(), **case)

    def nearest(family: str, modulus: int) -> list[int]:
        rows = Contents(work).of(Combination(case, family, 1))["a"].view(np.int8).reshape(9, -1)
        found = []
        for one in rows:
            called = [(one >= 0) & (other >= 0) for other in rows]
            apart = [
                int(np.abs(one.astype(int) - other)[both].sum()) * int(both.sum())
                for other, both in zip(rows, called, strict=True)
            ]
            order = [value % modulus for value in apart]
            found.append(int(np.argsort(order, kind="stable")[1]))
        return found

    assert nearest(f"{DENSITIES} 1", 1 << 32) != nearest(f"{DENSITIES} 1", 1 << 62)
    assert nearest(DECLARED, 1 << 32) == nearest(DECLARED, 1 << 62)
