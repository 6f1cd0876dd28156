"""The worker's side of the oracle: which process is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runners import answers, spec
from runners.answers import Answers, Opened, Oracle
from runners.contents import Combination
from runners.gathered import ORDER_DECIDES
from runners.oracle import combinations
from runners.spec import BaselineFailure, Work
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_judge import SCALE, _job

# Says in `said` what it was asked, and whether it had waited for that.
SCRIPT = """
import pathlib, sys, time
waits = sys.argv[1] == "--wait"
if {dies} and waits:
    sys.exit(1)
asked = sys.stdin.readline().strip() if waits else sys.argv[1]
if asked:
    with open({said!r}, "a") as said:
        said.write(f"{{'waited' if waits else 'fresh'}} {{asked}}\\n")
    time.sleep({seconds})
    sys.stderr.write("last words")
"""


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return tmp_path / "said"


def process(
    monkeypatch: pytest.MonkeyPatch, said: Path, *, dies: bool = False, seconds: float = 0.0
) -> None:
    script = SCRIPT.format(said=str(said), dies=dies, seconds=seconds)

    def command(_module: str, *arguments: str) -> list[str]:
        return [sys.executable, "-I", "-c", script, *arguments]

    monkeypatch.setattr(answers, "module_command", command)


def test_the_process_that_has_opened_the_gpu_is_asked_first_and_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: Path
) -> None:
    process(monkeypatch, said)
    oracle = Oracle(tmp_path, 0, lambda *_: None)
    opened = oracle.opened = Opened(0)
    assert [oracle._process(Path(name), 60.0) for name in ("a", "b")] == ["last words"] * 2
    assert said.read_text().splitlines() == ["waited a", "fresh b"]
    opened.close()


def test_one_that_has_ended_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: Path
) -> None:
    """Such as one that could not open the GPU: the next one says why."""
    process(monkeypatch, said, dies=True)
    oracle = Oracle(tmp_path, 0, lambda *_: None)
    opened = oracle.opened = Opened(0)
    opened._process.wait()
    assert oracle._process(Path("a"), 60.0) == "last words"
    assert said.read_text().splitlines() == ["fresh a"]
    opened.close()


def test_one_that_takes_too_long_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: Path
) -> None:
    process(monkeypatch, said, seconds=600.0)
    oracle = Oracle(tmp_path, 0, lambda *_: None)
    opened = oracle.opened = Opened(0)
    assert "did not finish" in oracle._process(Path("a"), 0.2)
    assert not opened.waits


def test_one_that_is_never_asked_ends_with_the_worker(
    monkeypatch: pytest.MonkeyPatch, said: Path
) -> None:
    process(monkeypatch, said)
    unused = Opened(0)
    unused.close()
    assert not unused.waits
    assert not said.exists()
    unused.close()
    with pytest.raises((ValueError, subprocess.SubprocessError)):
        unused.answer(Path("a"), 1.0)


def test_an_original_that_hangs_on_a_declared_case_hangs_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every further family would take as long again, and nothing could be judged by them."""
    runs = 0

    def once(_oracle: Oracle, answers: Answers, *asked: object) -> None:
        nonlocal runs
        runs += 1
        left = asked[2]
        assert isinstance(left, list)
        answers.dropped[left[0].key] = "still running after 20 s"

    monkeypatch.setattr(Oracle, "_once", once)
    job = spec.parse(_job(SCALE))
    wanted = [one for some in combinations(job.work, job.checks, job.seed) for one in some]
    assert len(wanted) > 2
    oracle = Oracle(tmp_path, 0, lambda *_: None)
    with pytest.raises(BaselineFailure) as caught:
        oracle.answers(job, {}, wanted, 60.0)
    assert "still running" in caught.value.message
    assert runs == 1


def test_inputs_that_nobody_declared_may_take_longer(tmp_path: Path) -> None:
    """They may be the worst there are for a right way of doing it."""
    known = Answers(spec.parse(_job(SCALE)).work, tmp_path)
    declared, other = (Combination({"n": 7.0}, family, 1) for family in ("declared", "equal"))
    known.described = {declared.key: {"seconds": 1e-4}, other.key: {"seconds": 1e-4}}
    assert known.patience(declared) == 2
    assert known.patience(other) == 6
    known.described[other.key]["seconds"] = 1.0
    assert known.patience(other) == 30


def test_what_all_answers_tell_of_an_output_follows_them(tmp_path: Path) -> None:
    """One that shows that results come in any order counts for all, for as long as it is there."""

    def told(*, unordered: bool) -> dict[str, object]:
        joined = ["z"] if unordered else []
        output = {"name": "y", "unordered": unordered, "looked": unordered, "joined": joined}
        return {"outputs": [output]}

    known = Answers(spec.parse(_job(SCALE)).work, tmp_path)
    known.described["few"] = told(unordered=False)
    assert known._together() == (set(), {})
    known.described["many"] = told(unordered=True)
    assert known._together() == ({"y"}, {"y": ("z",)})
    assert known._together()[0] is known._together()[0]
    del known.described["many"]
    known.described["others"] = told(unordered=False)
    assert known._together() == (set(), {})


def test_what_is_asked_is_listed_once_a_workload(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All candidates of a workload, seed and depth share a list; it is that of `combinations`."""
    listed: list[tuple[str, int]] = []

    def counted(work: Work, checks: str, seed: int) -> tuple[list[Combination], ...]:
        listed.append((checks, seed))
        return combinations(work, checks, seed)

    monkeypatch.setattr(answers, "combinations", counted)
    oracle = Oracle(tmp_path, 0, lambda *_: None)
    jobs = [
        _job(SCALE),
        _job(f"{SCALE} "),
        _job(SCALE, seed=6),
        _job(f"{SCALE} ", effort="confirm"),
    ]
    for job in map(spec.parse, [*jobs, *jobs]):
        declared, more = combinations(job.work, job.checks, job.seed)
        assert oracle.wanted(job) == (tuple(declared), tuple(more))
    assert listed == [("screen", 5), ("screen", 6), ("confirm", 5)]


# Halves added up in an order that is another one each time.
IN_ANY_ORDER = """
extern "C" __global__ void scale(const float* x, _Float16* y, int n) {
    static int calls;
    if (blockIdx.x || threadIdx.x) return;
    bool back = calls++ % 2;
    for (int i = 0; i < n; ++i) y[0] += (_Float16)x[back ? n - 1 - i : i];
}
"""


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_what_hangs_on_an_order_is_asked_no_later_either(tmp_path: Path) -> None:
    """A process that is begun anew has not seen that runs on declared inputs differ."""
    written = {"name": "y", "type": "half*", "shape": "1", "role": "inout", "init": "zeros"}
    job = _job(IN_ANY_ORDER, IN_ANY_ORDER)
    job["workload"]["arguments"][1] = written
    job["workload"]["tolerance"] = {"rtol": 0.01, "atol": 0.5}
    made = artifact(IN_ANY_ORDER)
    oracle = HostOracle(tmp_path, 0, lambda text, _job: None)
    case = {"n": 3000.0}
    declared, mixed = Combination(case, "declared", 5), Combination(case, "mixed", 5)
    request = {"job": job, "candidate": made, "baseline": made}
    found = oracle.answers(spec.parse(job), request, [declared, mixed], 60.0)
    assert found.of(declared) is not None
    assert ORDER_DECIDES in found.dropped[mixed.key]
    assert found.ask is not None
    later = Combination(case, "mixed", 6)
    found.ask([later])
    assert found.of(later) is None
    assert ORDER_DECIDES in found.dropped[later.key]
