"""How far from the better answer a result may be, as a digest writes it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from runners import answering, tensor_cores
from runners.budgets import Terms, earned
from runners.compare import Answer, compare
from runners.contents import Combination, Contents
from runners.digest import Digest
from runners.families import DECLARED, THOUSANDTH
from runners.gathered import Gathered
from runners.run import Damage, Run
from runners.spec import Json, Work
from tests.runners.test_inputs import _pointer
from tests.runners.test_inputs import _work as _of

Floats = npt.NDArray[np.float64]
CASE = {"n": 4096.0}


def _work() -> Work:
    output = {"name": "y", "type": "float*", "shape": "n", "role": "output"}
    return replace(_of(_pointer(), output, n=CASE["n"]), rtol=0.0, atol=3e-6)


def _digested(
    folder: Path, combination: Combination, narrow: Floats, wide: Floats, atol: float = 3e-6
) -> Json:
    work = replace(_work(), atol=atol)
    runs = [
        Run({"y": narrow.astype(np.float32).view(np.uint8)}, Damage(), 0.0, seed)
        for seed in range(4)
    ]
    twin = Run({"y": wide.view(np.uint8)}, Damage(), 0.0, 0)
    contents = Contents(work)
    return Digest(work, folder, contents, None).digest(Gathered(combination, runs, twin, [], 0.1))


def _answer(folder: Path, described: Json) -> Answer:
    return answering.read(folder, _work(), described)["y"]


@pytest.mark.parametrize(("size", "fits"), [(4096.0, False), (100.0, False), (9999.0, True)])
def test_a_tolerance_binds_as_far_as_it_was_declared(
    tmp_path: Path, size: float, fits: bool
) -> None:
    """Beyond all declared lengths a result errs as the original does, whatever the tolerance."""
    rng = np.random.default_rng(1)
    wide = rng.uniform(0.5, 1.0, int(size))
    noise = rng.uniform(-1e-6, 1e-6, int(size))
    combination = Combination({"n": size}, DECLARED, 1)
    answer = _answer(tmp_path, _digested(tmp_path, combination, wide + noise, wide))
    got = answer.want.view(np.float32).copy()
    got[3] += 5e-6
    assert compare(got.view(np.uint8), answer).passed is fits
    got[3] += 2e-5
    assert not compare(got.view(np.uint8), answer).passed


def test_the_original_is_right_where_the_better_answer_is_next_to_nothing(tmp_path: Path) -> None:
    """Among large numbers a small one that is missing passes for rounding: then it is forgiven."""
    wide = np.full(4096, 1e9)
    narrow = wide.copy()
    wide[7], narrow[7] = 5e-315, 0.0186
    described = _digested(tmp_path, Combination(CASE, "mixed", 1), narrow, wide)
    answer = _answer(tmp_path, described)
    assert answer.want.view(np.float32)[7] == 0
    assert compare(narrow.astype(np.float32).view(np.uint8), answer).passed


@pytest.mark.parametrize(("family", "fits"), [(THOUSANDTH, True), ("mixed", False)])
def test_one_less_almost_one_is_as_exact_for_small_inputs(
    tmp_path: Path, family: str, fits: bool
) -> None:
    """An error of the rounding of one does not shrink with what is left of it."""
    wide = np.random.default_rng(1).standard_normal(4096) / 1024
    described = _digested(tmp_path, Combination(CASE, family, 1), wide, wide)
    answer = _answer(tmp_path, described)
    got = answer.want.view(np.float32).copy()
    got[3] += 1.5e-7
    assert compare(got.view(np.uint8), answer).passed is fits
    got[3] += 2e-6
    assert not compare(got.view(np.uint8), answer).passed


@pytest.mark.parametrize(("size", "times"), [(4096, 1.0), (4 * 4096, 2.0), (100 * 4096, 4.0)])
def test_errors_that_go_one_way_grow_with_the_length(
    tmp_path: Path, size: int, times: float
) -> None:
    """Those of an original that go either way grow with its root alone."""
    rng = np.random.default_rng(1)
    wide = rng.uniform(0.5, 1.0, size)
    noise = rng.choice([-2e-6, 2e-6], size)
    described = _digested(
        tmp_path, Combination({"n": float(size)}, DECLARED, 1), wide + noise, wide
    )
    got = _answer(tmp_path, described).want.view(np.float32).copy()
    for error, fits in ((20e-6 * times, True), (30e-6 * times, False)):
        other = got.copy()
        other[3] += error
        assert compare(other.view(np.uint8), _answer(tmp_path, described)).passed is fits


@pytest.mark.parametrize(
    ("atol", "times", "fits"), [(1e-3, 15, True), (1e-3, 17, False), (2e-4, 15, False)]
)
def test_within_the_tolerance_errors_may_grow_with_the_length_itself(
    tmp_path: Path, atol: float, times: int, fits: bool
) -> None:
    """Of products of split numbers tensor cores cut off a little, each time the same way."""
    size = 16 * 4096
    rng = np.random.default_rng(1)
    wide = rng.uniform(0.5, 1.0, size)
    combination = Combination({"n": float(size)}, DECLARED, 1)
    described = _digested(tmp_path, combination, wide + rng.choice([-2e-6, 2e-6], size), wide, atol)
    answer = _answer(tmp_path, described)
    got = answer.want.view(np.float32).copy()
    got[3] += 24e-6 * times
    assert compare(got.view(np.uint8), answer).passed is fits


@pytest.mark.parametrize(
    ("size", "off", "fits"),
    [(4096.0, 1e-5, False), (65535.0, 1e-5, True), (65535.0, 1e-4, False), (1 << 18, 1e-4, False)],
)
def test_units_that_are_cut_off_add_up_with_the_length(
    tmp_path: Path, size: float, off: float, fits: bool
) -> None:
    """An original that hardly errs tells nothing of what tensor cores cut off; TF32 is far out."""
    wide = np.random.default_rng(1).uniform(0.5, 1.0, int(size))
    narrow = wide.astype(np.float32).astype(np.float64)
    combination = Combination({"n": size}, DECLARED, 1)
    answer = _answer(tmp_path, _digested(tmp_path, combination, narrow, wide))
    got = answer.want.view(np.float32) * np.float32(1 - off)
    assert compare(got.view(np.uint8), answer).passed is fits


@pytest.mark.parametrize(
    ("atol", "times", "fits"), [(1e-3, 2.9, True), (1e-3, 3.1, False), (3e-5, 2.9, False)]
)
def test_on_tensor_cores_noise_counts_three_times_within_the_tolerance(
    tmp_path: Path, atol: float, times: float, fits: bool
) -> None:
    """At declared lengths, too; what works in fewer digits errs by a hundred times as much."""
    rng = np.random.default_rng(1)
    wide = rng.uniform(0.5, 1.0, 4096)
    combination = Combination(CASE, DECLARED, 1)
    described = _digested(tmp_path, combination, wide + rng.choice([-2e-6, 2e-6], 4096), wide, atol)
    answer = _answer(tmp_path, described)
    got = answer.want.view(np.float32).copy()
    got[3] += 24e-6 * times
    raw = got.view(np.uint8)
    assert not compare(raw, answer).passed
    assert compare(raw, tensor_cores.allowed(answer)).passed is fits


def _doubles(folder: Path, narrow: Floats, wide: Floats, moved: Sequence[Floats] = ()) -> Answer:
    """Answer for doubles by what the original, and its twin, make of them; rtol 1e-9, atol 1e-8.

    `moved`: what it makes of inputs, which are floats, that are moved by one rounding error.
    """
    output = {"name": "y", "type": "double*", "shape": "n", "role": "output"}
    work = replace(_of(_pointer(), output, n=CASE["n"]), rtol=1e-9, atol=1e-8)
    runs = [Run({"y": narrow.view(np.uint8)}, Damage(), 0.0, seed) for seed in range(4)]
    gathered = Gathered(
        Combination(CASE, DECLARED, 1),
        runs,
        Run({"y": wide.view(np.uint8)}, Damage(), 0.0, 0),
        [
            (
                Combination(CASE, DECLARED + "+" + "j" * (at + 1), 1),
                Run({"y": other.view(np.uint8)}, Damage(), 0.0, 0),
                Run({"y": other.view(np.uint8)}, Damage(), 0.0, 0),
            )
            for at, other in enumerate(moved)
        ],
        0.1,
    )
    described = Digest(work, folder, Contents(work), None).digest(gathered)
    return answering.read(folder, work, described)["y"]


@pytest.mark.parametrize("apart", [0.0, 1e-15])
def test_doubles_worked_out_in_doubles_are_held_against_a_share_of_the_tolerance(
    tmp_path: Path, apart: float
) -> None:
    """A twin in double precision of what is in doubles already tells of no error; sums have some.

    Sums that cancel err by more than a few units in the last place when they are reordered.
    """
    wide = np.random.default_rng(1).standard_normal(4096)
    answer = _doubles(tmp_path, wide + apart * np.sign(wide), wide)
    got = answer.want.view(np.float64).copy()
    got[3] += 5e-13
    assert compare(got.view(np.uint8), answer).passed
    got[3] += 1e-11  # far less than a float tells apart
    assert not compare(got.view(np.uint8), answer).passed


@pytest.mark.parametrize("twin", [True, False])
def test_a_reference_is_better_than_an_original_that_agrees_with_it(twin: bool) -> None:
    """What somebody wrote in numpy is held against the whole tolerance, in doubles, too."""
    output = {"name": "y", "type": "double*", "shape": "n", "role": "output"}
    work = replace(_of(_pointer(), output, n=CASE["n"]), rtol=1e-9, atol=1e-8)
    values = np.random.default_rng(1).standard_normal(4096)
    (field,) = work.arguments[1].type.fields
    terms = Terms(None, unordered=False, integers=False, declared=True, twin=twin)
    _, budget = earned(work, field, [values] * 4, [], values, terms)
    assert budget is not None
    assert budget["rtol"] == pytest.approx(1e-13 if twin else 1e-9)
    assert (budget["floor"], budget["capped"]) == (twin, not twin)


def test_doubles_of_floats_that_cancel_err_in_proportion_to_what_these_change(
    tmp_path: Path,
) -> None:
    """Terms of a million whose sum is about one: a rounding error of a double is 1e-10 there."""
    rng = np.random.default_rng(1)
    wide = rng.standard_normal(4096)
    moved = [wide + rng.uniform(-0.1, 0.1, 4096) for _ in range(2)]
    answer = _doubles(tmp_path, wide, wide, moved)
    got = answer.want.view(np.float64).copy()
    got[3] += 5e-10
    assert compare(got.view(np.uint8), answer).passed
    got[3] += 1e-8
    assert not compare(got.view(np.uint8), answer).passed


def test_doubles_that_floats_went_into_err_as_these_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    wide = rng.standard_normal(4096)
    answer = _doubles(tmp_path, wide + rng.uniform(-1e-9, 1e-9, 4096), wide)
    got = answer.want.view(np.float64).copy()
    got[3] += 4e-9
    assert compare(got.view(np.uint8), answer).passed
    got[3] += 1e-7
    assert not compare(got.view(np.uint8), answer).passed


@pytest.mark.parametrize(
    ("precise", "family", "fits"),
    [(True, DECLARED, False), (False, DECLARED, True), (True, "mixed", True)],
)
def test_what_an_original_takes_doubles_for_is_not_lost_in_what_floats_go_in(
    tmp_path: Path, precise: bool, family: str, fits: bool
) -> None:
    """Turns since a year ago: moving a speed by one rounding error turns everything.

    In doubles all of them are right, and who counts them in floats is a tenth of a turn off.
    """
    rng = np.random.default_rng(1)
    wide = rng.standard_normal(4096)
    runs = [
        Run({"y": wide.astype(np.float32).view(np.uint8)}, Damage(), 0.0, seed) for seed in range(4)
    ]
    other = wide + rng.uniform(-1.0, 1.0, 4096)
    moved = (
        Combination(CASE, family + "+j", 1),
        Run({"y": other.astype(np.float32).view(np.uint8)}, Damage(), 0.0, 0),
        Run({"y": other.view(np.uint8)}, Damage(), 0.0, 0),
    )
    twin = Run({"y": wide.view(np.uint8)}, Damage(), 0.0, 0)
    work = replace(_work(), rtol=1e-4, atol=1e-4)
    digest = Digest(work, tmp_path, Contents(work), None, precise=precise)
    gathered = Gathered(Combination(CASE, family, 1), runs, twin, [moved], 0.1)
    answer = answering.read(tmp_path, work, digest.digest(gathered))["y"]
    got = answer.want.view(np.float32).copy()
    got += rng.uniform(-2e-5, 2e-5, 4096).astype(np.float32)  # sums in another order
    assert compare(got.view(np.uint8), answer).passed
    got[3] += 0.1
    assert compare(got.view(np.uint8), answer).passed is fits


def _halves(words: str, x: Floats, weight: Floats) -> Floats:
    """Sums of products of halves and small whole numbers: in floats, in doubles, in halves."""
    if words == "doubles":
        return np.asarray((x * weight).sum(1))
    if words == "in turns":
        parts = (x * weight).astype(np.float32)
        return np.asarray(np.add.accumulate(parts, axis=1)[:, -1])
    if words == "by pairs":
        parts = (x * weight).astype(np.float32)
        while parts.shape[1] > 1:
            parts = parts[:, ::2] + parts[:, 1::2]
        return np.asarray(parts[:, 0])
    eighths = (x * weight).astype(np.float16).reshape(len(x), -1, 8)
    return np.asarray(eighths.sum(2, dtype=np.float16).astype(np.float32).sum(1))


@pytest.mark.parametrize("twin", [True, False])
@pytest.mark.parametrize("family", [DECLARED, "far"])
@pytest.mark.parametrize(("way", "fits"), [("in turns", True), ("in halves", False)])
def test_floats_of_halves_err_as_sums_that_cancel_do(
    tmp_path: Path, way: str, *, fits: bool, family: str, twin: bool
) -> None:
    """Terms of a thousand whose sum is anything: with no twin the original has no other error.

    A scale of a third makes the products of halves inexact in floats.
    """
    rng = np.random.default_rng(1)
    half = {"name": "x", "type": "const half*", "shape": "256*n", "init": "normal"}
    output = {"name": "y", "type": "float*", "shape": "n", "role": "output"}
    work = replace(_of(half, output, n=CASE["n"]), rtol=1e-5, atol=1e-4)
    contents = Contents(work)
    weight = rng.integers(-8, 8, (int(CASE["n"]), 256)) / 3.0

    def run(family: str, way: str) -> Run:
        raw = contents.of(Combination(CASE, family, 1))["x"].view(np.float16)
        made = _halves(way, raw.astype(np.float64).reshape(-1, 256), weight)
        kind = np.float64 if way == "doubles" else np.float32
        return Run({"y": made.astype(kind).view(np.uint8)}, Damage(), 0.0, 0)

    def wide(family: str) -> Run | None:
        return run(family, "doubles") if twin else None

    moved = [family + "+j", family + "+jj"]
    gathered = Gathered(
        Combination(CASE, family, 1),
        [run(family, "by pairs")] * 4,
        wide(family),
        [(Combination(CASE, one, 1), run(one, "by pairs"), wide(one)) for one in moved],
        0.1,
    )
    described = Digest(work, tmp_path, contents, None).digest(gathered)
    answer = answering.read(tmp_path, work, described)["y"]
    assert compare(run(family, way).outputs["y"], answer).passed is fits
    (budget,) = answer.budgets
    assert budget is not None
    # On declared inputs that nothing knows better the tolerance is all there is, as it was.
    assert budget.noise.any() == (twin or family != DECLARED)
