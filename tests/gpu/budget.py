"""How the GPU suite spends its seconds: what each part is expected to take, and what it tries of many.

By the times of single tests on an H200 with 16 cores, alone on its host (2026-11-28, `scripts/gpu-test --seed
23`), and of those that had no time there on another, busy one the day before. Run as it is planned here the same
day on another of these (driver 580.159.04): 440 s, of which attacks took 137, verdicts 141, programs 94, what is
alone 119 and the red team 180.

| part | what runs without `--all` | seconds |
| --- | --- | ---: |
| attacks | each attack once, through an entry function or a program | 120 s |
| verdicts | a good and a bad one of every kernel, host code that knows the time, shared memory | 125 s |
| programs | a quarter of the programs' variants and of the broken projects, captures, plain builds | 100 s |
| alone | one of each kind that is timed, takes all memory, or hangs the GPU | 140 s |
| red team | a bad one of every usual class, good ones, then rarer classes as time goes | 140 s |

Which one of several it is turns with the seed: over a few seeds all have had their turn. The red team comes
last and takes what is left: it is judged by itself elsewhere, and what the others need is never cut.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

EXPECTED = {"attacks": 120, "verdicts": 125, "programs": 100, "alone": 140, "red team": 140}
# What may have to do with less than it is expected to take, and the seconds that are kept for it.
YIELDS = {"red team": 60}
MOST_SECONDS = 480
# What is kept for later parts beyond what they are expected to take, as long as there is so much.
MARGIN = 0.15
# The red team chooses what is expected to take so much of its time: the estimates are that good.
CHOSEN = 0.55
# A candidate of the red team that is begun just in time may take this long: a confirmation's mean.
LAST_CANDIDATE = 38.0
# What a test is skipped with that the time did not suffice for.
LEFT_OUT = "left out: the time of this part is over"
BEGUN = time.monotonic()
Parameters = Mapping[str, Any]


def _attack(chosen: Parameters) -> object:
    attack = chosen["attack"]
    return (attack.kind.value == "kernel", attack.name)


# By a test's name: tests of which one is enough have the same key.
_ALIKE: dict[str, Callable[[Parameters], object]] = {
    "test_an_attack_is_its_candidates_verdict_and_nothing_else": _attack,
    "test_counters_are_read_inside_the_sandbox": lambda _: "any",
    "test_right_candidates_are_accepted": lambda chosen: chosen["family"].name,
    "test_wrong_candidates_are_refused": lambda chosen: chosen["family"].name,
    "test_a_kernel_does_not_beat_itself": lambda _: "any",
    "test_energy_is_read_beside_the_times_or_a_reason_given": lambda _: "any",
    "test_a_broken_program_gets_one_message": lambda _: "any",
    "test_a_template_kernels_launches_are_captured_with_their_results": lambda _: "any",
    "test_streams_managed_and_pooled_memory_are_captured": lambda _: "any",
    "test_an_entry_function_that_keeps_more_at_each_call_is_refused": lambda _: "any",
    "test_what_has_to_be_aligned_is_said_of_a_finalist": lambda _: "any",
    "test_host_code_that_knows_the_time_is_right_at_any": lambda chosen: chosen["status"],
    "test_lines_that_nothing_came_to_are_told_of_a_finalist": lambda _: "any",
}
# Tests of which one is enough: each is a confirmation of its own.
_ONE_OF = (
    (
        "test_a_kernel_of_more_than_a_tenth_of_a_second",
        "test_a_function_that_allocates",
        "test_a_kernel_whose_time_varies_wildly",
    ),
)
# What is many and takes seconds each: one in so many, another with the next seed.
_IN_TURNS = {
    "test_each_variant_gets_its_verdict": 4,
    "test_a_broken_project_gets_one_message_and_its_exit_code": 4,
}


def sampled(tests: Iterable[tuple[str, Parameters]], seed: int) -> list[bool]:
    """Tell of each test (function's name, parameters) whether a run of limited time has it.

    Of those alike the one whose turn it is, every fourth of what is many; all others.
    """
    every = list(tests)
    keep = [True] * len(every)
    alike: dict[tuple[str, object], list[int]] = defaultdict(list)
    for place, (name, chosen) in enumerate(every):
        key = _ALIKE.get(name)
        if key is not None and chosen:
            alike[name, key(chosen)].append(place)
        for number, names in enumerate(_ONE_OF):
            if name in names:
                alike["one of", number].append(place)
    for turn, group in enumerate(alike.values()):
        for place in group:
            keep[place] = place == group[(seed + turn) % len(group)]
    for many, turns in _IN_TURNS.items():
        places = [place for place, (name, _) in enumerate(every) if name == many]
        for turn, place in enumerate(places):
            keep[place] = (turn + seed) % turns == 0
    return keep


def _longest(parts: Sequence[str]) -> int:
    return max(EXPECTED[part] for part in parts)


def _kept(parts: Sequence[str]) -> int:
    """Return the seconds that earlier turns leave: less for what yields."""
    return max(min(EXPECTED[part], YIELDS.get(part, EXPECTED[part])) for part in parts)


def ends(turns: Sequence[Sequence[str]], most: float) -> list[float]:
    """Return the seconds after the start by which each turn has to end; parts of one run side by side.

    What one does not need is the next one's, and an early one may take what is to spare: for those
    behind it what they are expected to take is kept, and a margin; of what yields, less. With too
    little all have less.
    """
    needed = [_longest(parts) for parts in turns]
    spare = most - sum(needed)
    if spare <= 0:
        return [most * done / sum(needed) for done in itertools.accumulate(needed)]
    kept = [_kept(parts) for parts in turns]
    later = [sum(kept[place + 1 :]) for place in range(len(needed))]
    return [most - seconds - min(MARGIN * seconds, spare / 2) for seconds in later]


def forecast(turns: Sequence[Sequence[str]], most: float) -> str:
    """Return the table that the suite begins with, and a warning where it will not fit."""
    lines = ["expected (an estimate from recorded runs on an H200):"]
    for parts in turns:
        lines += [
            f"  {part:10} {EXPECTED[part]:5} s{' side by side' if len(parts) > 1 else ''}"
            for part in parts
        ]
    whole = sum(map(_longest, turns))
    lines.append(f"  {'together':10} {whole:5} s of {most:.0f} s")
    if whole > most:
        lines.append(
            f"  THIS WILL RUN OVER: {whole - most:.0f} s of it will be left out; see --most"
        )
    return "\n".join(lines)
