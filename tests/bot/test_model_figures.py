"""The figures about models: what the switches change, and what runs while a model thinks."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from benchmarks import model_ablation, slow_model

FILTER = Path(__file__).resolve().parents[1] / "data/by_hand/filter2d"


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, object]]:
    wanted = [way for way in model_ablation.WAYS if way[0].startswith("llm")]
    return {name: model_ablation.row(FILTER, name, changes, 12) for name, changes in wanted}


def test_the_switches_change_what_a_model_is_told(rows: dict[str, dict[str, object]]) -> None:
    tools, raw = rows["llm, tools, proactive"], rows["llm, raw counters"]
    none, asked = rows["llm, no feedback"], rows["llm, tools, reactive"]
    assert tools["with_findings"] == tools["calls"]
    assert raw["with_findings"] == none["with_findings"] == 0
    assert raw["counters_a_question"] == 70
    assert none["counters_a_question"] == tools["counters_a_question"] == 0
    assert int(str(asked["calls"])) > int(str(asked["questions"]))
    assert int(str(tools["different_advice"])) > int(str(none["different_advice"]))
    shorter, longer = none["characters_of_a_question"], tools["characters_of_a_question"]
    assert int(str(shorter)) < int(str(longer))


def test_whatever_a_model_is_told_the_same_answers_are_tried(
    rows: dict[str, dict[str, object]],
) -> None:
    assert {(one["tried"], one["correct"]) for one in rows.values()} == {(4, 2)}


def test_the_machine_is_busy_while_a_model_thinks() -> None:
    arguments = argparse.Namespace(
        policy="mixed", evaluations=24, minutes=1.0, device="cuda:0", cache=None,
        replay=FILTER / "recording.jsonl.gz", batch=0.2,
    )  # fmt: skip
    found = slow_model.measured(FILTER, 1.0, arguments)
    assert float(str(found["open_s"])) > 1.0
    # 0.9 on an idle machine; a search that waited for its model would come to nothing.
    assert float(str(found["busy_share"])) > 0.25
    assert int(str(found["verdicts_meanwhile"])) > 4


def test_spans_are_joined_before_they_are_compared() -> None:
    assert slow_model.joined([(3, 4), (0, 2), (1, 2.5)]) == [(0, 2.5), (3, 4)]
    assert slow_model.overlap([(0, 2), (1, 3)], [(2, 5), (4, 9)]) == pytest.approx(1.0)
    assert slow_model.overlap([], [(0, 1)]) == 0
