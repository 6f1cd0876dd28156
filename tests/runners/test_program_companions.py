"""Which numbers of a command line are changed beside a size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runners import program_named, program_sums
from runners.program_arguments import Place
from runners.program_companions import Known, Numbers
from runners.program_growth import Work
from runners.program_jointly import Plan
from tests.redteam import table

NOWHERE = Path("nowhere")
BOUNDS = 4.5, float(8 << 30)
CASES = Path(table.HERE) / "cases"


def work(us: float = 1600.0, size: int = 1 << 20) -> Work:
    return Work(0.5, us, size, {"bytes": float(size), "buffer 0 of 1": float(size)})


def size(*, repeats: bool = False) -> Known:
    return Known(size=True, more=(work(4000.0), 2.5), repeats=repeats)


def other() -> Known:
    return Known(size=False, more=(work(), 2.5))


def numbers(base: str, runs: Sequence[Sequence[str]], known: Sequence[Known]) -> Numbers:
    """Return the numbers of a program of the cases, its first run the largest."""
    places = [
        Place(0, word, int(runs[0][word]), max(int(run[word]) for run in runs))
        for word in range(len(known))
    ]
    text = (CASES / base / "base.cu").read_text() if base else "int main() { return 0; }"
    kept = [tuple(run) for run in runs]
    return Numbers(text, kept, NOWHERE, dict(zip(places, known, strict=True)))


def farthest(mine: Numbers, *, spared: bool) -> list[str]:
    """Return the words of the line that all sizes and what is beside them come to."""
    few = mine.spared(0) if spared else ()
    least = {place for place, _ in few}
    sizes = [one for one in mine.sizes(0) if one.place not in least]
    plan = Plan(mine.source, mine.runs[0], (*sizes, *mine.companions(0)), work(), few)
    near = next(iter(plan.near({})))
    words = list(mine.runs[0])
    for place, number in plan.far(near, work(6400.0), BOUNDS)[0]:
        words[place.word] = str(number)
    return words


TRAFFIC = ("64", "400", "2000", "300", "7"), ("5", "33", "120", "40", "3")


def test_a_road_grows_with_its_cars_and_the_steps_are_few() -> None:
    """A reciprocal of 32 bits is wrong where roads, cars and cells are large together alone."""
    known = [size(), size(), other(), size(repeats=True)]
    mine = numbers("traffic", TRAFFIC, known)
    assert farthest(mine, spared=True) == ["1023", "6399", "31999", "40", "7"]
    assert farthest(mine, spared=False) == ["1023", "6399", "31999", "4799", "7"]
    cars, inverse = 6399, ((1 << 32) + 6398) // 6399
    assert any(((road + 1) * cars - 1) * inverse >> 32 != road for road in range(1023))


def test_a_length_grows_with_what_is_summed_up_and_few_chains_stay_few() -> None:
    runs = ("200000", "3", "900", "7"), ("4001", "40", "50", "11"), ("33", "1", "9", "2")
    mine = numbers("unravel", runs, [size(), other(), other()])
    words = farthest(mine, spared=True)
    assert words == ["3199999", "3", "14399", "7"]
    assert 3199999 // 3 * 14399 // 2 > 1 << 31
    assert not program_sums.open_sums(mine.source)


def test_seeds_modes_and_numbers_as_large_as_no_float_are_no_companions() -> None:
    known = [size(), other(), other(), other()]
    mine = numbers("", [["1000", "40", str(1 << 25), "5000"]], known)
    assert [one.place.word for one in mine.companions(0)] == [3]
    text = (
        "int main(int c, char** v) { int n = atoi(v[1]); srand(atoi(v[2])); int %s = atoi(v[2]); }"
    )
    for name, found in (("seed", []), ("length", [1])):
        mine = numbers("", [["1000", "5000"]], [size(), other()])
        mine = Numbers(text % name, mine.runs, NOWHERE, mine.known)
        assert [one.place.word for one in mine.companions(0)] == found


def test_a_number_that_the_original_never_took_larger_is_no_companion() -> None:
    assert not numbers("", [["1000", "5000"]], [size(), Known(size=None)]).companions(0)
    assert not numbers("", [["1000", "5000"]], [size(), Known(size=False)]).companions(0)


def test_a_product_of_both_that_the_original_leaves_open_is_not_tried() -> None:
    text = "int main(int c, char** v) { int n = atoi(v[1]), m = atoi(v[2]); f(%sn * m); }"
    for cast, fine in (("", False), ("(size_t)", True)):
        mine = numbers("", [["60000", "5000"]], [size(), other()])
        mine = Numbers(text % cast, mine.runs, NOWHERE, mine.known)
        one, two = mine.known
        assert mine.defined(((one, 959999), (two, 79999))) is fine
        assert mine.defined(((one, 60001), (two, 5001)))


def test_steps_in_the_least_run_are_what_they_are() -> None:
    mine = numbers("traffic", TRAFFIC[:1], [size(), size(), other(), size(repeats=True)])
    assert mine.spared(0) == ()
    mine = numbers("traffic", TRAFFIC, [size(), size(), other(), size(repeats=True)])
    ((place, number),) = mine.spared(0)
    assert (place.word, number) == (3, 40)
    assert mine.spared(0, place) == ()


def test_what_a_candidates_own_text_names_is_told() -> None:
    base, ring, inverse = (
        (CASES / "traffic" / f"{name}.cu").read_text() for name in ("base", "whole_ring", "inverse")
    )
    assert program_named.beyond(ring, base, 401, 6400)[-1] == 641
    assert 641 not in program_named.beyond(ring, base, 1001, 6400)
    assert not program_named.beyond(base, base, 1, 1 << 20)
    assert program_named.words(inverse, base)
    assert not program_named.words(ring, base)
    assert not program_named.words(base, inverse)
    assert program_named.words("x = __umulhi(a, b);", base)
    for one in ("", "(" * 300_000, '"', "1 <<"):
        assert program_named.beyond(one, base, 1, 9) == ()
        assert not program_named.words(one, base)


def test_a_quotient_comes_from_what_is_left_of_what_it_is_of() -> None:
    text = (CASES / "traffic" / "base.cu").read_text()
    mine = Numbers(text, [TRAFFIC[0]], NOWHERE, {Place(0, 1, 400, 400): size()})
    roads, cars = Place(0, 0, 64, 64), Place(0, 1, 400, 400)
    assert mine.defined(((roads, 1023), (cars, 6399)))
    assert not mine.defined(((roads, 1023 << 10), (cars, 6399)))
