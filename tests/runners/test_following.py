"""Ranges of whole numbers that end with a size, at other sizes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import capacities, families, following, inputs, sizes, thresholds
from runners.contents import Combination, Contents
from runners.cuda_types import to_float, values
from runners.digest import Digest
from runners.spec import BaselineFailure, CaseSpec, SpecError, Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_inputs import _pointer, _work

CANDIDATES = {one.label: one for one in load()}
SIZES = ("n", "bins", "h", "w")


def _ctc() -> Work:
    return once_read.parsed("ctc/letters_in_a_word").work


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _size(name: str) -> dict[str, Any]:
    return {"name": name, "type": "int", "value": name}


def _tally(init: str = "randint:0:300", kind: str = "const int*", **least: float) -> Work:
    work = _work(
        _array("key", init, kind=kind),
        {**_pointer("int*", "zeros", "bins"), "role": "inout"},
        _size("n"),
        _size("bins"),
        n=50000,
        bins=300,
    )
    return _with(work, **least) if least else work


def _with(work: Work, **values: float) -> Work:
    return dataclasses.replace(work, cases=(*work.cases, CaseSpec(values)))


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family == families.FOLLOWING]


def _ints(work: Work, one: Combination, name: str) -> npt.NDArray[Any]:
    argument = next(a for a in work.arguments if a.name == name)
    found: npt.NDArray[Any] = (
        Contents(work).of(one)[name].view(argument.type.fields[0].scalar.dtype)
    )
    return found


def _ends(work: Work) -> dict[str, str]:
    return {one.argument.name: one.size for one in following.followed(work)}


# What is asked.


@pytest.mark.parametrize("checks", ["screen", "race", "confirm"])
def test_letters_are_beyond_eight_bits_where_there_are_as_many_symbols(checks: str) -> None:
    """A letter that is kept in a byte is another one there; below 64 it never is."""
    work = _ctc()
    asked = _asked(work, checks)
    steps = next(one for one in asked if one.case["symbols"] == 1023)
    label, length = (_ints(work, steps, name) for name in ("label", "length"))
    assert (label > 255).mean() > 0.8
    assert (label.min() >= 1) & (label.max() == 1022)
    assert length.max() == steps.case["most"] == 19
    every = once_read.combinations(work, checks, 1)[1]
    others = [one for one in every if one.case["symbols"] > 256 and one not in asked]
    assert others
    assert all(_ints(work, one, "label").max() < 64 for one in others)


def test_more_letters_than_a_byte_tells_apart_have_steps_and_no_longer_words() -> None:
    """Only a confirmation asks for all sizes at once; how long a word may be is declared."""
    work = _ctc()
    (one,) = [one for one in _asked(work) if 256 < one.case["symbols"] < 1023]
    assert one.case["steps"] > 256
    assert one.case["batch"] == 7
    assert _ints(work, one, "label").max() == one.case["symbols"] - 1
    assert _ints(work, one, "length").max() == one.case["most"] == 19
    assert sizes.elements(work, one.case) <= following.MOST_TOGETHER
    assert len(_asked(work)) == 2
    assert not any(c.case == one.case for c in _asked(work, "screen"))


def test_lengths_are_promised_and_places_are_not() -> None:
    """Who keeps eight words of a row, as lengths below 65 have, is right however long rows are."""
    row = _array("text", "randint:0:256", "n*width", "const unsigned char*")
    sizes_passed = (_size("n"), _size("width"))
    keys = _work(row, _array("len", "randint:0:65"), *sizes_passed, n=1000, width=64)
    assert following.cases(keys, full=True) == []
    ((one, case),) = following.longer(keys)
    assert (one.argument.name, case["width"]) == ("len", one.end_at(case))
    assert one.end_at(case) > 64 == one.last_at(case)
    # In rows that are shorter there are none that are longer.
    assert one.last_at({"n": 9.0, "width": 7.0}) == 7
    found = _ints(keys, Combination(case, families.FOLLOWING, 1), "len")
    assert found.max() == 64
    places = _work(row, _array("len", "randint:0:64"), *sizes_passed, n=1000, width=64)
    assert following.longer(places) == []
    assert following.cases(places, full=True)


def test_sizes_are_floats_as_those_of_all_cases() -> None:
    """What reads a candidate's own conditions takes them for such."""
    for label in ("crosstab/shared_asked_for_once", "ctc/letters_in_a_word"):
        job = once_read.parsed(label)
        declared, extra = once_read.combinations(job.work, job.checks, job.seed)
        asked = [*declared, *extra, *thresholds.compared(job, [*declared, *extra])]
        assert any(one.family == families.FOLLOWING for one in asked)
        assert {type(size) for one in asked for size in one.case.values()} <= {float, int}
        known = [size for one in asked for name, size in one.case.items() if name.isidentifier()]
        assert {type(size) for size in known} == {float}


def test_they_are_asked_behind_everything_else() -> None:
    """An original that reads past a table's end with them loses nothing that it defines."""
    for checks in ("screen", "confirm"):
        extra = once_read.combinations(_ctc(), checks, 1)[1]
        many = len(_asked(_ctc(), checks))
        assert all(one.family == families.FOLLOWING for one in extra[-many:])


def test_few_workloads_are_asked_more_by_a_guess() -> None:
    """Of the red team's, one in thirty, and at most three cases each; others say what it follows."""
    works = {
        one.base.name: once_read.parsed(one).work
        for one in CANDIDATES.values()
        if one.name == "base"
    }
    asked = {name: len(following.cases(work, full=True)) for name, work in works.items()}
    some = {name for name, many in asked.items() if many}
    assert {"ctc", "crosstab", "focal", "tally", "pileup"} <= some
    guessed = {
        name
        for name in some
        if not any(one.argument.end for one in following.followed(works[name]) if one.places)
    }
    assert 10 < len(guessed) <= len(works) // 30
    assert max(asked.values()) <= 3


# Which ranges follow which size.


def test_a_range_follows_the_size_it_ends_with() -> None:
    assert _ends(_tally()) == {"key": "bins"}
    for init, apart in (("randint:0:301", 1), ("randint:-1:300", 0), ("randint:1:299", -1)):
        (one,) = following.followed(_tally(init))
        assert (one.size, one.apart) == ("bins", apart)
        assert one.end_at({"n": 9.0, "bins": 4165.0}) == 4165 + apart - 1
        assert one.last_at({"n": 9.0, "bins": 4165.0}) == (4164 if not apart else one.last)
    # The least declared size, where the range has to hold for all; nothing near to that.
    assert _ends(_tally("randint:0:60", n=900.0, bins=60.0)) == {"key": "bins"}
    assert _ends(_tally("randint:0:61", n=900.0, bins=60.0)) == {}
    # The number of places of a picture, and one of two sizes that are alike.
    picture = [_array("at", "randint:0:1200", "n"), _pointer(shape="h*w"), _size("n")]
    assert _ends(_work(*picture, n=5000, h=30, w=40)) == {"at": "h*w"}
    square = [_array("at", "randint:0:40", "n"), _pointer(shape="h*w"), _size("n")]
    work = _work(*square, n=5000, h=40, w=40)
    assert _ends(work) == {"at": "min(h, w)"}
    assert all(one.case["h"] == one.case["w"] for one in _asked(work, "screen"))
    assert _asked(work, "screen")


def test_what_is_no_place_follows_nothing() -> None:
    for init in ("randint:-300:300", "randint:0:290", "randint:250:300", "normal", "randint:0"):
        assert _ends(_tally(init)) == {}
    few = _work(_array("key", "randint:0:4"), _pointer(shape="bins"), n=5000, bins=4)
    assert _ends(few) == {}
    real = _work(
        _array("key", "randint:0:300"), _pointer("int*", "capture:x", "bins"), n=9, bins=300
    )
    assert _ends(real) == {}


def test_links_end_with_their_own_number_where_it_is_passed() -> None:
    """A picture of 256 by 256 has shades below 256, and none beyond where it is larger."""
    assert _ends(_work(_array("next", "randint:0:900"), _size("n"), n=900)) == {"next": "n"}
    assert _ends(_work(_array("count", "randint:0:900", "n*w"), _size("w"), n=900, w=70)) == {}
    shades = _work(_array("shade", "randint:0:256", "h*w"), _size("h"), _size("w"), h=256, w=256)
    assert _ends(shades) == {}
    bins = _work(_array("key", "randint:0:256"), _pointer(shape="bins"), n=5000, bins=256)
    assert _ends(bins) == {"key": "bins"}


def test_a_type_holds_no_more() -> None:
    """Bytes end at 255: where nothing is beyond the declared, nothing more is asked."""
    work = _tally(kind="const short*")
    (one,) = following.followed(work)
    assert one.last_at({"n": 9.0, "bins": 70000.0}) == (1 << 15) - 1
    byte = _work(
        _array("key", "randint:0:256", kind="unsigned char*"), _pointer(shape="b"), n=9, b=256
    )
    assert following.cases(byte, full=True) == []


def test_a_size_that_is_less_has_no_more_than_it() -> None:
    work = _tally()
    at = {"n": 3000.0, "bins": 7.0}
    found = _ints(work, Combination(at, families.FOLLOWING, 1), "key")
    assert (found.min(), found.max()) == (0, 6)
    none = _ints(work, Combination({**at, "bins": 0.0}, families.FOLLOWING, 1), "key")
    assert not none.any()


def test_many_are_up_there_and_some_anywhere() -> None:
    work = _tally()
    found = _ints(work, Combination({"n": 6000.0, "bins": 4165.0}, families.FOLLOWING, 1), "key")
    assert 0.3 < (found < 3123).mean() * 4 / 3 < 0.36
    assert 0.07 < (found == 4164).mean() < 0.2
    for length in (1, 2, 7):
        case = {"n": float(length), "bins": 4165.0}
        assert _ints(work, Combination(case, families.FOLLOWING, 1), "key").max() == 4164
    # What the range is none of stays as it is.
    both = _work(_pointer(), _array("key", "randint:0:300"), _size("bins"), n=50, bins=300)
    one = Combination(both.cases[0].values, families.FOLLOWING, 3)
    arrays = Contents(both)
    assert np.array_equal(
        arrays.of(one)["x"], arrays.of(dataclasses.replace(one, family="declared"))["x"]
    )


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_it_never_raises_and_stays_in_bounds(data: st.DataObject) -> None:
    """Whatever is declared: ranges, types, shapes, sizes."""
    size = st.integers(0, 5000) | st.sampled_from([1, 2, 8, 64, 256, 1 << 20, 1 << 40])
    case = {name: data.draw(size) for name in SIZES}
    shapes = [*SIZES, "h*w", "n*h", "n+1", "n-5", "h*w-n", "n/h", "64"]
    arguments: list[dict[str, Any]] = [
        _size(name) for name in data.draw(st.sets(st.sampled_from(SIZES)))
    ]
    for number in range(data.draw(st.integers(1, 3))):
        kind = data.draw(
            st.sampled_from(["int", "unsigned char", "short", "int2", "uint64_t", "char"])
        )
        high = data.draw(st.sampled_from([*case.values()])) + data.draw(st.integers(-2, 2))
        # Minus one of what has no sign is its largest number, as it is where it is declared.
        low = data.draw(st.integers(0 if kind.startswith("u") else -2, 70))
        shape = data.draw(st.sampled_from(shapes))
        arguments.append(_array(f"a{number}", f"randint:{low}:{high}", shape, f"{kind}*"))
    try:
        work = _work(*arguments, root=Path(), **case)
    except SpecError:
        return
    work = _with(work, **{name: float(data.draw(size)) for name in SIZES})
    found = following.cases(work, full=True)
    assert len(found) <= 3
    assert following.cases(work, full=False) == found[: len(following.cases(work, full=False))]
    for one in found:
        assert 0 < sizes.elements(work, one) <= following.MOST_TOGETHER
        arrays = {
            a.name: np.zeros(a.elements(one) * a.type.size, np.uint8)
            for a in work.arguments
            if a.type.pointer
        }
        made = following.applied(work, arrays, 1, one)
        assert {name: len(d) for name, d in made.items()} == {n: len(d) for n, d in arrays.items()}
        for each in following.followed(work):
            numbers = made[each.argument.name].view(each.argument.type.fields[0].scalar.dtype)
            assert not len(numbers) or each.low <= numbers.min()
            assert not len(numbers) or numbers.max() == each.last_at(one)


# What the original does not define, or is too slow for.


def test_a_reference_that_fails_beyond_a_declared_range_has_no_answer_there(tmp_path: Path) -> None:
    """A table is as long as it is declared; numpy raises behind its end."""
    work = _tally()
    table = np.zeros(300)

    def reference(key: npt.NDArray[Any]) -> Any:
        return table[key]

    case = {"n": 9.0, "bins": 4165.0}
    digest = Digest(work, tmp_path, Contents(work), reference)
    gathered: Any = SimpleNamespace(runs=[None], wide=None, moved=[])
    for family, error in ((families.FOLLOWING, BaselineFailure), ("mixed", SpecError)):
        gathered.combination = Combination(case, family, 1)
        table = np.zeros(300 if family == families.FOLLOWING else 0)
        digest._domain = SimpleNamespace(keeps_in_range=lambda _: None)  # type: ignore[assignment]
        with pytest.raises(error):
            digest._described(gathered)


def test_an_original_that_would_take_too_long_is_not_asked() -> None:
    """Told from each smaller case, as if of three sizes two were multiplied."""
    watch = capacities.Watch()
    case = {"n": 16.0, "m": 320.0}
    one = Combination(case, families.FOLLOWING, 1)
    assert watch.objection(one) == ""
    watch.took(Combination({"n": 1.0, "m": 20.0}, families.DECLARED, 1), 0.1)
    assert "would take 4.0 s" in watch.objection(one)
    watch.took(Combination({"n": 1.0, "m": 640.0}, families.DECLARED, 1), 0.001)
    watch.took(Combination({"n": 16.0, "m": 320.0}, "mixed", 1), 0.001)
    assert "would take 4.0 s" in watch.objection(one)
    watch.took(Combination({"n": 8.0, "m": 20.0}, families.DECLARED, 1), 0.02)
    assert watch.objection(one) == ""


def _links(*ends: str, n: float, deg: float) -> Work:
    links = [_array(f"link{at}", f"randint:{end}", "n*deg") for at, end in enumerate(ends)]
    counts = _pointer("int*", "zeros", "n")
    return _work(*links, counts, _size("n"), _size("deg"), n=n, deg=deg)


@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(1, 3000),
    deg=st.integers(1, 7),
    family=st.sampled_from(
        [
            *(families.DECLARED, families.ENDS, families.NEARLY_ENDS, families.CLUSTERED, "mixed"),
            *(families.GOING_ROUND, families.ONE_LESS, families.FOLLOWING, families.PILED_LAST),
            *(
                "recipe 3",
                "recipe 44",
                "recipe 1048577",
                "recipe 2097153",
                f"{families.CHAINS} 0 all",
            ),
        ]
    ),
    seed=st.integers(0, 99),
)
def test_places_are_within_what_an_expression_says_at_every_size(
    n: int, deg: int, family: str, seed: int
) -> None:
    work = _links("0:n", "-1:n*deg", n=700, deg=3)
    case = {"n": float(n), "deg": float(deg)}
    made = Contents(work).of(Combination(case, family, seed))
    for name, low, end in (("link0", 0, n), ("link1", -1, n * deg)):
        found = made[name].view(np.int32)
        assert low <= found.min() <= found.max() < end


def test_an_expression_is_followed_beyond_the_declared_sizes() -> None:
    work = _links("0:n", n=700, deg=3)
    assert [(one.size, one.apart, one.last) for one in following.followed(work)] == [("n", 0, 699)]
    for family in (families.DECLARED, families.FOLLOWING):
        made = Contents(work).of(Combination({"n": 9000.0, "deg": 3.0}, family, 1))
        assert 8900 < made["link0"].view(np.int32).max() < 9000
    assert any(case["n"] > 700 for case in following.cases(work, full=True))


def test_the_end_of_several_cases_is_the_largest_and_none_is_empty() -> None:
    work = dataclasses.replace(_links("0:n", n=700, deg=3))
    assert [one.init for one in work.arguments][:1] == ["randint:0:700"]
    with pytest.raises(SpecError, match="empty range"):
        _links("0:n-1", n=1, deg=3)
    with pytest.raises(SpecError, match="m"):
        _links("0:m", n=7, deg=3)


def test_what_goes_round_at_a_smaller_size_keeps_its_pattern() -> None:
    work = _links("0:n", n=700, deg=1)
    arrays = {"link0": np.arange(700, dtype=np.int32).view(np.uint8)}
    made = inputs.fitted(work, arrays, {"n": 700.0, "deg": 1.0})
    assert made is arrays
    arrays = {"link0": np.arange(700, dtype=np.int32)[:100].view(np.uint8)}
    made = inputs.fitted(work, arrays, {"n": 30.0, "deg": 1.0})
    assert np.array_equal(made["link0"].view(np.int32), np.arange(100) % 30)


def test_floats_that_are_drawn_from_such_a_range_stay_what_they_are() -> None:
    """Halves are words here: what is no number must not go round."""
    for kind in ("const half*", "const float*"):
        work = _work(_array("x", "randint:0:n", kind=kind), _size("n"), n=900)
        arrays = Contents(work).of(Combination({"n": 50.0}, families.DECLARED, 1))
        field = work.arguments[0].type.fields[0]
        found = to_float(values(arrays["x"], work.arguments[0].type, field), field.scalar)
        assert set(found) <= set(range(50))
        assert len(set(found)) > 20
