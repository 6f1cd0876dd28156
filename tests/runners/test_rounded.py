"""Results in 16 bits that are rounded more often than the original's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import answering, one_run, rounded
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import Answer, compare
from runners.contents import Combination, Contents
from runners.cuda_types import SCALARS, Storage, from_float, to_float
from runners.digest import Digest
from runners.families import DECLARED
from runners.gathered import Gathered
from runners.run import Damage, Run
from runners.spec import JobSpec, Work
from tests.runners.test_inputs import _pointer
from tests.runners.test_inputs import _work as _of

Numbers = npt.NDArray[np.generic]
WIDTH, ROWS = 96, 60
KINDS = ("half", "bfloat16")


def _work(kind: str, rows: int = ROWS) -> Work:
    """Rows that are divided by their root mean square, and multiplied by a gain in floats."""
    out = {"name": "y", "type": f"{kind}*", "shape": "n", "role": "output"}
    work = _of(_pointer(f"const {kind}*"), out, n=float(rows * WIDTH))
    return replace(work, rtol=2e-2, atol=1e-4)


def _short(data: npt.ArrayLike, kind: str) -> npt.NDArray[np.float64]:
    return to_float(from_float(np.asarray(data, np.float64), SCALARS[kind]), SCALARS[kind])


def _made(
    way: str, kind: str, rows: int, change: Callable[[Numbers], Numbers] | None = None
) -> Run:
    """Make results as the original does, in doubles, in another order of floats, or in halves."""
    rng = np.random.default_rng(2)
    x = _short(rng.normal(0, 1, (rows, WIDTH)), kind)
    if change is not None:
        x = to_float(from_float(change(x), SCALARS[kind]), SCALARS[kind])
    gain = rng.normal(0, 1, WIDTH).astype(np.float32)
    wide: Any = np.float64 if way == "in doubles" else np.float32
    terms = (x * x).astype(wide)
    if way == "backwards":
        terms = terms[:, ::-1]
    squares = np.add.accumulate(terms, axis=1)[:, -1:]
    if way == "backwards":
        r = (wide(1) / np.sqrt(squares * wide(1 / WIDTH) + wide(1e-6))).astype(wide)
        y = x.astype(wide) * (r * gain.astype(wide))
    else:
        r = wide(1) / np.sqrt(squares / wide(WIDTH) + wide(1e-6))
        y = x.astype(wide) * r * gain.astype(wide)
    if way == "a product of halves":
        y = x * _short(r * gain, kind)
    elif way == "a sum of halves":
        y = _short(_short(x, kind) * _short(r, kind), kind) * _short(gain, kind)
    data = from_float(y.astype(np.float64), SCALARS[kind]).reshape(-1)
    return Run({"y": np.ascontiguousarray(data).view(np.uint8)}, Damage(), 0.0, 0)


def _answer(folder: Path, kind: str, rows: int = ROWS, original: str = "in floats") -> Answer:
    work = _work(kind, rows)
    one = Combination({"n": float(rows * WIDTH)}, DECLARED, 1)
    run = _made(original, kind, rows)
    gathered = Gathered(one, [run] * 4, _made("in doubles", kind, rows), [], 0.1)
    described = Digest(work, folder, Contents(work), None).digest(gathered)
    return answering.read(folder, work, described)["y"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("way", "fits"),
    [
        ("in floats", True),
        ("backwards", True),
        ("a product of halves", False),
        ("a sum of halves", False),
    ],
)
def test_results_that_are_rounded_twice_are_told_from_another_order(
    tmp_path: Path, kind: str, way: str, *, fits: bool
) -> None:
    """They are within the tolerance, and within what halves are forgiven."""
    answer = _answer(tmp_path, kind)
    assert answer.rounding is not None
    assert answer.rounding <= rounded.OWN
    got = _made(way, kind, ROWS).outputs["y"]
    assert compare(got, answer).passed
    assert (rounded.fault(got, answer) == "") is fits


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_asked_where_the_original_rounds_twice_or_few_results_tell(
    tmp_path: Path, kind: str
) -> None:
    got = _made("a product of halves", kind, ROWS).outputs["y"]
    assert rounded.fault(got, _answer(tmp_path, kind, original="a sum of halves")) == ""
    few = _answer(tmp_path, kind, rows=2)
    assert few.rounding is None
    assert rounded.fault(_made("a product of halves", kind, 2).outputs["y"], few) == ""
    answer = _answer(tmp_path, kind)
    for other in (replace(answer, unordered=True), replace(answer, rounding=None)):
        assert rounded.fault(got, other) == ""


def _floats(data: npt.ArrayLike, kind: str = "half") -> Storage:
    made = from_float(np.asarray(data, np.float64), SCALARS[kind])
    return np.ascontiguousarray(made).view(np.uint8)


def test_one_number_that_lies_halfway_between_two_is_no_fault(tmp_path: Path) -> None:
    """However many results it is. Nor is what is left alone, zero, or no number."""
    answer = _answer(tmp_path, "half")
    count = ROWS * WIDTH
    want = np.full(count, 1.0)
    tied = replace(answer, want=_floats(want))
    assert rounded.fault(_floats(want + 2.0**-10), tied) == ""
    various = np.linspace(1.0, 1.9, count)
    for right, untouched in ((various, True), (np.zeros(count), False), (various * np.nan, False)):
        marks = np.ones(count, np.bool_) if untouched else None
        one = replace(answer, want=_floats(right), untouched=marks)
        assert rounded.fault(_floats(various + 2.0**-9), one) == ""
    other = replace(answer, want=_floats(various))
    assert "results are others" in rounded.fault(_floats(various + 2.0**-9), other)


def test_originals_that_differ_from_run_to_run_tell_nothing() -> None:
    field = _work("half").arguments[-1].type.fields[0]
    want = np.linspace(1.0, 1.9, 1000).astype(np.float16)
    wide = want.astype(np.float64)
    assert rounded.own([want, want], wide, field, None) == 0.0
    assert rounded.own([want, want[::-1].copy()], wide, field, None) is None
    assert rounded.own([want], wide, field, np.arange(1000) > 100) is None
    floats = _of(_pointer("float*") | {"role": "output"}, n=10).arguments[0].type.fields[0]
    assert rounded.own([want.astype(np.float32)], wide, floats, None) is None


@pytest.mark.parametrize("narrow", [True, False])
def test_a_run_is_refused_for_it_where_its_code_says_so(tmp_path: Path, *, narrow: bool) -> None:
    work, answer = _work("half"), _answer(tmp_path, "half")
    case = {"n": float(ROWS * WIDTH)}
    one = Combination(case, DECLARED, 1)
    answers = Answers(work, tmp_path)
    answers._read[one.key] = {"y": answer}
    job = JobSpec(work=work, **dict.fromkeys(_others()))  # type: ignore[arg-type]
    report = Report(narrow=narrow)
    one_run.judge(report, job, answers, one, _made("backwards", "half", ROWS))
    bad = _made("a product of halves", "half", ROWS)
    if not narrow:
        one_run.judge(report, job, answers, one, bad)
        return
    with pytest.raises(Wrong, match=r"y: \d+ of \d+ results are others"):
        one_run.judge(report, job, answers, one, bad)


def _others() -> list[str]:
    return [name for name in JobSpec.__dataclass_fields__ if name != "work"]


PLAIN = "\tcvt.f32.f16 %f1, %rs1;\n\tfma.rn.f32 %f2, %f1, %f1, %f3;\n"
STORED = "{  cvt.rn.f16.f32 %rs2, %f2;}\n\tst.global.u16 [%rd1], %rs2;\n"


@pytest.mark.parametrize(
    "line",
    [
        "{ mul.bf16 %rs1,%rs2,%rs3; }",
        "\t@%p1 fma.rn.f16x2 %r1, %r2, %r3, %r4;",
        "{add.rn.f16x2 %r1,%r2,%r3;\n}",
        "ex2.approx.ftz.bf16x2 %r1, %r2;",
        "tanh.approx.f16 %rs1, %rs2;",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r3,%r4}, {%r5}, {%r6,%r7};",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r1}, {%r2}, {%r3}, {%r4};",
        "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%r1}, %rd1, %rd2, p, 1, 1, 0, 0;",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%f1}, {%r2}, {%r3}, {%f4};",
        "cvt.rna.tf32.f32 %r1, %f1;",
        STORED + "{  cvt.f32.f16 %f3, %rs2;}",
        "cvt.rn.bf16x2.f32 %r1, %f1, %f2;\nmov.b32 {%rs1, %rs2}, %r1;\n{ cvt.f32.bf16 %f3, %rs2;}",
        "cvt.rn.bf16.f32 %rs1, %f1;\nmov.b32 %f2, {%rs9, %rs1};",
        "cvt.rn.bf16.f32 %rs1, %f1;\nshl.b32 %r2, %rs1, 16;\nmov.b32 %f2, %r2;",
    ],
)
def test_code_that_works_in_fewer_digits(line: str) -> None:
    assert rounded.more(PLAIN + STORED + line, PLAIN + STORED)
    assert not rounded.more(line, line)
    assert not rounded.more(line, "")


@pytest.mark.parametrize(
    "line",
    [
        "max.f16x2 %r1, %r2, %r3;\nneg.bf16 %rs1, %rs2;\nsetp.gt.f16 %p1, %rs1, %rs2;",
        "add.f32.f16 %f1, %rs1, %f2;",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r3}, {%r5}, {%f6};",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r2}, {%r3}, {%f4};",
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, p, 1, 1, 1, 0;",
        "cvt.rn.f16.f32 %rs1, %f1;\nmov.b32 %r1, {%rs1, %rs2};\nst.global.b32 [%rd1], %r1;",
        "{  cvt.f32.f16 %f3, %rs7;}",
        "cvt.rn.f16.f32 %rs2, %f2;\n.visible .entry other(\n{  cvt.f32.f16 %f3, %rs2;}",
        "atom.global.add.noftz.f16 %rs1, [%rd1], %rs2;",
    ],
)
def test_code_that_does_not(line: str) -> None:
    assert not rounded.more(PLAIN + STORED + line, PLAIN)
