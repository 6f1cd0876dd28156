"""Rules can be judged one by one, and the kernels written for that show what they are for."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import rules_alone
from benchmarks.rules_alone import Bench, Outcome, Single, Subject
from optimizer.boundary import violations
from optimizer.model import Kernel, Launch
from runners.workload import read_project

Json = dict[str, Any]
FOLDER = rules_alone.ROOT / "benchmarks" / "rules"
# What each of the kernels is there for.
SHOWN = {
    "batched_product": "tile-matmul",
    "block_scan": "shuffle-scan",
    "centre_columns": "split-loop",
    "channel_softmax": "split-loop",
    "column_major_product": "tile-matmul",
    "column_means": "column-blocks",
    "few_blocks": "more-blocks",
    "flat_product": "tile-matmul",
    "gapped_scan": "shuffle-scan",
    "group_points": "split-loop",
    "manhattan": "tile-matmul",
    "nearest_centre": "tile-broadcast",
    "nearest_points": "split-loop",
    "row_distances": "tile-matmul",
    "row_norms": "warp-per-row",
    "row_offsets": "scan-loop",
    "running_rows": "scan-loop",
    "softmax_in_place": "warp-per-row",
}


def subject(name: str) -> Subject:
    (pair,) = read_project(FOLDER / name / ".optiml.yml").kernels()
    return Subject(name, *pair)


def test_every_kernel_is_there_for_a_rule() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(SHOWN)


@pytest.mark.parametrize(("name", "rule"), SHOWN.items())
def test_a_rule_proposes_legal_edits_of_the_kernel_written_for_it(name: str, rule: str) -> None:
    mine = subject(name)
    found = rules_alone.edits([mine], rules_alone.asked_for(rule), 2)
    assert found
    assert all(not violations(mine.kernel.source, one.kernel.source) for one in found)


class Compiler:
    """Compiles all but what says that it does not."""

    def compiled(self, text: str, job: Json) -> Json:
        del job
        if "cannot" in text:
            return {"log": "error: cannot"}
        return {"path": "k", "machine_code": str(hash(text))}


class Judge:
    """Finds wrong what says so, and all else twice as fast; says what it was asked."""

    def __init__(self, answers: Mapping[str, Json] | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self._answers = answers or {}

    def start(self) -> None: ...

    def close(self) -> None: ...

    def ask(self, request: Json) -> Json:
        title, effort = request["id"], request["job"]["effort"]
        self.asked.append((title, effort))
        if f"{title} {effort}" in self._answers:
            return self._answers[f"{title} {effort}"]
        case = {"name": "n=1", "candidate_us": [10.0] * 6, "baseline_us": [20.0] * 6}
        right = {"status": "correct", "measurement": {"cases": [case], "device": "H200"}}
        return {"verdict": right}


WRONG = {"verdict": {"status": "wrong result", "log": "y[3] is 7 | not 8"}}


def single(title: str, text: str = "", number: int = 0, rule: str = "halve") -> Single:
    mine = subject("row_norms")
    source = mine.kernel.source.replace("sum += ", f"/* {title} */ {text} sum += ")
    return Single(rule, number, mine, title, Kernel("k", source, "k.cu", Launch(("1",), ("32",))))


def together(singles: list[Single]) -> list[Single]:
    (mine, *_) = [one.subject for one in singles]
    return [Single(one.rule, one.number, mine, one.title, one.kernel) for one in singles]


def judged(singles: list[Single], judge: Judge, **more: Any) -> dict[str, Outcome]:
    bench = Bench(Compiler(), [judge], cores=1)
    return {one.title: one for one in bench.judge(together(singles), **more)}


def test_each_layer_says_what_it_found() -> None:
    host = single("host")
    beyond = Kernel("k", host.kernel.source.replace("int blocks", "int  more = 0, blocks"))
    judge = Judge({"wrong screen": WRONG, "broken screen": {"error": {"type": "RunnerError"}}})
    found = judged(
        [
            Single(host.rule, 0, host.subject, "host", beyond),
            single("no code", "cannot;"), single("wrong"), single("broken"), single("fast"),
        ],
        judge,
    )  # fmt: skip
    assert not found["host"].legal
    assert not found["host"].compiled
    assert (found["no code"].legal, found["no code"].compiled) == (True, False)
    assert found["wrong"].correct is False
    assert found["broken"].correct is None
    assert found["fast"].correct
    assert found["fast"].speedup
    assert found["fast"].speedup[0] == pytest.approx(2.0)
    assert found["fast"].decision == "faster"
    assert [one for one, _ in judge.asked] == ["wrong", "broken", "fast"]
    assert {name for name, one in found.items() if one.bad} == {"host", "no code", "wrong"}


def test_the_fastest_of_a_rule_and_kernel_is_confirmed() -> None:
    slow = {"name": "n=1", "candidate_us": [19.0] * 6, "baseline_us": [20.0] * 6}
    answer = {"status": "correct", "measurement": {"cases": [slow], "device": "H200"}}
    judge = Judge({"slow screen": {"verdict": answer}, "racy confirm": WRONG})
    singles = [single("slow"), single("fast"), single("racy", rule="other")]
    found = judged(singles, judge, confirm=True)
    assert [one for one in judge.asked if one[1] == "confirm"] == [
        ("fast", "confirm"), ("racy", "confirm"),
    ]  # fmt: skip
    assert [found[one].confirmed for one in ("slow", "fast", "racy")] == [None, True, False]
    assert found["racy"].bad


def test_nothing_is_begun_when_the_time_is_over() -> None:
    judge = Judge()
    assert not judged([single("late")], judge, until=time.monotonic() - 1.0)
    assert not judge.asked


def test_what_was_seen_is_in_the_file_when_a_run_is_stopped(tmp_path: Path) -> None:
    def stopped() -> Any:
        yield Outcome("halve", "k", 0, "first", legal=True, compiled=True, correct=True)
        raise KeyboardInterrupt

    file = tmp_path / "out" / "rules.json"
    found = rules_alone.told(stopped(), file, {"gpu": "H200"})
    data = json.loads(file.read_text())
    assert [one["title"] for one in data["outcomes"]] == [one.title for one in found] == ["first"]
    assert data["gpu"] == "H200"


def test_the_table_counts_and_keeps_its_columns() -> None:
    good = Outcome("a", "k", 0, "x|y", legal=True, compiled=True, correct=True, decision="faster")
    good.speedup = [2.0, 1.9, 2.1]
    bad = Outcome("a", "k", 1, "z", legal=True, compiled=True, correct=False, log="a | b\nc")
    text = rules_alone.table([bad, good])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({row.count("|") for row in rows}) == 1
    assert "2.00× (1.90–2.10)" in rows[2]
    assert "2 edits, 2 run: 1 faster, 0 slower; 1 of all should not have been proposed" in text
