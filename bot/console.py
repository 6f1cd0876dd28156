"""What the command line says at the end: the result in a screenful, and as JSON for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import wording
from bot.consumption import memory_words
from bot.interfaces import Reviewed
from bot.markdown import visible
from bot.model_use import model_use
from bot.outcome import CaseOutcome, Outcome, Ratio, main_resources, worst_error
from optimizer.model import Launch, Trajectory

SCHEMA = 1  # of every --json output; grows when a key changes its meaning or goes


def show(console: Console, outcome: Outcome, files: Sequence[Path]) -> None:
    """Print headline, cases, kept edits and the files written."""
    style = "bold green" if outcome.ratio else "bold"
    console.print(Text(visible(outcome.headline), style=style), soft_wrap=True)
    if outcome.provenance:
        console.print(Text(visible(outcome.provenance), style="cyan"))
    if outcome.cases:
        console.print(_cases(outcome))
    if outcome.kept:
        console.print(_kept(outcome))
    launch = _launch(outcome)
    if launch:
        console.print(Text(launch, style="bold"), soft_wrap=True)
    for words in (outcome.energy.words if outcome.energy else "", memory_words(*outcome.memory)):
        if words:
            console.print(Text(words), soft_wrap=True)
    facts = _facts(outcome)
    if facts:
        console.print(Text(facts, style="dim"), soft_wrap=True)
    for one in outcome.limits:
        console.print(Text(visible(f"its limit: {one}"), style="yellow"), soft_wrap=True)
    for note in outcome.trajectory.notes:
        console.print(Text(visible(f"note: {note}"), style="yellow"), soft_wrap=True)
    for file in files:
        console.print(Text.assemble(("wrote ", "dim"), str(file)), soft_wrap=True)


def _cases(outcome: Outcome) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("case", "before", "after", "speedup", "interval"):
        table.add_column(name, justify="left" if name == "case" else "right")
    for case in outcome.cases:
        table.add_row(
            Text(visible(case.name)),
            wording.micros(case.before_us),
            wording.micros(case.after_us),
            Text(wording.times(case.ratio.value), style="bold"),
            case.ratio.span,
        )
    return table


def _kept(outcome: Outcome) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("edit kept")
    for name in ("its own gain", "predicted", "total"):
        table.add_column(name, justify="right")
    for kept in outcome.kept:
        edit = kept.step.edit
        predicted = wording.times(edit.predicted) if edit and edit.predicted else "–"
        title = Text(visible(edit.title) if edit else "")
        table.add_row(title, wording.times(kept.gain), predicted, wording.times(kept.total))
    return table


def launch_change(before: Launch | None, after: Launch | None) -> str:
    """Say how the launch changes, which no patch of the file can hold; empty if it does not."""
    if before is None or after is None:
        return ""
    parts = [
        f"{name} ({', '.join(old)}) → ({', '.join(new)})"
        for name, old, new in (
            ("grid", before.grid, after.grid),
            ("block", before.block, after.block),
            ("shared", (before.shared,), (after.shared,)),
        )
        if old != new
    ]
    return f"the launch changes too: {', '.join(parts)}" if parts else ""


def _launch(outcome: Outcome) -> str:
    trajectory = outcome.trajectory
    return launch_change(trajectory.baseline.kernel.launch, trajectory.best.kernel.launch)


def _facts(outcome: Outcome) -> str:
    trajectory = outcome.trajectory
    facts = [wording.count(outcome.tried, "candidate") + " tried"]
    if outcome.unrecorded:
        facts.append(f"{wording.more(outcome.unrecorded)} not in the recording")
    seconds = max((step.at_seconds for step in trajectory.steps), default=0.0)
    if seconds:
        facts.append(f"in {wording.seconds(seconds)}")
    use = model_use(trajectory)
    if use is not None:
        facts.append(f"model: {use.cost}")
    if trajectory.stopped:
        facts.append(f"ended by: {wording.ending(trajectory.stopped)}")
    worst = worst_error(outcome.checks)
    if worst is not None:
        facts.append(wording.closest(worst))
    before, after = (
        main_resources(trajectory.baseline.verdict),
        main_resources(trajectory.best.verdict),
    )
    if before and after and outcome.ratio:
        facts.append(f"registers {before[1].registers} → {after[1].registers}")
    return " · ".join(facts)


def _energy(outcome: Outcome) -> dict[str, object] | None:
    """Return a winner's energy in mJ a launch; None where it was not asked for."""
    found = outcome.energy
    if found is None:
        return None
    seen = found.saving
    ratio = Ratio(seen.estimate, seen.low, seen.high) if seen is not None else None
    return {
        "saving": ratio_json(ratio),
        "not_measured": found.energy.unavailable or None,
        "idle_w": found.energy.idle_w,
        "cases": [
            {"name": one.name, "before_mj": one.before_mj, "after_mj": one.after_mj}
            for one in found.cases
        ],
    }


def as_json(outcome: Outcome, files: Mapping[str, Path]) -> dict[str, object]:
    """Return a result for machines: times in µs, ratios with bounds, paths of files written."""
    trajectory = outcome.trajectory
    return {
        "kernel": outcome.name,
        "file": trajectory.baseline.kernel.path,
        "gpu": trajectory.environment.gpu,
        "recorded": outcome.provenance or None,
        "speedup": ratio_json(outcome.ratio),
        "confidence": trajectory.workload.accept.confidence,
        "limits": list(outcome.limits),
        "cases": cases_json(outcome.cases),
        "edits": [
            {
                "step": kept.step.number,
                "title": kept.step.edit.title if kept.step.edit else "",
                "kind": kept.step.edit.kind if kept.step.edit else "",
                "author": kept.step.edit.author if kept.step.edit else "",
                "gain": kept.gain,
                "predicted": kept.step.edit.predicted if kept.step.edit else None,
                "total": kept.total,
            }
            for kept in outcome.kept
        ],
        "energy": _energy(outcome),
        "memory_bytes": {"before": outcome.memory[0], "after": outcome.memory[1]},
        "launch": _launch(outcome) or None,
        "evaluations": outcome.tried,
        "not_recorded": outcome.unrecorded,
        "model": _model(trajectory),
        "stopped": trajectory.stopped,
        "seed": trajectory.environment.seed,
        "window": trajectory.environment.window,
        "notes": list(trajectory.notes),
        "files": {name: str(path) for name, path in files.items()},
    }


def _model(trajectory: Trajectory) -> dict[str, object] | None:
    use = model_use(trajectory)
    if use is None:
        return None
    return {
        "name": use.model,
        "answers": use.answers or None,
        "calls": use.spent.calls,
        "kept": use.spent.kept,
        "tokens_sent": use.spent.sent,
        "tokens_cached": use.spent.cached,
        "tokens_received": use.spent.received,
        "usd": use.spent.usd,
        "edits": len(use.edits),
    }


def review_json(
    result: Reviewed, outcome: Outcome | None, slower: Ratio | None
) -> dict[str, object]:
    """Return one reviewed kernel for machines."""
    change = result.change
    found: dict[str, object] = {
        "kernel": change.kernel.name,
        "file": change.kernel.path,
        "reason": change.reason,
        "problem": result.problem or None,
        "slower_than_base": ratio_json(Ratio(1 / slower.value, 1 / slower.high, 1 / slower.low))
        if slower
        else None,
        "result": as_json(outcome, {}) if outcome else None,
    }
    if change.workload is None:
        found["snippet"] = change.snippet
    return found


def cases_json(cases: Sequence[CaseOutcome]) -> list[dict[str, object]]:
    """Return timed cases for machines, in µs."""
    return [
        {
            "name": case.name,
            "before_us": case.before_us,
            "after_us": case.after_us,
            "weight": case.weight,
            "speedup": ratio_json(case.ratio),
        }
        for case in cases
    ]


def ratio_json(found: Ratio | None) -> dict[str, float | None] | None:
    """Return a ratio for machines; its bounds are None where too few samples bear an interval."""
    if found is None:
        return None
    bounded = found.low > 0 and found.high < float("inf")
    return {
        "value": found.value,
        "low": found.low if bounded else None,
        "high": found.high if bounded else None,
    }
