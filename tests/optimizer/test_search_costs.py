"""What a search does for each candidate, counted as work and not as time."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot import projects
from optimizer import plugins, syntax
from optimizer import tokens as cutting
from optimizer.boundary import violations
from optimizer.budget import Budget, SearchSettings
from optimizer.diagnosis import Diagnosis
from optimizer.masking import Masked, mask
from optimizer.policies.rules import RulePolicy
from optimizer.search import search
from optimizer.tokens import tokens
from optimizer.tools import Tools
from optimizer.tuning import tune
from tests.test_benchmarks import loaded

HEAT = Path(__file__).resolve().parents[2] / "examples" / "heat" / "heat.cu"
EVALUATIONS = 24
_LINES = "".join(f"    x = x * {i}.5f + {i}.25f;\n" for i in range(20))
PADDING = "".join(
    f"\n__device__ float padding_{n}(float x) {{\n{_LINES}    return x;\n}}\n" for n in range(12)
)


class Counting:
    """A pattern that counts how many tokens were found with it."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern, self.found = pattern, 0

    def finditer(self, text: str, at: int = 0) -> Iterator[re.Match[str]]:
        """Yield what the pattern finds."""
        for match in self.pattern.finditer(text, at):
            self.found += 1
            yield match

    def findall(self, text: str, at: int = 0, end: int = sys.maxsize) -> list[str]:
        """Return all that the pattern finds."""
        found: list[str] = self.pattern.findall(text, at, end)
        self.found += len(found)
        return found


def test_a_candidate_of_a_long_source_costs_few_parses_and_few_new_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is parsed about once, and only what an edit changed is cut into tokens anew."""
    ((kernel, workload),) = projects.of_file(HEAT).kernels
    kernel = replace(kernel, source=kernel.source + PADDING)
    counting = Counting(cutting._TOKEN)
    masked: list[str] = []

    def counted(text: str) -> Masked:
        masked.append(text)
        return mask(text)

    long = len(tokens(kernel.source))
    monkeypatch.setattr(cutting, "_TOKEN", counting)
    monkeypatch.setattr(syntax, "mask", counted)
    tools = Tools(
        RulePolicy(plugins.rules(), workload.accept),
        loaded("overhead").AtOnce(),
        detectors=(Diagnosis({}),),
        tune=tune,
        boundary=violations,
    )
    settings = SearchSettings(finalists=0, confirmations=0, shorten=False, profile=False)
    found = search(kernel, workload, tools, Budget(EVALUATIONS), settings=settings)
    steps = len(found.steps) - 1
    assert steps >= EVALUATIONS - 1
    assert len(masked) <= 2 * steps
    assert counting.found <= 0.2 * long * steps


def test_a_text_is_cut_from_the_most_alike_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two unlike files in turns, each a little changed, are not cut from each other."""
    one = "".join(f"int a{i} = {i};\n" for i in range(300))
    other = "".join(f"float b{i}() {{ return {i}; }}\n" for i in range(300))
    tokens(one), tokens(other)
    counting = Counting(cutting._TOKEN)
    monkeypatch.setattr(cutting, "_TOKEN", counting)
    for i in range(10):
        for text in (one, other):
            changed = text.replace(f"{150 + i};", "99999;")
            assert "".join(t.text for t in tokens(changed)) == changed
    # What is looked at beyond the change, in one go, included: of 2,700 tokens and more.
    assert counting.found <= 20 * 100
