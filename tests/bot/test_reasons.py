"""Of all the counters that move, those are told that explain the speedup."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from bot import wording
from bot.comment import compose
from bot.interfaces import Change, Reviewed
from bot.outcome import Outcome, summarize, worst_error
from bot.reasons import prices, reasons
from optimizer import counters
from optimizer.model import Check, Status, Step, Trajectory, Verdict
from tests.bot import synthetic

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
BASE = {counters.INSTRUCTIONS: 1e7, STALL.format("long_scoreboard"): 20.0}


def outcome(before: Mapping[str, float], after: Mapping[str, float]) -> Outcome:
    """Return a win whose original and winner have these counters."""
    found = synthetic.trajectory(0)

    def counted(step: Step) -> Step:
        if step.number not in {0, found.winner}:
            return step
        mine = before if step.number == 0 else after
        named = {f"transpose/{name}": value for name, value in mine.items()}
        return dataclasses.replace(step, verdict=dataclasses.replace(step.verdict, counters=named))

    return summarize(dataclasses.replace(found, steps=tuple(map(counted, found.steps))))


def told(before: dict[str, float], after: dict[str, float]) -> list[str]:
    return [one.metric for one in reasons(outcome(BASE | before, BASE | after))]


def test_a_stall_that_rose_from_next_to_nothing_is_no_reason() -> None:
    name = STALL.format("lg_throttle")
    assert told({name: 0.0006}, {name: 1.12}) == []
    assert told({name: 0.0}, {name: 1.12}) == []


def test_a_stall_that_fell_is_a_reason_only_where_it_was_much_of_the_waiting() -> None:
    small, large = STALL.format("misc"), STALL.format("lg_throttle")
    assert told({small: 0.26}, {small: 0.0001}) == []
    assert told({large: 15.0}, {large: 0.1}) == [large]


def test_less_waiting_per_instruction_of_many_more_instructions_is_no_reason() -> None:
    name = STALL.format("lg_throttle")
    after = {name: 10.0, counters.INSTRUCTIONS: 2e7}
    assert told({name: 15.0}, after) == []


def test_what_moved_the_wrong_way_is_no_reason_but_may_be_a_price() -> None:
    before = {counters.L1_HIT_PCT: 90.0, counters.OCCUPANCY_PCT: 92.0}
    after = {counters.L1_HIT_PCT: 4.0, counters.OCCUPANCY_PCT: 24.0}
    assert told(before, after) == []
    bought = prices(outcome(BASE | before, BASE | after))
    assert [one.metric for one in bought] == [counters.OCCUPANCY_PCT]


def test_what_is_a_small_part_of_the_work_is_no_reason() -> None:
    halves = counters.FP16_FMA
    assert told({halves: 10e6}, {halves: 0.0}) == []
    assert told({halves: 160e6}, {halves: 0.0}) == [halves]
    read, write = counters.DRAM_READ_BYTES, counters.DRAM_WRITE_BYTES
    assert told({read: 1e9, write: 1e6}, {read: 1e9, write: 1e3}) == []
    assert told({counters.TENSOR_PCT: 0.0}, {counters.TENSOR_PCT: 2.8}) == []


def test_sectors_are_told_once_as_people_know_their_ideal() -> None:
    before = {counters.LOAD_SECTORS: 32e6, counters.LOAD_REQUESTS: 1e6}
    after = {counters.LOAD_SECTORS: 4e6, counters.LOAD_REQUESTS: 1e6}
    assert told(before, after) == [wording.SECTORS_PER_LOAD]


def composed(found: Trajectory) -> str:
    change = Change(found.baseline.kernel, found.workload)
    text = compose([Reviewed(change, found)]).markdown
    assert text is not None
    return text


def test_where_no_counter_explains_it_the_edits_say_what_they_were_made_for() -> None:
    same = outcome(BASE, BASE).trajectory
    assert "No counter moved that would explain it; this is what the edits" in composed(same)
    none = outcome({}, {}).trajectory
    assert "No hardware counters were read; this is what the edits" in composed(none)


def test_candidates_that_a_recording_has_not_are_not_counted_as_tried() -> None:
    found = synthetic.trajectory(6)
    unknown = Verdict(Status.NOT_RECORDED, log="the recording holds no such candidate")
    last = found.steps[-1]
    assert last.number != found.winner
    steps = (*found.steps[:-1], dataclasses.replace(last, verdict=unknown))
    replayed = dataclasses.replace(found, steps=steps)
    assert (summarize(replayed).tried, summarize(replayed).unrecorded) == (8, 1)
    assert "Search tree: 8 candidates; 1 more is not in the recording" in composed(replayed)


def test_the_largest_error_is_of_a_result_and_not_of_a_time() -> None:
    checks = (
        Check("families", "normal", passed=True, error=1e-6, bound=1e-5),
        Check("plausibility", "n=7: cycles fell with the time", passed=True, error=19.0, bound=20),
    )
    worst = worst_error(checks)
    assert worst is not None
    assert worst.what == "normal"
