"""Sets of bits that are nearly full or nearly empty, with a pattern in what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import bit_masks, bit_sets, oracle, spec
from runners.contents import Combination, Contents
from runners.families import BIT_MASKS
from runners.spec import Work
from tests.redteam import once_read
from tests.runners.test_judge import _job

CASES = Path(__file__).parents[1] / "redteam/cases"
COUNTS = """
extern "C" __global__ void count(const TYPE* x, int* y, int n) {
    for (int i = 0; i < n; i++) y[i] = __popc(x[i]);
}
"""
ADDS = COUNTS.replace("__popc(x[i])", "x[i] + 1")
# Three empty squares in a line and none else, and a slider at either end of them.
DIAGONALS = [
    (sum(1 << a + step * k for k in (1, 2, 3)), (1 << a) | (1 << a + 4 * step))
    for step, files in ((9, range(4)), (7, range(4, 8)))
    for a in (8 * rank + file for rank in range(4) for file in files)
]


def _work(kind: str, shape: str, init: str, source: str = COUNTS, **values: int) -> Work:
    text = source.replace("TYPE", kind)
    job: dict[str, Any] = _job(text, text)
    job["workload"]["arguments"] = [
        {"name": "x", "type": f"const {kind}*", "shape": shape, "init": init},
        {"name": "y", "type": "int*", "shape": "n", "role": "output"},
        *({"name": name, "type": "int", "value": name} for name in values),
    ]
    job["workload"]["cases"] = [{"values": values}]
    return spec.parse(job).work


def _made(work: Work, seed: int = 1) -> npt.NDArray[Any]:
    (argument,) = (one for one in work.arguments if one.name == "x")
    assert argument.type.scalar is not None
    combination = Combination(dict(work.cases[0].values), BIT_MASKS, seed)
    return Contents(work).of(combination)["x"].view(argument.type.scalar.dtype)


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    return [one for one in oracle.combinations(work, checks, 1)[1] if one.family == BIT_MASKS]


def _bishop(seed: int) -> npt.NDArray[np.uint64]:
    work = once_read.parsed("bishop/base").work
    boards = Contents(work).of(Combination({"n": 1003.0}, BIT_MASKS, seed))["men"]
    return np.ascontiguousarray(boards).view("u8").reshape(1003, 12)


@pytest.mark.parametrize("seed", range(1, 13))
def test_few_squares_in_a_line_are_empty_beside_a_slider(seed: int) -> None:
    """What `bishop/few_gaps` takes for near enough: several of these are asked with any seed."""
    found = 0
    for turn in range(bit_masks.TURNS):
        boards = _bishop(100 * seed + turn)
        empty = ~np.bitwise_or.reduce(boards, axis=1)
        sliders = boards[:, 2] | boards[:, 4]
        for gaps, ends in DIAGONALS:
            found += int(((empty == gaps) & (sliders & np.uint64(ends) != 0)).sum())
    assert found >= 2


def test_what_is_declared_has_none_of_these() -> None:
    """Nor has any other family, or the candidate had been refused before."""
    work = once_read.parsed("bishop/base").work
    for family in ("declared", "large", "mixed", "densities"):
        boards = Contents(work).of(Combination({"n": 1003.0}, family, 1))["men"].view("u8")
        empty = ~np.bitwise_or.reduce(boards.reshape(1003, 12), axis=1)
        assert not any((empty == gaps).any() for gaps, _ in DIAGONALS)


def test_rows_are_nearly_full_or_nearly_empty() -> None:
    """The mask is all that a union lacks, or all that a period has; others are as rich as before."""
    boards = _bishop(3)
    lacks = np.array([64 - int(one).bit_count() for one in np.bitwise_or.reduce(boards, axis=1)])
    has = np.array([max(int(one).bit_count() for one in row) for row in boards])
    assert 300 < ((lacks > 0) & (lacks <= bit_masks.MOST_BITS)).sum() < 800
    full = (lacks > 0) & (lacks <= bit_masks.MOST_BITS)
    # Of some of these one board has it all, of others none has half.
    assert (has[full] >= 56).sum() > 100
    assert (has[full] < 32).sum() > 100
    alone = (boards != 0).sum(axis=1) == 1
    assert alone.sum() > 30
    assert len({*lacks[full]}) == bit_masks.MOST_BITS


def test_the_same_seed_makes_the_same_and_another_one_another() -> None:
    assert np.array_equal(_bishop(5), _bishop(5))
    assert not np.array_equal(_bishop(5), _bishop(6))


@pytest.mark.parametrize(
    ("kind", "init", "low", "high"),
    [
        ("int", "randint:-2147483648:2147483647", -(2**31), 2**31 - 2),
        ("int", "randint:0:2147483647", 0, 2**31 - 2),
        ("unsigned", "randint:0:4294967296", 0, 2**32 - 1),
        ("unsigned", "randint:0:2147483648", 0, 2**31 - 1),
        ("unsigned long long", "randint:0:9223372036854775807", 0, 2**63 - 2),
        ("long long", "randint:-9223372036854775808:9223372036854775807", -(2**63), 2**63 - 2),
        ("short", "randint:-32768:32768", -(2**15), 2**15 - 1),
        ("signed char", "randint:-128:128", -128, 127),
        ("uint2", "randint:0:4294967296", 0, 2**32 - 1),
    ],
)
def test_words_stay_within_their_range(kind: str, init: str, low: int, high: int) -> None:
    """What was declared is a promise, also where it leaves out one number of all there are."""
    work = _work(kind, "n*4", init, n=601)
    seen = []
    for seed in (1, 2, 3):
        combination = Combination({"n": 601.0}, BIT_MASKS, seed)
        (argument,) = (one for one in work.arguments if one.name == "x")
        data = Contents(work).of(combination)["x"].view(argument.type.fields[0].scalar.dtype)
        assert int(data.min()) >= low
        assert int(data.max()) <= high
        seen += [int(one) & (2 ** (8 * data.itemsize) - 1) for one in data]
    count = [one.bit_count() for one in seen]
    # Words that have nearly all of their bits, and such as have hardly any.
    assert max(count) >= (high - low).bit_length() - 1
    assert min(count) == 0


def test_arrays_alike_are_rows_of_each_other() -> None:
    """One's own men and the other's: the squares that neither has are few."""
    work = once_read.parsed("reversi/base").work
    made = Contents(work).of(Combination({"n": 77.0}, BIT_MASKS, 1))
    own, other = (np.ascontiguousarray(made[name]).view("u8") for name in ("own", "other"))
    lacks = np.array([64 - int(one).bit_count() for one in own | other])
    fuller = [int(a).bit_count() > int(b).bit_count() for a, b in zip(own, other, strict=True)]
    few = (lacks > 0) & (lacks <= bit_masks.MOST_BITS)
    assert few.sum() > 15
    assert 0 < np.array(fuller)[few].sum() < few.sum()


@pytest.mark.parametrize("n", [1, 2, 7, 63, 64, 65, 1000])
@pytest.mark.parametrize("shape", ["n", "n*3", "3*n", "n*n", "5"])
def test_any_length_will_do(n: int, shape: str) -> None:
    work = _work("unsigned", shape, "randint:0:4294967296", n=n)
    declared = Contents(work).of(Combination({"n": float(n)}, "declared", 1))["x"]
    assert _made(work).nbytes == declared.nbytes


def test_of_a_long_array_the_first_rows_are_made() -> None:
    work = _work("unsigned char", "n", "randint:0:256", n=bit_masks.MOST_ELEMENTS + 5000)
    declared = Contents(work).of(Combination(dict(work.cases[0].values), "declared", 1))["x"]
    made = _made(work)
    assert np.array_equal(made[-5000:], declared[-5000:])
    assert not np.array_equal(made[:5000], declared[:5000])


def test_rows_that_are_very_long_are_taken_apart() -> None:
    work = _work("unsigned char", "n*m", "randint:0:256", n=3, m=50_000)
    made = _made(work)
    union = np.bitwise_or.reduce(made[:149_952].view("u8").reshape(-1, 8), axis=1)
    assert len({*union}) > 1000
    # A mask is of one stretch, and all that is about it is set: of these are many.
    assert sum(int(one).bit_count() >= 56 for one in union) > 500


def test_who_is_asked() -> None:
    """Who takes words for sets and may have any of them, in a confirmation, in one light case."""
    work = once_read.parsed("bishop/base").work
    assert [(one.case, one.seed) for one in _asked(work)] == [
        ({"n": 1003.0}, seed) for seed in (1, 2, 3)
    ]
    for checks in ("screen", "race"):
        assert not _asked(work, checks)
    every = "randint:0:4294967296"
    assert len(_asked(_work("unsigned", "n", every, n=400))) == bit_masks.TURNS
    # Where all cases are long, the shortest of them.
    assert len(_asked(_work("unsigned", "n", every, n=1 << 20))) == bit_masks.TURNS
    assert not _asked(_work("unsigned", "n", every, source=ADDS, n=400))
    for narrow in ("randint:0:1000", "randint:1:4294967296", "normal"):
        assert not _asked(_work("unsigned", "n", narrow, n=400))
    assert not _asked(_work("unsigned char", "n", "randint:0:200", n=400))
    assert not _asked(_work("float", "n", "normal", n=400))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("bishop", True),
        ("reversi", True),
        ("jacquard", True),
        ("hamming", True),
        ("adler", False),
        ("hexes", False),
        ("mersenne", False),
        ("palette", False),
    ],
)
def test_whose_text_takes_words_for_sets(name: str, *, found: bool) -> None:
    assert bit_sets.taken((CASES / name / "base.cu").read_text()) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("n = x & 1;", False),
        ("n = 1 << 20; m = 1u<<16;", False),
        ("h = (h >> 16) ^ (h & 1);", False),
        ("k = a >> 3, b & 1;", False),
        ("m |= 1ull << (8 * r + f);", True),
        ("m |= (uint64_t)1 << at;", True),
        ("m |= 0x1u << at;", True),
        ("on = (w[i / 32] >> (i % 32)) & 1u;", True),
        ("on = w[i / 32] >> (i % 32) & 1;", True),
        ("k = __ffs(free) - 1;", True),
        ("#define HAS(w, k) ((w) >> (k) & 1)\nint f;", True),
        ("// __popc(x)", False),
        ("& 1", False),
        ("(>> ) & 1", True),
        ("1 <<", True),
        ("", False),
    ],
)
def test_texts(text: str, *, found: bool) -> None:
    assert bit_sets.taken(text) is found
