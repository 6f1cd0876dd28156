"""One size far out or two, the others anything: within what was promised, and all of it reached."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from runners import far_cases, isolated, nearly_one, piles, recipes, sizes, two_numbers
from runners.contents import Combination, Contents
from runners.cuda_types import to_float, values
from runners.families import DECLARED
from runners.spec import Work
from tests.runners.test_inputs import _work

SEEDS = range(6)
# What `span` is for: places, which are no amounts.
TEXT = "for (int t = 0; t < span; ++t) seen[g] += mine[(size_t)g * span + t];"


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as a confirmation has."""
    monkeypatch.setattr(far_cases, "CASES", 14)


def _array(name: str, init: str, shape: str, kind: str = "const int*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _times_of_death() -> Work:
    """Whether patients have a gene, and when they leave: `span` sizes no buffer."""
    return _work(
        _array("time", "randint:0:span", "n"),
        _array("group", "randint:0:2", "genes*n", "const uint8_t*"),
        {"name": "seen", "type": "int*", "shape": "genes", "role": "output"},
        {"name": "span", "type": "int", "value": "span"},
        n=20000,
        genes=64,
        span=500,
    )


def test_each_size_comes_to_where_a_candidate_has_to_be_right_beside_much_and_little() -> None:
    work = _times_of_death()
    cases = [case for seed in SEEDS for case in far_cases.cases(work, seed, TEXT)]
    for name in ("n", "genes", "span"):
        most = sizes.TIMES_LONGER * sizes.largest(work, name)
        assert max(case[name] for case in cases) >= most - 2
        assert all(1 <= case[name] <= most for case in cases)
    # Tiles of 2048 are three in time where there are thousands of patients.
    assert any(case["span"] > 3 * 2048 and case["n"] >= 20000 for case in cases)
    # More than 16 bits count leave, and most of a gene.
    assert any(case["n"] > 4 << 16 for case in cases)
    assert any(case["n"] >= 20000 and case["genes"] < 10 for case in cases)
    assert len({case["n"] % 32 for case in cases}) > 3


@pytest.mark.parametrize(
    ("text", "high", "far"),
    [
        ("if (time[i] < span) n += 1;", 90_000, True),
        ("sum += time[i] << span;", 90_000, False),
        ("sum += time[i] / span;", 90_000, False),
        ("int seen = time[i] * span;", 50, True),
        ("int seen = time[i] * span;", 6_000_000, False),
        ("", 90_000, False),
    ],
)
def test_what_sizes_nothing_is_far_out_where_its_original_has_room_for_it(
    text: str, high: int, far: bool
) -> None:
    work = _work(
        _array("time", f"randint:0:{high}", "n"),
        {"name": "sum", "type": "int*", "shape": "n", "role": "output"},
        {"name": "span", "type": "int", "value": "span"},
        n=400,
        span=300,
    )
    cases = [case for seed in SEEDS for case in far_cases.cases(work, seed, text)]
    assert cases
    assert (max(case["span"] for case in cases) > 300) == far


def test_cases_are_worth_it_and_no_larger_than_there_is_time_for() -> None:
    work = _times_of_death()
    for seed in SEEDS:
        cases = far_cases.cases(work, seed)
        assert len(cases) == far_cases.CASES
        assert cases == far_cases.cases(work, seed)
        assert all(cases.count(case) == 1 for case in cases)
        for case in cases:
            count = work.elements(case)
            assert far_cases.LEAST_ELEMENTS <= count <= far_cases.MOST_ELEMENTS


def test_what_is_large_as_declared_is_so_many_times_as_large_in_a_few_early_ones() -> None:
    work = _work(
        _array("start", "randint:0:1024", "n"),
        {"name": "out", "type": "int*", "shape": "n", "role": "output"},
        n=1_000_000,
    )
    farthest = []
    for seed in SEEDS:
        cases = far_cases.cases(work, seed)
        large = [at for at, one in enumerate(cases) if work.elements(one) > 1 << 21]
        assert 1 <= len(large) <= far_cases.MORE
        assert max(large) <= far_cases.AHEAD + far_cases.MORE
        assert max(work.elements(case) for case in cases) <= far_cases.MOST_OF_FEW
        farthest.append(max(case["n"] for case in cases))
    assert max(farthest) > 8_800_000


def test_contents_are_as_declared_and_others_where_there_are_whole_numbers() -> None:
    work = _times_of_death()
    kinds = [one.family for one in far_cases.asked(work, 1)]
    together = far_cases.together(work)
    drawn = [case for case in far_cases.cases(work, 1) if case not in together]
    joint, many = len(together), len(together) + len(drawn)
    assert joint > 0
    assert kinds.count(DECLARED) == many
    ends = [
        *(recipes.AT_ENDS + turn for turn in nearly_one.ends(work)),
        *(recipes.TWO_NUMBERS + turn for turn in two_numbers.turns(work)),
    ]
    first = many * (1 + far_cases.CONTENTS) + joint * len(ends)
    assert len({*kinds[:first]}) == 1 + many * far_cases.CONTENTS + len(ends)
    # And then whatever there is elsewhere, each as often as the others, none of it twice.
    rest = [recipes.number(one) or 0 for one in kinds[first:]]
    assert len(rest) == len({*rest}) == many * far_cases.ROUNDS
    assert sum(one >= recipes.NEAR_ENDS for one in rest) == -(-far_cases.ROUNDS // 3) * many
    assert sum(one < recipes.CROSSED for one in rest) == far_cases.ROUNDS // 3 * many
    floats = _work(_array("x", "normal", "n", "const float*"), n=5000)
    assert {one.family for one in far_cases.asked(floats, 1)} > {DECLARED}
    ordered = _work(_array("order", "permutation", "n"), n=9000)
    recipe = {recipes.kind(one.family) for one in far_cases.asked(ordered, 1)}
    assert recipe == {DECLARED, recipes.WORD}
    small = _work(_array("x", "normal", "n", "const float*"), n=9)
    # What chance draws of so little is asked elsewhere.
    assert {one.case["n"] for one in far_cases.asked(small, 1)} == {143.0}


def test_what_has_few_digits_has_no_rounds() -> None:
    """Where much meets sums of halves come to a halt: of `votes/lanes_in_pairs`, which is right."""
    index = _array("index", "randint:0:1000", "n")
    value = _array("value", "normal", "n", "const float*")
    counts = []
    for kind in ("float*", "half*", "__nv_bfloat16*"):
        out = {"name": "out", "type": kind, "shape": "1000", "role": "inout", "init": "zeros"}
        work = _work(index, value, out, n=50000)
        counts.append(len([*far_cases.asked(work, 1)]))
        assert piles.few_digits(work) == (kind != "float*")
    assert counts[0] > counts[1] + far_cases.ROUNDS
    assert counts[1] == counts[2] > 10


def test_of_a_case_by_itself_that_is_many_elements_there_are_few_contents() -> None:
    work = _work(_array("key", "randint:0:64", "pairs*n"), pairs=16, n=200000)
    times: dict[int, int] = {}
    for one in far_cases.asked(work, 1):
        count = sizes.elements(work, one.case)
        times[count] = times.get(count, 0) + 1
    assert max(times) > far_cases.MOST_ELEMENTS
    for count, often in times.items():
        assert (often > far_cases.ROUNDS) == (count <= far_cases.MOST_ELEMENTS)


def _made(work: Work, case: dict[str, float], turn: int) -> dict[str, npt.NDArray[np.float64]]:
    one = Combination(case, f"{recipes.WORD} {recipes.NEARLY_ONE + turn}", 3)
    arrays, found = Contents(work).of(one), {}
    for argument in work.arguments:
        if argument.name in arrays:
            field = argument.type.fields[0]
            data = values(arrays[argument.name], argument.type, field)
            found[argument.name] = to_float(data, field.scalar)
    return found


def test_arrays_are_nearly_one_number_each_and_any_of_what_there_is_at_that_size() -> None:
    work = _times_of_death()
    case = {"n": 3000.0, "genes": 5.0, "span": 8000.0}
    full = alike = marked = 0
    largest = 0.0
    for turn in range(120):
        made = _made(work, case, turn)
        time, group = made["time"], made["group"]
        assert 0 <= time.min() <= time.max() < 8000
        assert {*np.unique(group)} <= {0.0, 1.0}
        largest = max(largest, time.max())
        alike += len(np.unique(time)) == 1
        marked += len(np.unique(time)) == 1 and group.mean() > 0.9
        full += group.mean() > 0.9
    assert largest == 7999  # and not what is last in the declared case
    assert 30 < alike < 90
    assert full > 30
    assert marked > 10


def test_two_numbers_are_alike_in_their_lower_bytes_now_and_then() -> None:
    """As places of a tree are whose lower halves alone are compared."""
    work = _work(_array("up", "randint:0:n", "n"), _array("from", "randint:0:n", "q"), n=5000, q=40)
    apart = set()
    for turn in range(300):
        up = np.unique(_made(work, {"n": 79999.0, "q": 9.0}, turn)["up"]).astype(np.int64)
        apart |= {*np.diff(up).tolist()} if len(up) == 2 else set()
    assert {1 << 8, 1 << 16} <= apart


def test_what_is_added_up_has_room_and_keys_are_any_of_their_range() -> None:
    work = _work(
        _array("place", "randint:0:rows", "n"),
        _array("amount", "randint:-1000000:1000001", "n"),
        _array("rest", "randint:5000:6000", "n"),
        {"name": "sum", "type": "int*", "shape": "rows", "role": "output"},
        n=4096,
        rows=500,
    )
    case = {"n": 65536.0, "rows": 8000.0}
    seen = set()
    for turn in range(80):
        made = _made(work, case, turn)
        as_declared = len(np.unique(made["amount"])) > 2
        most = np.abs(made["amount"]).max()
        assert as_declared or most**isolated.FACTORS * 65536 <= 2 * piles.WORD
        as_declared = len(np.unique(made["rest"])) > 2
        # As near to zero as there is any.
        assert as_declared or {*made["rest"]} == {5000.0}
        seen |= {*made["place"][:1]}
    assert max(seen) > 7000


def test_what_has_an_order_stays_and_floats_are_nearly_one_number() -> None:
    work = _work(
        _array("order", "permutation", "n"),
        _array("x", "normal", "n", "const float*"),
        _array("share", "uniform", "n", "const float*"),
        _array("key", "randint:0:9", "n"),
        n=5000,
    )
    plain = Contents(work).of(Combination(work.cases[0].values, DECLARED, 3))
    few = apart = 0
    for turn in range(40):
        one = Combination(work.cases[0].values, f"{recipes.WORD} {recipes.NEARLY_ONE + turn}", 3)
        made = Contents(work).of(one)
        assert np.array_equal(made["order"], plain["order"])
        x, share = (made[name].view(np.float32) for name in ("x", "share"))
        few += len(np.unique(x)) <= 2
        apart += len(np.unique(x)) == len(np.unique(share)) == 1 and x[0] != share[0]
        assert 0 <= share.min() <= share.max() < 1
    assert few > 25
    # Pairs that are all as far from each other.
    assert apart > 2


def _games() -> Work:
    """Of a row of rolls as many frames are scored as there are."""
    return _work(
        _array("rolls", "randint:0:11", "games*n", "const uint8_t*"),
        {"name": "score", "type": "int*", "shape": "games", "role": "output"},
        {"name": "frames", "type": "int", "value": "frames"},
        games=200000,
        n=21,
        frames=10,
    )


def test_what_ends_each_other_is_far_out_together() -> None:
    text = "for (int f = 0; f < frames && at < n; ++f) at += 2;"
    case, *alone = far_cases.together(_games(), text)
    assert (case["n"], case["frames"]) == (335.0, 160.0)
    assert case["games"] < 100
    # And each size by itself.
    few = [(one["games"], one["n"]) for one in alone if one["frames"] <= 10]
    assert few == [(3199999.0, 3.0), (33.0, 335.0)]
    # Two sizes, where nothing else ends them.
    work = _work(
        _array("a", "randint:0:9", "rows*n"), _array("b", "randint:0:9", "m"), rows=900, n=60, m=40
    )
    pairs = [{k for k, v in case.items() if v > 16 * 40 - 2} for case in far_cases.together(work)]
    assert {"n", "m"} in pairs


def test_a_size_by_itself_comes_to_its_end_though_that_is_many_elements() -> None:
    """What eight blocks count of pixels that are alike is beyond 16 bits there alone."""
    pixels = [_array(name, "randint:0:64", "pairs*n", "const uint8_t*") for name in "ab"]
    work = _work(*pixels, pairs=16, n=200000)
    assert {"pairs": 3.0, "n": 16 * 200000.0 - 1} in far_cases.together(work)
    # And with a single one of others where that is as many as there is time for.
    many = _work(*pixels, _array("joint", "randint:0:9", "pairs*20000000"), pairs=16, n=200000)
    assert {"pairs": 1.0, "n": 16 * 200000.0 - 1} in far_cases.together(many)
    most = max(sizes.elements(many, case) for case in far_cases.together(many))
    assert most <= far_cases.MOST_ALONE


def cases_of(asked: list[Combination]) -> set[tuple[tuple[str, float], ...]]:
    return {tuple(one.case.items()) for one in asked}


def test_it_comes_first_and_has_all_of_an_array_at_either_end() -> None:
    work = _games()
    asked = [*far_cases.asked(work, 1, "for (int f = 0; f < frames && at < n; ++f) at += 2;")]
    assert asked[0].case["frames"] == 160.0
    rolls = [Contents(work).of(one)["rolls"] for one in asked[:2]]
    assert [{*one} for one in rolls] == [{10}, {0}]
    # And so has every such case, before any has other contents.
    other = next(at for at, one in enumerate(asked) if one.family == DECLARED)
    ends = {tuple(one.case.items()) for one in asked[:other]}
    assert len(ends) > 1
    turns = [(recipes.number(one.family) or 0) - recipes.TWO_NUMBERS for one in asked[:other]]
    assert other == 8 * len(ends)
    assert all(turns.count(one) == len(ends) for one in two_numbers.turns(work))
    # And twice each is opposite at the ends of rows alone, and then two numbers take turns.
    for one, turn in zip(asked[:other], turns, strict=True):
        made = Contents(work).of(one)["rolls"]
        if 0 <= turn < two_numbers.ENDS:
            assert 0 < np.count_nonzero(made) <= 2 * len(made) // 3 + 1
        if turn >= two_numbers.ENDS:
            often = two_numbers.PERIODS[turn - two_numbers.ENDS][0]
            assert len({*made.tolist()}) == min(2, -(-len(made) // often))
            assert np.array_equal(made[: -2 * often], made[2 * often :])
    # Behind them all contents of a case follow each other, and then come the rounds.
    every = [dict(one) for one in cases_of(asked)]
    light = sum(sizes.elements(work, one) <= far_cases.MOST_ELEMENTS for one in every)
    cases = [tuple(one.case.items()) for one in asked[other : -far_cases.ROUNDS * light]]
    changes = sum(one != another for one, another in itertools.pairwise(cases))
    assert changes == len({*cases}) - 1


def test_arrays_are_at_opposite_ends_by_turns_and_amounts_have_room() -> None:
    work = _work(
        _array("a", "randint:0:1000000000", "n"), _array("b", "randint:-9:10", "n"), n=5000
    )
    made = [
        {
            name: {*data.view(np.int32)}
            for name, data in Contents(work)
            .of(Combination({"n": 5000.0}, f"{recipes.WORD} {recipes.AT_ENDS + turn}", 1))
            .items()
        }
        for turn in nearly_one.ends(work)
    ]
    assert all(len(one) == 1 for each in made for one in each.values())
    assert len({(min(each["a"]), min(each["b"])) for each in made}) == 4
    assert max(max(each["a"]) for each in made) * 5000 < 1 << 31
