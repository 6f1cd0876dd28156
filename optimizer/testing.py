"""What every rule, detector and policy must pass, to be subclassed in a plugin's own tests.

    class TestMyRule(RewriteRuleContract):
        applies_to = (MY_KERNEL,)

        @pytest.fixture
        def rule(self):
            return my_rule

pytest is needed to import this module, and nothing else that the package itself does not need.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.boundary import violations
from optimizer.definitions import signatures
from optimizer.interfaces import Detector, ProposalPolicy, RewriteRule
from optimizer.model import (
    CaseTimes,
    Edit,
    Finding,
    Kernel,
    Measurement,
    Proposal,
    Resources,
    Severity,
    Status,
    Step,
    Verdict,
)
from optimizer.policies.rules import NEEDS_HOST
from optimizer.samples import BROKEN, SAMPLES
from optimizer.syntax import Syntax

# A rule with a dozen values for its parameter comes back to the first well before this.
APPLICATIONS = 64
# Compiling costs about a second each; the rest of the samples is left to the boundary check.
COMPILED = 6
_KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TIMES = CaseTimes("n=1", (50.0, 50.1, 49.9), (100.0, 100.2, 99.8))
VERDICTS: tuple[Verdict | None, ...] = (
    None,
    Verdict(Status.CORRECT, Measurement((_TIMES,), "a GPU", {"saxpy": 1.0})),
    Verdict(Status.CORRECT, resources={"saxpy": Resources(16)}, instructions={"saxpy/FFMA": 1}),
    Verdict(Status.CORRECT, counters={"saxpy/dram__bytes.sum": 0.0}),
    Verdict(Status.DOES_NOT_COMPILE, log="error: expected a declaration"),
)


class RewriteRuleContract:
    """Properties of any rule. `applies_to` names kernels it must say something about."""

    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES
    applies_to: ClassVar[tuple[Kernel, ...]] = ()

    @pytest.fixture
    def rule(self) -> RewriteRule:
        """Override to return the rule under test."""
        pytest.fail("override the fixture `rule`")

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Return all kernels the properties are tried on."""
        return (*self.applies_to, *self.samples)

    def test_applies_where_it_says(self, rule: RewriteRule) -> None:
        """Each kernel in `applies_to` gets at least one edit that changes it."""
        for kernel in self.applies_to:
            assert any(edit.apply(kernel).digest != kernel.digest for edit in rule(kernel, []))

    def test_keeps_names_and_signatures(self, rule: RewriteRule) -> None:
        """Host code that launches a kernel still fits: name and parameter types stay."""
        for kernel, edit in _edits(rule, self.kernels):
            before, after = _kernels(kernel.source), _kernels(edit.source)
            missing = [name for name, types in before.items() if after.get(name) != types]
            assert not missing, f"{kernel.path}: {edit.title}: changes the signature of {missing}"

    def test_stays_inside_the_boundary(self, rule: RewriteRule) -> None:
        """Nothing but device code, its constants and launch geometry changes.

        Kinds of edits that only a workload with `edit: host` is offered may change host code.
        """
        for kernel, edit in _edits(rule, self.kernels):
            host = edit.kind in NEEDS_HOST
            found = violations(kernel.source, edit.source, allow_host=host)
            assert not found, f"{kernel.path}: {edit.title}: {found}"

    def test_says_who_proposes_what(self, rule: RewriteRule) -> None:
        """A reviewer sees a title and an author; priors need a kind and a sane prediction."""
        for _, edit in _edits(rule, self.kernels):
            assert edit.title.strip()
            assert edit.author.strip()
            assert not edit.kind or _KEBAB.fullmatch(edit.kind), edit.kind
            assert edit.predicted is None or 0.1 < edit.predicted < 1000.0

    def test_is_deterministic(self, rule: RewriteRule) -> None:
        """The same kernel gives the same edits."""
        for kernel in self.kernels:
            assert list(rule(kernel, [])) == list(rule(kernel, []))

    def test_comes_to_rest(self, rule: RewriteRule) -> None:
        """Applied to its own output over and over, a rule soon has nothing new to say."""
        for kernel in self.kernels:
            at, seen = kernel, {kernel.digest}
            for _ in range(APPLICATIONS):
                fresh = (edit.apply(at) for edit in rule(at, []))
                following = next((k for k in fresh if k.digest not in seen), None)
                if following is None:
                    break
                at = following
                seen.add(at.digest)
            else:
                pytest.fail(f"{kernel.path}: still editing after {APPLICATIONS} applications")

    def test_takes_broken_sources_calmly(self, rule: RewriteRule) -> None:
        """A source that does not parse, or lacks the kernel, raises nothing."""
        for kernel in BROKEN:
            list(rule(kernel, []))

    def test_takes_any_finding_calmly(self, rule: RewriteRule) -> None:
        """Findings on functions and lines that are not there raise nothing."""
        strange = Finding("x", "x", 10**6, subject="nobody", severity=Severity.CRITICAL)
        for kernel in self.kernels:
            list(rule(kernel, [strange, Finding("y", "y", remedies=("no-such-kind",))]))

    def test_candidates_compile(self, rule: RewriteRule, tmp_path: Path) -> None:
        """Nvcc accepts what the rule writes, wherever nvcc is installed."""
        nvcc = shutil.which("nvcc")
        if nvcc is None:
            pytest.skip("nvcc is not installed")
        firsts = (next(iter(rule(kernel, [])), None) for kernel in self.kernels)
        for number, edit in enumerate(islice((e for e in firsts if e), COMPILED)):
            error = _compile_error(nvcc, edit.source, tmp_path / f"candidate{number}.cu")
            assert not error, f"{edit.title}\n{error}"


class DetectorContract:
    """Properties of any detector."""

    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES

    @pytest.fixture
    def detector(self) -> Detector:
        """Override to return the detector under test."""
        pytest.fail("override the fixture `detector`")

    def test_takes_any_kernel_and_verdict_calmly(self, detector: Detector) -> None:
        """No source, however broken, and no verdict, however empty, raises anything."""
        for kernel in (*self.samples, *BROKEN):
            for verdict in VERDICTS:
                list(detector(kernel, verdict))

    def test_is_deterministic(self, detector: Detector) -> None:
        """The same kernel and verdict give the same findings."""
        for kernel in self.samples:
            for verdict in VERDICTS:
                assert list(detector(kernel, verdict)) == list(detector(kernel, verdict))

    def test_findings_are_complete(self, detector: Detector) -> None:
        """A finding says who found what, where, and how sure it is."""
        for kernel in self.samples:
            lines = kernel.source.count("\n") + 1
            for verdict in VERDICTS:
                for finding in detector(kernel, verdict):
                    assert _KEBAB.fullmatch(finding.detector), finding.detector
                    assert finding.message.strip()
                    assert 0.0 <= finding.confidence <= 1.0
                    assert finding.line is None or 1 <= finding.line <= lines
                    assert finding.expected is None or finding.expected >= 1.0
                    assert all(_KEBAB.fullmatch(kind) for kind in finding.remedies)


class ProposalPolicyContract:
    """Properties of any policy. `make` returns a fresh one each time it is called."""

    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES

    @pytest.fixture
    def make(self) -> Callable[[], ProposalPolicy]:
        """Override to return a function that builds the policy under test."""
        pytest.fail("override the fixture `make`")

    def test_keeps_to_the_limit(self, make: Callable[[], ProposalPolicy]) -> None:
        """Never more proposals than asked for, and each prior between 0 and 1."""
        for step in _steps(self.samples):
            found = make().propose(step, (), 2)
            assert len(found) <= 2
            assert all(0.0 <= proposal.prior <= 1.0 for proposal in found)

    def test_never_repeats_itself(self, make: Callable[[], ProposalPolicy]) -> None:
        """Asked again for the same step it returns other edits, and at last none."""
        for step in _steps(self.samples):
            policy, seen = make(), set[str]()
            while found := policy.propose(step, (), 3):
                digests = {proposal.edit.apply(step.kernel).digest for proposal in found}
                assert len(digests) == len(found)
                assert not digests & seen
                assert step.kernel.digest not in digests
                seen |= digests

    def test_is_deterministic(self, make: Callable[[], ProposalPolicy]) -> None:
        """Two fresh policies say the same."""
        for step in _steps(self.samples):
            first: list[Proposal] = list(make().propose(step, (), 5))
            assert first == list(make().propose(step, (), 5))


def _edits(rule: RewriteRule, kernels: tuple[Kernel, ...]) -> Iterator[tuple[Kernel, Edit]]:
    for kernel in kernels:
        for edit in rule(kernel, []):
            yield kernel, edit


def _kernels(source: str) -> dict[str, tuple[str, ...]]:
    """Return the parameter types of each `__global__` function, without const and restrict."""
    found = {}
    for signature in signatures(Syntax(source)):
        if signature.is_kernel:
            found[signature.name] = tuple(_bare(one.type) for one in signature.parameters)
    return found


def _bare(written: str) -> str:
    return re.sub(r"\b(const|__restrict__|__restrict)\b|\s+", "", written)


def _steps(kernels: tuple[Kernel, ...]) -> Iterator[Step]:
    for kernel in kernels:
        yield Step(0, None, None, kernel, Verdict(Status.CORRECT))


def _compile_error(nvcc: str, source: str, path: Path) -> str:
    """Return what nvcc says against a source; only to PTX, which is as far as syntax reaches."""
    path.write_text(source)
    done = subprocess.run(
        [nvcc, "-ptx", "-std=c++17", "-o", str(path.with_suffix(".ptx")), str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stderr if done.returncode else ""
