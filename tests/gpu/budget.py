"""How the GPU suite spends its seconds: what each part is expected to take, and what it tries of many.

Run as a whole on one H200 with 16 cores (2026-11-21, `scripts/gpu-test --seed 3`) it took 436 s and left
nothing out: 124, 91, 112, 33 and 199 s. Of the last, 110 s were one test that hung for a reason since
mended. With parts one after the other and nothing compiled ahead, 17 tests had had no time in 447 s.

| part | what runs without `--all` | seconds |
| --- | --- | ---: |
| red team | a bad one of every usual class, good ones, then rarer classes as time goes | 140 s |
| attacks | each attack once, through an entry function or a program | 95 s |
| verdicts | a good and a bad one of every kernel, a quarter of the programs' variants, captures | 115 s |
| bad input | a quarter of the broken projects, one broken program | 40 s |
| alone | one of each kind that is timed, takes all memory, or hangs the GPU | 125 s |

Which one of several it is turns with the seed: over a few seeds all have had their turn.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

EXPECTED = {"red team": 140, "attacks": 95, "verdicts": 115, "bad input": 40, "alone": 125}
MOST_SECONDS = 480
# What is kept for later parts beyond what they are expected to take, as long as there is so much.
MARGIN = 0.15
# The red team chooses what is expected to take so much of its time: the estimates are that good.
CHOSEN = 0.55
# A candidate of the red team that is begun just in time may take this long.
LAST_CANDIDATE = 30.0
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
}
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


def ends(turns: Sequence[Sequence[str]], most: float) -> list[float]:
    """Return the seconds after the start by which each turn has to end; parts of one run side by side.

    What one does not need is the next one's, and an early one may take what is to spare: for those
    behind it what they are expected to take is kept, and a margin. With too little all have less.
    """
    needed = [_longest(parts) for parts in turns]
    spare = most - sum(needed)
    if spare <= 0:
        return [most * done / sum(needed) for done in itertools.accumulate(needed)]
    later = [sum(needed[place + 1 :]) for place in range(len(needed))]
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
