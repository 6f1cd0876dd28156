"""Inputs and families: reproducible, valid, and unlike each other."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import families, inputs, oracle, perturbation, sizes, spec, variation, whole_families
from runners.contents import Combination, Contents
from runners.expectation import near_zero
from runners.spec import CaseSpec, SpecError, Work


def _work(*arguments: dict[str, Any], root: Path = Path(), **case: float) -> Work:
    kernel = {"name": "k", "source": "", "path": "", "launch": None}
    workload = {
        "name": "k",
        "kind": "kernel",
        "symbol": "k",
        "arguments": list(arguments),
        "cases": [{"values": case}],
        "root": str(root),
        "launch": {"grid": ["(n+255)/256"], "block": ["256"]},
    }
    return spec.parse({"kernel": kernel, "baseline": kernel, "workload": workload}).work


def _pointer(kind: str = "float*", init: str = "normal", shape: str = "n") -> dict[str, Any]:
    return {"name": "x", "type": kind, "shape": shape, "init": init}


def _one(work: Work, family: str = families.DECLARED, seed: int = 1) -> npt.NDArray[np.uint8]:
    combination = Combination(work.cases[0].values, family, seed)
    return Contents(work).of(combination)["x"]


def test_elements_of_a_case_are_those_of_all_its_buffers() -> None:
    """Scalars are none; a shape that has no value says so."""
    work = _work(_pointer(), _pointer("const half*", shape="2*n"), n=30)
    assert work.elements({"n": 7.0}) == 21
    with pytest.raises(ValueError, match="n"):
        work.elements({})


def test_a_seed_decides_the_bytes() -> None:
    """The oracle's process and the worker must see the same inputs."""
    work = _work(_pointer(), n=1000)
    assert np.array_equal(_one(work), _one(work))
    assert not np.array_equal(_one(work), _one(work, seed=2))


@pytest.mark.parametrize(
    "init", ["normal", "uniform", "arange", "permutation", "sorted", "randint:3:9"]
)
@pytest.mark.parametrize(
    "kind", ["float*", "double*", "half*", "bfloat16*", "int*", "uint8_t*", "float4*"]
)
def test_every_init_fills_every_type(kind: str, init: str) -> None:
    """Sizes are right whatever the combination."""
    work = _work(_pointer(kind, init), n=100)
    assert _one(work).nbytes == 100 * work.arguments[0].type.size


def test_ranges_are_kept() -> None:
    """Indices drawn from a range stay valid in every family."""
    work = _work(_pointer("const int*", "randint:5:50"), n=3000)
    for family in families.EVERY:
        data = _one(work, family).view(np.int32)
        assert data.min() >= 5, family
        assert data.max() < 50, family


def test_a_permutation_stays_one_unless_a_family_sorts_it() -> None:
    """Every index occurs once, in every family."""
    work = _work(_pointer("int*", "permutation"), n=500)
    for family in families.EVERY:
        assert sorted(_one(work, family).view(np.int32).tolist()) == list(range(500))


def test_constants_and_sorted_keys_keep_their_meaning() -> None:
    """Zeros stay zero and sorted keys sorted, as a kernel may rely on it."""
    for init in ("zeros", "arange"):
        work = _work(_pointer("float*", init), n=100)
        for family in families.EVERY:
            assert np.array_equal(_one(work, family), _one(work)), (init, family)
    for kind, word in (("float*", np.float32), ("int*", np.int32)):
        work = _work(_pointer(kind, "sorted"), n=100)
        for family in families.EVERY:
            assert (np.diff(_one(work, family).view(word)) >= 0).all(), family
    assert len(np.unique(_one(_work(_pointer("float*", "sorted"), n=100), "integers"))) < 20


def test_a_buffer_that_is_added_to_may_hold_something_before() -> None:
    """Only what the kernel updates, and only where its first contents say nothing."""
    total = _pointer("float*", "zeros") | {"role": "inout"}
    work = _work(total, n=50)
    assert families.started(work)
    data = _one(work, families.STARTED).view(np.float32)
    assert set(data.tolist()) == {1.0, 2.0, 3.0}
    assert not families.started(_work(_pointer("float*", "zeros"), n=50))
    assert np.array_equal(
        _one(_work(_pointer(), n=50), families.STARTED), _one(_work(_pointer(), n=50))
    )


def test_a_single_nan_is_not_at_an_end() -> None:
    """One, and neither first nor last."""
    data = _one(_work(_pointer(), n=500), "nan").view(np.float32)
    where = np.flatnonzero(np.isnan(data))
    assert len(where) == 1
    assert 0 < where[0] < 499


def test_the_largest_case_has_neighbours_too() -> None:
    """What is right for a million need not be right for one more."""
    work = _work(_pointer(), {"name": "n", "type": "int", "value": "n"}, n=1 << 20)
    found = [case.values["n"] for case in sizes.undeclared(work, 4, large=4)]
    assert {2**20 + 1, 2**20 - 1} <= set(found)
    keys = {Combination({"n": value}, "declared", 1).key for value in found}
    assert len(keys) == len(found)


def test_families_are_what_they_are_called() -> None:
    """Each family has the structure that its name promises."""
    work = _work(_pointer(), n=5000)
    data = {f: _one(work, f).view(np.float32) for f in families.EVERY}
    declared = data["declared"]
    assert np.allclose(data["times-10"], declared * 10)
    assert (np.diff(data["sorted"]) >= 0).all()
    assert len(set(data["equal"].tolist())) == 1
    assert (data["one-hot"] == 0).mean() > 0.99
    assert {0.0, 1.0} <= set((data["half-steps"][::4] * 2 % 2).tolist())
    # Halfway between two numbers of 8 bits, and of 11.
    for part, bits in ((1, 8), (2, 11)):
        mantissa = np.frexp(np.abs(data["half-steps"][part::4].astype(np.float64)))[0]
        assert set((mantissa * 2 ** (bits + 1) % 2).tolist()) == {1.0}
    assert np.abs(data["half-steps"]).max() == 127
    low, high = int(data["edges"].argmin()), int(data["edges"].argmax())
    assert low == high + 1
    assert low % 1024 == 0
    assert np.isnan(data["special"]).any()
    assert np.isinf(data["special"]).any()
    assert np.isposinf(data["special"][0])
    turn = int((data["far"] < 0).sum())
    assert 5000 // 3 <= turn <= 2 * 5000 // 3 + 1
    assert data["far"][:turn].max() < -1e6
    assert data["far"][turn:].min() > 1e6
    assert np.array_equal(data["integers"], np.rint(data["integers"]))
    assert np.abs(data["large"]).max() > 65504
    assert not np.isnan(data["mixed"]).any()


def test_whole_numbers_without_a_range_may_be_below_zero() -> None:
    """What was given a range keeps it; floats beside them stay as they are."""
    work = _work(_pointer("const int*"), n=500)
    assert families.signed(work)
    plain, mixed = (_one(work, f).view(np.int32) for f in ("declared", families.SIGNED))
    assert np.array_equal(np.abs(mixed), 41 * plain)
    assert (mixed < 0).mean() > 0.3
    short = _work(_pointer("const short*"), n=500)
    assert np.abs(_one(short, families.SIGNED).view(np.int16)).max() < 100
    for given in (
        ("const int*", "randint:0:9"),
        ("const int*", "uniform"),
        ("const unsigned*",),
        (),
    ):
        other = _work(_pointer(*given), n=500)
        assert not families.signed(other)
        assert np.array_equal(_one(other, families.SIGNED), _one(other))


def test_uniform_inputs_stay_where_logarithms_are_defined() -> None:
    """A kernel that takes roots of uniform inputs meets no negative ones it did not ask for."""
    work = _work(_pointer(init="uniform"), n=2000)
    for family in ("times-10", "shifted", "integers", "sorted", "edges", "half-steps", "far"):
        assert _one(work, family).view(np.float32).min() >= 0


def test_jitter_moves_floats_by_one_rounding_error() -> None:
    """Every float moves, by two units of roundoff at most."""
    work = _work(_pointer(), n=1000)
    plain, moved = _one(work).view("f4"), _one(work, "declared+j").view("f4")
    ratio = np.abs(moved / plain - 1)
    assert (ratio > 0).mean() > 0.99
    assert ratio.max() <= 2.0**-22


def test_floats_whose_results_are_doubles_move_but_not_for_ties() -> None:
    """What they change counts as much less as a double has more digits."""
    output = {"name": "y", "type": "double*", "shape": "n", "role": "output"}
    doubles = _work(_pointer(), output, n=1000)
    plain = _one(doubles).view("f4")
    moved = _one(doubles, "declared+j").view("f4")
    assert 0 < np.abs(moved / plain - 1).max() <= 2.0**-22
    assert np.array_equal(_one(doubles, "declared+t").view("f4"), plain)
    assert perturbation.share(doubles) == 2.0**-29
    assert perturbation.share(_work(_pointer(), n=1000)) == 1.0
    # Halves stay: what doubles they are summed in is exact.
    half = _work({**_pointer(), "type": "const half*"}, output, n=1000)
    assert np.array_equal(_one(half, "declared+j"), _one(half))
    assert perturbation.share(half) == 1.0


def test_long_patterns_do_not_repeat_at_a_power_of_two() -> None:
    """An index that wraps at 2^23 must meet other data there."""
    data = inputs._random(np.random.default_rng(1), "normal", 2**23 + 4096)
    assert not np.array_equal(data[:4096], data[2**23 :])


def test_contents_come_from_a_file_or_a_function(tmp_path: Path) -> None:
    """Files of the project are inputs; files outside it are refused."""
    np.save(tmp_path / "a.npy", np.arange(6.0))
    (tmp_path / "gen.py").write_text(
        "import numpy as np\ndef make(seed, n):\n    return np.full(n, seed)\n"
    )
    assert _one(_work(_pointer(init="file:a.npy"), root=tmp_path, n=6)).view("f4")[5] == 5
    assert (
        _one(_work(_pointer(init="python:gen.py:make"), root=tmp_path, n=4), seed=9).view("f4")[0]
        == 9
    )
    for bad in (
        "file:../a.npy",
        "file:missing.npy",
        "python:gen.py:nothing",
        "fancy",
        "randint:9:3",
    ):
        with pytest.raises(SpecError):
            _one(_work(_pointer(init=bad), root=tmp_path, n=6))


def test_undeclared_sizes_are_awkward_and_affordable() -> None:
    """Neighbours, primes and one, around the smallest case of some size; never huge."""
    work = _work(_pointer(), {"name": "n", "type": "int", "value": "n"}, n=4096)
    found = {case.values["n"] for case in sizes.undeclared(work, 10)}
    assert {4097, 1, 4095, 31, 4093, 8193} <= found
    assert not any(case.timed for case in sizes.undeclared(work, 10))
    huge = _work(_pointer(), n=1 << 28)
    assert max((c.values["n"] for c in sizes.undeclared(huge, 10)), default=0) <= 1 << 20


def test_variables_that_size_nothing_are_left_alone() -> None:
    """Only what shapes, values or the launch read is varied."""
    work = _work(_pointer(), n=100, unused=7)
    assert all(case.values["unused"] == 7 for case in sizes.undeclared(work, 10))


def test_coefficients_are_never_nan() -> None:
    """A tile may be padded with zeros that are multiplied by them, and a NaN would show it."""
    taps = {"name": "taps", "type": "const float*", "shape": "9", "init": "normal"}
    work = _work(_pointer(), taps, n=5000)
    arrays = inputs.generate(work, {"n": 5000}, 1)
    for family in families.NOT_FINITE:
        varied = variation.apply(family, work, arrays, 1)
        name = next(n for n in varied if n != "taps")
        assert not np.isfinite(varied[name].view(np.float32)).all()
        assert np.isfinite(varied["taps"].view(np.float32)).all()


def test_what_indices_choose_from_is_no_coefficient() -> None:
    """A vector that a sparse matrix gathers from holds an infinity first, short as it may be."""
    column = {"name": "column", "type": "const int*", "shape": "n", "init": "randint:-1:2000"}
    gathered = {"name": "table", "type": "const float*", "shape": "2000", "init": "normal"}
    for more, infinite in (((column,), True), ((), False)):
        work = _work(_pointer(), gathered, *more, n=60_000)
        arrays = inputs.generate(work, {"n": 60_000}, 1)
        varied = variation.apply("special", work, arrays, 1)
        assert np.isinf(varied["table"].view(np.float32)[0]) == infinite


def test_halves_are_not_moved_where_results_have_more_digits() -> None:
    """Their products are exact in floats: moving them would call half products right."""
    half = {"name": "h", "type": "const __half*", "shape": "n", "init": "normal"}
    for kind, moves in (("float*", False), ("__half*", True)):
        out = {"name": "out", "type": kind, "shape": "n", "role": "output"}
        work = _work(_pointer(), half, out, n=300)
        arrays = inputs.generate(work, {"n": 300}, 1)
        moved = perturbation.jitter(work, arrays, 1)
        assert np.array_equal(moved["h"], arrays["h"]) != moves


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_halves_that_floats_are_summed_of_move_where_nobody_declared_inputs(kind: str) -> None:
    """What they change counts as much less as a float has more digits; for ties nothing moves."""
    half = {"name": "x", "type": f"const {kind}*", "shape": "n", "init": "normal"}
    levels = {"name": "level", "type": "const int*", "shape": "n", "init": "randint:0:16"}
    out = {"name": "out", "type": "float*", "shape": "n", "role": "output"}
    work = _work(half, levels, out, n=300)
    shares = {"half": 2.0**-13, "bfloat16": 2.0**-16}
    assert perturbation.share_of_halves(work) == shares[kind]
    for family, moves in (("far+j", True), ("far+t", False), ("declared+j", False)):
        plain = _one(work, family.partition("+")[0]).view(np.uint16)
        assert np.mean(_one(work, family).view(np.uint16) != plain) == (1.0 if moves else 0.0)


@pytest.mark.parametrize(
    ("beside", "kind"),
    [
        ("const float*", "float*"),
        ("float*", "float*"),
        ("const int*", "half*"),
        ("int*", "double*"),
    ],
)
def test_no_halves_move_beside_what_moves_anyway(beside: str, kind: str) -> None:
    """Nor where results are halves, of which they all move, or doubles."""
    half = {"name": "h", "type": "const half*", "shape": "n", "init": "normal"}
    role = "input" if beside.startswith("const") else "inout"
    other = {"name": "x", "type": beside, "shape": "n", "init": "normal", "role": role}
    out = {"name": "out", "type": kind, "shape": "n", "role": "output"}
    work = _work(half, other, out, n=300)
    assert perturbation.share_of_halves(work) == 0.0
    arrays = Contents(work).of(Combination({"n": 300.0}, "far", 1))
    moved = perturbation.jitter(work, arrays, 1, coarse=True, halves=True)
    assert np.array_equal(moved["h"], arrays["h"]) == (kind != "half*")


def test_a_single_nan_is_not_at_the_start_of_a_row() -> None:
    """There a maximum that starts from its first element would keep it, and another not."""
    work = _work(_pointer(), n=500)
    work = dataclasses.replace(work, cases=(*work.cases, CaseSpec({"cols": 7.0})))
    arrays = inputs.generate(work, {"n": 500}, 1)
    for seed in range(40):
        (data,) = variation.apply("nan", work, arrays, seed).values()
        (where,) = np.flatnonzero(np.isnan(data.view(np.float32)))
        assert where % 7


def test_scalars_are_moved_to_values_of_their_kind() -> None:
    """Floats by a quarter or more, zeros with all, to zero with none; whole numbers not."""

    def scalar(kind: str, value: str) -> dict[str, str]:
        return {"name": "s", "type": kind, "value": value}

    def moved(kind: str, value: str, many: int) -> tuple[float | int, ...]:
        argument = _work(_pointer(), scalar(kind, value), n=8).arguments[1]
        return spec.scalar_values(argument, {"n": 8.0, spec.MOVED: float(many)})

    (part,) = moved("float", "2.0/n", spec.SOME)
    assert 0.68 * 0.25 < part <= 0.75 * 0.25
    assert moved("float", "0", spec.SOME) == (0,)
    assert moved("float", "0", spec.ALL) == (0.5,)
    assert moved("int", "9", spec.ALL) == (9,)
    # Ends of a range move unlike each other: its middle is not zero any more.
    (low,), (high,) = moved("float", "-3", spec.SOME), moved("float", "3", spec.SOME)
    assert low + high != 0
    low, high, none = moved("float3", "{-3, 3, 0}", spec.ALL)
    assert low + high != 0
    assert none == 0.5
    assert moved("float3", "{-3, 3, 0}", spec.NONE) == (0, 0, 0.5)
    for value, found in (("2.5", (1, 3)), ("0", (2,)), ("n", (1, 3))):
        assert spec.moves(_work(_pointer(), scalar("float", value), n=50)) == found
    assert spec.moves(_work(_pointer(), scalar("int", "3"), n=50)) == ()


def test_each_size_is_tried_far_beyond_its_largest() -> None:
    """What holds a row in a block's threads or registers holds so much and no more."""
    work = _work(_pointer(shape="rows*cols"), rows=2048, cols=512)
    alone = [case.values for case in sizes.undeclared(work, 4, large=2)]
    assert {"rows": 9.0, "cols": 2049.0} in alone
    assert {"rows": 8193.0, "cols": 9.0} in alone
    small = CaseSpec({"rows": 5.0, "cols": 33.0})
    both = dataclasses.replace(work, cases=(*work.cases, small))
    found = [case.values for case in sizes.undeclared(both, 4, large=2)]
    assert {"rows": 5.0, "cols": 2049.0} in found
    assert {"rows": 8193.0, "cols": 33.0} in found


def test_sizes_pass_what_grids_and_registers_and_small_arrays_hold() -> None:
    """Four times 500 is less than a row in registers; twice 20000 is less than a grid's height."""
    work = _work(_pointer(shape="rows*cols"), rows=20000, cols=500)
    found = [case.values for case in sizes.undeclared(work, 4, large=2)]
    assert {"rows": 65604.0, "cols": 9.0} in found
    assert {"rows": 9.0, "cols": 4165.0} in found
    taps = _work(_pointer(shape="n+taps"), n=3000, taps=4)
    assert {"n": 3000.0, "taps": 63.0} in [c.values for c in sizes.undeclared(taps, 4, large=2)]
    more = _work(_pointer(shape="n+taps"), n=3000, taps=5)
    assert {"n": 3000.0, "taps": 69.0} in [c.values for c in sizes.undeclared(more, 4, large=2)]
    # Where nine columns are too many, two; and a filter looks back over several blocks of a line.
    two = _work(_pointer(shape="2*rows*cols"), rows=20000, cols=300)
    assert {"rows": 65604.0, "cols": 2.0} in [c.values for c in sizes.undeclared(two, 4, large=2)]
    lines = _work(_pointer(shape="rows*len+taps"), rows=300, len=6000, taps=4)
    found = [case.values for case in sizes.undeclared(lines, 4, large=2)]
    assert {"rows": 9.0, "len": 6000.0, "taps": 63.0} in found
    # What is longer already needs nothing more.
    long = _work(_pointer(shape="n"), n=100000)
    assert max(c.values["n"] for c in sizes.undeclared(long, 4, large=2)) == 200001


def test_sizes_between_the_smallest_and_the_largest_are_tried_where_asked() -> None:
    """Shared memory that is not asked for lasts to the middle, and 107 * (1 / 107) is less than one."""
    work = _work(_pointer(shape="rows*cols"), rows=3000, cols=500)
    both = dataclasses.replace(work, cases=(*work.cases, CaseSpec({"rows": 90.0, "cols": 40.0})))
    plain = {c.name for c in sizes.undeclared(both, 4, large=2)}
    every = sizes.undeclared(both, 4, large=2, between=2)
    found = [c.values for c in every if c.name not in plain and c.name != "rows=2 cols=2"]
    rows = [c["rows"] for c in found if c["cols"] == 40]
    cols = [c["cols"] for c in found if c["rows"] == 90]
    assert len(found) == len(rows) + len(cols) == 4
    assert 90 < rows[0] < rows[1] < 1600
    for kind in (np.float32, np.float64):
        assert all(kind(n) * (kind(1) / kind(n)) < 1 for n in rows + cols)
    alone = _work(_pointer(shape="n"), n=100000)
    many = {c.values["n"] for c in sizes.undeclared(alone, 4, large=2, between=2)}
    assert sum(33 < n < 49999 for n in many) == 2
    near = dataclasses.replace(work, cases=(*work.cases, CaseSpec({"rows": 900.0, "cols": 400.0})))
    more = [c for c in sizes.undeclared(near, 4, large=2, between=2) if c.name != "rows=2 cols=2"]
    assert more == list(sizes.undeclared(near, 4, large=2))


def test_whole_numbers_of_a_range_are_put_at_its_ends() -> None:
    """By turns, whole arrays: their differences are largest; of what may be indices so many only."""
    work = _work(
        {**_pointer("unsigned char*", "randint:0:200"), "name": "a"},
        {**_pointer("unsigned char*", "randint:5:200"), "name": "b"},
        {**_pointer("int*", "randint:0:9", "80000"), "name": "at"},
        _pointer(),
        n=64,
    )
    assert families.ended(work)
    assert not families.ended(_work(_pointer(), n=64))
    before = inputs.generate(work, {"n": 64.0}, 1)
    seen = [variation.apply(families.ENDS, work, before, seed) for seed in (1, 2)]
    for made, (a, b, at) in zip(seen, [(199, 5, 8), (0, 199, 0)], strict=True):
        assert set(made["a"]) == {a}
        assert set(made["b"]) == {b}
        where = made["at"].view(np.int32)
        assert set(where[: whole_families.HOT]) == {at}
        assert np.array_equal(
            where[whole_families.HOT :], before["at"].view(np.int32)[whole_families.HOT :]
        )
        assert made["x"] is before["x"]


def test_variables_of_a_case_that_is_too_large_are_still_tried_far_beyond() -> None:
    """Three buffers of six million: what is around the small case alone has few rows."""
    rows = _work(_pointer(shape="3*rows*cols"), rows=6000, cols=1000)
    both = dataclasses.replace(rows, cases=(*rows.cases, CaseSpec({"rows": 9.0, "cols": 130.0})))
    found = [case.values for case in sizes.undeclared(both, 10, large=2, between=2)]
    assert {"rows": 12001.0, "cols": 9.0} in found
    assert any(300 < case["rows"] < 6000 and case["cols"] == 130 for case in found)
    assert any(case["cols"] == 107 for case in found)


def test_sizes_are_drawn_each_by_itself_too() -> None:
    """Rows of a length that no vector divides in a whole that one does, a band of one, whole warps."""
    work = _work(_pointer(shape="h*w+k"), h=500, w=700, k=20)
    drawn = [sizes.scattered(work, seed, 12) for seed in range(40)]
    assert drawn[0] == sizes.scattered(work, 0, 12)
    assert drawn[0] != drawn[1]
    assert all(len({case.name for case in some}) == 12 for some in drawn)
    every = [case.values for some in drawn for case in some]
    for name, most in (("h", 500), ("w", 700), ("k", 20)):
        assert all(1 <= case[name] <= most for case in every)
    assert all(case["h"] * case["w"] + case["k"] <= 1 << 16 for case in every)
    assert not any(case.timed for some in drawn for case in some)
    assert sum(c["h"] % 4 == 0 and c["w"] % 4 > 0 for c in every) > 40
    assert sum(c["k"] == 1 and c["w"] % 32 == 0 for c in every) > 10
    assert sizes.scattered(_work(_pointer(), n=500), 1, 12) == []
    flagged = _work(_pointer(shape="h*w"), h=50, w=70, flag=0)
    two = dataclasses.replace(
        flagged, cases=(*flagged.cases, CaseSpec({"h": 9.0, "w": 9.0, "flag": 1.0}))
    )
    assert {case.values["flag"] for case in sizes.scattered(two, 1, 12)} == {0.0, 1.0}
    assert sizes.scattered(_work(_pointer(shape="8*k"), n=500, k=9), 1, 12)
    assert sizes.scattered(_work(_pointer(shape="1048576*k"), n=500, k=9), 1, 12) == []


def test_sizes_are_drawn_in_whole_parts_and_alike() -> None:
    """An odd number of parts of 256, a square among rectangles, one size alone as well as two."""
    work = _work(_pointer(shape="h*w"), h=2000, w=3000, step=4)
    rows = [sizes.drawn(work, seed, 24) for seed in range(20)]
    assert rows[0] == sizes.drawn(work, 0, 24) != rows[1]
    every = [case.values for row in rows for case in row]
    assert len(every) == 480
    assert all(c["h"] <= 2000 and c["w"] <= 3000 and c["step"] == 4 for c in every)
    assert all(0 < c["h"] * c["w"] <= 1 << 17 for c in every)
    assert all(c != {"h": 2000, "w": 3000, "step": 4} for c in every)
    assert sum(c["w"] % 256 == 0 and c["w"] // 256 % 2 == 1 for c in every) > 40
    assert sum(c["h"] == c["w"] for c in every) > 40
    assert sum(c["w"] % 2 == 1 for c in every) > 60
    line = _work(_pointer(), n=1_000_000)
    lengths = [case.values["n"] for seed in range(20) for case in sizes.drawn(line, seed, 24)]
    assert len(lengths) == 480
    assert sum(n % 256 == 0 and n // 256 % 2 == 1 for n in lengths) > 30
    assert sizes.drawn(_work(_pointer(shape="1048576*k"), n=500, k=9), 1, 24) == []


def test_radii_of_zero_and_two_of_everything_are_tried() -> None:
    """Where all buffers have elements then; strides and numbers of taps may not be zero."""
    band = _work(_pointer(shape="n*(2*k+1)"), n=500, k=40)
    found = [case.values for case in sizes.undeclared(band, 4, large=2, between=2)]
    assert {"n": 500.0, "k": 0.0} in found
    assert {"n": 2.0, "k": 2.0} in found
    assert {"n": 500.0, "k": 0.0} in sizes.whole_words(band, {"n": 500.0, "k": 40.0}, 1 << 16)
    assert {"h": 9.0, "p": 0.0} in [
        case.values for case in sizes.undeclared(_work(_pointer(shape="h+p+p"), h=9, p=3), 4)
    ]
    # A window that slides to the end of a line is one of at least one element.
    window = [c.values for c in sizes.undeclared(_work(_pointer(shape="n+w-1"), n=500, w=9), 4)]
    assert len(window) > 3
    assert all(case["w"] > 0 for case in window)
    step = {"name": "step", "type": "int", "value": "step"}
    taps = {**_pointer(shape="taps"), "name": "w"}
    other = _work(_pointer(shape="n/step+taps"), taps, step, n=500, step=3, taps=9)
    cases = [case.values for case in sizes.undeclared(other, 10, large=11, between=2)]
    assert all(case["step"] > 0 and case["taps"] > 0 for case in cases)
    corners = _work({**_pointer("int*", "randint:0:50"), "name": "a"}, n=2)
    made = variation.apply(families.ENDS, corners, inputs.generate(corners, {"n": 2.0}, 1), 1)
    assert made["a"].view(np.int32).tolist() == [0, 49]


def test_a_value_that_sizes_nothing_is_tried_at_the_end_of_its_type() -> None:
    """Sums modulo a prime that fit with the declared point do not with the largest."""
    point = {"name": "point", "type": "int", "value": "point"}
    work = _work(_pointer(), point, n=500, point=1_500_000_000)
    found = [case.values for case in sizes.undeclared(work, 4, large=2)]
    assert {"n": 500.0, "point": 2.0**31 - 1} in found
    # Modulo itself the last of its type, which is a prime, is nothing.
    assert {"n": 500.0, "point": 2.0**31 - 2} in found
    small = [
        c.values for c in sizes.undeclared(_work(_pointer(), point, n=500, point=99), 4, large=2)
    ]
    assert max(case["point"] for case in small) < 1 << 20


def test_vast_inputs_are_for_what_chooses_among_floats() -> None:
    """A largest that begins at minus a milliard is right for all but these."""
    work = _work(_pointer(), n=5000)
    assert families.chosen(work)
    vast = _one(work, families.VAST).view(np.float32)
    turn = int((vast < 0).sum())
    assert 5000 // 3 <= turn <= 2 * 5000 // 3 + 1
    assert vast[:turn].max() <= -4e30
    assert 4e30 <= vast[turn:].min() < vast.max() < 1e33
    halves = _one(_work(_pointer("const half*"), n=5000), families.VAST).view(np.float16)
    assert 4500 <= np.abs(halves.astype(float)).min() < np.abs(halves.astype(float)).max() < 2**15
    assert not families.chosen(_work(_pointer("const int*"), n=5000))
    asked = oracle.combinations(work, "screen", 1)[1]
    assert [c.family for c in asked].count(families.VAST) == 1


def test_no_more_indices_meet_in_one_place_than_a_short_counter_misses() -> None:
    """A loop that exchanges a word until it holds takes a time that grows with their square."""
    work = _work(_pointer("const int*", "randint:0:500"), n=400_000)
    for family in ("equal", "one-hot", "large", "mixed"):
        most = np.bincount(_one(work, family).view(np.int32)).max()
        assert 1 << 15 < most < 80_000
    few = _work(_pointer("const int*", "randint:0:500"), n=60_000)
    assert np.bincount(_one(few, "equal").view(np.int32)).max() == 60_000


def test_some_sizes_are_whole_warps_but_no_whole_blocks() -> None:
    """Two threads that exchange a pair meet in one warp at odd sizes, and so do no harm there."""
    work = _work(_pointer(shape="rows*width"), rows=9, width=1536)
    found = [case.values for case in sizes.undeclared(work, 4, large=4)]
    assert {"rows": 9.0, "width": 1728.0} in found


def test_some_sizes_are_one_short_of_whole_words() -> None:
    """Words taken four at a time, the last of which is not whole, are met at no multiple of 32."""
    work = _work(_pointer(shape="n*bits"), n=500, bits=940)
    found = [case.values for case in sizes.undeclared(work, 4, large=4)]
    assert {"n": 511.0, "bits": 1023.0} in found


def test_small_variables_are_moved_beside_large_ones() -> None:
    """Of a small image, taps that lie far apart leave nothing."""
    images = _work(_pointer(shape="h*(h-2*gap)"), h=60, gap=2)
    small = CaseSpec({"h": 12.0, "gap": 1.0})
    work = dataclasses.replace(images, cases=(*images.cases, small))
    found = [case.values for case in sizes.undeclared(work, 4, large=2)]
    assert {"h": 60.0, "gap": 9.0} in found


def test_results_near_zero_are_as_exact_as_floats_where_they_are_stored_as_halves() -> None:
    """Two spacings of typical results, never beyond the tolerance."""
    size = np.full(100, 8.0)
    of_float = near_zero(1.0, 2.0**-24, size)
    assert of_float == 2.0**-22 * 8
    assert near_zero(1.0, 2.0**-11, size) == of_float
    assert near_zero(1.0, 2.0**-53, size) < of_float
    assert near_zero(1e-9, 2.0**-24, size) == 1e-9


def test_two_bounds_are_tried_near_each_other_and_at_a_size() -> None:
    """A range within one vector; by chance two bounds are far apart. Sizes alone have no range."""
    bounds = [{"name": k, "type": "int", "value": k} for k in ("low", "high")]
    work = _work(_pointer(shape="rows*cols"), *bounds, rows=4000, cols=701, low=30, high=650)
    found = [dict(case.values) for case in sizes.near_pairs(work, 1)]
    apart = [case["high"] - case["low"] for case in found]
    assert {1, 2, 3, -1, -2, -3} <= {*apart}
    assert {"rows": 4000.0, "cols": 701.0, "low": 30.0, "high": 701.0} in found
    assert all(1 <= case["low"] <= 701 or case["low"] == 4000 for case in found)
    assert sizes.near_pairs(_work(_pointer(shape="rows*cols"), rows=40, cols=70), 1) == []


@pytest.mark.parametrize(
    ("init", "given", "made"),
    [
        ("randint:0:n", [0, 6, 7, 8, 15, -1, -3], [0, 6, 0, 1, 1, 6, 4]),
        ("randint:-1:n", [-1, -2, -3, 6, 7, 14, 0], [-1, 6, 5, 6, -1, 6, 0]),
        ("randint:0:300", [0, 6, 7, 8, 15, 299, 3], [0, 6, 7, 8, 15, 299, 3]),
    ],
)
def test_what_is_beyond_an_end_of_a_case_goes_round_at_either(
    init: str, given: list[int], made: list[int]
) -> None:
    """What a family takes from the declared end is below nothing where numbers are larger."""
    work = _work({"name": "x", "type": "const int*", "shape": "n", "init": init}, n=40)
    arrays = {"x": np.array(given, np.int32).view(np.uint8)}
    fit = inputs.fitted(work, arrays, {"n": 7.0})
    assert fit["x"].view(np.int32).tolist() == made
    assert arrays["x"].view(np.int32).tolist() == given


@pytest.mark.parametrize("kind", ["uint8_t", "int8_t", "int64_t", "uint64_t"])
def test_ends_that_are_those_of_a_type_are_nothing_to_go_beyond(kind: str) -> None:
    low = "0" if kind.startswith("u") else "-3"
    work = _work(
        {"name": "x", "type": f"const {kind}*", "shape": "n", "init": f"randint:{low}:n"}, n=40
    )
    data = np.array([0, 1, 5, 100, 3], getattr(np, kind.removesuffix("_t")))
    fit = inputs.fitted(work, {"x": data.view(np.uint8)}, {"n": 5.0})["x"].view(data.dtype)
    assert fit[[0, 1, 4]].tolist() == [0, 1, 3]
    assert int(low) <= int(fit.min()) <= int(fit.max()) < 5
