"""Tables of what `scaling.py measure` wrote."""

from __future__ import annotations

import argparse
import json
from typing import Any

from optimizer.model import Status

FREE = {Status.REJECTED, Status.NOT_RECORDED}


def table(given: argparse.Namespace) -> int:
    """Print measured rows as a table, each beside the one GPU of the same kind of run."""
    rows = [row for file in given.files for row in json.loads(file.read_text())["rows"]]
    one = {_kind(row): row for row in rows if row["gpus"] == 1}
    print(
        "| example | through | window | GPUs | evaluations/min | × 1 GPU / N "
        "| halves | × 1 GPU / N | busy | idle for choice, compiling, other, end: s "
        "| compile, verify, time: s | search CPU | sent/used |"
    )
    print("|" + " --- |" * 13)
    for row in sorted(rows, key=lambda r: (*_kind(r), r["gpus"])):
        first = one.get(_kind(row), {})
        halves = f"{row.get('first_half_per_minute', '')}, {row.get('steady_per_minute', '')}"
        idle = ", ".join(str(seconds) for seconds in row.get("idle_for", {}).values())
        spent = row.get("mean_seconds", {})
        means = ", ".join(str(spent.get(part, "")) for part in ("compile", "verify", "time"))
        print(
            f"| {row['example']} | {row['through']} | {row['window']} | {row['gpus']} "
            f"| {row['per_minute']:.0f} | {_share(row, first, 'per_minute')} | {halves} "
            f"| {_share(row, first, 'steady_per_minute')} | {_by_gpu(row, 'busy')} | {idle} "
            f"| {means} | {row.get('search_cpu_share', '')} | {row['sent']}/{row['evaluations']} |"
        )
    return 0


def _kind(row: dict[str, Any]) -> tuple[str, str, int]:
    return (row["example"], row["through"], row["window"])


def _share(row: dict[str, Any], first: dict[str, Any], what: str) -> str:
    """Return how many times as much as one GPU each of a row's GPUs came to."""
    return f"{row[what] / first[what] / row['gpus']:.2f}" if first.get(what) else ""


def best(given: argparse.Namespace) -> int:
    """Print the best that was found on one GPU and on several, after as many evaluations."""
    rows = [row for file in given.files for row in json.loads(file.read_text())["rows"]]
    print(
        "| example | GPUs | window | evaluations | best of half of them | best of all "
        "| × one GPU's |"
    )
    print("|" + " --- |" * 7)
    for name in dict.fromkeys(row["example"] for row in rows):
        mine = sorted((row for row in rows if row["example"] == name), key=lambda r: r["gpus"])
        count = min(row["evaluations"] for row in mine)
        first = _best(mine[0], count) if mine[0]["gpus"] == 1 else None
        for row in mine:
            found = _best(row, count)
            share = f"{found / first:.3f}" if first else ""
            print(
                f"| {name} | {row['gpus']} | {row['window'] or 'batches of 4'} | {count} "
                f"| {_best(row, count // 2):.3f}× | {found:.3f}× | {share} |"
            )
    return 0


def _best(row: dict[str, Any], count: int) -> float:
    """Return the largest speedup screened among so many candidates, the unedited kernel's 1."""
    counted = [one for one in row["candidates"] if one[1] not in FREE]
    return max(1.0, *(float(one[-1]) for one in counted[: count + 1]))


def _by_gpu(row: dict[str, dict[str, dict[str, float]]], what: str) -> str:
    return ", ".join(str(one[what]) for one in row.get("gpus_in_use", {}).values())
