"""Nsight Compute's command line, and its reports as one set of counters a kernel.

Pure text work; `runners/profiler.py` runs the commands.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optimizer import counters

# Invocations of each kernel that are profiled in a program that launches it again and again: the
# first (caches and pages cold), and a later one, since an iterative solver's first step is often
# not like the others. Each costs 17 passes: three kernels at three launches took 6.1 s on an H200,
# at one launch 3.2 s.
PROGRAM_INVOCATIONS = "1|6"
# A line with a smaller share of a kernel's samples is noise: with the usual 1,000 to 10,000
# samples a launch, 1 % is 10 to 100 of them.
LINE_SHARE = 0.01
_STALLS = frozenset(counters.STALL_REASONS)
_EXCESS = {"sectors": "excess_sectors", "wavefronts": "excess_wavefronts"}


def _no_lines() -> dict[str, dict[str, float]]:
    return {}


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """One profiled launch: the kernel's plain name, its CUDA context, metrics, counters by line.

    `lines` maps `FILE:LINE` to `samples`, stall reasons (samples), `sectors`, `sectors_ideal`,
    `wavefronts`, `wavefronts_ideal`.
    """

    kernel: str
    context: int
    metrics: Mapping[str, float]
    lines: Mapping[str, Mapping[str, float]] = field(default_factory=_no_lines)

    @property
    def weight(self) -> float:
        """Return the launch's time in ns, by which launches of one kernel are averaged."""
        return max(self.metrics.get(counters.TIME_NS, 0.0), 1.0)


def ncu_command(
    ncu: str,
    report: str,
    target: Sequence[str],
    *,
    kernels: Sequence[str] = (),
    invocations: str = "",
    launches: int = 0,
    warm: bool = False,
    ends: bool = False,
) -> list[str]:
    """Return the command that profiles `target` into `report` (`.ncu-rep` is appended by ncu).

    `kernels` are plain names to profile, all when empty. `invocations` is a regular expression of
    invocation numbers of each kernel. `launches` bounds the profiled launches of the session.
    `warm` keeps what earlier launches left in the caches, which ncu empties before each pass
    otherwise. Clocks are left alone: they belong to the machine's owner. With `ends` the target is
    ended once `launches` are profiled: what a program does behind them on the host is not waited
    for. Nsight Compute's own advice is not asked for: nobody reads it, and it is worked out for
    every launch.
    """
    command = [ncu, "--clock-control", "none", "--target-processes", "all", "--apply-rules", "no"]
    command += ["--force-overwrite", "--import-source", "no", "--export", report]
    for section in counters.SECTIONS:
        command += ["--section", section]
    command += ["--metrics", ",".join(counters.METRICS)]
    command += ["--cache-control", "none" if warm else "all"]
    if kernels or invocations:
        names = "|".join(re.escape(kernel) for kernel in kernels) or ".*"
        command += ["--kernel-name-base", "function"]
        # In a namespace, too; a colon would end the pattern.
        chosen = f"regex:^(.*[^a-zA-Z0-9_])?({names})$" if kernels else f"regex:^({names})$"
        # An identifier wants a number for the invocation: ncu takes no pattern for all of them.
        if invocations:
            command += ["--kernel-id", f"::{chosen}:{invocations}"]
        else:
            command += ["--kernel-name", chosen]
    if launches:
        command += ["--launch-count", str(launches)]
        command += ["--kill", "yes"] if ends else []
    return [*command, *target]


def plain_name(demangled: str) -> str:
    """Return a kernel's name as written at its definition.

    >>> plain_name("void ns::blur<(int)3, float>(const float *, float *)")
    'blur'
    >>> plain_name("saxpy")
    'saxpy'
    """
    text = demangled.strip().replace("(anonymous namespace)::", "")
    head = text.split("(", 1)[0] if "<" not in text.split("(", 1)[0] else _without_template(text)
    head = head.split("(", 1)[0].strip()
    return re.split(r"::|\s", head)[-1] or demangled.strip()


def _without_template(text: str) -> str:
    depth, kept = 0, []
    for char in text:
        depth += char == "<"
        if depth == 0:
            kept.append(char)
        depth -= char == ">" and depth > 0
    return "".join(kept)


def launches_of_json(text: str) -> list[LaunchRecord]:
    """Read what `ncu_report_reader` printed. Raise `ValueError` when it is something else."""
    data = json.loads(text)
    if not isinstance(data, list):
        raise ValueError("an ncu report is a list of launches")  # noqa: TRY004 - bad text
    return [_launch_of(entry) for entry in data]


def _launch_of(entry: Any) -> LaunchRecord:
    try:
        metrics = {str(k): float(v) for k, v in entry["metrics"].items() if k in counters.KEPT}
        lines = {
            str(place): {str(k): float(v) for k, v in found.items()}
            for place, found in entry.get("lines", {}).items()
        }
        name, context = plain_name(str(entry["kernel"])), int(entry["context"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a launch in the ncu report lacks {error}") from error
    return LaunchRecord(name, context, _finite(metrics), lines)


def launches_of_csv(text: str) -> list[LaunchRecord]:
    """Read `--page raw --csv --print-units base`, ncu's own chatter around it included.

    The second row holds units. Numbers carry thousands separators; what is not a number (`n/a`,
    `(!) n/a`, names) is left out. A report without launches gives none.
    """
    start = re.search(r'^"ID",', text, re.MULTILINE)
    if start is None:
        return []
    lines = [line for line in text[start.start() :].splitlines() if not line.startswith("==")]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    header, found = rows[0], []
    for row in rows[1:]:
        cells = dict(zip(header, row, strict=False))
        if not cells.get("ID") or "Kernel Name" not in cells:
            continue
        context = number(cells.get("Context", ""))
        values = {k: number(v) for k, v in cells.items() if k in counters.KEPT}
        metrics = {k: v for k, v in values.items() if v is not None}
        name = plain_name(cells["Kernel Name"])
        found.append(LaunchRecord(name, int(context or 0), metrics))
    return found


def number(text: str) -> float | None:
    """Return a cell as a number, None where it is none.

    ncu groups thousands by the locale it runs in, and `runners/profiler.py` runs it in C, which
    means commas in ncu's tables; spaces and apostrophes are accepted as well.

    >>> number("1,980,000.5"), number("n/a"), number("(!) n/a"), number("1'024")
    (1980000.5, None, None, 1024.0)
    """
    cleaned = re.sub(r"[,'\s\u00a0\u202f]", "", text)
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cleaned):
        return None
    value = float(cleaned)
    return value if math.isfinite(value) else None


def _finite(values: Mapping[str, float]) -> dict[str, float]:
    return {k: v for k, v in values.items() if math.isfinite(v)}


def counters_by_kernel(launches: Iterable[LaunchRecord]) -> dict[str, float]:
    """Average several launches of a kernel into `KERNEL/metric`, weighted by their time.

    What a launch is configured with (`launch__…`) is taken from the longest one, for half a
    block or register is none. Sums are averaged with the same weights as times, so that a rate
    made of two of them is the rate of the time spent.
    """
    groups: dict[str, list[LaunchRecord]] = {}
    for launch in launches:
        groups.setdefault(launch.kernel, []).append(launch)
    found: dict[str, float] = {}
    for kernel, group in groups.items():
        longest = max(group, key=lambda launch: launch.weight)
        for metric in sorted({name for launch in group for name in launch.metrics}):
            having = [launch for launch in group if metric in launch.metrics]
            if metric.startswith("launch__") and metric in longest.metrics:
                value = longest.metrics[metric]
            else:
                total = sum(launch.weight for launch in having)
                value = sum(x.metrics[metric] * x.weight for x in having) / total
            found[f"{kernel}/{metric}"] = value
    return found


def lines_by_kernel(launches: Iterable[LaunchRecord], source: str = "") -> dict[str, float]:
    """Return shares by line: `KERNEL:42/stall`, `/long_scoreboard` …, `/excess_sectors`.

    `stall` is the line's share of all samples of the kernel, a reason's its share of the same
    samples, and `excess_…` the line's share of the kernel's avoidable sectors or wavefronts.
    Lines of `source` (a path's end) count; without it, of the file with the most samples, since
    inlined code of a header has line numbers of its own.
    """
    totals: dict[str, dict[str, dict[str, float]]] = {}
    for launch in launches:
        for place, values in launch.lines.items():
            at = totals.setdefault(launch.kernel, {}).setdefault(place, {})
            for key, value in values.items():
                at[key] = at.get(key, 0.0) + value
    found: dict[str, float] = {}
    for kernel, places in totals.items():
        found |= _shares(kernel, places, source)
    return found


def _shares(
    kernel: str, places: Mapping[str, Mapping[str, float]], source: str
) -> dict[str, float]:
    files: dict[str, float] = {}
    for place, values in places.items():
        name = place.rpartition(":")[0]
        files[name] = files.get(name, 0.0) + values.get("samples", 0.0) + 1e-9
    wanted = [name for name in files if source and name.endswith(source)]
    chosen = wanted[0] if wanted else max(files, key=lambda name: files[name], default="")
    samples = sum(values.get("samples", 0.0) for values in places.values())
    excess = {key: sum(_over(values, key) for values in places.values()) for key in _EXCESS}
    found: dict[str, float] = {}
    for place, values in places.items():
        name, _, line = place.rpartition(":")
        if name != chosen or not line.isdigit() or line == "0":
            continue
        parts = {"stall": values.get("samples", 0.0)}
        parts |= {reason: values[reason] for reason in values if reason in _STALLS}
        shares = {key: value / samples for key, value in parts.items()} if samples else {}
        shares |= {_EXCESS[k]: _over(values, k) / excess[k] for k in _EXCESS if excess[k]}
        found |= {f"{kernel}:{line}/{k}": v for k, v in shares.items() if v >= LINE_SHARE}
    return found


def _over(values: Mapping[str, float], key: str) -> float:
    return max(values.get(key, 0.0) - values.get(f"{key}_ideal", 0.0), 0.0)
