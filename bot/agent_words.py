"""What a coding agent is told: short, the decisive figure first, then where and what to try."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from bot import wording
from bot.agent_session import AgentSession, Tried
from bot.outcome import cases_of, moved, outcome_words, ratio_of, speedup_of, totals, worst_error
from optimizer.bottleneck import classify
from optimizer.model import Finding, Kernel, Proposal, Status, Step, Verdict, Workload

MOST_LOG = 3000
MOST_DIFF_LINES = 160
MOST_STEPS = 100
_LINES = (re.compile(r"\bline (\d+)"), re.compile(r"\.cuh?[:(](\d+)"))


def tried(session: AgentSession, one: Tried) -> str:
    """Tell what became of a candidate."""
    step = one.step
    parts = [_headline(session, step, again=one.again)]
    if step.verdict.status is Status.CORRECT:
        parts += _correct(session, step)
    else:
        parts += [*failure(step), NEXT[step.verdict.status]]
    return "\n".join((*parts, budget(session)))


def baseline(session: AgentSession) -> str:
    """Tell what the unedited kernel is: its times, what bounds it, what to try."""
    step = session.begin()
    times = ", ".join(f"{one.name} {wording.micros(one.after_us)}" for one in cases_of(
        step.verdict.measurement, session.workload.accept.confidence))  # fmt: skip
    parts = [f"step 0 · the original · {times or 'not timed'}", *_state(session, step)]
    return "\n".join((*parts, budget(session)))


def workload(kernel: Kernel, one: Workload) -> str:
    """Describe a workload: how it is reached, arguments, cases, what a candidate must keep."""
    how = {"kernel": "launched as", "entry": "called as", "program": "run as"}[one.kind.value]
    lines = [f"{one.name}: {kernel.path}, {how} {one.symbol or 'a program'}"]
    if one.arguments:
        listed = (
            f"{a.type} {a.name}[{a.shape}] ({a.role.value})"
            if a.shape
            else f"{a.type} {a.name} = {a.value}"
            for a in one.arguments
        )
        lines.append("  arguments: " + ", ".join(listed))
        names = (c.name + ("" if c.time else " (checked, not timed)") for c in one.cases)
        lines.append("  cases: " + "; ".join(names))
    if kernel.launch is not None:
        at = kernel.launch
        free = "may change" if at.tunable else "stays"
        grid, block = ", ".join(at.grid), ", ".join(at.block)
        lines.append(f"  launch ({free}): grid [{grid}], block [{block}], shared {at.shared}")
    if one.program is not None:
        lines.append(f"  runs: {[list(words) for words in one.program.runs]}")
    against = f"numpy reference {one.reference}" if one.reference else "the original"
    lines.append(
        f"  must equal {against} within rtol {one.tolerance.rtol:g}, atol {one.tolerance.atol:g}"
    )
    where = "device code, launch geometry and host code" if one.accept.edit_host else (
        "device code and launch geometry; host code, includes and signatures stay")  # fmt: skip
    fast = "" if one.accept.allow_fast_math else "; fast math is not allowed"
    lines.append(f"  may change: {where}{fast}")
    flags = " ".join(one.build.flags)
    lines.append(f"  offered from {one.accept.min_speedup:g}× on; flags {flags}")
    return "\n".join(lines)


def profiled(session: AgentSession, step: Step) -> str:
    """Tell what the hardware counters say of a candidate, in words."""
    verdict, first = step.verdict, session.steps[0].verdict
    if not verdict.counters:
        said = "; ".join(session.trajectory.notes) or "no counters could be read"
        where = "the recording holds none for it" if session.environment.recorded else said
        return f"step {step.number}: no counters: {where}\n" + "\n".join(_state(session, step))
    parts = [f"step {step.number}: {classify(verdict, session.environment.peaks).words}"]
    if step.number and first.counters:
        parts.append("against the original:")
        for one in moved(first, verdict)[:12]:
            before = wording.amount(one.before, one.meaning.unit)
            after = wording.amount(one.after, one.meaning.unit)
            how = wording.change(one.before, one.after)
            parts.append(f"  {one.meaning.words}: {before} → {after} ({how})")
    else:
        known = [(m, value) for name, value in totals(verdict).items()
                 if value and (m := wording.meaning(name)) and m.weight]  # fmt: skip
        for meaning, value in sorted(known, key=lambda entry: -entry[0].weight)[:14]:
            parts.append(f"  {meaning.words}: {wording.amount(value, meaning.unit)}")
    hot = hottest(step)
    if hot:
        parts += ["where warps wait:", *hot]
    parts += findings(step.findings, step.kernel, 3)
    return "\n".join((*parts, budget(session)))


def hottest(step: Step, most: int = 5) -> list[str]:
    """Return the lines at which warps stall longest, with their text."""
    found: list[tuple[float, int]] = []
    for key, share in step.verdict.lines.items():
        place, _, what = key.partition("/")
        line = place.rpartition(":")[2]
        if what == "stall" and line.isdigit() and share >= 0.03:
            found.append((share, int(line)))
    return [
        f"  {share:4.0%} line {line}: {_quoted(step.kernel, line)}"
        for share, line in sorted(found, reverse=True)[:most]
    ]


def findings(found: Sequence[Finding], kernel: Kernel, most: int = 20) -> list[str]:
    """Return findings in words, each with its line, advice and expected gain."""
    if not found:
        return ["the detectors see nothing to mend"]
    parts = ["findings, the most worthwhile first:"]
    for one in found[:most]:
        where = one.subject + (f" line {one.line}" if one.line else "")
        parts.append(f"- [{one.severity.value}] {one.detector}, {where}: {one.message}")
        if one.line and (text := _quoted(kernel, one.line)):
            parts.append(f"    {one.line} | {text}")
        gain = f" (up to {wording.times(one.expected)} of that kernel)" if one.expected else ""
        if one.advice:
            parts.append(f"    try: {one.advice}{gain}")
        if one.remedies:
            parts.append(f"    kinds of edit: {', '.join(one.remedies[:4])}")
    if len(found) > most:
        parts.append(f"and {len(found) - most} more: `findings` lists them")
    return parts


def suggestions(offered: Mapping[str, Proposal], number: int) -> str:
    """List rewrites the built-in rules offer."""
    if not offered:
        return f"no rule has anything to offer for step {number}: write an edit of your own"
    parts = [f"rewrites of step {number} by rule; `evaluate` takes their name as suggestion:"]
    for name, one in offered.items():
        edit = one.edit
        gain = f", expects {wording.times(edit.predicted)}" if edit.predicted else ""
        parts.append(f"- {name} [{edit.kind}] {edit.title}{gain}")
    return "\n".join(parts)


def trajectory(session: AgentSession) -> str:
    """List every candidate with its verdict."""
    steps = session.steps
    best = session.best
    shown = steps if len(steps) <= MOST_STEPS else (*steps[:1], *steps[-MOST_STEPS:])
    parts = []
    for step in shown:
        title = step.edit.title if step.edit else "the original"
        author = f" ({step.edit.author})" if step.edit else ""
        parent = f" ← {step.parent}" if step.parent is not None else ""
        mark = " ★ best" if best is not None and best.number == step.number else ""
        mark += " ✓ confirmed" if step.number == session.winner else ""
        parts.append(f"{step.number}{parent} · {outcome_words(step)} · {title}{author}{mark}")
    return "\n".join((*parts, budget(session)))


def one_step(session: AgentSession, step: Step) -> str:
    """Tell everything of one candidate: why it was made, its verdict, the diff from its parent."""
    parts = [_headline(session, step, again=False), *_intent(session, step)]
    if step.verdict.status is Status.CORRECT:
        parts += _correct(session, step, most=1)
    else:
        parts += [*failure(step), NEXT[step.verdict.status]]
    if step.judge_reason:
        parts.append(f"judged {step.judge:.2f}: {step.judge_reason}")
    if step.edit is not None and step.parent is not None:
        lines = step.edit.diff(session.step(step.parent).kernel).splitlines()
        parts += [f"diff from step {step.parent}:", *lines[:MOST_DIFF_LINES]]
        if len(lines) > MOST_DIFF_LINES:
            parts.append(f"… {len(lines) - MOST_DIFF_LINES} more lines")
    return "\n".join(parts)


def _intent(session: AgentSession, step: Step) -> Iterator[str]:
    """Yield what an edit was for, and its promise beside what came of it."""
    edit = step.edit
    if edit is None or step.parent is None:
        return
    yield f"{edit.title} (by {edit.author})"
    if edit.rationale:
        yield edit.rationale
    now, before = speedup_of(step), speedup_of(session.step(step.parent))
    if edit.predicted:
        came = f"{now / before:.2f}×" if now and before else "nothing measured"
        yield f"promised {edit.predicted:.2f}× over step {step.parent}, came to {came}"


def confirmed(session: AgentSession, number: int, refused: str, files: Mapping[str, object]) -> str:
    """Tell whether a candidate held in a fresh process."""
    if refused:
        left = f"{session.confirmations_left} confirmations left"
        return f"not confirmed: {refused}\n{left}\n{budget(session)}"
    ratio = ratio_of(
        session.confirmation.measurement if session.confirmation else None,
        session.workload.accept.confidence,
    )
    parts = [f"confirmed: step {number} is {ratio} faster, in a fresh process with fresh data"]
    parts += [f"  {what}: {path}" for what, path in files.items()]
    return "\n".join((*parts, budget(session)))


def budget(session: AgentSession) -> str:
    """Say what is left."""
    limits = session.budget
    words = f"left: {session.evaluations_left} of {limits.evaluations} evaluations"
    if math.isfinite(limits.minutes):
        words += f", {session.minutes_left:.1f} of {limits.minutes:g} minutes"
    origin = session.environment.recorded
    return f"{words}; figures {origin}" if origin else words


def facts(session: AgentSession, step: Step) -> dict[str, object]:
    """Return the figures of a step for programs."""
    ratio = ratio_of(step.verdict.measurement, session.workload.accept.confidence)
    best = session.best
    return {
        "step": step.number,
        "parent": step.parent,
        "status": step.verdict.status.value,
        "speedup": speedup_of(step),
        "interval": [ratio.low, ratio.high] if ratio and math.isfinite(ratio.high) else None,
        "best_step": best.number if best else 0,
        "best_speedup": speedup_of(best) if best else 1.0,
        "evaluations_left": session.evaluations_left,
        "recorded": session.environment.recorded or None,
    }


# -- parts ---------------------------------------------------------------------------------------


def _headline(session: AgentSession, step: Step, *, again: bool) -> str:
    words = f"step {step.number} · {step.verdict.status.value}"
    if again:
        words = f"tried before, not measured again: {words}"
    if not step.number:
        return f"{words} · the original"
    if step.verdict.status is not Status.CORRECT:
        return words
    ratio = ratio_of(step.verdict.measurement, session.workload.accept.confidence)
    if ratio is None:
        return f"{words} · not timed"
    words += f" · {ratio} of the original's speed"
    parent = session.step(step.parent or 0)
    before, now = speedup_of(parent), speedup_of(step)
    if step.parent and before and now:
        words += f", {wording.times(now / before)} of step {step.parent}'s"
    if step.same_as is not None:
        words += f" · same machine code as step {step.same_as}"
    elif session.best is not None and session.best.number == step.number:
        words += " · best so far"
    return words


def _correct(session: AgentSession, step: Step, most: int = 3) -> list[str]:
    parts = []
    for case in cases_of(step.verdict.measurement, session.workload.accept.confidence):
        before, after = wording.micros(case.before_us), wording.micros(case.after_us)
        parts.append(f"  {case.name}: {before} → {after}, {case.ratio}")
    checks = step.verdict.checks
    worst = worst_error(checks)
    said = f"verified: {wording.count(len(checks), 'check')} passed"
    if worst is not None and worst.bound:
        said += f", largest error {worst.error:.2g} of {worst.bound:.2g} allowed ({worst.what})"
    return [*parts, said, *_state(session, step, most)]


def _state(session: AgentSession, step: Step, most: int = 3) -> list[str]:
    verdict = step.verdict
    parts = [_resources(verdict, session.steps[0].verdict)] if verdict.resources else []
    bound = classify(verdict, session.environment.peaks)
    if bound.confidence >= 0.3:
        parts.append(bound.words if verdict.counters else f"{bound.words}; `profile` would tell")
    return [*parts, *findings(step.findings, step.kernel, most)]


def _resources(verdict: Verdict, before: Verdict) -> str:
    parts = []
    for name, used in list(verdict.resources.items())[:6]:
        was = before.resources.get(name)
        words = f"{name}: {used.registers} registers"
        if was is not None and was.registers != used.registers:
            words += f" (was {was.registers})"
        words += f", {used.shared_bytes:,} B shared"
        words += f", {used.spill_bytes} B spilled" if used.spill_bytes else ""
        words += f", occupancy {used.occupancy:.0%}" if used.occupancy is not None else ""
        parts.append(words)
    return "; ".join(parts)


def failure(step: Step) -> list[str]:
    """Tell why a candidate failed: checks, what the compiler or the run said, its lines."""
    verdict = step.verdict
    parts = [
        f"  failed: {check.layer}, {check.what}"
        + (f": error {check.error:.3g}, allowed {check.bound:.3g}" if check.error is not None
           and check.bound is not None else "")
        for check in verdict.checks
        if not check.passed
    ][:5]  # fmt: skip
    log = verdict.log.strip()
    if log:
        parts += [f"  {line}" for line in log[:MOST_LOG].splitlines()]
    return [*parts, *_places(step, log)]


NEXT: Mapping[Status, str] = {
    Status.REJECTED: "it was not compiled and costs no evaluation: keep the edit inside device "
    "code and launch geometry",
    Status.DOES_NOT_COMPILE: "mend the lines named and evaluate again",
    Status.CRASHED: "an index or a pointer leaves its array, or the launch asks for too much; "
    "sizes that are no multiple of the block are among the cases",
    Status.TIMED_OUT: "a loop does not end, or a barrier is not reached by all threads",
    Status.WRONG_RESULT: "what it computes differs: think of sizes that are no multiple of the "
    "block, missing barriers, and sums in another order",
    Status.NOT_RECORDED: "verdicts come from a recording, which has not got this candidate and "
    "never guesses: only suggestions of the rules can be in it",
    Status.CORRECT: "",
}


def _places(step: Step, log: str) -> Iterator[str]:
    """Yield the candidate's lines a log names, unless the log quotes them itself."""
    seen: dict[int, None] = {}
    for pattern in _LINES:
        for match in pattern.finditer(log):
            seen.setdefault(int(match[1]))
    for line in list(seen)[:5]:
        text = _quoted(step.kernel, line)
        if text and text not in log:
            yield f"  {line:>5} | {text}"


def _quoted(kernel: Kernel, line: int) -> str:
    lines = kernel.source.splitlines()
    return lines[line - 1].strip()[:140] if 0 < line <= len(lines) else ""
