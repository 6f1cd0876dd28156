"""What a candidate needs aligned where its original does not is noted, and never refused."""

from __future__ import annotations

import contextlib
import ctypes
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners import alignment, limit, spec, unaligned
from runners.alignment import MUST, Alignment, Told, accesses, factors, logged, places, wider
from runners.contents import Combination
from runners.gpu import DeviceError
from runners.judge import Judge
from runners.spec import Json
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import SCALE, _job

PLAIN_PTX = """
.visible .entry scale(.param .u64 x, .param .u64 y) {
    ld.param.u64 %rd1, [x];
    ld.global.nc.f32 %f1, [%rd1];
    st.global.f32 [%rd2], %f2;
}
"""
QUADS_PTX = PLAIN_PTX + "@%p1 ld.global.nc.v4.f32 {%f1, %f2}, [%rd1]; st.global.v4.f32 [%rd2], {};"
# Fails as a GPU does: the launch goes well, and what waits for it does not.
QUADS = """
int misaligned;
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (FAULT) { misaligned = 1; return; }
    if (i < n) y[i] = WRONG ? 7.f : 3.f * x[i] + 1.f;
}
"""


class Faulting(HostGpu):
    """Tells at the next wait what a kernel of `QUADS` noticed, and is lost then."""

    def __init__(self) -> None:
        super().__init__()
        self._flags: list[Any] = []

    def load(self, image: bytes) -> Any:
        module = super().load(image)
        with contextlib.suppress(ValueError):
            self._flags.append(ctypes.c_int.in_dll(module, "misaligned"))
        return module

    def synchronize(self, seconds: float = 60.0) -> float:
        if any(flag.value for flag in self._flags):
            raise DeviceError("misaligned address")
        return super().synchronize(seconds)


def _moved(_self: Alignment, request: Json, _job: Any, path: Path) -> None:
    with (path.parent / unaligned.LOG).open("w") as log:
        unaligned.run(json.loads(path.read_text()), path.parent, Faulting(), log)


def _notes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    base: str = SCALE,
    ptx: str = QUADS_PTX,
) -> list[str]:
    """Return the notes of a finalist whose device code has these accesses."""
    monkeypatch.setattr(Alignment, "_moved", _moved)
    judge = Judge(
        HostGpu(),
        0,
        tmp_path,
        lambda _text, _job: None,
        device_code=lambda source, _job: PLAIN_PTX if source == base else ptx,
    )
    oracle = HostOracle(tmp_path, 0, lambda source, _job: artifact(source))
    oracle.remembers = True
    judge._oracle = oracle
    job = _job(text, base, effort="confirm")
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(base)}
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0)
    judge.close()
    assert not lost
    assert verdict["status"] == "correct", verdict["log"]
    assert not list((tmp_path / "alignment").glob("*"))
    found: list[str] = verdict["measurement"]["notes"]
    return [note for note in found if MUST in note]


ODD = "(((size_t){}) & {})"
NEEDS = [
    ("both by themselves", ODD.format("x", 15) + " || " + ODD.format("y", 15), "x and y", 16),
    ("the input", ODD.format("x", 7), "x", 8),
    ("what is read beside the other", "(((size_t)x ^ (size_t)y) & 15)", "x and y", 16),
    ("both, where they are alike", ODD.format("x", 15) + " && " + ODD.format("y", 15),
     "x and y, moved together,", 16),
    ("a line of the cache", ODD.format("y", 127), "y", 128),
    ("more than is tried", ODD.format("y", 255), "y", 256),
]  # fmt: skip


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("odd", "names", "size"), [one[1:] for one in NEEDS])
@pytest.mark.parametrize("fails", [True, False])
def test_what_has_to_be_aligned_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str, names: str, size: int, fails: bool
) -> None:
    """Whether it fails or is wrong: by which argument, and from which multiple on it is right."""
    text = QUADS.replace("FAULT", odd if fails else "0").replace("WRONG", "0" if fails else odd)
    said = _notes(tmp_path, monkeypatch, text)
    words = f"{names} {MUST} {size} bytes; the original takes any multiple of 4"
    assert said == [limit.said(words)]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_what_is_right_anywhere_is_not_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that asks how its buffers lie has wider accesses, too."""
    text = QUADS.replace("FAULT", "0").replace("WRONG", "0")
    assert _notes(tmp_path, monkeypatch, text) == []


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize("fault", [True, False])
def test_what_the_original_needs_as_well_is_not_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: bool
) -> None:
    """Its own accesses may be hidden behind a cast that the texts do not show."""
    odd = ODD.format("x", 15)
    text = QUADS.replace("FAULT", odd if fault else "0").replace("WRONG", "0" if fault else odd)
    assert _notes(tmp_path, monkeypatch, text + "// faster", text) == []


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_nothing_is_run_where_no_access_is_wider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else pays for it."""
    text = QUADS.replace("FAULT", ODD.format("x", 15)).replace("WRONG", "0")
    (tmp_path / "alignment").mkdir()
    assert _notes(tmp_path, monkeypatch, text, ptx=PLAIN_PTX) == []


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_a_tool_that_fails_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, a process that says nothing, one that says nonsense: none is the candidate's."""
    text = QUADS.replace("FAULT", ODD.format("x", 15)).replace("WRONG", "0")

    def refused(*_: Any) -> None:
        raise OSError

    def nonsense(_self: Alignment, _request: Json, _job: Any, path: Path) -> None:
        lines = ['{"who": "original", "factor": 1, "begins": true}', '{"outputs": []}', "x"]
        (path.parent / unaligned.LOG).write_text("\n".join(lines))

    for way in (refused, lambda *_: None, nonsense):
        with monkeypatch.context() as patch:
            patch.setattr(f"{__name__}._moved", way)
            assert _notes(tmp_path, patch, text) == []


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_the_process_ends_well_without_a_gpu(tmp_path: Path) -> None:
    """What cannot be run is not held against anybody."""
    job = _job(SCALE)
    request = {"job": job, "candidate": artifact(SCALE), "baseline": artifact(SCALE)}
    parsed = spec.parse({**job, "kernel": {**job["kernel"], "source": SCALE + "//"}})
    asked = [Combination({"n": 7.0}, "declared", 5)]
    with Alignment(tmp_path, 0).begun(request, parsed, 16, asked) as moved:
        told = [one.result() for one in moved]
        assert [one.names for one in told] == [("x",), ("y",), ("x", "y")]
        assert all(not one.log or one.log[-1].get("unknown") for one in told)


def _log(*steps: tuple[str, int, str]) -> list[Json]:
    """Return a log: who, by how many elements, and `error`, `unknown` or nothing."""
    found: list[Json] = []
    for who, factor, what in steps:
        step = {"who": who, "factor": factor, "combination": 0}
        found.append({**step, "begins": True})
        found += [{**step, what: True}] if what else []
    return found


@pytest.mark.parametrize(
    ("steps", "ended", "size"),
    [
        ([("original", 1, "error")], True, None),
        ([("original", 1, "unknown")], True, None),
        ([("candidate", 32, "error")], True, None),
        ([("original", 1, "ok"), ("candidate", 32, "error")], True, 256),
        ([("original", 1, "ok"), ("candidate", 4, "ok"), ("candidate", 2, "error")], True, 16),
        ([("original", 1, "ok"), ("candidate", 4, "ok"), ("candidate", 2, "unknown")], True, None),
        # Host code of a candidate ends its process where it meets an error, or hangs.
        ([("original", 1, "ok"), ("candidate", 4, "ok"), ("candidate", 2, "")], True, 16),
        ([("original", 1, "ok"), ("candidate", 4, "ok"), ("candidate", 2, "")], False, None),
    ],
)
def test_a_log_is_read_as_far_as_it_goes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    steps: Sequence[tuple[str, int, str]],
    ended: bool,
    size: int | None,
) -> None:
    """A candidate is at fault where it fails behind an original that did not."""
    monkeypatch.setattr(alignment, "_right", lambda *_: True)
    log = [
        {
            **{k: v for k, v in line.items() if k != "ok"},
            **({"outputs": "f"} if "ok" in line else {}),
        }
        for line in _log(*steps)
    ]
    job: Any = spec.parse(_job(SCALE))
    asked = [Combination({"n": 7.0}, "declared", 5)]
    found = alignment.needed(job, None, asked, Told(("x",), log, tmp_path, ended))  # type: ignore[arg-type]
    assert (found.size if found else None) == size


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\tld.global.nc.L1::no_allocate.L2::128B.v2.u64 {%rd1, %rd2}, [%rd3];", {("ld", 16)}),
        ("\t@!%p1 ld.v4.u16 {%a}, [%rd3];", {("ld", 8)}),
        ("{ ld.volatile.global.b128 %q, [%rd3]; }", {("ld", 16)}),
        ("ld.shared::cta.v4.f32 {%a}, [%r1]; ld.local.v4.u32 {}, [%r1]; st.param.b64 [p], %r;", set()),
        ("red.global.add.v4.f32 [%rd1], {%a};", {("red", 16)}),
        ("atom.global.add.noftz.bf16x2 %r, [%rd1], %s;", {("atom", 4)}),
        ("cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 4, %r9;", {("cp", 4)}),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r], [%d], 64, [%m];",
         {("bulk", 16)}),
        ("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;", set()),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.tile [%r], [%d, {%a}], [%m];", set()),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a}, [%rd1], 16;", {("wmma.load", 32)}),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%a}, [%rd1], 16;", set()),
        ("mov.b64 %rd1, {%r1, %r2}; add.f64 %fd1, %fd2, %fd3;", set()),
    ],
)  # fmt: skip
def test_accesses_are_read_from_ptx(text: str, found: set[tuple[str, int]]) -> None:
    """Of global memory alone, or of what may be."""
    assert {(operation, size) for operation, _, size in accesses(text)} == found


def _work(*types: str) -> spec.Work:
    names = "abcdefghij"
    arguments = [
        {
            "name": name,
            "type": kind,
            "shape": "n",
            **({} if "const" in kind else {"role": "output"}),
        }
        for name, kind in zip(names, types, strict=False)
    ]
    return spec.parse(_job(SCALE, workload={"arguments": arguments})).work


def test_only_wider_accesses_are_asked_about() -> None:
    """Those that the original has, too, or that any element is aligned for, are not."""
    floats = _work("const float*", "float*")
    assert wider(floats, QUADS_PTX, PLAIN_PTX) == 16
    assert wider(floats, QUADS_PTX, QUADS_PTX) == 0
    assert wider(floats, QUADS_PTX, "") == wider(floats, "", PLAIN_PTX) == 0
    assert wider(_work("const float4*", "float4*"), QUADS_PTX, PLAIN_PTX) == 0
    assert wider(_work("const float3*", "float4*"), QUADS_PTX, PLAIN_PTX) == 16
    assert wider(_work("const char*", "float4*"), "ld.global.u32 %r, [%d];", PLAIN_PTX) == 4


def test_what_is_moved_and_how_far() -> None:
    """Each buffer that could matter alone, then all; of many the inputs, then the outputs."""
    assert places(_work("const float*", "float4*", "float*"), 16) == [("a",), ("c",), ("a", "c")]
    assert places(_work("const double*", "float*"), 8) == [("b",)]
    many = _work(*["const float*"] * 5, *["float*"] * 3)
    assert places(many, 16) == [tuple("abcde"), tuple("fgh"), tuple("abcdefgh")]
    assert factors(_work("const float*"), "a") == [32, 16, 8, 4, 2, 1]
    assert factors(_work("const float3*", "double*"), "ab") == [32, 16, 8, 4, 2, 1]
    assert factors(_work("const char*"), "a") == [128, 64, 32, 16, 8, 4, 2, 1]


def test_of_small_cases_two_are_run(judge: Judge) -> None:
    """Whole words, where a candidate may take several at once, and the largest declared."""
    job = replace(spec.parse(_job(SCALE)), effort="confirm")
    request = {"job": _job(SCALE), "candidate": {}, "baseline": artifact(SCALE)}
    declared, more = judge._oracle.wanted(job)
    answers = judge._oracle.answers(job, request, [*declared, *more], 60.0)
    sizes = [dict(c.case)["n"] for c in alignment.chosen(job, answers, [*declared, *more])]
    assert sizes[-1] == 3000
    assert all(size % 32 == 0 for size in sizes[:-1])


def test_a_log_of_a_strangers_is_not_trusted(tmp_path: Path) -> None:
    """Host code of a candidate can write what it likes where its log is."""
    path = tmp_path / "log"
    assert logged(path) == []
    path.write_text('{"who": "original"}\n[1]\n{"who": "candidate"}\n')
    assert logged(path) == [{"who": "original"}]
    other = tmp_path / "other"
    other.symlink_to(path)
    assert logged(other) == []
    path.write_text("1" * (alignment.MOST_LOG_BYTES + 1))
    assert logged(path) == []
