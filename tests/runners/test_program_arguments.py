"""Which numbers of command lines are tried at others, and which lines come of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import program_arguments
from runners.program_arguments import MOST_PLACES, TIMES, Place, line, places

NOWHERE = Path("/nonexistent")


def values(*runs: list[str]) -> list[int]:
    return [one.value for one in places(runs, NOWHERE)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["64"], [64]),
        (["--n=64", "-m32", "k=8"], [64, 32, 8]),
        (["-n", "64", "--steps", "9"], [64, 9]),
        (["007", "1e6", "-3", "3.5", "10M", "4x4", "abc", ""], []),
        (["--device", "1", "64"], [64]),
        (["-d", "2", "--gpu=3", "-d4", "--device-id", "5"], []),
        (["--size", "10", "--seed", "5000"], [10, 5000]),
    ],
)
def test_numbers_are_words_of_digits_that_name_no_device(
    words: list[str], found: list[int]
) -> None:
    assert values(words) == found


def test_what_a_file_is_called_is_no_number(tmp_path: Path) -> None:
    (tmp_path / "64").touch()
    assert [one.value for one in places([["64", "--n=64", "32"]], tmp_path)] == [32]


def test_a_seed_is_last_and_no_size() -> None:
    seed, size = (values(["--seed", "900", "5"]), places([["--seed", "900", "5"]], NOWHERE))
    assert seed == [5, 900]
    assert [one.size for one in size] == [True, False]


def test_of_runs_that_differ_in_numbers_alone_those_of_the_largest_are_tried() -> None:
    found = places([["10", "70"], ["a", "5"], ["3000", "12"]], NOWHERE)
    assert [(one.run, one.value, one.largest) for one in found] == [
        (2, 3000, 3000), (1, 5, 5), (2, 12, 70),
    ]  # fmt: skip


def test_a_number_is_never_beyond_what_its_type_holds() -> None:
    top = Place(0, 0, 2**31 - 1, 2**31 - 1)
    assert (top.larger(), top.far(TIMES)) == ((), ())
    assert all(n < 2**63 for n in Place(0, 0, 10**18, 10**18).far(TIMES))


def test_primes_are_found_as_by_trial() -> None:
    trial = [n for n in range(2000) if n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))]
    assert [n for n in range(2000) if program_arguments._prime(n)] == trial
    assert not program_arguments._prime(3215031751)  # a strong pseudoprime to 2, 3, 5 and 7


NUMBERS = st.integers(0, 10**18 - 1).map(str)
WORDS = st.one_of(
    NUMBERS,
    st.tuples(st.sampled_from(["--n=", "-n", "-", "n=", "--gpu=", "-d"]), NUMBERS).map("".join),
    st.sampled_from(["--device", "-d", "--seed", "-s", "", "=", "--", "٣"]),
    st.text(max_size=6),
)
RUNS = st.lists(st.lists(WORDS, max_size=5), max_size=4)


@given(RUNS, st.integers(1, TIMES), st.integers(1, 4))
def test_lines_are_few_and_never_declared(runs: list[list[str]], times: int, by: int) -> None:
    runs = [[word.replace("\0", "") for word in run] for run in runs]
    found = places(runs, NOWHERE)
    assert len(found) <= MOST_PLACES
    for place in found:
        assert runs[place.run][place.word] == f"{place.before}{place.value}"
        far, larger = place.far(times), place.larger()
        assert len(far) <= 2
        assert len(larger) <= 3
        assert all(number <= times * place.largest for number in far)
        below = place.below()
        assert below is None or 1 < below < place.value
        numbers = [*far, *larger, place.more(by), *([] if below is None else [below])]
        for number in numbers:
            made = line(runs, [(place, number)])
            if made is None:
                continue
            assert list(made.arguments) not in runs
            changed = [n for n, w in enumerate(made.arguments) if w != runs[place.run][n]]
            assert changed == [place.word]
            assert made.times >= 1
