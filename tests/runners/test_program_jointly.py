"""How far several sizes of a program are taken together."""

from __future__ import annotations

from pathlib import Path

from runners import program_jointly
from runners.program_arguments import Place
from runners.program_growth import Work, likely, together
from runners.program_jointly import Plan, Size
from tests.redteam import table

WIDE = "int main(int c, char** v) { int n = atoi(v[1]), m = atoi(v[2]), k = atoi(v[3]); }"
BOUNDS = 4.5, float(8 << 30)


def work(seconds: float = 0.5, us: float = 1000.0, size: int = 1 << 20) -> Work:
    return Work(seconds, us, size, {"bytes": float(size), "buffer 0 of 1": float(size)})


def size(word: int, largest: int, busy: float = 2.5, end: int = 2**31 - 1) -> Size:
    return Size(Place(0, word, largest, largest), work(us=1000.0 * busy), 2.5, end=end)


def plan(*sizes: Size, source: str = WIDE) -> Plan:
    words = tuple(str(one.place.value) for one in sizes)
    return Plan(source, words, sizes, work())


def test_all_of_them_are_sixteen_times_as_large_where_that_is_short() -> None:
    mine = plan(size(0, 100), size(1, 200), size(2, 300))
    (near,) = mine.near({})
    assert [number for _, number in near.changes] == [400, 800, 1200]
    (far, least) = mine.far(near, work(us=4000.0), BOUNDS)
    assert [number for _, number in far] == [1599, 3199, 4799]
    assert [number for _, number in least] == [399, 799, 1199]


def test_one_size_alone_is_asked_elsewhere() -> None:
    assert not list(plan(size(0, 100)).near({}))


def test_they_are_less_large_where_that_takes_long_or_much_memory() -> None:
    mine = plan(size(0, 100), size(1, 200))
    (near,) = mine.near({})
    slow = mine.far(near, work(us=12 * 16000.0), BOUNDS)
    assert [number for _, number in slow[0]] == [799, 1599]
    full = mine.far(near, work(size=1 << 29), BOUNDS)
    assert [number for _, number in full[0]] == [599, 1199]
    assert not mine.far(near, work(seconds=9.0), BOUNDS)


def test_what_is_likely_to_take_long_four_times_as_large_is_tried_at_twice() -> None:
    """And not at all where that is too long."""
    (near,) = plan(size(0, 100, busy=60.0), size(1, 100, busy=60.0)).near({})
    assert near.times == 2
    assert not list(plan(*(size(word, 100, busy=900.0) for word in range(2))).near({}))


def test_a_size_is_no_larger_than_the_text_lets_it_be() -> None:
    mine = plan(size(0, 100, end=1000), size(1, 200))
    (near,) = mine.near({})
    (far, _) = mine.far(near, work(us=4000.0), BOUNDS)
    assert [number for _, number in far] == [1000, 3199]


def test_two_that_pass_a_word_are_tried_alone_where_all_are_not_that_far() -> None:
    mine = plan(size(0, 40000), size(1, 500), size(2, 64))
    every, pair = mine.near({})
    assert len(every.changes) == 3
    assert [(place.word, number) for place, number in pair.changes] == [(0, 160000), (1, 2000)]
    # Not where all of them passed it.
    assert len(list(mine.near({0: 639999, 1: 7999, 2: 1023}))) == 1
    assert len(list(mine.near({0: 159999, 1: 1999, 2: 255}))) == 2


def test_a_product_that_the_original_leaves_open_is_not_tried() -> None:
    source = WIDE.replace("}", "f(n * m); }")
    mine = plan(size(0, 40000), size(1, 500), source=source)
    (near,) = mine.near({})
    (far, _) = mine.far(near, work(us=4000.0), BOUNDS)
    assert [number for _, number in far] == [319999, 3999]


def test_a_walk_as_people_write_it() -> None:
    """Walkers by steps pass 32 bits at sixteen times of each."""
    text = (Path(table.HERE) / "cases" / "mazewalk" / "base.cu").read_text()
    sizes = [size(word, number) for word, number in enumerate((96, 64, 40000, 500))]
    mine = Plan(text, ("96", "64", "40000", "500", "11"), tuple(sizes), work())
    near = next(mine.near({}))
    (far, _) = mine.far(near, work(us=23000.0), BOUNDS)
    numbers = [number for _, number in far]
    assert numbers == [1535, 1023, 639999, 7999]
    assert numbers[2] * numbers[3] > program_jointly.WORDS[0]


def test_what_the_host_takes_longer_is_seen_through_chance() -> None:
    """Of two processes alike one may take longer; twice as long is none of that."""
    less = work(seconds=1.5)
    assert together(less, work(seconds=2.2, us=4000.0), 4.0, 16.0)[0] < 2.0
    assert together(less, work(seconds=3.5, us=4000.0), 4.0, 16.0)[0] > 6.0
    other = work(seconds=3.5), 2.5
    assert likely(less, [other, other], 4.0)[0] > likely(less, [other], 4.0)[0] > 3.0
    assert likely(less, [(work(seconds=2.2), 2.5)], 4.0)[0] < 1.6
