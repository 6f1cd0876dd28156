"""Propose what the rewrite rules propose, the most promising first: no key, network or model."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from optimizer.memory import bottleneck
from optimizer.model import Edit, Proposal, Severity
from optimizer.plugins import Guarded
from optimizer.policies.gates import GATED, pointless
from optimizer.written_out import WrittenOut

if TYPE_CHECKING:
    from optimizer.directives import Macro
    from optimizer.interfaces import RewriteRule
    from optimizer.memory import SearchMemory
    from optimizer.model import Acceptance, Finding, Kernel, Step

# How likely an edit is to pay where its rule is legal at all, before anything was measured. From
# the reading of forty public programs (docs/search.md): a rule with a narrow trigger (one thread
# per row, a thread-0 loop) nearly always pays where it fits, one that always fits seldom does.
BASE_PRIOR: Mapping[str, float] = {
    "fill-blocks": 0.90,
    "more-blocks": 0.80,
    "interleave": 0.60,
    "warp-per-row": 0.80,
    "block-per-row": 0.60,
    "tile-matmul": 0.80,
    "swap-axes": 0.80,
    "share-loop": 0.80,
    "pack-access": 0.45,
    "column-blocks": 0.75,
    "stage-transpose": 0.75,
    "register-accumulator": 0.65,
    "privatize-atomics": 0.65,
    "shuffle-reduce": 0.60,
    "shuffle-scan": 0.60,
    "shuffle-tree": 0.55,
    "scan-loop": 0.80,
    "split-loop": 0.55,
    "tile-halo": 0.50,
    "rotate-planes": 0.40,
    "march-planes": 0.50,
    "hoist": 0.50,
    "power-product": 0.50,
    "reciprocal": 0.45,
    "carry-digits": 0.50,
    "jam": 0.50,
    "sincos": 0.45,
    "tile-broadcast": 0.50,
    "coarsen": 0.50,
    "block-size": 0.50,
    "vectorize": 0.50,
    "local-array": 0.45,
    "pad-shared": 0.45,
    "split-border": 0.40,
    "fuse-launches": 0.40,
    "float-literals": 0.40,
    "fast-math": 0.35,
    "specialize": 0.30,
    "unroll": 0.30,
    "ilp": 0.25,
    "fast-division": 0.25,
    "narrow-index": 0.25,
    "restrict": 0.20,
    "launch-bounds": 0.15,
    "read-only-cache": 0.10,
}
UNKNOWN_PRIOR = 0.30
# An edit of a rule's list is preferred to the next by this much: rules yield their best first.
ORDER_DECAY = 0.9
SEVERITY = {Severity.INFO: 0.3, Severity.WARNING: 0.6, Severity.CRITICAL: 1.0}
REMEDY_DECAY = 0.8
# Share of what is left of the prior that the strongest finding can add.
FINDING_WEIGHT = 0.8
# Where findings name remedies, an edit that none of them names is less likely to pay.
NOT_NAMED = 0.7
# A finding that promises a doubling or more is as strong as they get.
FULL_GAIN = math.log(2.0)
# An edit of a kernel that takes no time keeps this share of its prior: shares are measured once.
IDLE_SHARE = 0.15
LEAST_PRIOR = 0.01
# These need the workload's leave, whatever the tolerance.
NEEDS_FAST_MATH = frozenset({"fast-math"})
# These change host code; without a workload's leave nothing they propose would be run.
NEEDS_HOST = frozenset({"fuse-launches"})
# Kernels whose proposals are remembered; more than any search holds open.
MOST_REMEMBERED = 4096
_DEFINITION = re.compile(r"__global__[^;{]*?\b(\w+)\s*\([^;{]*\)\s*\{")


class RulePolicy:
    """Asks every rule about a step; the same steps and findings give the same proposals.

    `rules` are by name, as `plugins.rules()` returns them. A rule that raises is named in `notes`
    and, when it goes on, not asked again. What was returned for a step is not returned again.
    `macros` are those of the headers that the kernel's file includes: rules see loops that the
    file's own macros or these hide (`optimizer.written_out`).
    """

    def __init__(
        self,
        rules: Mapping[str, RewriteRule],
        accept: Acceptance | None = None,
        memory: SearchMemory | None = None,
        notes: Sequence[str] = (),
        macros: Mapping[str, Macro] | None = None,
    ) -> None:
        self._notes = list(notes)
        self._macros = macros
        closed = set(NEEDS_HOST if accept is None or not accept.edit_host else ())
        closed |= NEEDS_FAST_MATH if accept is not None and not accept.allow_fast_math else set()
        self._rules = [
            Guarded[Edit](f"rule {name}", rule, self._notes)
            for name, rule in rules.items()
            if name not in closed
        ]
        self._names = [name for name in rules if name not in closed]
        self._memory = memory
        self._edits: OrderedDict[tuple[object, ...], tuple[Edit, ...]] = OrderedDict()
        self._returned: OrderedDict[int, tuple[Kernel, set[str]]] = OrderedDict()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return which rules were skipped or failed, and why."""
        return tuple(self._notes)

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return at most `limit` edits not returned before for this step, best first."""
        returned = self._returned_for(step.kernel)
        fresh = []
        for edit in _worthwhile(step, self._edits_of(step.kernel, findings)):
            digest = edit.apply(step.kernel).digest
            if digest not in returned:
                fresh.append((digest, edit))
        scored = self._scored(step, findings, [edit for _, edit in fresh])
        order = sorted(range(len(fresh)), key=lambda i: (-scored[i], i))[:limit]
        returned.update(fresh[i][0] for i in order)
        return [Proposal(fresh[i][1], scored[i]) for i in order]

    def foresee(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return what `propose` would if it were asked first; none where a rule raises."""
        try:
            edits = self._all(step.kernel, [rule.unguarded for rule in self._rules], findings)
        except Exception:  # noqa: BLE001 - a stranger's rule; `propose` will say so
            return ()
        edits = _worthwhile(step, edits)
        scored = self._scored(step, findings, edits)
        order = sorted(range(len(edits)), key=lambda i: (-scored[i], i))[:limit]
        return [Proposal(edits[i], scored[i]) for i in order]

    def _edits_of(self, kernel: Kernel, findings: Sequence[Finding]) -> tuple[Edit, ...]:
        """Return what the rules say of a kernel, those that raise left out."""
        return self._all(kernel, self._rules, findings)

    def _all(
        self,
        kernel: Kernel,
        rules: Sequence[Callable[..., Iterable[Edit]]],
        findings: Sequence[Finding],
    ) -> tuple[Edit, ...]:
        """Return what rules say of a kernel, each candidate once, the kernel itself never."""
        key = (kernel.digest, *((f.detector, f.subject, f.line, f.remedies) for f in findings))
        if key in self._edits:
            return self._edits[key]
        found: dict[str, Edit] = {}
        own = kernel.digest
        shown = WrittenOut(kernel, self._macros)
        for name, rule in zip(self._names, rules, strict=True):
            for proposed in rule(shown.kernel, findings):
                edit = shown.put_back(proposed)
                digest = edit.apply(kernel).digest
                if digest != own and digest not in found:
                    found[digest] = edit if edit.kind else replace(edit, kind=name)
        self._edits[key] = tuple(found.values())
        while len(self._edits) > MOST_REMEMBERED:
            self._edits.popitem(last=False)
        return self._edits[key]

    def _returned_for(self, kernel: Kernel) -> set[str]:
        """Return the digests returned for this very kernel object; every search makes its own."""
        held = self._returned.get(id(kernel))
        if held is None or held[0] is not kernel:
            held = self._returned[id(kernel)] = (kernel, set())
        while len(self._returned) > MOST_REMEMBERED:
            self._returned.popitem(last=False)
        return held[1]

    def _scored(
        self, step: Step, findings: Sequence[Finding], edits: Sequence[Edit]
    ) -> list[float]:
        measured = step.verdict.measurement
        shares = measured.kernels if measured else {}
        strength = strengths(findings, shares)
        where = bottleneck(findings)
        spans = _bodies(step.kernel.source)
        count: dict[str, int] = {}
        scores = []
        for edit in edits:
            place = count.get(edit.kind, 0)
            count[edit.kind] = place + 1
            prior = BASE_PRIOR.get(edit.kind, UNKNOWN_PRIOR)
            if edit.kind in strength:
                prior += (1.0 - prior) * FINDING_WEIGHT * strength[edit.kind]
            elif strength:
                prior *= NOT_NAMED
            if shares:
                name = edited(step.kernel.source, edit.source, spans)
                prior *= IDLE_SHARE + (1.0 - IDLE_SHARE) * (shares.get(name, 0.0) if name else 1.0)
            if edit.predicted is not None:
                promise = math.log(max(edit.predicted, 1e-3)) / FULL_GAIN
                prior *= 0.7 + 0.6 * max(0.0, min(1.0, promise))
            if self._memory is not None:
                prior *= self._memory.factor(edit.kind, where)
            scores.append(max(LEAST_PRIOR, min(1.0, prior) * ORDER_DECAY**place))
        return scores


def _worthwhile(step: Step, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits that nothing known of the compiled candidate speaks against."""
    spans = _bodies(step.kernel.source)
    source, verdict = step.kernel.source, step.verdict
    return tuple(
        edit
        for edit in edits
        if edit.kind not in GATED
        or not pointless(edit, edited(source, edit.source, spans), source, verdict)
    )


def strengths(findings: Sequence[Finding], shares: Mapping[str, float]) -> dict[str, float]:
    """Return how strongly the findings ask for each edit kind, from 0 to 1.

    Severity, confidence and rank of the remedy, and the gain that is left when the kernel takes
    only a share of the time (Amdahl's law).
    """
    found: dict[str, float] = {}
    for finding in findings:
        share = shares.get(finding.subject, 1.0) if finding.subject else 1.0
        gain = 0.5
        if finding.expected is not None and finding.expected > 0.0:
            whole = 1.0 / (1.0 - share + share / finding.expected)
            gain = max(0.0, min(1.0, math.log(whole) / FULL_GAIN))
        worth = SEVERITY[finding.severity] * max(0.0, min(1.0, finding.confidence)) * gain
        for rank, kind in enumerate(finding.remedies):
            found[kind] = max(found.get(kind, 0.0), worth * REMEDY_DECAY**rank)
    return found


def edited(before: str, after: str, spans: Sequence[tuple[int, str]]) -> str:
    """Return the `__global__` function whose text changes first; empty when it is none.

    `spans` are line numbers at which such functions begin, with their names.
    """
    old, new = before.splitlines(), after.splitlines()
    pairs = enumerate(zip(old, new, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))
    return next((name for begin, name in reversed(spans) if begin <= at), "")


def _bodies(source: str) -> list[tuple[int, str]]:
    """Return the line (from 0) and name of each `__global__` function; host code is not told apart.

    An edit of host code counts for the kernel above it, which is right for the common file of one
    kernel and its launch, and only shifts a prior elsewhere.
    """
    return [(source.count("\n", 0, m.start()), m.group(1)) for m in _DEFINITION.finditer(source)]
