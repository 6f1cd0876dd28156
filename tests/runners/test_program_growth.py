"""When a number on a command line is a size, and how far it may be taken."""

from __future__ import annotations

import pytest

from runners.program_growth import Work, grows, predicted, steep, stepped


def work(seconds: float = 1.0, us: float = 0.0, peak: int = 100, **parts: float) -> Work:
    return Work(seconds, us, peak, {"bytes": 100.0, **parts})


@pytest.mark.parametrize(
    ("more", "size"),
    [
        (work(), False),
        (work(launches=25.0), True),
        (work(launches=11.0), False),
        (work(blocks=4.0), False),  # fewer of them, as of larger ones
        (work(another=50.0), False),  # what was not there before has no size to grow from
        (work(us=2500.0), True),
        (work(us=1010.0), False),
    ],
)
def test_a_number_is_a_size_where_more_of_it_is_more_work(more: Work, size: bool) -> None:
    assert grows(work(us=1000.0, launches=10.0, blocks=8.0), more, 2.5) is size


def test_one_more_of_a_size_is_told_by_bytes_and_not_by_time() -> None:
    less = work(us=1000.0, buffer=4000.0)
    assert grows(less, work(us=1000.0, buffer=4004.0), 1.001)
    assert not grows(less, work(us=1900.0, buffer=4000.0), 1.001)


def test_a_number_is_steep_where_one_more_multiplies_the_work() -> None:
    assert steep(work(us=500.0), work(us=1000.0))
    assert not steep(work(us=1.0), work(us=90.0))  # noise
    assert not steep(work(seconds=0.2), work(seconds=0.9))
    assert steep(work(), Work(1.0, 0.0, 200, {"bytes": 200.0}))


def test_what_a_busy_host_takes_longer_by_chance_is_no_growth() -> None:
    """Two starts of the same program, beside seven other judges; its kernels tell what is more."""
    less = Work(4.6, 300.0, 1000, {"bytes": 1000.0})
    more = Work(5.9, 900.0, 2500, {"bytes": 2500.0})
    assert predicted(less, more, 2.5, 16.0)[0] < 4.7
    assert stepped(less, more, 4)[0] < 4.7
    assert predicted(more, less, 2.5, 16.0)[0] == 5.9
    long = Work(5.9, 300_900.0, 2500, {"bytes": 2500.0})
    assert predicted(less, long, 2.5, 16.0)[0] > 100.0


def test_what_grows_with_the_square_is_taken_to_go_on_so() -> None:
    less = Work(0.5, 1000.0, 1000, {"bytes": 1000.0})
    more = Work(0.9, 4000.0, 2000, {"bytes": 2000.0})
    seconds, size = predicted(less, more, 2.0, 16.0)
    # 0.4 s more, of which 0.003 s in kernels and 0.3 s may be chance.
    assert seconds == pytest.approx(0.5 + 0.1 * 255 / 3)
    assert size == pytest.approx(1000 + 1000 * 255 / 3)
    assert stepped(less, more, 2)[0] == pytest.approx(0.5 + 0.1 * 15 / 3)
