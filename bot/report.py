"""The HTML report of a trajectory: one self-contained file, no script, no request to anywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from bot import (
    changed_files,
    charts,
    comment,
    consumption,
    difference,
    pareto,
    reasons,
    roofline,
    tree,
    wording,
)
from bot.markdown import shown, visible
from bot.model_use import model_use
from bot.outcome import (
    Outcome,
    main_resources,
    outcome_words,
    speedup_of,
    summarize,
    worst_error,
)
from optimizer.model import Finding, Resources, Status, Step, Trajectory

_TEMPLATES = Path(__file__).parent / "templates"
_DIFF_CHARACTERS = 350_000  # of source lines in the diffs of all steps together
_DIFF_ROWS = 160  # of one step; the winner's own diff is never cut
_LOG_CHARACTERS = 4_000  # of one step
_LOGS_CHARACTERS = 250_000  # of all steps together
_WORDS_CHARACTERS = 600  # of a title, rationale or reason
_FULL_STEPS = 400  # steps with a fold of their own; the rest are lines of a table
_FAILED_LISTED = 150


@dataclass(frozen=True, slots=True)
class StepView:
    """One candidate as the report shows it."""

    step: Step
    title: str
    rationale: str
    result: str
    kind: str
    speedup: float | None
    gain: float | None
    rows: tuple[difference.Row, ...]
    is_cut: bool
    log: str
    on_path: bool


@dataclass(frozen=True, slots=True)
class FailedGroup:
    """Candidates that failed alike, folded."""

    status: str
    number: int
    views: tuple[StepView, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class ResourceRow:
    """What the compiler gave one kernel, before and after."""

    kernel: str
    what: str
    before: str
    after: str


def render(trajectory: Trajectory) -> str:
    """Return the report as HTML. Every text from outside is escaped by the template."""
    outcome = summarize(trajectory)
    views = _views(trajectory)
    correct = [view for view in views if view.kind != "failed"]
    ranked = sorted(
        correct, key=lambda view: (not view.on_path, -(view.speedup or 0.0), view.step.number)
    )
    full = sorted(ranked[:_FULL_STEPS], key=lambda view: view.step.number)
    environment = trajectory.environment
    placed = roofline.points(trajectory)
    consumers = pareto.candidates(trajectory)
    weighed = sum(one.energy is not None and one.step.parent is not None for one in consumers)
    return _template().render(
        outcome=outcome,
        trajectory=trajectory,
        environment=environment,
        workload=trajectory.workload,
        before=trajectory.baseline.kernel,
        after=trajectory.best.kernel,
        diffs=[
            (path, difference.side_by_side(old, new))
            for path, (old, new) in changed_files.changed_files(
                trajectory.baseline.kernel, trajectory.best.kernel
            ).items()
            if old != new
        ],
        added_removed=changed_files.counts(trajectory.baseline.kernel, trajectory.best.kernel),
        charts=_charts(trajectory, outcome, placed) | {"pareto": pareto.draw(consumers)},
        bandwidth=roofline.bandwidth(trajectory),
        bounds=roofline.bounds(trajectory),
        points=placed,
        moved=[*reasons.reasons(outcome), *reasons.prices(outcome)],
        resources=_resources(trajectory),
        findings=_findings(trajectory),
        checks=layers_checked(outcome),
        worst=worst_error(outcome.checks),
        full=full,
        brief=ranked[_FULL_STEPS:],
        failed=_failed([view for view in views if view.kind == "failed"]),
        statuses=Counter(step.verdict.status.value for step in trajectory.steps[1:]),
        elapsed=max((step.at_seconds for step in trajectory.steps), default=0.0),
        usd=trajectory.spending.usd,
        memory=consumption.memory_words(*outcome.memory),
        front=pareto.front(consumers) if weighed else [],
        weighed=weighed,
        use=model_use(trajectory),
        identity=comment.identity(trajectory),
    )


def environment() -> jinja2.Environment:
    """Return what our pages are made with: all is escaped, and what is missing is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _template() -> jinja2.Template:
    made = environment()
    made.filters.update(
        times=wording.times,
        micros=wording.micros,
        seconds=wording.seconds,
        amount=wording.amount,
        change=wording.change,
        sig=wording.significant,
        joules=consumption.joules,
        less=consumption.less,
        span=consumption.span,
        ticked=_ticked,
        stage=wording.stage,
        ending=wording.ending,
        place=wording.place,
        closest=wording.closest,
    )
    made.globals["count"] = wording.count
    # Our own style sheet, not a stranger's text.
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    made.globals["style"] = Markup(style)  # noqa: S704
    return made.get_template("report.html")


def _ticked(text: str) -> Markup:
    """Show what stands between backticks as code, and all of it as it is."""
    parts = re.split(r"`([^`]+)`", visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def _charts(
    trajectory: Trajectory, outcome: Outcome, placed: Sequence[roofline.Point]
) -> dict[str, Markup | None]:
    roofs = roofline.roofs(trajectory)
    return {
        "progress": charts.progress(trajectory, outcome.ratio),
        "tree": tree.draw(trajectory),
        "cases": charts.bars(outcome.cases) if outcome.cases else None,
        "roofline": charts.roofline(roofs, placed) if placed and roofs else None,
    }


def _views(trajectory: Trajectory) -> list[StepView]:
    """Return all steps; diffs go to the best first, until their allowance is spent."""
    path = {step.number for step in trajectory.path(trajectory.best.number)}
    order = sorted(
        trajectory.steps[1:],
        key=lambda step: (step.number not in path, -(speedup_of(step) or 0.0), step.number),
    )
    allowance, logs = _DIFF_CHARACTERS, _LOGS_CHARACTERS
    views: dict[int, StepView] = {}
    for rank, step in enumerate(order):
        rows: list[difference.Row] = []
        is_cut = True
        if allowance > 0 and rank < _FULL_STEPS and step.parent is not None:
            before = trajectory.steps[step.parent].kernel.source
            rows = difference.side_by_side(before, step.kernel.source, context=2)
            is_cut = len(rows) > _DIFF_ROWS
            rows = rows[:_DIFF_ROWS]
            allowance -= sum(_cost(row) for row in rows)
        log = _cut(step.verdict.log, min(_LOG_CHARACTERS, max(logs, 0)))
        logs -= len(log)
        views[step.number] = _view(
            step, trajectory, tuple(rows), log, is_cut=is_cut, on_path=step.number in path
        )
    return [views[number] for number in sorted(views)]


def _cost(row: difference.Row) -> int:
    return 120 + sum(len(span.text) + 20 for span in (*row.before, *row.after))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… {len(text) - limit:,} more characters"


def _view(
    step: Step,
    trajectory: Trajectory,
    rows: tuple[difference.Row, ...],
    log: str,
    *,
    is_cut: bool,
    on_path: bool,
) -> StepView:
    value = speedup_of(step)
    parent = speedup_of(trajectory.steps[step.parent]) if step.parent is not None else None
    kind = "failed" if value is None and step.verdict.status is not Status.CORRECT else "correct"
    return StepView(
        step,
        _cut(step.edit.title, _WORDS_CHARACTERS) if step.edit else "the original",
        _cut(step.edit.rationale, _WORDS_CHARACTERS) if step.edit else "",
        outcome_words(step),
        "won" if on_path and trajectory.winner else kind,
        value,
        value / parent if value and parent else None,
        rows,
        is_cut,
        log,
        on_path,
    )


def _failed(views: Sequence[StepView]) -> list[FailedGroup]:
    groups: dict[str, list[StepView]] = {}
    for view in views:
        groups.setdefault(view.step.verdict.status.value, []).append(view)
    share = max(5, _FAILED_LISTED // max(1, len(groups)))
    return [
        FailedGroup(status, len(members), tuple(members[:share]), max(0, len(members) - share))
        for status, members in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]


def _resources(trajectory: Trajectory) -> list[ResourceRow]:
    before, after = trajectory.baseline.verdict, trajectory.best.verdict
    main = main_resources(after) or main_resources(before)
    names = sorted(
        {*before.resources, *after.resources}, key=lambda name: (name != (main or [""])[0], name)
    )
    rows: list[ResourceRow] = []
    for name in names[:6]:
        old, new = before.resources.get(name), after.resources.get(name)
        rows.extend(
            ResourceRow(name, what, _said(old, field), _said(new, field))
            for what, field in (
                ("registers per thread", "registers"),
                ("shared memory per block, bytes", "shared_bytes"),
                ("stack, bytes", "stack_bytes"),
                ("spilled, bytes", "spill_bytes"),
                ("theoretical occupancy", "occupancy"),
            )
            if _said(old, field) not in ("0", "–") or _said(new, field) not in ("0", "–")
        )
    return rows


def _said(resources: Resources | None, field: str) -> str:
    value = getattr(resources, field) if resources is not None else None
    if value is None:
        return "–"
    return f"{value * 100:.0f} %" if field == "occupancy" else f"{value:,}"


def _findings(trajectory: Trajectory) -> list[tuple[Finding, bool]]:
    """Return what was seen in the original, worst first, and whether the winner still has it."""
    rank = {"critical": 0, "warning": 1, "info": 2}
    left = {(one.detector, one.subject) for one in trajectory.best.findings}
    found = sorted(
        trajectory.baseline.findings, key=lambda one: (rank[one.severity.value], one.detector)
    )
    is_known = trajectory.winner is not None and bool(trajectory.best.findings)
    return [(one, is_known and (one.detector, one.subject) not in left) for one in found[:20]]


def layers_checked(outcome: Outcome) -> list[tuple[str, int, int, list[str]]]:
    """Return layer, checks, failures and what was checked, in plain text."""
    layers: dict[str, list[tuple[str, bool]]] = {}
    for check in outcome.checks:
        layers.setdefault(check.layer, []).append((check.what, check.passed))
    return [
        (
            wording.layer(layer),
            len(members),
            sum(not passed for _, passed in members),
            list(dict.fromkeys(what for what, _ in members))[:40],
        )
        for layer, members in layers.items()
    ]
