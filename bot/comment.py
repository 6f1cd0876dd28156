"""The pull-request comment: what got faster, why, how that was found, and the change itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot import changed_files, consumption, diagram, reasons, wording
from bot.interfaces import Change, Report, Reviewed
from bot.markdown import code, details, fenced, length, phrase, prose, table, visible
from bot.model_use import MODEL_AUTHOR
from bot.outcome import (
    Moved,
    Outcome,
    Ratio,
    main_resources,
    ratio_of,
    summarize,
    worst_error,
)
from bot.suggestion import Suggestion, suggest
from optimizer.model import Check, Edit, Kernel, Kind, Resources, Trajectory
from optimizer.significance import NOISE_FLOOR

MARKER = "<!-- optiml -->"
LIMIT = 65_536  # characters GitHub takes in a comment
MOST_NOTES, MOST_LIMITS = 8, 3


@dataclass(frozen=True, slots=True)
class Door:
    """What differs by the door a comment leaves through.

    `base` names the branch compared against. `commands` tells that slash commands are obeyed;
    `apply` says otherwise how to take the change.
    """

    base: str = "main"
    commands: bool = True
    apply: str = ""


@dataclass(frozen=True, slots=True)
class _Room:
    """How much may be said: the first level that fits the limit is used.

    The order in which things give way: tree and diff get shorter, then go; then counters,
    trajectory and checks; in the end only headlines are left.
    """

    nodes: int = 30
    diff_lines: int = 400
    reasons: int = 6
    sections: int = 3
    kernels: int = 50


_ROOMS = (
    _Room(),
    _Room(nodes=12, diff_lines=400),
    _Room(nodes=0, diff_lines=200),
    _Room(nodes=0, diff_lines=60, reasons=3),
    _Room(nodes=0, diff_lines=0, reasons=3, sections=2),
    _Room(nodes=0, diff_lines=0, reasons=0, sections=1),
    _Room(nodes=0, diff_lines=0, reasons=0, sections=0),
    _Room(nodes=0, diff_lines=0, reasons=0, sections=0, kernels=10),
)


def compose(results: Sequence[Reviewed], door: Door = Door()) -> Report:
    """Return the comment with its suggestions; no Markdown when there is nothing to say."""
    told = [one for one in map(_Story.of, results) if one.is_worth_telling]
    if not told:
        return Report(None, (), tuple(results))
    text = ""
    for room in _ROOMS:
        text = _written(told, door, room)
        if length(text) <= LIMIT:
            break
    suggestions = tuple(one for story in told for one in story.suggestions or ())
    return Report(text, suggestions, tuple(results))


@dataclass(frozen=True, slots=True)
class _Story:
    """One kernel's result with what is needed to tell it, worked out once for all rooms."""

    result: Reviewed
    outcome: Outcome | None
    regression: Ratio | None
    suggestions: tuple[Suggestion, ...] | None

    @classmethod
    def of(cls, result: Reviewed) -> _Story:
        outcome = summarize(result.trajectory) if result.trajectory else None
        suggestions = None
        if result.trajectory and outcome and outcome.ratio:
            suggestions = _suggestions(result.change, result.trajectory)
        return cls(result, outcome, regression(result), suggestions)

    @property
    def is_worth_telling(self) -> bool:
        return self.regression is not None or (
            self.outcome is not None and self.outcome.ratio is not None
        )


def regression(result: Reviewed) -> Ratio | None:
    """Return the speedup over base when it is a slowdown beyond noise, else None."""
    verdict, workload = result.against_base, result.change.workload
    if verdict is None or workload is None:
        return None
    found = ratio_of(verdict.measurement, workload.accept.confidence)
    return found if found is not None and found.high < 1 - NOISE_FLOOR else None


def identity(trajectory: Trajectory) -> str:
    """Return the ID by which a change is applied, dismissed and explained."""
    return trajectory.best.kernel.digest[:8]


def _suggestions(change: Change, found: Trajectory) -> tuple[Suggestion, ...] | None:
    if found.best.kernel.launch != change.kernel.launch:
        return None  # the launch lives in .optiml.yml or the caller, which no suggestion reaches
    texts = changed_files.apart(change.kernel, found.best.kernel)
    if texts is None:
        return None
    suggested: list[Suggestion] = []
    for path, (head, measured) in texts.items():
        those = suggest(path, head, measured, change.lines_of(path))
        if those is None:
            return None
        suggested += those
    return tuple(suggested)


def _written(told: Sequence[_Story], door: Door, room: _Room) -> str:
    parts = [MARKER]
    if len(told) > 1:
        parts.append(_overview(told[: room.kernels]))
    parts.extend(_section(story, door, room) for story in told[: room.kernels])
    if len(told) > room.kernels:
        parts.append(f"… and {wording.count(len(told) - room.kernels, 'more kernel')}.")
    if room is not _ROOMS[0]:
        parts.append("<sub>Shortened to fit a comment; the HTML report has everything.</sub>")
    return "\n\n".join(parts) + "\n"


def _overview(told: Sequence[_Story]) -> str:
    rows = []
    for story in told:
        ratio = story.outcome.ratio if story.outcome else None
        slower = f"{wording.times(1 / story.regression.value)} slower" if story.regression else "–"
        name = code(story.result.change.kernel.name)
        brief = story.outcome.brief.removesuffix(" faster") if story.outcome else ""
        rows.append([name, f"**{brief}**" if ratio else "–", slower])
    return table(["kernel", "can be faster by", "this change"], rows, right=(1, 2))


def _section(story: _Story, door: Door, room: _Room) -> str:
    parts = []
    if story.regression is not None:
        parts.append(_regressed(story, story.regression, door))
    outcome = story.outcome
    if outcome is not None and outcome.ratio is not None:
        parts.extend(_won(story, outcome, door, room))
    return "\n\n".join(parts)


def _regressed(story: _Story, ratio: Ratio, door: Door) -> str:
    result = story.result
    inverse = Ratio(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
    confidence = result.change.workload.accept.confidence if result.change.workload else 0.99
    measurement = result.against_base.measurement if result.against_base else None
    where = f" on {prose(measurement.device)}" if measurement and measurement.device else ""
    title = (
        f"### ⚠️ {code(result.change.kernel.name)}: {wording.times(inverse.value)} slower than "
        f"{code(door.base)} ({confidence * 100:g} % CI {inverse.span}){where}"
    )
    change = result.change
    touched = f"{code(change.kernel.path)} {prose(change.reason)}. "
    if change.reason == "changed":
        touched = ""
    lines = [title, f"{touched}Base and head were timed in turn on the same GPU."]
    if story.outcome is not None and story.outcome.ratio is not None:
        total = story.outcome.ratio.value * ratio.value
        lines.append(f"With the change below it would be {_compared(total)} {code(door.base)}.")
    return "\n\n".join(lines)


def _compared(ratio: float) -> str:
    if abs(ratio - 1) < NOISE_FLOOR:
        return "as fast as"
    if ratio > 1:
        return f"{wording.times(ratio)} faster than"
    return f"{wording.times(1 / ratio)} slower than"


def _won(story: _Story, outcome: Outcome, door: Door, room: _Room) -> list[str]:
    title = f"### {code(outcome.name)}: {outcome.gain} on {prose(outcome.gpu)}"
    parts = [title]
    if outcome.provenance:
        parts.append(f"*{prose(outcome.provenance)}*")
    if room.sections >= 1:
        parts.append(_cases(outcome))
    parts.append(_limits(outcome))
    if room.sections >= 2:
        parts.append(_facts(outcome))
        if room.reasons:
            parts.append(_why(outcome, room.reasons))
        parts.append(_trajectory(outcome, room.nodes))
    if room.sections >= 3:
        parts.append(_reproduce(outcome))
    parts.append(_change(story, outcome, door, room))
    return [part for part in parts if part]


def _cases(outcome: Outcome) -> str:
    rows = [
        [
            code(case.name),
            wording.micros(case.before_us),
            wording.micros(case.after_us),
            f"**{wording.times(case.ratio.value)}**",
            case.ratio.span,
        ]
        for case in outcome.cases
    ]
    return table(["case", "before", "after", "speedup", "interval"], rows, right=(1, 2, 3, 4))


def _limits(outcome: Outcome) -> str:
    """Say where the change fails and the original does not, in whatever room there is."""
    shown = [f"- {phrase(one[:300])}" for one in outcome.limits[:MOST_LIMITS]]
    left = len(outcome.limits) - len(shown)
    shown += [f"- {left} more in the report"] if left else []
    return "\n".join(["**Its limits**", "", *shown]) if shown else ""


def _facts(outcome: Outcome) -> str:
    facts = []
    worst = worst_error(outcome.checks)
    if worst is not None:
        near = f" ({prose(wording.place(worst))})" if worst.error else ""
        facts.append(wording.closest(worst).capitalize() + near)
    before = main_resources(outcome.trajectory.baseline.verdict)
    after = main_resources(outcome.trajectory.best.verdict)
    if before and after:
        facts.append(_resources(before[1], after[1]))
    facts.append(consumption.memory_words(*outcome.memory))
    lines = [" · ".join(fact for fact in facts if fact), _energy(outcome)]
    return "\n\n".join(line for line in lines if line)


def _energy(outcome: Outcome) -> str:
    """Say the energy of a launch before and after, or why it is not known."""
    found = outcome.energy
    if found is None:
        return ""
    if found.saving is None:
        return f"Energy: {prose(found.words.removeprefix('energy was '))}"
    level = f"{outcome.trajectory.workload.accept.confidence * 100:g}"
    each = ", ".join(
        f"{consumption.joules(case.before_mj)} → {consumption.joules(case.after_mj)} "
        f"({code(case.name)})"
        for case in found.cases
    )
    change = f"**{consumption.less(found.saving.estimate)}**"
    what = "run" if outcome.trajectory.workload.kind is Kind.PROGRAM else "launch"
    return f"Energy of a {what}: {change} ({level} % CI {consumption.span(found.saving)}): {each}"


def _resources(before: Resources, after: Resources) -> str:
    parts = [
        f"registers {_arrow(before.registers, after.registers)}",
        f"shared memory {_arrow(before.shared_bytes, after.shared_bytes)} B",
    ]
    if before.spill_bytes or after.spill_bytes:
        parts.append(f"spills {_arrow(before.spill_bytes, after.spill_bytes)} B")
    if before.occupancy is not None and after.occupancy is not None:
        occupancy = _arrow(round(before.occupancy * 100), round(after.occupancy * 100))
        parts.append(f"occupancy {occupancy} %")
    return " · ".join(parts)


def _arrow(before: int, after: int) -> str:
    return f"{before:,}" if before == after else f"{before:,} → {after:,}"


def _why(outcome: Outcome, limit: int) -> str:
    told = reasons.reasons(outcome)[:limit]
    if not told:
        meant = [one.step.edit.rationale for one in outcome.kept if one.step.edit]
        lines = [f"- {phrase(reason)}" for reason in meant if reason][:limit]
        if not lines:
            return ""
        seen = "No counter moved that would explain it"
        note = seen if outcome.moved else "No hardware counters were read"
        note += "; this is what the edits were made for:"
        return "\n".join(["**Why it is faster**", "", note, "", *lines])
    lines = [f"- {_counted(one)}" for one in told]
    price = [_counted(one) for one in reasons.prices(outcome)]
    if price:
        lines += ["", f"In return: {'; '.join(price)}."]
    return "\n".join(["**Why it is faster**", "", *lines])


def _counted(one: Moved) -> str:
    unit = one.meaning.unit
    before, after = wording.amount(one.before, unit), wording.amount(one.after, unit)
    return f"{one.meaning.words}: {before} → {after} ({wording.change(one.before, one.after)})"


def _title(edit: Edit | None) -> str:
    """Say an edit's title, and who wrote it where that was a language model."""
    if edit is None:
        return ""
    by = edit.author.removeprefix(MODEL_AUTHOR)
    return phrase(edit.title) + (f" (by {code(by[:80])})" if by != edit.author else "")


def _trajectory(outcome: Outcome, nodes: int) -> str:
    rows = [
        [
            str(number),
            _title(kept.step.edit),
            wording.times(kept.gain),
            wording.times(kept.step.edit.predicted)
            if kept.step.edit and kept.step.edit.predicted
            else "–",
            wording.times(kept.total),
        ]
        for number, kept in enumerate(outcome.kept, 1)
    ]
    head = ["", "edit kept", "its own gain", "predicted", "total"]
    body = "\n".join(["**How it was found**", "", table(head, rows, right=(2, 3, 4))])
    if not nodes:
        return body
    tree = diagram.render(outcome.trajectory, nodes)
    tried = wording.count(outcome.tried, "candidate")
    if outcome.unrecorded:
        tried += f"; {wording.more(outcome.unrecorded)} not in the recording"
    return f"{body}\n\n{details(f'Search tree: {tried}', fenced(tree, 'mermaid'))}"


def _reproduce(outcome: Outcome) -> str:
    environment = outcome.trajectory.environment
    facts = [
        ("command", code(environment.command)),
        ("commit", code(environment.commit)),
        ("GPU", prose(environment.gpu)),
        ("driver", code(environment.driver)),
        ("CUDA", code(environment.toolkit)),
        ("seed", str(environment.seed)),
        ("window", str(environment.window or "")),
        ("measured", code(outcome.provenance or environment.date)),
    ]
    lines = [f"- {name}: {value}" for name, value in facts if value]
    lines.extend(f"- checked: {line}" for line in checked(outcome.checks))
    lines.extend(f"- note: {phrase(note[:300])}" for note in outcome.notes[:MOST_NOTES])
    if outcome.trajectory.confirmation is not None:
        is_program = outcome.trajectory.workload.kind is Kind.PROGRAM
        where = "fresh processes" if is_program else "a fresh process with fresh seeds"
        lines.append(f"- confirmed in {where}; that is the figure above")
    lines.extend(f"- note: {phrase(note)}" for note in outcome.trajectory.notes[:5])
    return details("How to reproduce it, and what was checked", "\n".join(lines))


def checked(checks: Sequence[Check]) -> list[str]:
    """Say what was verified, one line a layer: `input families: 24 checks, all passed`."""
    layers: dict[str, list[Check]] = {}
    for check in checks:
        layers.setdefault(check.layer, []).append(check)
    lines = []
    for layer, members in layers.items():
        failed = sum(not one.passed for one in members)
        result = "all passed" if not failed else f"{failed} failed"
        if len(members) == 1:
            result = "passed" if not failed else "failed"
        seen = list(dict.fromkeys(one.what for one in members))
        some = ", ".join(seen[:3]) + (", …" if len(seen) > 3 else "")
        what = f"{prose(wording.layer(layer))}: {wording.count(len(members), 'check')}, {result}"
        lines.append(f"{what} ({prose(some)})" if some else what)
    return lines


def _change(story: _Story, outcome: Outcome, door: Door, room: _Room) -> str:
    found = outcome.trajectory
    lines = ["**The change**"]
    if story.suggestions:
        number = len(story.suggestions)
        paths = " and ".join(code(one) for one in {each.path: 0 for each in story.suggestions})
        lines.append(
            f"{wording.count(number, 'suggestion')} on the changed lines of {paths}"
            + ("; add all to one batch: only together are they what was measured." * (number > 1))
            + ("." * (number == 1))
        )
    before, after = found.baseline.kernel, found.best.kernel
    if after.launch != before.launch and after.launch is not None:
        grid, block = ", ".join(after.launch.grid), ", ".join(after.launch.block)
        lines.append(
            f"The launch changes too: grid {code(grid)}, block {code(block)}, "
            f"dynamic shared memory {code(after.launch.shared)} bytes."
        )
    if not story.suggestions and room.diff_lines:
        lines.append(_diff(before, after, room.diff_lines))
    if door.commands:
        lines.append(f"{code(f'/optiml apply {identity(found)}')} commits it to this branch.")
    elif door.apply:
        lines.append(door.apply)
    return "\n\n".join(line for line in lines if line)


def _diff(before: Kernel, after: Kernel, limit: int) -> str:
    text = changed_files.patch(before, after)
    if not text:
        return ""
    lines = text.split("\n")
    added, removed = changed_files.counts(before, after)
    shown = "\n".join(lines[:limit])
    if len(lines) > limit:
        shown += f"\n… {len(lines) - limit} more lines in the report"
    body = fenced(visible(shown), "diff")
    return details(f"Diff: {wording.count(added, 'line')} added, {removed} removed", body)
