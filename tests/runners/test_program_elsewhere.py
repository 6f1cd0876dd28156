"""Programs with other arguments than the declared ones, over a CUDA runtime of host functions."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runners import (
    limit,
    program,
    program_asking,
    program_doubt,
    program_elsewhere,
    program_growth,
    program_learning,
    sanitizer,
)
from runners.program_compare import Bounds
from runners.program_failing import Failed
from runners.program_glimpse import Original
from runners.program_growth import Work
from runners.program_run import Finished, Runner, execute
from runners.program_trial import Trial
from runners.program_variants import Variants
from tests.runners.program_fakes import Fakes, interposed, made

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

SHORT = "unsigned short kept; int main() { return 0; }"
WHOLE, FLOATS = "int main() { return 0; }", "float x; int main() { return 0; }"


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "command", lambda: None)


class Asked:
    """One pair of behaviours, asked with other arguments: what came of it, and what was run."""

    def __init__(
        self,
        fakes: Fakes,
        baseline: str,
        candidate: str,
        runs: Sequence[Sequence[str]],
        *,
        left: float = 600.0,
        source: str = WHOLE,
        built: Mapping[str, str] | None = None,
        kernel: str = WHOLE,
        host: bool = False,
        kept: dict[str, Any] | None = None,
        scratch: Path | None = None,
    ) -> None:
        self.lines: dict[str, list[str]] = {baseline: [], candidate: []}
        self.checks: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.refused: Failed | None = None
        request = fakes.request(baseline, candidate, effort="confirm", runs=runs)
        sources = {"path": "saxpy.cu", "source": kernel}, {"source": source}
        job = request["job"] | dict(zip(("kernel", "baseline"), sources, strict=True))
        library = (str(fakes.folder),)
        folder = scratch or fakes.folder
        runner = Runner(interposed(), folder, fakes.folder / "project", library_path=library)
        job["workload"] = job["workload"] | {"accept": {"edit_host": host}}
        path, originals = Path(request["baseline"]["path"]), []
        for run in runs:
            key = f"{baseline} {run}"
            if key not in fakes.profiles:
                known = program_learning.profile(runner, path, run, (0, None), 1, 20.0)
                fakes.profiles[key] = known
            originals.append(replace(fakes.profiles[key], arguments=tuple(run)))
        runner = replace(runner, execute=self.counting)
        begun = time.monotonic()
        trial = Trial(runner, request, job, job["workload"], begun + left, begun)
        others = {name: fakes.named(one) for name, one in (built or {}).items()}
        variants = Variants(
            job,
            lambda _text, _job: {"path": others["doubles"]} if "doubles" in others else None,
            lambda: others.get("rounded"),
        )
        try:
            terms = Bounds(), {} if kept is None else kept
            self.notes = program_elsewhere.ask(trial, originals, variants, terms, self.checks)
        except Failed as failure:
            self.refused = failure

    def counting(
        self, command: Sequence[str], cwd: Path, env: Mapping[str, str], scratch: Path, limit: float
    ) -> Finished:
        name = Path(command[0]).name.removeprefix("saxpy-")
        self.lines.setdefault(name, []).append(" ".join(command[1:]))
        return execute(command, cwd, env, scratch, limit)

    @property
    def right(self) -> list[str]:
        """Return the lines on which the candidate was found right."""
        return [one["what"] for one in self.checks if one["passed"]]


def test_a_right_candidate_is_right_with_larger_and_smaller_numbers(fakes: Fakes) -> None:
    asked = Asked(fakes, "ok", "fast", [["1000"]])
    assert asked.refused is None
    assert asked.notes == []
    assert asked.right == ["2501", "15999", "691"]
    assert {one["layer"] for one in asked.checks} == {program_elsewhere.LAYER}
    # Two runs teach where they are alike; one is compared.
    assert asked.lines["ok"] == [line for line in asked.right for _ in range(2)]
    assert asked.lines["fast"] == asked.right


@pytest.mark.parametrize(
    ("candidate", "status", "words"),
    [
        ("capped", "wrong result", "./saxpy 2501: "),
        ("paired", "wrong result", "./saxpy 2501: "),
        ("faults", "crashed", "./saxpy 2501: __cudaLaunchKernel fails"),
    ],
)
def test_who_is_wrong_with_a_larger_size_is_refused(
    fakes: Fakes, candidate: str, status: str, words: str
) -> None:
    """The command line is named."""
    asked = Asked(fakes, "ok", candidate, [["1000"]])
    assert asked.refused is not None
    assert (asked.refused.status, asked.refused.log[: len(words)]) == (status, words)
    assert [one["what"] for one in asked.checks if not one["passed"]] == ["2501"]


def test_a_confirmation_refuses_it_and_no_screening_does(fakes: Fakes) -> None:
    request = fakes.request("ok", "capped", effort="confirm", runs=[["1000"]])
    request["job"]["baseline"] = {"source": WHOLE}
    request["limits"] = {"seconds": 400.0}
    verdict = program.evaluate(request, fakes.context())
    assert verdict["status"] == "wrong result"
    assert verdict["log"].startswith("./program 2501: fresh memory nan: ")
    assert [one["layer"] for one in verdict["checks"]][-1] == program_elsewhere.LAYER
    # Ahead of the times, which take all that is left until they are settled.
    assert verdict["seconds"]["time"] == 0.0
    request["job"]["effort"] = "screen"
    assert program.evaluate(request, fakes.context())["status"] == "correct"
    request["candidate"] = request["baseline"]
    request["job"]["effort"] = "confirm"
    assert "other arguments" not in {
        one["layer"] for one in program.evaluate(request, fakes.context())["checks"]
    }


def test_who_does_not_end_with_a_larger_size_is_refused(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After several times what the original takes, which is run again."""
    monkeypatch.setattr(Trial, "limit", lambda *_: 1.0)
    monkeypatch.setattr(program_doubt, "PATIENT", 1.0)
    asked = Asked(fakes, "ok", "slows", [["1000"]])
    assert asked.refused is not None
    assert asked.refused.status == "timed out"
    assert asked.refused.log == "./saxpy 2501: still running after 1 s"
    assert asked.lines["ok"].count("2501") == 2 + program_doubt.AGAIN
    monkeypatch.setattr(program_doubt, "PATIENT", 1000.0)  # as if the host had been busy
    assert Asked(fakes, "ok", "slows", [["1000"]]).refused is None


def test_a_number_that_is_no_size_is_a_limit(fakes: Fakes) -> None:
    """As a seed is: what is declared is promised."""
    asked = Asked(fakes, "ok", "oneseed", [["1000", "7"]])
    assert asked.refused is None
    (note,) = asked.notes
    ((said,), rest) = limit.apart([note])
    assert not rest
    assert said.startswith(
        "right for the declared arguments 1000 7; with 1000 17 it is not: fresh memory nan: "
    )
    # Sizes alone are changed together, and far beyond.
    assert asked.right == ["2501 7", "15999 7", "691 7"]


def test_where_a_candidate_counts_in_few_bits_it_is_run_far_beyond(fakes: Fakes) -> None:
    """What differs there is a limit; a candidate that is right there costs a line."""
    asked = Asked(fakes, "ok", "halfwords", [["1000"]], kernel=SHORT)
    assert asked.refused is None
    (note,) = asked.notes
    ((said,), _) = limit.apart([note])
    words = "right for the declared arguments 1000; with 255999, 256 times the largest declared,"
    assert said.startswith(f"{words} it is not: ")
    assert asked.right == ["2501", "15999", "691"]
    # What it takes there is told from two nearer ones, of the original alone.
    there = asked.lines["ok"][asked.lines["ok"].index("4000") :]
    assert there[:4] == ["4000", "16000", "255999", "255999"]
    assert asked.lines["halfwords"] == ["2501", "15999", "691", "255999"]
    right = Asked(fakes, "ok", "fast", [["1000"]], kernel=SHORT)
    assert (right.refused, right.notes) == (None, [])
    assert right.right == ["2501", "15999", "691", "255999"]


def test_nobody_is_run_that_far_whose_types_are_as_wide(fakes: Fakes) -> None:
    for kernel, source in ((WHOLE, WHOLE), (SHORT, SHORT), (WHOLE, SHORT)):
        asked = Asked(fakes, "ok", "halfwords", [["1000"]], kernel=kernel, source=source)
        assert asked.right == ["2501", "15999", "691"]
        assert "255999" not in asked.lines["ok"]
    # Sixteen times fill it often enough.
    byte = "unsigned char kept; int main() { return 0; }"
    assert "255999" not in Asked(fakes, "ok", "fast", [["1000"]], kernel=byte).lines["ok"]


def test_other_sizes_are_small_that_far_out(fakes: Fakes) -> None:
    """As in the smallest run, and smaller; other numbers as they are."""
    runs = [["1000", "500"], ["700", "300"]]
    asked = Asked(fakes, "twin", "twin-fast", runs, kernel=SHORT)
    assert asked.refused is None
    assert [one for one in asked.right if "64" in one.split()] == ["255999 64", "64 127999"]
    asked = Asked(fakes, "ok", "fast", [["1000", "7"]], kernel=SHORT)
    assert asked.right[-1] == "255999 7"


def test_what_takes_the_original_too_long_that_far_out_is_not_run(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def slow(less: Work, more: Work, times: float, far: float) -> tuple[float, float]:
        seen.append(far)
        return (9.0 if far > 32 else 1.0), 0.0

    monkeypatch.setattr(program_growth, "predicted", slow)
    asked = Asked(fakes, "ok", "fast", [["1000"]], kernel=SHORT)
    assert seen[-2:] == [64.0, 32.0]
    assert asked.right[-1] == "127999"


@pytest.mark.parametrize(
    ("baseline", "candidate", "right"),
    [
        ("limited", "limited-capped", ["691"]),
        ("verifies", "verifies-capped", ["2000", "691"]),
        # An end that it leaves alone with no multiple of eight says nothing of who fills it.
        ("whole", "fast", ["2000", "16000"]),
        ("wanders", "wanders-capped", ["2501", "15999", "691"]),
    ],
)
def test_nothing_is_asked_where_the_original_does_not_do_the_same(
    fakes: Fakes, baseline: str, candidate: str, right: list[str]
) -> None:
    asked = Asked(fakes, baseline, candidate, [["1000"]])
    assert (asked.refused, asked.notes, asked.right) == (None, [], right)


@pytest.mark.parametrize(
    ("runs", "first"),
    [
        ([["--n=1000"]], "--n=2501"),
        ([["-n1000"]], "-n2501"),
        ([["--n=1000", "--device", "0"]], "--n=2501 --device 0"),
    ],
)
def test_numbers_may_stand_behind_an_option(
    fakes: Fakes, runs: list[list[str]], first: str
) -> None:
    """The device is left alone."""
    asked = Asked(fakes, "ok", "capped", runs)
    assert asked.refused is not None
    assert asked.refused.log.startswith(f"./saxpy {first}: ")


def test_several_sizes_are_changed_one_by_one_and_all_together(fakes: Fakes) -> None:
    runs = [["1000", "300"], ["50", "20"]]
    asked = Asked(fakes, "ok-twin", "fast-twin", runs)
    assert asked.refused is None
    alone = ["2501 300", "1000 751", "15999 300", "1000 4799"]
    assert asked.right == [*alone, "691 199", "15999 4799"]
    # What all of them take is told from one run of four times as much.
    runs_of_it = [line for line in asked.lines["ok-twin"] if line not in alone]
    assert runs_of_it == ["691 199"] * 2 + ["4000 1200"] + ["15999 4799"] * 2


def test_sizes_that_have_to_fit_are_changed_together(fakes: Fakes) -> None:
    asked = Asked(fakes, "ok-square-twin", "fast-square-twin", [["1000", "1000"]])
    assert (asked.refused, asked.notes) == (None, [])
    assert asked.right == ["2000 2000", "691 691", "16000 16000"]
    asked = Asked(fakes, "ok-square", "capped-square", [["1500", "1500"]])
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 3000 3000: ")


READ = "int main(int argc, char** argv) {{ int n = atoi(argv[1]), m = atoi(argv[2]); {} }}"


def test_a_product_that_is_too_large_is_found_where_both_sizes_are(fakes: Fakes) -> None:
    """Neither of them passes it by itself; and one run more learns what both take."""
    source = READ.format("long long all = (long long)n * m;")
    asked = Asked(fakes, "ok-twin", "product-twin", [["1000", "300"]], source=source)
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 15999 4799: ")
    assert asked.right == ["2501 300", "1000 751", "15999 300", "1000 4799", "691 199"]


def test_what_an_original_says_nothing_of_is_not_asked(fakes: Fakes) -> None:
    """A product of 32 bits that overflows is no measure: sizes are as large as it holds."""
    source = READ.format("int* all = new int[64 * n * m];")
    asked = Asked(fakes, "ok-twin", "product-twin", [["1000", "300"]], source=source)
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 7999 2399: ")
    source = READ.format("int* all = new int[4096 * n * m];")
    asked = Asked(fakes, "ok-twin", "product-twin", [["1000", "300"]], source=source)
    assert asked.refused is None
    assert asked.right[-1] == "691 199"


def test_sizes_together_are_as_large_as_the_original_has_time_for(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(less: Work, more: Work, times: float, far: float) -> tuple[float, float]:
        return (9.0 if far > 10 else 1.0), 0.0

    monkeypatch.setattr(program_growth, "together", slow)
    asked = Asked(fakes, "ok-twin", "fast-twin", [["1000", "300"]])
    assert asked.right[-1] == "7999 2399"
    monkeypatch.setattr(program_growth, "likely", lambda *_: (99.0, 0.0))
    asked = Asked(fakes, "ok-twin", "fast-twin", [["1000", "300"]])
    assert asked.right[-1] == "691 199"


def test_ways_that_the_text_names_are_tried_in_the_smallest_run(fakes: Fakes) -> None:
    """What the original refuses is asked of nobody; a way that it takes is as good as declared."""
    source = READ.format("if (m < 0 || m > 2) return 2;")
    runs = [["1000", "0"], ["500", "1"], ["700", "1"]]
    asked = Asked(fakes, "ways", "ways-third", runs, source=source)
    assert asked.refused is not None
    line = asked.refused.log.partition(":")[0]
    assert line in {"./saxpy 500 2", "./saxpy 700 2", "./saxpy 1000 2"}
    right = Asked(fakes, "ways", "ways-fast", runs, source=source)
    assert (right.refused, right.notes) == (None, [])
    tried = [line for line in right.right if line.endswith(" 2")]
    assert 1 <= len(tried) <= 2
    # It refuses one of 3 once, and no larger one is made up.
    assert sum(line.endswith(" 3") for line in right.lines["ways"]) == 1
    assert not any(line.endswith(" 3") for line in right.lines["ways-fast"])


def test_without_a_name_in_the_text_another_way_is_a_limit(fakes: Fakes) -> None:
    asked = Asked(fakes, "ways", "ways-third", [["1000", "0"], ["500", "1"]])
    assert asked.refused is None
    assert [limit.apart([note])[1] for note in asked.notes] == [()]


def test_words_that_the_text_compares_are_tried(fakes: Fakes) -> None:
    source = 'int main(int c, char** v) { string k = v[3]; if (k == "fast" || k == "%s") f(); }'
    runs = [["1000", "2", "fast"]]
    asked = Asked(fakes, "ways", "ways-slowway", runs, source=source % "slow")
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 1000 2 slow: ")
    asked = Asked(fakes, "ways", "ways-slowway", runs, source=source % "other")
    assert (asked.refused, asked.notes) == (None, [])
    assert "1000 2 other" in asked.lines["ways"]


def test_a_size_is_tried_at_the_end_that_the_text_names(fakes: Fakes) -> None:
    """Where the original takes no sixteen times as many, and not four times."""
    source = READ.format("if (n > 4096) return 2;")
    asked = Asked(fakes, "ended", "ended-twelve", [["1500"]], source=source)
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 4096: ")
    assert asked.right == ["3751"]
    asked = Asked(fakes, "ended", "ended-fast", [["1500"]], source=source)
    assert asked.right == ["3751", "4096", "1049"]


def test_the_logarithm_of_a_size_is_made_larger_by_steps(fakes: Fakes) -> None:
    """Twice as much of it would be more than any memory."""
    asked = Asked(fakes, "ok-power", "fast-power", [["10"]])
    assert asked.refused is None
    assert asked.right == ["11", "14", "7"]
    asked = Asked(fakes, "ok-power", "capped-power", [["10"]])
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 11: ")


def test_what_fills_much_memory_is_made_a_little_larger(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_elsewhere, "FIRST_BYTES", 0)
    asked = Asked(fakes, "ok", "fast", [["1000"]])
    assert asked.right == ["1001", "691"]
    monkeypatch.undo()
    monkeypatch.setattr(sanitizer, "command", lambda: None)
    monkeypatch.setattr(program_elsewhere, "MOST_BYTES", 100_000)
    assert Asked(fakes, "ok", "fast", [["1000"]]).right == ["2501", "11999", "691"]


@pytest.mark.parametrize("runs", [[[]], [["default"]], [["1e3", "-5", "0x10"]]])
def test_without_numbers_nothing_is_run(fakes: Fakes, runs: list[list[str]]) -> None:
    asked = Asked(fakes, "ok", "capped", runs)
    assert (asked.refused, asked.notes, asked.checks) == (None, [], [])
    assert not any(asked.lines.values())


def test_the_name_of_a_file_is_left_alone(fakes: Fakes) -> None:
    file = fakes.folder / "project" / "1000"
    file.touch()
    try:
        asked = Asked(fakes, "ok", "capped", [["1000"]])
    finally:
        file.unlink()
    assert not any(asked.lines.values())


def test_a_deadline_that_is_near_is_kept(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be begun or finished is said."""
    asked = Asked(fakes, "ok", "capped", [["1000"]], left=program_elsewhere.RESERVE - 1)
    assert (asked.refused, asked.lines["ok"]) == (None, [])
    assert asked.notes == ["other arguments: there was no time to try any"]
    known = fakes.profiles["ok ['1000']"].seconds
    most = program_asking.TIMES_AS_LONG * known + program_asking.MORE_SECONDS
    moments = iter([0.0, 0.0, *[3 * most + 1] * 100])
    asking = program_elsewhere._Asking._allowed

    def allowed(self: Any, run: int, seconds: float = 0.0) -> bool:
        self.ends = time.monotonic() + 4 * most - next(moments)
        return asking(self, run, seconds)

    monkeypatch.setattr(program_elsewhere._Asking, "_allowed", allowed)
    asked = Asked(fakes, "ok", "fast", [["1000"]])
    assert asked.right == ["2501", "15999"]
    assert asked.notes == ["other arguments: there was no time to try all that was meant to be"]


@pytest.mark.parametrize(
    ("built", "status", "words"),
    [
        ({"rounded": "drifts-rounded"}, None, "where it rounds otherwise"),
        ({"rounded": "ok-rounded"}, None, "nobody knows how exact"),
        ({"rounded": "ok-rounded", "doubles": "drifts-doubles"}, None, "rounds otherwise"),
        ({"rounded": "ok-rounded", "doubles": "ok-doubles"}, "wrong result", ""),
    ],
)
def test_what_another_rounding_of_the_original_changes_is_not_held_against_a_candidate(
    fakes: Fakes, built: dict[str, str], status: str | None, words: str
) -> None:
    """A sum that is longer may be off by more; the original built otherwise tells."""
    asked = Asked(fakes, "ok", "drifts", [["1000"]], source=FLOATS, built=built)
    if status is None:
        assert asked.refused is None
        assert all(words in note and not limit.apart([note])[0] for note in asked.notes)
        assert asked.notes
        assert asked.right == ["691"]
    else:
        assert asked.refused is not None
        assert asked.refused.status == status


def test_a_number_that_is_none_is_no_rounding(fakes: Fakes) -> None:
    """What a candidate leaves unwritten is found whatever the original is made of."""
    asked = Asked(fakes, "ok", "whole", [["1000"]], source=FLOATS)
    assert asked.refused is not None
    assert "NaN where the original has a number" in asked.refused.log


def test_a_write_behind_a_buffer_is_no_rounding_either(fakes: Fakes) -> None:
    asked = Asked(fakes, "ok", "oversteps", [["1000"]], source=FLOATS)
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 2501: writes behind allocation")


def test_what_comes_in_any_order_may_do_so_with_other_arguments(fakes: Fakes) -> None:
    """Also where the original has one order: in small sizes few blocks overtake each other."""
    asked = Asked(fakes, "mixes", "mixes-turned", [["1000"]])
    assert (asked.refused, asked.notes) == (None, [])
    assert asked.right == ["2501", "15999", "691"]


@pytest.mark.parametrize(("launched", "waits"), [(False, [3.0, 6.0]), (True, [3.0])])
def test_an_original_that_a_busy_host_did_not_start_is_started_again(
    launched: bool, waits: list[float]
) -> None:
    """What has launched and does not end is too long."""
    ended = SimpleNamespace(
        exit=0, launched=True, stdout="",
        report=SimpleNamespace(broken=False, ended="exit", failures=(), launches=1, guards=()),
    )  # fmt: skip
    late = SimpleNamespace(exit=None, launched=launched, stdout="", report=None)
    left, seen = [late, ended], []

    def run(_program: Path, _arguments: Sequence[str], _probe: Any, seconds: float) -> Any:
        seen.append(seconds)
        return left.pop(0)

    runner: Any = SimpleNamespace(run=run)
    known: Any = SimpleNamespace(exit=0, failures=(), stdouts=("",), launches=1, guards=0)
    original = Original(runner, Path("original"), known, "", 1)
    assert (original.ran(("9",), "nan", 3.0) is not None) is not launched
    assert seen == waits


TOOL = """#!/bin/sh
echo "========= COMPUTE-SANITIZER"
echo "========= Invalid __global__ read of size 4 bytes"
echo "========= ERROR SUMMARY: 1 error"
"""


def test_an_original_that_reaches_beyond_its_memory_is_no_measure(
    fakes: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    monkeypatch.setattr(sanitizer, "command", lambda: str(tool))
    asked = Asked(fakes, "ok", "capped", [["1000"]])
    assert (asked.refused, asked.notes, asked.right) == (None, [], ["691"])
