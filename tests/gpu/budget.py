"""How the GPU suite spends its seconds: what each part is expected to take, and what it tries of many.

Expected on one H200 with 16 cores, by recorded runs of the red team, the attacks and the timing tests
on hosts whose other GPUs were busy, and by counting for the rest. **An estimate**: the suite as a whole
has not been timed like this.

| part | what runs without `--all` | estimate |
| --- | --- | ---: |
| red team | a bad one of every class, a good one of every base, all cheap ones | 130 s |
| attacks | each attack once, through an entry function or a program | 115 s |
| verdicts | a good and a bad one of every kernel, a quarter of the programs' variants, captures | 90 s |
| bad input | all broken projects, one broken program | 35 s |
| alone | one of each kind that is timed, takes all memory, or hangs the GPU | 95 s |

Which one of several it is turns with the seed: over a few seeds all have had their turn.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

EXPECTED = {"red team": 130, "attacks": 115, "verdicts": 90, "bad input": 35, "alone": 95}
MOST_SECONDS = 480
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
# Programs are many and take seconds each: a part of their variants, another with the next seed.
_PROGRAMS = "test_each_variant_gets_its_verdict"
_PROGRAM_TURNS = 4


def sampled(tests: Iterable[tuple[str, Parameters]], seed: int) -> list[bool]:
    """Tell of each test (function's name, parameters) whether a run of limited time has it.

    Of those alike the one whose turn it is, and every fourth variant of programs; all others.
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
    programs = [place for place, (name, _) in enumerate(every) if name == _PROGRAMS]
    for turn, place in enumerate(programs):
        keep[place] = (turn + seed) % _PROGRAM_TURNS == 0
    return keep


def ends(parts: Sequence[str], most: float) -> list[float]:
    """Return the seconds after the start by which each of some parts in a row has to end.

    What one does not need is the next one's. More or less time than expected is spread over all.
    """
    whole = sum(EXPECTED[part] for part in parts)
    done = itertools.accumulate(EXPECTED[part] for part in parts)
    return [most * seconds / whole for seconds in done]


def forecast(parts: Sequence[str], most: float) -> str:
    """Return the table that the suite begins with, and a warning where it will not fit."""
    lines = ["expected (an estimate from recorded runs on an H200):"]
    lines += [f"  {part:10} {EXPECTED[part]:5} s" for part in parts]
    whole = sum(EXPECTED[part] for part in parts)
    lines.append(f"  {'together':10} {whole:5} s of {most:.0f} s")
    if whole > most:
        lines.append(
            f"  THIS WILL RUN OVER: {whole - most:.0f} s of it will be left out; see --most"
        )
    return "\n".join(lines)
