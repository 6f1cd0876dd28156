"""Both stages of the diagnosis: the class of a kernel, then every detector of that class.

KernelPro (arXiv 2606.26453) found interpreted tools run unasked better than raw counters or tools
on request; so all detectors of a class run at once, and none of another class does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from optimizer import plugins
from optimizer.bottleneck import Bottleneck, bottleneck_of
from optimizer.evidence import Evidence, MicroProfiler, evidence
from optimizer.interfaces import Detector
from optimizer.model import Finding, Kernel, Severity, Verdict
from optimizer.plugins import Guarded

# A kernel with less of the device time is not worth a remedy while others have more.
SHARE = 0.02
# Without a sure class all detectors run: they are silent where their evidence is missing.
SURE = 0.5


def _no_peaks() -> dict[str, float]:
    return {}


@dataclass(slots=True)
class Diagnosis:
    """All detectors as one; fulfils `optimizer.interfaces.Detector`.

    `peaks` are the device's measured rates (`Environment.peaks`). `notes` gathers what a broken
    plugin said.
    """

    peaks: Mapping[str, float] = field(default_factory=_no_peaks)
    detectors: Mapping[str, Detector] = field(default_factory=plugins.detectors)
    notes: list[str] = field(default_factory=list)
    _guarded: dict[str, Guarded[Finding]] = field(default_factory=dict)

    def __call__(self, kernel: Kernel, verdict: Verdict | None) -> Iterator[Finding]:
        """Yield findings, the most worthwhile first; before running, those that block."""
        if verdict is None:
            for name, detector in self.detectors.items():
                yield from self._guard(name, detector)(kernel, None)
            return
        yield from self._ranked(kernel, verdict)

    def _ranked(self, kernel: Kernel, verdict: Verdict) -> list[Finding]:
        found: list[tuple[float, Finding]] = []
        for seen in evidence(verdict):
            if seen.share >= SHARE:
                worth = [self._worth(f, seen.share) for f in self._tools(seen, kernel)]
                found += worth
        for name, detector in self.detectors.items():
            if not isinstance(detector, MicroProfiler):
                others = self._guard(name, detector)(kernel, verdict)
                found += [self._worth(f, 1.0) for f in others]
        return [f for _, f in sorted(found, key=lambda entry: -entry[0])]

    def _tools(self, seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
        bound = bottleneck_of(seen, self.peaks)
        for name, detector in self.detectors.items():
            if not isinstance(detector, MicroProfiler):
                continue
            if bound.confidence >= SURE and bound.kind not in detector.bounds:
                continue
            guarded = self._guard(f"{name}/about", detector.about)
            for finding in guarded(seen, kernel):
                yield _under_roofline(finding, bound)

    def _guard(self, name: str, call: Callable[..., Iterable[Finding]]) -> Guarded[Finding]:
        if name not in self._guarded:
            self._guarded[name] = Guarded(name, call, self.notes)
        return self._guarded[name]

    @staticmethod
    def _worth(finding: Finding, share: float) -> tuple[float, Finding]:
        """Rank by the share of the whole time that would go away, weighted by how sure it is."""
        kept = 1.0 / max(finding.expected or 1.0, 1.0)
        return (1.0 - kept) * share * finding.confidence, finding


def diagnose(
    kernel: Kernel,
    verdict: Verdict,
    peaks: Mapping[str, float],
    detectors: Mapping[str, Detector] | None = None,
) -> tuple[Finding, ...]:
    """Return what is worth mending in a candidate, best first.

    `peaks` are the device's measured rates; `detectors` are the installed ones by default.
    """
    chosen = plugins.detectors() if detectors is None else detectors
    return tuple(Diagnosis(peaks, chosen)(kernel, verdict))


def _under_roofline(finding: Finding, bound: Bottleneck) -> Finding:
    """Promise no more than the roofline leaves where the kernel is close to it.

    Close means above 80 %: further away, the bytes and operations counted may themselves be the
    waste that an edit removes, and the roofline of this kernel is not that of its edit.
    """
    if finding.expected is None or bound.share is None or bound.share < 0.8:
        return finding
    most = max(1.0 / bound.share, 1.02)
    if finding.expected <= most:
        return finding
    mild = Severity.WARNING if most > 1.1 else Severity.INFO
    return replace(finding, expected=most, severity=mild)
