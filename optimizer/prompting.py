"""The prompt for one edit: what stays the same first, so that servers can cache it.

In order: rules, workload and GPU (the same for a whole search), the file, what was measured,
findings and what was tried (the same for all siblings of an expansion), and last the one advice
that is the sibling's own. Whatever comes from files, tools or answers stands behind a bar.

Where a prompt is longer than it may be, by our own count or the server's, it is made shorter in
the order of `Level`, and never in another.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from importlib.resources import files

from optimizer import tried
from optimizer.advice import Advice
from optimizer.bottleneck import bottleneck_of
from optimizer.dialogue import Message, Speaker
from optimizer.evidence import evidence
from optimizer.model import Finding, Kernel, Role, Step, Verdict, Workload
from optimizer.significance import speedup
from optimizer.source import Source
from optimizer.spending import MESSAGE_TOKENS, tokens_in
from optimizer.tried import figure

# Counted by `tokens_in`, which counts high.
PROMPT_TOKENS = 8_000
MOST_ELSEWHERE = 24
MOST_BESIDE = 40
MOST_FINDINGS = 12
MOST_COUNTERS = 3
# Findings of an earlier version that are told where this one was not profiled.
MOST_BEFORE = 3
MOST_RAW = 70
MOST_HOT_LINES = 6
MOST_CASES = 12
MOST_LOG = 1_500
MOST_WAITING = 12
LONGEST_LINE = 400
_FACTS = ("sm", "sms", "l2_bytes", "shared_optin_bytes", "memory_bytes", "clock_mhz")
# Peaks in this order wherever they come from: a question in another order is another question.
_PEAKS = ("dram_gbs", "l2_gbs", "fp32_tflops", "fp64_tflops", "fp16_tflops", "tensor_tflops")
_ROLE = {Role.INPUT: "read", Role.OUTPUT: "written", Role.INOUT: "read and written"}


class Feedback(StrEnum):
    """What a model is told of the profiler; for ablation (KernelPro compares the three)."""

    NONE = "none"  # times alone
    RAW = "raw"  # counters by name, without interpretation
    TOOLS = "tools"  # what the detectors make of them


class Level(IntEnum):
    """What is left out of a prompt to make it shorter, one thing after the other."""

    FULL = 0
    FEWER_ELSEWHERE = 1  # all but the newest eight edits of other branches
    NO_ELSEWHERE = 2  # other branches, edits that wait, why siblings failed, findings' counters
    FEW_FINDINGS = 3  # all but the four foremost findings; hot lines; an earlier version's profile
    LITTLE_ELSE = 4  # all but three cases; facts of the GPU; all but eight siblings
    NO_IDLE_CODE = 5  # bodies of functions that neither take time nor launch
    KERNELS_ALONE = 6  # everything of the file but the kernels that take time and their launches


@dataclass(frozen=True, slots=True)
class Scene:
    """What stays the same through a search: the workload, the GPU, what is fed back."""

    workload: Workload
    gpu: str = ""
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    peaks: Mapping[str, float] = field(default_factory=dict[str, float])
    feedback: Feedback = Feedback.TOOLS
    reactive: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A candidate to be edited and what is known around it. `waiting` will be tried anyway."""

    step: Step
    steps: Mapping[int, Step]
    findings: Sequence[Finding] = ()
    waiting: Sequence[str] = ()


def prompt(
    scene: Scene,
    view: View,
    advice: Advice,
    level: Level = Level.FULL,
    limit: int = PROMPT_TOKENS,
    offer: str = "",
) -> tuple[tuple[Message, ...], Level]:
    """Return the messages, at most `limit` tokens by our count if any level manages that.

    The level says what was left out; it is at least the one given. `offer` is what this sibling
    may do besides.
    """
    for at in Level:
        if at >= level:
            parts = [*_parts(scene, view, advice, at), *([offer] if offer else ())]
            # By parts, most of which were counted before; a line end between two is one more.
            count = sum(tokens_in(part) + 1 for part in (rules(), *parts)) + 2 * MESSAGE_TOKENS
            if count <= limit or at is Level.KERNELS_ALONE:
                return _said(parts), at
    raise AssertionError  # the last level returns


def _said(parts: Sequence[str]) -> tuple[Message, ...]:
    return (Message(Speaker.SYSTEM, rules()), Message(Speaker.USER, "\n\n".join(parts)))


def _parts(scene: Scene, view: View, advice: Advice, level: Level) -> list[str]:
    """Return the user's message of one level in parts, the steadiest first."""
    parts = [
        workload_words(scene, level),
        file_words(view.step, level),
        measured_words(scene, view.step, level),
    ]
    parts.append(profiled_words(scene, view, level))
    if scene.feedback is Feedback.TOOLS and not scene.reactive:
        parts.append(findings_words(view.findings, level))
    parts += [tried_words(view, level), _task(scene, view, advice)]
    return [part for part in parts if part]


@functools.cache
def rules() -> str:
    """Return what is the same for every question."""
    return files("optimizer").joinpath("prompts/edit.txt").read_text(encoding="utf-8")


def workload_words(scene: Scene, level: Level = Level.FULL) -> str:
    """Return how the file is run, and on what."""
    one = scene.workload
    # A program is called what its file is called, which is anybody's text.
    parts = [f"# How it is run\nA {one.kind.value} workload:\n|{_line(one.symbol or one.name)}"]
    for argument in one.arguments:
        if argument.shape is not None:
            words = f"{argument.shape} elements, {_ROLE[argument.role]}"
            if argument.role is not Role.OUTPUT:
                words += f", filled with {argument.init}"
        else:
            words = f"= {argument.value}"
        parts.append(f"|{argument.type} {argument.name}: {words}")
    few = level >= Level.LITTLE_ELSE
    timed = sorted(one.cases, key=lambda case: (not case.time, -case.weight))
    parts += [
        f"|case {case.name}" + (f", weight {case.weight:g}" if case.time else ", checked only")
        for case in timed[: 3 if few else MOST_CASES]
    ]
    if one.program is not None:
        parts += [
            f"|run with arguments {_line(' '.join(run))}" for run in one.program.runs[:3] if run
        ]
    near = one.tolerance
    parts.append(f"Right means |got - want| <= {near.atol:g} + {near.rtol:g} * |want|.")
    parts.append(f"Compiled with {' '.join(one.build.flags)}.")
    if one.accept.allow_fast_math:
        parts.append("Less exact intrinsics may be used within the tolerance.")
    if one.accept.edit_host:
        parts.append("Host functions may change, too, in this project.")
    parts.append(
        "Caches are warm when it is timed." if one.warm else "Caches are cold when it is timed."
    )
    if scene.gpu:
        known = {**scene.peaks, **{name: scene.facts.get(name) for name in _FACTS}}
        order = (*_FACTS, *_PEAKS, *sorted(scene.peaks.keys() - set(_PEAKS)))
        facts = ", ".join(f"{name} {known[name]:.4g}" for name in order if known.get(name))
        parts.append(f"GPU: {scene.gpu}" + (f" ({facts})" if facts and not few else ""))
    return "\n".join(parts)


def file_words(step: Step, level: Level = Level.FULL) -> str:
    """Return the file with line numbers, and the launch where it is not in the file."""
    kernel = step.kernel
    parts = ["# The file, as NUMBER|LINE", numbered(kernel, _busy(step.verdict), _cut(level))]
    launch = kernel.launch
    if launch is not None:
        shown = f"grid [{', '.join(launch.grid)}], block [{', '.join(launch.block)}]"
        words = "yours to choose" if launch.tunable else "not yours to change"
        parts.append(f"Launch ({words}): {shown}, shared {launch.shared} bytes.")
    return "\n".join(parts)


def _cut(level: Level) -> int:
    return max(0, level - Level.LITTLE_ELSE)


@functools.lru_cache(maxsize=64)
def numbered(kernel: Kernel, busy: frozenset[str], cut: int = 0) -> str:
    """Return the text with line numbers; with `cut` the code that takes no time is left out."""
    lines = kernel.source.replace("\r", "").split("\n")
    shown = _shown(kernel, busy, cut) if cut else None
    out: list[str] = []
    gap = 0
    for number, text in enumerate(lines, 1):
        if shown is not None and number not in shown:
            gap += 1
            continue
        if gap:
            out.append(f"({gap} lines not shown)")
            gap = 0
        out.append(f"{number}|{text}")
    if gap:
        out.append(f"({gap} lines not shown)")
    return "\n".join(out)


def _shown(kernel: Kernel, busy: frozenset[str], cut: int) -> set[int]:
    """Return the numbers of the lines that matter."""
    source = Source(kernel.source)
    line = source.line
    every = range(1, kernel.source.count("\n") + 2)
    shown: set[int] = set() if cut > 1 else set(every)
    for function in source.functions:
        first, last = line(function.span[0]), line(max(function.span[1] - 1, function.span[0]))
        text = kernel.source[function.span[0] : function.span[1]]
        matters = "<<<" in text or (function.is_kernel and (not busy or function.name in busy))
        helps = not function.is_kernel and "__device__" in function.qualifiers
        body = range(first, last + 1)
        if matters or (helps and cut == 1):
            shown.update(body)
        else:
            shown.difference_update(range(line(function.body.start_byte) + 1, last))
    return shown


def _busy(verdict: Verdict) -> frozenset[str]:
    measured = verdict.measurement
    shares = measured.kernels if measured else {}
    return frozenset(name for name, share in shares.items() if share >= 0.02)


def measured_words(scene: Scene, step: Step, level: Level = Level.FULL) -> str:
    """Return times and, unless feedback is off, what bounds the kernels or their counters."""
    parts = ["# What was measured"]
    measured = step.verdict.measurement
    fast = speedup(measured) if measured else None
    if step.parent is not None and fast:
        parts.append(f"This version is {figure(fast)} times as fast as the original.")
    few = level >= Level.LITTLE_ELSE
    parts += [
        f"|{case.name}: {figure(statistics.median(case.candidate_us))} us"
        for case in (measured.cases if measured else ())[: 3 if few else MOST_CASES]
        if case.candidate_us
    ]
    if scene.feedback is Feedback.NONE:
        return "\n".join(parts)
    resources = step.verdict.resources
    for seen in evidence(step.verdict):
        if seen.share < 0.02:
            continue
        words = [f"{seen.name}: {seen.share:.0%} of the time"]
        used = resources.get(seen.name)
        if used is not None:
            words.append(f"{used.registers} registers, {used.shared_bytes} bytes shared")
            if used.spill_bytes:
                words.append(f"{used.spill_bytes} bytes spilled")
            if used.occupancy is not None:
                words.append(f"occupancy {used.occupancy:.0%} in theory")
        if scene.feedback is Feedback.TOOLS:
            words.append(bottleneck_of(seen, scene.peaks).words)
        parts.append(f"|{'; '.join(words)}")
    if scene.feedback is Feedback.RAW:
        parts += _raw(step.verdict, level)
    elif level < Level.FEW_FINDINGS:
        parts += _hot(step.verdict)
    return "\n".join(parts)


def profiled_words(scene: Scene, view: View, level: Level = Level.FULL) -> str:
    """Return what the profiler saw of the nearest version before this one, if it saw not this one.

    Only promising candidates are profiled: without this most questions would hold no counter.
    """
    if scene.feedback is Feedback.NONE or level >= Level.FEW_FINDINGS:
        return ""
    at, edits = view.step, 0
    while not at.verdict.counters and at.parent is not None and at.parent in view.steps:
        at, edits = view.steps[at.parent], edits + 1
    if not edits or not at.verdict.counters:
        return ""
    parts = [
        f"# What the profiler saw {edits} {'edit' if edits == 1 else 'edits'} before this version"
    ]
    if scene.feedback is Feedback.RAW:
        return "\n".join((*parts, *_raw(at.verdict, level)))
    parts += [
        f"|{seen.name}: {seen.share:.0%} of the time; {bottleneck_of(seen, scene.peaks).words}"
        for seen in evidence(at.verdict)
        if seen.share >= 0.02
    ]
    if not scene.reactive:
        parts += [
            f"|[{one.severity.value}] {one.detector} in {one.subject}: {_line(one.message)}"
            for one in at.findings[:MOST_BEFORE]
        ]
    return "\n".join(parts)


def _raw(verdict: Verdict, level: Level) -> list[str]:
    raw = sorted(verdict.counters.items())[: MOST_RAW if level < Level.FEW_FINDINGS else 20]
    return [f"|{name} = {figure(value)}" for name, value in raw]


def _hot(verdict: Verdict) -> Iterator[str]:
    """Yield the lines at which warps wait most, by ncu's source counters."""
    found = [(share, at) for at, share in verdict.lines.items() if at.endswith("/stall")]
    for share, at in sorted(found, key=lambda pair: (-pair[0], pair[1]))[:MOST_HOT_LINES]:
        kernel, _, line = at.removesuffix("/stall").rpartition(":")
        if share >= 0.02:
            yield f"|line {line} ({kernel}): {share:.0%} of the waiting"


def findings_words(findings: Sequence[Finding], level: Level = Level.FULL) -> str:
    """Return what the detectors see: severity, cause, remedies, expected gain."""
    few = level >= Level.FEW_FINDINGS
    chosen = findings[: 4 if few else MOST_FINDINGS]
    if not chosen:
        return ""
    parts = ["# Findings of the profiler's tools, the most worthwhile first"]
    for number, one in enumerate(chosen, 1):
        parts += finding_lines(number, one, counters=level < Level.NO_ELSEWHERE)
    return "\n".join(parts)


def finding_lines(number: int, one: Finding, *, counters: bool = True) -> Iterator[str]:
    """Yield a finding in words."""
    at = f" line {one.line}" if one.line else ""
    where = f" in {one.subject}{at}" if one.subject else at
    expected = f", {figure(one.expected)}x for this kernel if mended" if one.expected else ""
    yield f"{number}. |[{one.severity.value}] {one.detector}{where}: {_line(one.message)}{expected}"
    if one.advice:
        yield f"   |{_line(one.advice)}"
    if one.remedies:
        yield f"   |remedies, best first: {', '.join(one.remedies[:5])}"
    if counters and one.counters:
        shown = list(one.counters.items())[:MOST_COUNTERS]
        yield "   |" + ", ".join(
            f"{name.rpartition('/')[2]} {figure(value)}" for name, value in shown
        )


def tried_words(view: View, level: Level = Level.FULL) -> str:
    """Return what was tried on the way here, on this version and in other branches."""
    parts: list[str] = []
    most = 8 if level >= Level.LITTLE_ELSE else MOST_BESIDE
    over = tried.above(view.steps, view.step)
    if over:
        parts += ["Edits this version is made of:", *_data(over)]
    near = tried.beside(view.steps, view.step, reasons=level < Level.NO_ELSEWHERE)
    if near:
        parts += ["Tried on this version already, do not propose again:", *_data(near[-most:])]
    if level < Level.NO_ELSEWHERE:
        waiting = tried.untried(view.steps, view.step, view.waiting)[:MOST_WAITING]
        if waiting:
            parts += ["Will be tried on it anyway, do not propose:", *_data(waiting)]
        far = tried.elsewhere(
            view.steps, view.step, 8 if level >= Level.FEWER_ELSEWHERE else MOST_ELSEWHERE
        )
        if far:
            parts += ["Tried on other versions:", *_data(far)]
    return "\n".join(("# What was tried", *parts)) if parts else ""


def _task(scene: Scene, view: View, advice: Advice) -> str:
    launch = view.step.kernel.launch
    words = ["# Your task", f"Propose one edit of the file above. {advice.words}"]
    if launch is None or not launch.tunable:
        words.append('"launch" stays null.')
    else:
        names = sorted({name for case in scene.workload.cases for name in case.values})
        words.append(f'"launch" may be given; case variables: {", ".join(names)}.')
    return "\n".join(words)


def reports_offered(findings: Sequence[Finding]) -> str:
    """Return the question which reports a model wants to read first, for the reactive way."""
    names = ", ".join(dict.fromkeys(one.detector for one in findings))
    return (
        f"# Your task\nBefore you propose an edit you may read reports of the profiler's tools: "
        f'{names}. Answer with one JSON object {{"reports": ["name", ...]}}, at most four names.'
    )


def refusal_words(reason: str) -> str:
    """Ask to mend an edit that was not applied."""
    return (
        "Your edit was refused:\n"
        + "\n".join(_data([reason]))
        + "\nMend it and answer again in the same form, against the file as shown above."
    )


def compiler_words(log: str) -> str:
    """Ask to mend an edit that does not compile."""
    lines = [line for line in log[: tried.LONGEST_LOG].splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines
    shown = "\n".join(_data(telling))[:MOST_LOG]
    return (
        f"With your edit the file does not compile:\n{shown}\n"
        "Mend it and answer again in the same form, against the file as shown above, without it."
    )


def _data(lines: Sequence[str]) -> list[str]:
    """Set lines apart so that nothing in them can end the place where they stand."""
    return [f"|{_line(line)}" for line in lines]


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_LINE else f"{flat[:LONGEST_LINE]}..."
