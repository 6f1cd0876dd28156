"""Print an ncu report as JSON, one object a profiled launch, by ncu's own `ncu_report` module.

Run as a program in a process of its own, `python -I ncu_report_reader.py EXTRAS REPORT`: the
module is a native library of whatever ncu is installed, and may not fit this Python. Standard
library only. Each object: `kernel` (function name without template arguments), `context`,
`metrics` (name to value), `lines` (`FILE:LINE` to counter to value).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

BY_LINE = {
    "smsp__pcsamp_sample_count": "samples",
    "memory_l2_theoretical_sectors_global": "sectors",
    "memory_l2_theoretical_sectors_global_ideal": "sectors_ideal",
    "memory_l1_wavefronts_shared": "wavefronts",
    "memory_l1_wavefronts_shared_ideal": "wavefronts_ideal",
}
_STALL = "smsp__pcsamp_warps_issue_stalled_"


def _line_counters(names: set[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if name in BY_LINE:
            yield name, BY_LINE[name]
        elif name.startswith(_STALL) and not name.endswith("_not_issued"):
            yield name, name.removeprefix(_STALL)


def _lines(action: Any, names: set[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    places: dict[int, str] = {}
    for name, short in _line_counters(names):
        metric = action.metric_by_name(name)
        if metric is None or not metric.num_instances() or not metric.has_correlation_ids():
            continue
        addresses = metric.correlation_ids()
        for i in range(metric.num_instances()):
            value = float(metric.value(i))
            if not value:
                continue
            address = addresses.as_uint64(i)
            if address not in places:
                info = action.source_info(address)
                places[address] = f"{info.file_name()}:{info.line()}" if info else ""
            place = places[address]
            if place:
                at = found.setdefault(place, {})
                at[short] = at.get(short, 0.0) + value
    return found


def _launch(action: Any) -> dict[str, Any]:
    names = set(action.metric_names())
    metrics = {}
    for name in names:
        metric = action.metric_by_name(name)
        value = None if metric is None else metric.value()
        if isinstance(value, int | float) and not name.startswith("device__"):
            metrics[name] = float(value)
    return {
        "kernel": action.name(),
        "context": int(metrics.get("launch__context_id", 0)),
        "metrics": metrics,
        "lines": _lines(action, names),
    }


def main(extras: str, report: str) -> None:
    """Write the launches of a report to standard output."""
    sys.path.insert(0, extras)
    import ncu_report  # type: ignore[import-not-found]

    context = ncu_report.load_report(report)
    launches = []
    for r in range(context.num_ranges()):
        actions = context.range_by_idx(r)
        launches += [_launch(actions.action_by_idx(a)) for a in range(actions.num_actions())]
    json.dump(launches, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
