"""What the search memory holds, and how it would move the order of what is tried."""

from __future__ import annotations

import math
from collections import defaultdict

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import wording
from bot.memory_store import MemoryStore
from optimizer.memory import Lesson, SearchMemory


def rows(memory: SearchMemory) -> list[dict[str, object]]:
    """Return one row per kind, bottleneck and GPU: tries, failures, mean gain, factor on priors."""
    groups: dict[tuple[str, str, str], list[Lesson]] = defaultdict(list)
    for lesson in memory.lessons:
        groups[lesson.kind, lesson.bottleneck, lesson.gpu].append(lesson)
    found: list[dict[str, object]] = []
    for (kind, bottleneck, gpu), lessons in sorted(groups.items()):
        gains = [lesson.gain for lesson in lessons if lesson.gain is not None]
        here = SearchMemory(memory.lessons, gpu, memory.today)
        found.append(
            {
                "kind": kind,
                "bottleneck": bottleneck,
                "gpu": gpu,
                "tries": len(lessons),
                "failures": len(lessons) - len(gains),
                "mean_gain": math.exp(sum(gains) / len(gains)) if gains else None,
                "factor": here.factor(kind, bottleneck),
            }
        )
    return found


def show(console: Console, store: MemoryStore, memory: SearchMemory) -> None:
    """Print what was learned, the kinds most helped first."""
    where = getattr(store, "where", None) or getattr(store, "path", "")
    head = f"{wording.count(len(memory.lessons), 'lesson')} at {where}"
    console.print(Text(head, style="bold"), soft_wrap=True)
    for note in memory.notes:
        console.print(Text(note, style="yellow"), soft_wrap=True)
    if not memory.lessons:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("kind", "bottleneck", "GPU"):
        table.add_column(name)
    for name in ("tries", "failed", "mean gain", "prior"):
        table.add_column(name, justify="right")
    for row in sorted(rows(memory), key=lambda one: -float(str(one["factor"])))[:60]:
        gain = row["mean_gain"]
        table.add_row(
            Text(str(row["kind"])),
            Text(str(row["bottleneck"]) or "–"),
            Text(str(row["gpu"])),
            str(row["tries"]),
            str(row["failures"]),
            wording.times(gain) if isinstance(gain, float) else "–",
            f"× {row['factor']:.2f}",
        )
    console.print(table)
    console.print(
        Text("a prior moves the order in which edits are tried; what was measured decides",
             style="dim")
    )  # fmt: skip
