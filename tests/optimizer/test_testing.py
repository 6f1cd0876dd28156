"""The contract suites: what is built in passes them, what is broken does not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

import pytest

from optimizer import plugins
from optimizer.interfaces import Detector, RewriteRule
from optimizer.model import Edit, Finding, Kernel, Verdict
from optimizer.samples import SAMPLES
from optimizer.source import Source
from optimizer.testing import DetectorContract, RewriteRuleContract, _compile_error

RULES = plugins.rules()
DETECTORS = plugins.detectors()


class TestEveryRule(RewriteRuleContract):
    @pytest.fixture(params=sorted(RULES))
    def rule(self, request: pytest.FixtureRequest) -> RewriteRule:
        return RULES[request.param]


class TestEveryDetector(DetectorContract):
    @pytest.fixture(params=sorted(DETECTORS))
    def detector(self, request: pytest.FixtureRequest) -> Detector:
        return DETECTORS[request.param]


def renames(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    yield Edit("t", kernel.source.replace("saxpy(", "daxpy("), "rule:x")


def widens(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    yield Edit("t", kernel.source.replace("(int n, float a", "(long n, float a"), "rule:x")


def includes(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    yield Edit("t", "#include <cstdlib>\n" + kernel.source, "rule:x")


def grows(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    yield Edit("t", kernel.source + "// more\n", "rule:x")


def mumbles(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    yield Edit(" ", kernel.source + "\n", "rule:x", kind="Not Kebab")


def chokes(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    if "{" not in kernel.source:
        raise ValueError("no brace")
    yield from ()


def breaks(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    yield Edit("t", re.sub(r";", "", kernel.source, count=1), "rule:x")


_ticks = count()


def wavers(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    yield Edit(f"t{next(_ticks)}", kernel.source, "rule:x")


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        (renames, "test_keeps_names_and_signatures"),
        (widens, "test_keeps_names_and_signatures"),
        (includes, "test_stays_inside_the_boundary"),
        (grows, "test_comes_to_rest"),
        (mumbles, "test_says_who_proposes_what"),
        (wavers, "test_is_deterministic"),
    ],
)
def test_a_rule_that_breaks_the_contract_is_found_out(rule: RewriteRule, check: str) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        getattr(RewriteRuleContract(), check)(rule)


def test_a_rule_that_raises_on_broken_text_is_found_out() -> None:
    with pytest.raises(ValueError, match="no brace"):
        RewriteRuleContract().test_takes_broken_sources_calmly(chokes)


def test_a_rule_that_must_apply_and_does_not_is_found_out() -> None:
    class Mine(RewriteRuleContract):
        applies_to = (SAMPLES[0],)

    with pytest.raises(AssertionError):
        Mine().test_applies_where_it_says(chokes)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_a_rule_whose_candidates_do_not_compile_is_found_out(tmp_path: Path) -> None:
    class Short(RewriteRuleContract):
        samples = SAMPLES[:1]

    with pytest.raises(AssertionError, match="error"):
        Short().test_candidates_compile(breaks, tmp_path)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.parametrize("kernel", SAMPLES, ids=lambda kernel: kernel.path)
def test_every_sample_compiles(kernel: Kernel, tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc") or ""
    assert _compile_error(nvcc, kernel.source, tmp_path / "sample.cu") == ""


def test_every_sample_is_understood() -> None:
    for kernel in SAMPLES:
        assert Source(kernel.source).kernels, kernel.path


def test_a_detector_that_breaks_the_contract_is_found_out() -> None:
    def vague(kernel: Kernel, verdict: Verdict | None) -> Iterable[Finding]:
        yield Finding("Vague One", "m")

    def far(kernel: Kernel, verdict: Verdict | None) -> Iterable[Finding]:
        yield Finding("far", "m", line=10**6)

    for detector in (vague, far):
        with pytest.raises(AssertionError):
            DetectorContract().test_findings_are_complete(detector)
