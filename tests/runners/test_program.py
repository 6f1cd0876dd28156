"""Whole programs under the interposer, over a CUDA runtime made of host functions."""

from __future__ import annotations

import math
import re
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runners import (
    cubin,
    energy,
    interposer,
    program,
    program_beyond,
    program_energy,
    program_learning,
    sanitizer,
    static_gate,
    unchecked,
)
from runners.fault import Fault
from runners.program_recent import RECENT_SECONDS, Recent
from runners.program_report import Report
from runners.program_run import Finished, Runner, execute, sandboxed
from runners.program_trial import MORE_WORDS, Trial
from runners.sandbox import Sandbox
from tests.runners.fake_meter import FakeMeter
from tests.runners.program_fakes import Fakes, interposed, made

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("programs"))


def judge(fakes: Fakes, baseline: str, candidate: str, **more: Any) -> dict[str, Any]:
    return program.evaluate(fakes.request(baseline, candidate, **more), fakes.context())


def speedup(verdict: dict[str, Any]) -> float:
    case = verdict["measurement"]["cases"][0]
    pairs = zip(case["baseline_us"], case["candidate_us"], strict=True)
    return float(statistics.median(a / b for a, b in pairs))


def test_a_program_against_itself_is_correct_and_no_faster(fakes: Fakes) -> None:
    verdict = judge(fakes, "ok", "ok")
    assert verdict["status"] == "correct"
    assert speedup(verdict) == pytest.approx(1, abs=0.01)
    assert verdict["measurement"]["kernels"]["saxpy"] > 0.9


def test_a_programs_memory_is_the_most_it_held_beside_that_of_the_original(fakes: Fakes) -> None:
    """Both as the interposer saw them."""
    measured = judge(fakes, "ok", "ok")["measurement"]
    assert measured["peak_memory_bytes"] == measured["baseline_memory_bytes"] > 0


def test_a_programs_energy_is_that_of_whole_runs(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At constant power it compares as the time of the processes does; without a meter, a reason."""
    monkeypatch.setattr(program_energy, "WEIGH", energy.Rule(0.0, 0.4, 2, 2, 0.0, rests=False))
    request = fakes.request("ok", "ok", effort="weigh")
    verdict = program.evaluate(request, {**fakes.context(), "meter": FakeMeter(50.0)})
    assert verdict["status"] == "correct"
    seen = verdict["measurement"]["energy"]
    (case,) = seen["cases"]
    assert len(case["candidate_mj"]) == 2
    for mj, us in zip(case["candidate_mj"], case["candidate_us"], strict=True):
        assert mj == pytest.approx(50e-3 * us, rel=0.3)
    verdict = program.evaluate(request, fakes.context())
    assert verdict["measurement"]["energy"]["unavailable"] == "NVML is not there"


def test_a_candidate_three_times_as_fast_is_timed_as_that(fakes: Fakes) -> None:
    assert speedup(judge(fakes, "ok", "fast")) == pytest.approx(3, rel=0.01)


@pytest.mark.parametrize(("added", "gain"), [(("remembered",), 1.0), ((), 1.8)])
def test_no_launch_lives_on_what_an_earlier_one_left_in_a_variable_of_its_own(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, added: tuple[str, ...], gain: float
) -> None:
    """Two of its three launches take a third of the time, unless the variable is put back."""
    monkeypatch.setattr(cubin, "added", lambda *_: added)
    verdict = judge(fakes, "ok", "lives", effort="confirm")
    assert verdict["status"] == "correct"
    assert speedup(verdict) == pytest.approx(gain, rel=0.01)


@pytest.mark.parametrize(
    ("ptx", "status", "seen"),
    [
        ("mov.u64 %rd1, %clock64;", "rejected", [False]),
        ("nanosleep.u32 %r1;", "correct", [True]),
        ("", "correct", []),
    ],
)
def test_a_clock_that_the_original_does_not_read_is_refused(
    fakes: Fakes, ptx: str, status: str, seen: list[bool]
) -> None:
    request = fakes.request("ok", "fast", effort="confirm")
    request["job"] |= {"kernel": {"source": "mine"}, "baseline": {"source": "theirs"}}
    code = {"mine": ptx, "theirs": ""}
    context = {**fakes.context(), "device_code": lambda text, _job: code[text]}
    verdict = program.evaluate(request, context)
    assert verdict["status"] == status
    assert [c["passed"] for c in verdict["checks"] if c["layer"] == "static gate"] == seen


@pytest.mark.parametrize("what", [static_gate.FILES, static_gate.HOST_NAMES])
@pytest.mark.parametrize("status", ["rejected", "correct"])
def test_a_program_whose_original_opens_no_files_opens_none(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, what: str, status: str
) -> None:
    """An answer that is kept for the next run is found by nobody who gives each a folder.

    Nor does it have names of the verifier's own.
    """
    theirs = frozenset(() if status == "rejected" else (what,))
    request = fakes.request("ok", "fast", effort="confirm")
    mine = Path(request["candidate"]["path"]).read_bytes()
    found = {mine: frozenset({what, static_gate.HOST_CLOCK})}
    monkeypatch.setattr(static_gate, "host", lambda data: found.get(data, theirs))
    verdict = program.evaluate(request, fakes.context())
    assert verdict["status"] == status
    refused = [c["what"] for c in verdict["checks"] if not c["passed"]]
    assert refused == ([what] if status == "rejected" else [])


@pytest.mark.parametrize("lacks", ["mine", "theirs"])
def test_device_code_that_is_not_known_is_said(fakes: Fakes, lacks: str) -> None:
    """And held against nobody: the original may read a clock, too."""
    request = fakes.request("ok", "fast", effort="confirm")
    request["job"] |= {"kernel": {"source": "mine"}, "baseline": {"source": "theirs"}}
    code = {"mine": "mov.u64 %rd1, %clock64;", "theirs": "", lacks: None}
    context = {**fakes.context(), "device_code": lambda text, _job: code[text]}
    verdict = program.evaluate(request, context)
    assert verdict["status"] == "correct"
    assert unchecked.UNREAD in verdict["measurement"]["notes"]


def test_a_program_that_does_not_compile_with_delays_says_so(fakes: Fakes) -> None:
    request = fakes.request("ok", "fast", effort="confirm")
    request["job"] |= {"kernel": {"source": "mine"}, "baseline": {"source": "theirs"}}
    verdict = program.evaluate(request, {**fakes.context(), "shaken": lambda *_: None})
    assert verdict["status"] == "correct"
    said = [one for one in verdict["measurement"]["notes"] if unchecked.UNDELAYED in one]
    assert len(said) == 1


@pytest.mark.parametrize(
    ("mine", "theirs", "status"),
    [
        ("wrong", "ok", "wrong result"),
        ("ok", "ok", "correct"),
        ("wrong", "wrong", "correct"),
        ("wrong", "hang", "correct"),
        ("hang", "ok", "correct"),
        ("wrong", "", "correct"),
    ],
)
def test_what_delays_change_is_refused_if_the_original_survives_them(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, mine: str, theirs: str, status: str
) -> None:
    monkeypatch.setattr(program_beyond, "SHAKEN_SECONDS", 1.0)
    request = fakes.request("ok", "fast", effort="confirm")
    request["job"] |= {"kernel": {"source": "mine"}, "baseline": {"source": "theirs"}}
    named = {"mine": mine, "theirs": theirs}

    def delayed(text: str, _job: Any, seed: int) -> dict[str, Any] | None:
        assert seed
        return {"path": str(fakes.named(named[text]))} if named[text] else None

    verdict = program.evaluate(request, {**fakes.context(), "shaken": delayed})
    assert verdict["status"] == status, verdict["log"]
    looked = [c["passed"] for c in verdict["checks"] if c["layer"] == "delayed warps"]
    assert looked == ([False] if status == "wrong result" else [True] if mine == "ok" else [])


@pytest.mark.parametrize(
    ("mine", "status"), [("usage", "correct"), ("usage-short", "wrong result")]
)
def test_what_only_one_of_several_runs_does_is_watched_too(
    fakes: Fakes, mine: str, status: str
) -> None:
    """Each takes a branch of its own; how many are looked at is bounded."""
    request = fakes.request("usage", "usage-fast", effort="confirm", runs=[["64"], ["1000"]])
    request["job"] |= {"kernel": {"source": "mine"}, "baseline": {"source": "theirs"}}
    request["limits"] = {"seconds": 240.0}
    named = {"mine": mine, "theirs": "usage"}
    shaken = {text: {"path": str(fakes.named(name))} for text, name in named.items()}
    context = {**fakes.context(), "shaken": lambda text, *_: shaken[text]}
    verdict = program.evaluate(request, context)
    assert verdict["status"] == status, verdict["log"]
    looked = {c["what"]: c["passed"] for c in verdict["checks"] if c["layer"] == "delayed warps"}
    if status == "correct":
        assert looked == {"64": True, "1000": True}
        request["limits"] = {"seconds": 50.0}  # too few for runs that may take as long
        fewer = program.evaluate(request, context)["checks"]
        assert len([c for c in fewer if c["layer"] == "delayed warps"]) == 1
    else:
        assert False in looked.values()


def test_a_screening_has_paired_samples_enough_for_an_interval(fakes: Fakes) -> None:
    case = judge(fakes, "ok", "fast")["measurement"]["cases"][0]
    assert len(case["baseline_us"]) == len(case["candidate_us"]) >= 4


def counted(fakes: Fakes) -> tuple[dict[str, Any], list[str]]:
    """Return a fresh worker's context, and the programs that are run in it, as they are."""
    started: list[str] = []

    def counting(
        command: Sequence[str], cwd: Path, env: Mapping[str, str], scratch: Path, seconds: float
    ) -> Finished:
        started.append(Path(command[0]).name)
        return execute(command, cwd, env, scratch, seconds)

    context = {**fakes.context(), "recent": Recent(), "profiles": {}, "execute": counting}
    return context, started


def test_two_screenings_in_turn_share_a_run_of_the_original(fakes: Fakes) -> None:
    context, started = counted(fakes)
    runs = []
    for _ in range(3):
        verdict = program.evaluate(fakes.request("ok", "fast"), context)
        assert speedup(verdict) == pytest.approx(3, rel=0.01)
        runs.append(started.count("saxpy-ok"))
    learned = runs[0] - 1
    assert [count - learned for count in runs] == [1, 1, 2]
    program.evaluate(fakes.request("ok", "fast", effort="race"), context)
    assert started.count("saxpy-ok") - runs[-1] >= 4


def test_a_first_candidate_waits_for_few_runs_of_the_original(fakes: Fakes) -> None:
    """Four that teach, the last of which is compared with one more: that serves both."""
    context, started = counted(fakes)
    runs = [["64"], ["1000"]]
    verdict = program.evaluate(fakes.request("usage", "usage", runs=runs), context)
    assert verdict["status"] == "correct"
    assert speedup(verdict) == pytest.approx(1, abs=0.01)
    assert started.count("saxpy-usage") == 2 * (4 + 1)
    verdict = program.evaluate(fakes.request("usage", "usage-fast", runs=runs), context)
    assert speedup(verdict) == pytest.approx(3, rel=0.01)
    assert started.count("saxpy-usage") == 2 * (4 + 1)
    assert started.count("saxpy-usage-fast") == 2 * 2


@pytest.mark.parametrize(
    ("candidate", "status", "asked"),
    [("fast", "correct", 0), ("rounding-too", "correct", 1), ("wrong", "wrong result", 1)],
)
def test_another_rounding_of_the_original_is_run_when_a_candidate_differs(
    fakes: Fakes, candidate: str, status: str, asked: int
) -> None:
    context, started = counted(fakes)
    context |= {"build": lambda _text, _job: {"path": str(fakes.named("rounding"))}}
    request = fakes.request("ok", candidate)
    request["job"]["baseline"] = {"source": "theirs"}
    request["job"]["workload"]["tolerance"] = {"rtol": 1e-12, "atol": 0.0}
    request["interposer"] = str(interposer.library(context["scratch"] / "interposer"))
    for turn in range(2):  # each request has a folder of its own
        context["scratch"] = fakes.folder / "scratch" / str(turn)
        assert program.evaluate(request, context)["status"] == status
        shutil.rmtree(context["scratch"])
    assert started.count("saxpy-rounding") == asked


def nothing_seen() -> Report:
    return Report(
        ended="exit", broken=False, wall_us=0.0, launches=0, copies=0, unrecorded=0, peak_bytes=0,
        input_digest="", replay_off="", notes=(), guards=(), failures=(), kernels=(), other_us={},
        allocations=(), records=(),
    )  # fmt: skip


def test_a_run_of_the_original_is_shared_while_it_is_recent() -> None:
    now = [0.0]
    recent = Recent(clock=lambda: now[0])
    report = nothing_seen()
    other = nothing_seen()
    recent.keep("a", report)
    recent.keep("b", other)
    assert recent.take("c") is None
    assert recent.take("b") is other
    now[0] = RECENT_SECONDS + 1
    assert recent.take("a") is None
    recent.keep("a", report)
    assert recent.take("a") is report
    assert recent.take("a") is None


@pytest.mark.parametrize(("name", "fast", "learned"), [("ok", "fast", 1), ("noisy", "noisy-b", 5)])
def test_a_confirmation_runs_the_original_once_more_where_its_first_runs_were_alike(
    fakes: Fakes, name: str, fast: str, learned: int
) -> None:
    """Under fresh words in fresh memory; one that varies is learned anew."""
    context, started = counted(fakes)
    program.evaluate(fakes.request(name, fast), context)
    begun = len(started)
    request = fakes.request(name, fast, effort="confirm")
    request["job"]["seed"] = 1_000_003
    verdict = program.evaluate(request, context)
    assert verdict["status"] == "correct"
    pairs = len(verdict["measurement"]["cases"][0]["baseline_us"])
    runs = started[begun:]
    assert runs.count(f"saxpy-{name}") - pairs in range(
        learned, learned + (3 if learned > 1 else 1)
    )
    assert runs[learned - 1] == f"saxpy-{name}"


def test_an_original_compared_with_itself_is_only_timed(fakes: Fakes) -> None:
    context, started = counted(fakes)
    program.evaluate(fakes.request("ok", "ok"), context)
    begun = len(started)
    verdict = program.evaluate(fakes.request("ok", "ok", effort="race"), context)
    pairs = len(verdict["measurement"]["cases"][0]["baseline_us"])
    assert len(started) - begun == 2 * pairs


def test_an_original_that_does_other_things_meanwhile_is_learned_anew(fakes: Fakes) -> None:
    context, _ = counted(fakes)
    program.evaluate(fakes.request("ok", "fast"), context)
    (last,) = {key for key in context["profiles"] if " " not in key}
    known = context["profiles"][last]
    seen = [
        replace(known, rehearsal=None),
        replace(known, launches=9, references={"zero": known.references["nan"]}),
        replace(known, rehearsal=replace(known.rehearsal, stdout="other words")),
    ]
    runner = Runner(interposed(), fakes.folder, fakes.folder, library_path=(str(fakes.folder),))
    for other in seen:
        assert program_learning.renewed(runner, fakes.named("ok"), other, 5) is None
    fresh = program_learning.renewed(runner, fakes.named("ok"), known, 5)
    assert fresh is not None
    assert fresh.references["nan"] is known.references["nan"]
    assert fresh.rehearsal is not known.rehearsal


def test_a_budget_bounds_what_looks_for_races_and_the_notes_say_what_did_not_end(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results and times are those of any confirmation."""
    monkeypatch.setattr(program_beyond, "LEAST_BEYOND_SECONDS", 0.4)
    monkeypatch.setattr(sanitizer, "command", lambda: "/bin/sleep")
    monkeypatch.setattr(sanitizer, "prefix", lambda *_: ["/bin/sleep", "9"])
    monkeypatch.setattr(sanitizer, "TOOLS", ("memcheck", "racecheck"))
    request = fakes.request("ok", "fast", effort="confirm")
    request["job"] |= {"kernel": {"source": "mine"}, "baseline": {"source": "theirs"}}
    request["job"]["within"] = 0.001
    shaken = {"path": str(fakes.named("hang"))}
    context = {**fakes.context(), "shaken": lambda *_: shaken}
    verdict = program.evaluate(request, context)
    assert verdict["status"] == "correct"
    assert len(verdict["measurement"]["cases"][0]["baseline_us"]) == 5
    (note,) = [n for n in verdict["measurement"]["notes"] if "time budget" in n]
    assert note.endswith("nothing was said by: memcheck, racecheck, warps delayed at random")
    assert not [c for c in verdict["checks"] if c["layer"] in {"sanitizer", "delayed warps"}]


TOOL = """#!/bin/sh
# compute-sanitizer --tool NAME ... PROGRAM: `mine` is what one does with the candidate's copy.
echo "========= COMPUTE-SANITIZER"
tool=$2
while [ "${{1#/}}" = "$1" ]; do shift; done
if cmp -s "$1" {mine}; then {does}; fi
"$@" > /dev/null
echo "========= ERROR SUMMARY: 0 errors"
echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
"""


@pytest.mark.parametrize(
    ("does", "status", "said"),
    [
        ("true", "correct", ""),
        ('[ "$tool" != memcheck ] || exec sleep 99', "timed out", "memcheck did not end in"),
        ('[ "$tool" != racecheck ] || exec sleep 99', "correct", "racecheck did not end in 3 s"),
        ("echo '========= Error: Device not supported.'; exit 1", "correct", "not looked at by"),
        ("exit 1", "correct", "ended before it had seen all"),
    ],
)
def test_what_a_tool_does_not_say_of_a_program_is_said(
    fakes: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, status: str, said: str
) -> None:
    """As it is of kernels: memcheck decides where the original ends under it."""
    if "sleep" in does:  # long enough for the tools that do end, on a busy machine too
        monkeypatch.setattr(program_beyond, "WATCH_SECONDS", 1.5)
    request = fakes.request("ok", "fast", effort="confirm")
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(TOOL.format(mine=request["candidate"]["path"], does=does))
    tool.chmod(0o755)
    monkeypatch.setattr(sanitizer, "command", lambda: str(tool))
    request["job"] |= {"kernel": {"source": "mine"}, "baseline": {"source": "theirs"}}
    moved: list[float] = []
    verdict = program.evaluate(request, {**fakes.context(), "more": moved.append})
    assert verdict["status"] == status, verdict["log"]
    if status == "correct":
        notes = [one for one in verdict["measurement"]["notes"] if "compute-sanitizer" in one]
        assert len(notes) == bool(said)
        assert all(said in one for one in notes)
        assert notes == verdict["measurement"]["notes"][: len(notes)]
    else:
        assert said in verdict["log"]
        assert "on its original" in verdict["log"]
        assert 1.8 < sum(moved) < 20.0


def test_a_program_that_no_tool_looked_at_says_so(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sanitizer, "command", lambda: None)
    request = fakes.request("ok", "fast", effort="confirm")
    verdict = program.evaluate(request, fakes.context())
    assert verdict["measurement"]["notes"][0].startswith(
        "not looked at by compute-sanitizer: it is"
    )


def test_a_confirmation_rests_on_runs_and_not_on_repeats_within_one(fakes: Fakes) -> None:
    case = judge(fakes, "ok", "fast", effort="confirm")["measurement"]["cases"][0]
    assert 5 <= len(case["baseline_us"]) <= 16


@pytest.mark.parametrize(
    ("candidate", "status", "word"),
    [
        ("wrong", "wrong result", "became"),
        ("short", "wrong result", "1 elements"),
        ("nan", "wrong result", "NaN where the original has a number"),
        ("beyond", "wrong result", "writes behind allocation 1"),
        ("before", "wrong result", "writes before allocation 1"),
        ("crash", "crashed", "cudaErrorIllegalAddress after launching saxpy"),
        ("badlaunch", "crashed", "cudaErrorInvalidConfiguration"),
        ("idle", "rejected", "no longer launches finish, saxpy"),
        ("status", "wrong result", "exits with 3"),
        ("talks", "wrong result", "prints"),
    ],
)
def test_a_broken_candidate_is_named_for_what_it_does(
    fakes: Fakes, candidate: str, status: str, word: str
) -> None:
    verdict = judge(fakes, "ok", candidate)
    assert (verdict["status"], verdict["measurement"]) == (status, None)
    assert word in verdict["log"]


def test_another_rounding_is_no_other_result(fakes: Fakes) -> None:
    verdict = judge(fakes, "ok", "rounding")
    assert verdict["status"] == "correct"
    assert any(check["error"] for check in verdict["checks"])


@pytest.mark.parametrize(
    ("words", "printed", "said"),
    [
        (("odd", "odd", "even"), "an even number", ""),
        (("odd",) * 9, "an even number", 'prints "an even number" instead of "an odd number"'),
    ],
)
def test_a_word_is_held_against_a_candidate_when_the_original_keeps_to_it(
    words: tuple[str, ...], printed: str, said: str
) -> None:
    """One that the clock chooses may have been the same in the few runs before."""
    left = iter(words)

    def run(*_: object) -> Any:
        text = f"an {next(left)} number"
        return SimpleNamespace(exit=0, stdout=text, report=SimpleNamespace(broken=False))

    trial: Any = SimpleNamespace(
        request={"baseline": {"path": "original"}},
        seed=1,
        deadline=math.inf,
        runner=SimpleNamespace(run=run),
        limit=lambda _original: 1.0,
    )
    original: Any = SimpleNamespace(
        stdouts=("an odd number",) * 4,
        main_poison="random",
        seconds=0.1,
        arguments=(),
        idle=0.0,
        cut=None,
        exit=0,
    )
    assert Trial._otherwise(trial, original, printed) == said
    # It is run until it has said so once, and no more than so many times.
    assert len(list(left)) == len(words) - (3 if not said else MORE_WORDS)


def test_a_program_that_prints_pass_is_judged_by_its_buffers(fakes: Fakes) -> None:
    verdict = judge(fakes, "leaks", "leaks-wrong")
    assert verdict["status"] == "wrong result"


def test_buffers_that_are_never_freed_are_compared_at_the_end(fakes: Fakes) -> None:
    verdict = judge(fakes, "leaks", "leaks-fast")
    assert verdict["status"] == "correct"
    assert any("3 final buffers" in check["what"] for check in verdict["checks"])


def _with_host(fakes: Fakes, candidate: str, source: str = "", **accept: bool) -> dict[str, Any]:
    request = fakes.request("ok", candidate)
    request["job"]["workload"]["accept"] = accept
    request["job"]["kernel"] = {"source": source}
    return program.evaluate(request, fakes.context())


def test_buffers_are_a_candidates_own_where_its_host_code_may_change(fakes: Fakes) -> None:
    """What is copied to the host is compared all the same."""
    verdict = _with_host(fakes, "scratch", edit_host=True)
    assert verdict["status"] == "correct", verdict["log"]
    assert any("copies to the host" in check["what"] for check in verdict["checks"])
    assert not any("final buffers" in check["what"] for check in verdict["checks"])
    assert _with_host(fakes, "scratch-wrong", edit_host=True)["status"] == "wrong result"
    for other in (
        _with_host(fakes, "scratch"),
        _with_host(fakes, "scratch", edit_host=False),
        # Which of these the host reads where they are nobody sees.
        _with_host(fakes, "scratch", "cudaMallocManaged(&x, n);", edit_host=True),
    ):
        assert "copies and buffers instead of" in other["log"]


def test_a_kernel_may_do_the_work_of_two_where_host_code_may_change(fakes: Fakes) -> None:
    """Who launches no kernel at all is refused all the same, and so is what is then not done."""
    verdict = _with_host(fakes, "fused", edit_host=True)
    assert verdict["status"] == "correct", verdict["log"]
    verdict = _with_host(fakes, "fused")
    assert (verdict["status"], verdict["log"]) == (
        "rejected",
        "default: no longer launches finish",
    )
    assert "no longer launches" in _with_host(fakes, "idle", edit_host=True)["log"]
    assert _with_host(fakes, "fused-wrong", edit_host=True)["status"] == "wrong result"


def test_a_device_reset_does_not_hide_the_buffers(fakes: Fakes) -> None:
    assert judge(fakes, "resets", "resets-wrong")["status"] == "wrong result"


def test_a_seed_taken_from_the_clock_is_the_same_in_every_run(fakes: Fakes) -> None:
    assert judge(fakes, "clock", "clock-fast")["status"] == "correct"


def test_inputs_that_change_from_run_to_run_are_the_originals_fault(fakes: Fakes) -> None:
    with pytest.raises(Fault, match="copies other data") as caught:
        judge(fakes, "pid", "pid")
    assert caught.value.kind == "BaselineError"
    assert "seed" in caught.value.remedy


def test_results_that_wander_from_run_to_run_are_compared_within_their_noise(fakes: Fakes) -> None:
    verdict = judge(fakes, "noisy", "noisy-b")
    assert verdict["status"] == "correct"
    assert "differ in rounding" in verdict["log"]
    assert judge(fakes, "noisy", "noisy-wrong")["status"] == "wrong result"


def test_a_program_that_reads_what_nothing_wrote_is_compared_with_zeroed_memory(
    fakes: Fakes,
) -> None:
    verdict = judge(fakes, "uninit", "uninit-b")
    assert verdict["status"] == "correct"
    assert "reads memory that nothing wrote" in verdict["log"]
    assert judge(fakes, "uninit", "uninit-wrong")["status"] == "wrong result"


def test_a_program_that_fails_unless_memory_is_zero_is_run_with_zeroed_memory_only(
    fakes: Fakes,
) -> None:
    verdict = judge(fakes, "uninit-strict", "uninit-strict-b")
    assert verdict["status"] == "correct"
    assert "zeroed memory only" in verdict["log"]


@pytest.mark.parametrize(
    ("candidate", "status"), [("status-fast", "correct"), ("ok", "wrong result")]
)
def test_a_program_that_ends_with_a_status_of_its_own_must_go_on_doing_so(
    fakes: Fakes, candidate: str, status: str
) -> None:
    """What it computes is compared as ever."""
    request = fakes.request("status", candidate, exit=None)
    verdict = program.evaluate(request, fakes.context())
    assert verdict["status"] == status
    assert ("ends with status 3" if status == "correct" else "exits with 0") in verdict["log"]


@pytest.mark.parametrize(
    ("candidate", "status"), [("ponders-fast", "correct"), ("ponders-wrong", "wrong result")]
)
def test_a_program_that_goes_on_without_the_gpu_for_ever_is_judged_by_what_it_held(
    fakes: Fakes, candidate: str, status: str
) -> None:
    """As one that computes a reference on the host for minutes."""
    request = fakes.request("ponders", candidate, exit=None) | {"limits": {"seconds": 3.0}}
    verdict = program.evaluate(request, fakes.context())
    assert verdict["status"] == status
    assert ("that part is not run" if status == "correct" else "became") in verdict["log"]


def test_a_program_whose_status_was_asked_for_must_get_to_it(fakes: Fakes) -> None:
    request = fakes.request("ponders", "ponders-fast", exit=0) | {"limits": {"seconds": 1.2}}
    with pytest.raises(Fault, match="does not end within 0 s"):
        program.evaluate(request, fakes.context())


@pytest.mark.parametrize(
    ("baseline", "word", "remedy"),
    [
        ("hang", "does not end within 1 s", "smaller arguments"),
        ("usage", "usage: saxpy SIZE", "optiml run FILE -- ARGUMENTS"),
        ("opens", "cannot open data/input.bin", "name files relative to"),
        ("big", "out of memory", "smaller arguments"),
        ("denies", "Test FAILED", "its own check fails"),
        ("segv", "signal 11 (Segmentation fault)", "if it reads arguments"),
        ("status", "exits with 3", "check: {exit: 3}"),
        ("crash", "cudaErrorIllegalAddress after launching saxpy", "compute-sanitizer"),
        ("idle", "launches no kernel", "optiml run FILE -- ARGUMENTS"),
    ],
)
def test_an_original_that_does_not_work_is_a_fault_with_a_remedy(
    fakes: Fakes, baseline: str, word: str, remedy: str
) -> None:
    """The message quotes what it says, the remedy is about that."""
    request = fakes.request(baseline, "ok")
    if baseline == "hang":
        request["limits"] = {"seconds": 4.0}
    with pytest.raises(Fault, match=re.escape(word)) as caught:
        program.evaluate(request, fakes.context())
    assert caught.value.kind == "BaselineError"
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("moods", "is another in every run"), ("chatty", "another number of lines")],
)
def test_words_that_change_by_themselves_are_said_and_not_compared(
    fakes: Fakes, behaviour: str, said: str
) -> None:
    """The rest is: what the program prints with certainty, and what it computes."""
    verdict = judge(fakes, behaviour, f"{behaviour}-fast")
    assert verdict["status"] == "correct"
    assert said in verdict["log"]
    assert judge(fakes, behaviour, f"{behaviour}-wrong")["status"] == "wrong result"
    if behaviour == "moods":
        assert judge(fakes, behaviour, "moods-talks")["status"] == "wrong result"


def test_text_that_the_output_must_hold_is_asked_of_the_original_first(fakes: Fakes) -> None:
    with pytest.raises(Fault, match='does not print "VICTORY"'):
        judge(fakes, "ok", "ok", stdout="VICTORY")


def test_each_set_of_arguments_is_a_case_of_its_own(fakes: Fakes) -> None:
    verdict = judge(fakes, "usage", "usage-fast", runs=[["64"], ["1000"]])
    assert [case["name"] for case in verdict["measurement"]["cases"]] == ["64", "1000"]


def test_an_error_at_one_of_several_sizes_is_found(fakes: Fakes) -> None:
    verdict = judge(fakes, "usage", "usage-short", runs=[["64"], ["1000"]])
    assert verdict["status"] == "wrong result"


def test_programs_are_judged_in_the_sandbox_as_outside(fakes: Fakes) -> None:
    with Sandbox() as sandbox:
        context = fakes.context() | {"execute": sandboxed(sandbox, gpu=False)}
        verdict = program.evaluate(fakes.request("ok", "beyond"), context)
    assert verdict["status"] == "wrong result"


def test_a_run_leaves_nothing_behind(fakes: Fakes) -> None:
    judge(fakes, "ok", "fast")
    scratch: Path = fakes.context()["scratch"]
    assert [p.name for p in scratch.iterdir()] == ["interposer"]
