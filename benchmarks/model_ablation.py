"""What the switches of the dialogue with a model change, on a recording.

    python benchmarks/model_ablation.py tests/data/by_hand/filter2d tests/data/by_hand/visual_words

For each setting of `OPTIML_FEEDBACK`, `OPTIML_REPORTS` and `OPTIML_POLICY` the whole search runs on
the verdicts an H200 gave, with edits a person wrote behind a scripted server. These answers do not
depend on what is asked, so what can be seen is what a model is told and what telling costs: calls,
tokens, findings and counters in the prompts, and how many different pieces of advice were given.
What a model makes of the difference takes a model.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

from bot import projects, run
from bot.model_use import model_use
from bot.outcome import speedup_of
from bot.settings import Settings
from bot.wiring import Workshop
from tests.scripted_model import AUTHOR, Asked, ScriptedModel, advice_in, by_hand, said, serving

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FINDINGS = "# Findings of the profiler's tools"
WAYS: tuple[tuple[str, dict[str, str]], ...] = (
    ("mixed, tools, proactive", {}),
    ("mixed, tools, reactive", {"reports": "reactive"}),
    ("mixed, raw counters", {"feedback": "raw"}),
    ("mixed, no feedback", {"feedback": "none"}),
    ("llm, tools, proactive", {"policy": "llm"}),
    ("llm, tools, reactive", {"policy": "llm", "reports": "reactive"}),
    ("llm, raw counters", {"policy": "llm", "feedback": "raw"}),
    ("llm, no feedback", {"policy": "llm", "feedback": "none"}),
)


def row(folder: Path, name: str, changes: dict[str, str], evaluations: int) -> dict[str, object]:
    """Run one search; the figures of a row."""
    file = EXAMPLES / folder.name / f"{folder.name}.cu"
    model = ScriptedModel(by_hand(folder), AUTHOR)
    with serving(model) as url, tempfile.TemporaryDirectory() as out:
        settings = Settings(
            policy="mixed", model="hand-written-edits", api_url=url, judge="rule",
            evaluations=evaluations, memory="off", model_cache="off", cache=f"{out}/cache",
        )  # fmt: skip
        settings = replace(settings, **changes)  # type: ignore[arg-type]
        with Workshop(settings, replay=folder / "recording.jsonl.gz") as shop:
            ((kernel, workload),) = projects.of_file(file, None).kernels
            order = run.Order(kernel, workload, Path(out) / "out")
            found = run.optimize(order, shop, lambda _: None, lambda _: None).outcome.trajectory
    first = [asked for asked in model.asked if not any(map(_is_answer, asked["messages"]))]
    use = model_use(found)
    edits = use.edits if use else ()
    return {
        "kernel": folder.name,
        "way": name,
        "calls": len(model.asked),
        "questions": len(first),
        "tokens_sent": found.spending.sent,
        "characters_of_a_question": round(statistics.median(len(said(one)) for one in first)),
        "with_findings": sum(FINDINGS in text for text in model.prompts),
        "counters_a_question": _counters(first),
        "different_advice": len({advice_in(text) for text in model.prompts if _has_advice(text)}),
        "tried": len(edits),
        "correct": sum(one.achieved is not None for one in edits),
        "best_of_the_search": round(max(speedup_of(s) or 0.0 for s in found.steps), 2),
        "candidates": len(found.steps) - 1,
    }


def _is_answer(message: dict[str, str]) -> bool:
    return message["role"] == "assistant"


def _has_advice(text: str) -> bool:
    return "Propose one edit of the file above. " in text


def _counters(asked: list[Asked]) -> int:
    """Return how many counters a question names in the middle: `|kernel/name = value` lines."""
    found = [len(re.findall(r"^\|\S+/\S+ = ", said(one), re.MULTILINE)) for one in asked]
    return round(statistics.median(found))


def table(rows: list[dict[str, object]]) -> str:
    """Return the rows as Markdown."""
    head = [name for name in rows[0] if name != "kernel"] if rows else []
    lines = []
    for kernel in dict.fromkeys(str(one["kernel"]) for one in rows):
        lines += ["", f"{kernel}:", "", "| " + " | ".join(n.replace("_", " ") for n in head) + " |"]
        lines.append("| --- |" + " ---: |" * (len(head) - 1))
        same = [one for one in rows if one["kernel"] == kernel]
        lines += ["| " + " | ".join(f"{one[name]}" for name in head) + " |" for one in same]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    rows = [
        row(folder, name, changes, chosen.evaluations)
        for folder in chosen.folders
        for name, changes in WAYS
    ]
    print(table(rows))
    if chosen.out:
        chosen.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
