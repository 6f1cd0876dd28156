"""Arrays that lead on from each other, one step a round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, derivations, sizes, unlikely
from runners.contents import Combination, Contents
from runners.derivations import WAYS
from runners.edge_paths import MOST_LONG
from runners.families import DERIVATIONS
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Rows = npt.NDArray[Any]
Rules = list[tuple[int, int, int]]
FACTS = 29


def _array(
    name: str, init: str = "randint:0:29", shape: str = "n*m", kind: str = "const int*"
) -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _rules(n: int = 130, m: int = 40) -> Work:
    known = _array("known", f"randint:0:{1 << FACTS}", "n")
    return _work(known, _array("a"), _array("b"), _array("h"), n=n, m=m)


def _made(work: Work, turn: int = 0, dtype: Any = np.int32, **case: float) -> dict[str, Rows]:
    case = case or dict(work.cases[0].values)
    made = Contents(work).of(Combination(case, f"{DERIVATIONS} {turn}", 1))
    return {name: data.view(dtype) for name, data in made.items()}


def _all(facts: int, rules: Rules) -> int:
    return _swept(facts, rules, most=1000, back=False)


def _swept(facts: int, rules: Rules, *, most: int, back: bool) -> int:
    for turn in range(most):
        before = facts
        for a, b, h in rules[::-1] if back and turn % 2 else rules:
            facts |= (facts >> a & facts >> b & 1) << h
        if facts == before:
            break
    return facts


def _ring(start: int, rules: Rules) -> int:
    """Return what is found with sixteen places for what waits."""
    facts, ring, head, tail = start, [0] * 16, 0, 0
    for a, b, h in rules:
        facts |= (start >> a & start >> b & 1) << h
    for fact in range(FACTS):
        if (facts & ~start) >> fact & 1:
            ring[tail % 16], tail = fact, tail + 1
    while head != tail:
        fact, head = ring[head % 16], head + 1
        for a, b, h in rules:
            if fact in {a, b} and facts >> a & facts >> b & 1 and not facts >> h & 1:
                facts |= 1 << h
                ring[tail % 16], tail = h, tail + 1
    return facts


def _summed(facts: int, rules: Rules) -> int:
    """Return what is found by 32 lanes that end when the sum of what is new is zero."""
    while True:
        lanes = [0] * 32
        for at, (a, b, h) in enumerate(rules):
            lanes[at % 32] |= (facts >> a & facts >> b & 1) << h
        more = sum(one & ~facts for one in lanes) % (1 << 32)
        for one in lanes:
            facts |= one
        if not more:
            return facts


SHORTCUTS: dict[str, Callable[[int, Rules], int]] = {
    "twelve rounds": lambda facts, rules: _swept(facts, rules, most=12, back=False),
    "twenty rounds": lambda facts, rules: _swept(facts, rules, most=20, back=False),
    "fourteen sweeps": lambda facts, rules: _swept(facts, rules, most=14, back=True),
    "a ring of sixteen": _ring,
    "a sum of what is new": _summed,
}


def _cases(work: Work, family: str = "") -> Iterator[tuple[int, Rules]]:
    """Yield what is known in each row of all that is asked, and its rules."""
    for case, kind in derivations.asked(work):
        made = Contents(work).of(Combination(case, family or kind, 1))
        known, a, b, h = (made[name].view(np.int32) for name in ("known", "a", "b", "h"))
        columns = (one.reshape(len(known), -1).tolist() for one in (a, b, h))
        for start, *row in zip(known.tolist(), *columns, strict=True):
            yield start, list(zip(*row, strict=True))


@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_rules_show_each_way_to_stop_too_early(shortcut: str) -> None:
    wrong = SHORTCUTS[shortcut]
    assert any(wrong(start, rules) != _all(start, rules) for start, rules in _cases(_rules(m=17)))


@pytest.mark.parametrize("shortcut", ["twelve rounds", "fourteen sweeps"])
def test_drawn_rules_do_not(shortcut: str) -> None:
    wrong = SHORTCUTS[shortcut]
    drawn = list(_cases(_rules(), "declared"))
    assert all(wrong(start, rules) == _all(start, rules) for start, rules in drawn)


def test_the_smallest_case_and_one_with_room_for_all_numbers_twice_are_asked() -> None:
    turns = [f"{DERIVATIONS} {turn}" for turn in range(2)]
    wanted = [{"n": 130.0, "m": 17.0}, {"n": 64.0, "m": 59.0}]
    asked = [(dict(case), kind) for case, kind in derivations.asked(_rules(m=17))]
    assert asked == [(case, kind) for case in wanted for kind in turns]
    # Long enough as it is; and as long as it may be.
    assert {case["m"] for case, _ in derivations.asked(_rules(m=300))} == {300.0}
    short = _work(*(_array(name, "randint:0:999") for name in "ab"), n=99, m=20)
    assert [case["m"] for case, _ in derivations.asked(short)] == [20.0, 20.0, 320.0, 320.0]


@pytest.mark.parametrize(
    "others",
    [
        (_array("a"),),
        (_array("a"), _array("b", "randint:0:28")),
        (_array("a"), _array("b", kind="const short*")),
        (_array("a"), _array("b", shape="m*n")),
        (_array("a"), {**_array("b", kind="int*"), "role": "inout"}),
        (_array("a", "randint:0:7"), _array("b", "randint:0:7")),
        (_array("a", "randint:0:99999999"), _array("b", "randint:0:99999999")),
    ],
)
def test_what_is_not_alike_or_is_no_place_does_not_lead_on(others: tuple[dict[str, Any]]) -> None:
    assert not [*derivations.asked(_work(*others, n=130, m=40))]


def _rows(turn: int) -> dict[str, Rows]:
    return {n: d.reshape(130, -1) for n, d in _made(_rules(), turn).items() if n != "known"}


def test_one_leads_on_from_all_others_and_another_one_in_the_next_turn() -> None:
    for turn, ahead, behind in ((1, "a", "bh"), (0, "h", "ab")):
        made = _rows(turn)
        assert (made[behind[0]] == made[behind[1]]).all()
        path = [at for at, (kind, _) in enumerate(WAYS) if kind == "path"]
        for at in path:
            rows = made[behind[0]][at :: len(WAYS)], made[ahead][at :: len(WAYS)]
            assert (rows[0] + 1 == rows[1]).all()
            assert ({*np.unique(rows[0])}, {*np.unique(rows[1])}) == ({*range(28)}, {*range(1, 29)})
    reversed_, both, own = (
        _rows(0)["b"][WAYS.index(("path", o))] for o in ("reversed", "both ends", "own")
    )
    assert reversed_[:28].tolist() == [*range(27, -1, -1)]
    assert both[:28].tolist() == [*range(1, 28, 2), *range(26, -1, -2)]
    assert own.tolist() == [*range(28), *[27] * 12]


def test_what_is_known_is_little_in_most_rows() -> None:
    known = _made(_rules())["known"]
    few = np.isin(known, [0, 1, 2])
    assert (known[: len(WAYS)] == 1).all()
    assert 0.7 < few.mean() < 0.95
    assert {0, 1, 2} <= {*known.tolist()}


def test_an_array_without_rows_is_one_row_and_each_turn_is_asked() -> None:
    ends = [_array(name, "randint:0:1000", "m") for name in ("from", "to")]
    work = _work(*ends, _array("weight", "randint:1:100", "m"), n=1000, m=90000)
    asked = [*derivations.asked(work)]
    assert len(asked) == 2 * derivations.MOST_TURNS
    assert {case["m"] for case, _ in asked} == {float(2 * MOST_LONG + 1)}
    for turn, (case, _) in enumerate(asked):
        made = _made(work, turn, **case)
        first, last = (made[name] for name in (("from", "to") if turn % 2 == 0 else ("to", "from")))
        found = {0}
        for _ in range(1000):
            more = found | {*last[np.isin(first, [*found])].tolist()}
            if more == found:
                break
            found = more
        assert found == {*range(1000)}
        assert {*made["weight"].tolist()} == {1 + (turn % 2 == 0)}


@pytest.mark.parametrize(("kind", "shape"), [("const int*", "n*m*3"), ("const int3*", "n*m")])
def test_records_are_like_as_many_arrays(kind: str, shape: str) -> None:
    work = _work(_array("rule", shape=shape, kind=kind), n=130, m=40)
    arrays = _made(_rules())
    made = _made(work)["rule"].reshape(-1, 3)
    # Shuffled links are shuffled otherwise.
    at = np.arange(130) % len(WAYS)
    same = ~np.isin(at, [i for i, (_, order) in enumerate(WAYS) if order == "shuffled"])
    for lane, name in enumerate("abh"):
        own = made[:, lane].reshape(130, 40), arrays[name].reshape(130, 40)
        assert (own[0][same] == own[1][same]).all()
    assert [*derivations.asked(work)]


def test_numbers_stay_within_their_range_and_few_of_them_are_alike() -> None:
    pair = [_array(name, "randint:-40:-3", "n*m") for name in "ab"]
    work = _work(
        *pair, _array("c", "randint:5:6", "n"), _array("d", "randint:-9:9", "n"), n=9, m=50
    )
    for case, kind in derivations.asked(work):
        made = _made(work, int(kind.split()[1]), **case)
        assert all(-40 <= made[name].min() < made[name].max() < -3 for name in "ab")
        assert {*made["c"].tolist()} == {5}
        assert made["d"].min() >= -9
    many = _work(*(_array(name, shape="n*m") for name in "ab"), n=2000, m=100)
    made = _made(many)
    assert np.bincount(made["a"])[27] < HOT + 9000


def test_the_original_has_little_time_for_all_of_them() -> None:
    now, families = [0.0], [f"{DERIVATIONS} {turn}" for turn in range(3)]
    watch = capacities.Watch(lambda: now[0])
    every = [Combination({"n": 9.0}, family, 1) for family in families]
    assert [watch.objection(one) for one in every] == ["", "", ""]
    now[0] = 2 * capacities.DERIVATION_SECONDS
    assert all(watch.objection(one) for one in every)
    assert not watch.objection(Combination({"n": 9.0}, "mostly", 1))


def test_where_floats_go_in_nothing_is_asked() -> None:
    work = _work(_array("a"), _array("b"), _array("x", "normal", kind="const float*"), n=130, m=40)
    assert not [*unlikely.combinations(work, 1)]


def test_some_originals_of_the_red_team_are_asked_in_a_confirmation() -> None:
    work = once_read.parsed("emd/base").work
    extra = once_read.combinations(work, "confirm", 1)[1]
    asked = [one for one in extra if one.family.startswith(DERIVATIONS)]
    assert len(asked) == 4
    assert all(sizes.elements(work, one.case) <= derivations.MOST_ELEMENTS for one in asked)
    screened = once_read.combinations(work, "screen", 1)[1]
    assert not [one for one in screened if one.family.startswith(DERIVATIONS)]
