"""How far sums of products of halves may be off where no better answer is known: on tensor cores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from runners import answering, perturbation
from runners.compare import compare
from runners.contents import Combination, Contents
from runners.digest import Digest
from runners.families import DECLARED
from runners.gathered import Gathered
from runners.original import Original
from runners.run import Damage, Run
from runners.spec import CaseSpec, Work
from tests.runners.test_inputs import _work as _of

Floats = npt.NDArray[np.float64]
DEPTH, BITS = 1024, 24


def _work(depth: int = DEPTH, rows: int = 64, kind: str = "half") -> Work:
    """Rows of one matrix times rows of another, and a bias in floats."""
    arguments = [
        {"name": "a", "type": f"const {kind}*", "shape": "m*k", "init": "normal"},
        {"name": "b", "type": f"const {kind}*", "shape": "m*k", "init": "normal"},
        {"name": "bias", "type": "const float*", "shape": "m", "init": "normal"},
        {"name": "c", "type": "float*", "shape": "m*m", "role": "output"},
    ]
    return replace(_of(*arguments, m=rows, k=depth), rtol=1e-3, atol=1e-2)


def _cut(data: Floats, unit: Floats) -> Floats:
    return np.asarray(np.trunc(data / unit) * unit)


def _in_chain(products: Floats) -> Floats:
    """Add sixteen at a time to a float, as tensor cores do: what is below its last places is lost."""
    total = np.zeros(products.shape[0])
    for start in range(0, products.shape[1], 16):
        part = products[:, start : start + 16]
        top = np.maximum(np.abs(part).max(axis=1), np.abs(total))
        unit = np.ldexp(1.0, np.frexp(top)[1] - BITS - 1)
        total = _cut(total, unit) + _cut(part, unit[:, None]).sum(axis=1)
        total = _cut(total, np.ldexp(1.0, np.frexp(total)[1] - BITS))
    return total


def _added(way: str, products: Floats) -> Floats:
    if way == "by one warp":
        return _in_chain(products)
    if way == "by four warps":
        slices = products.reshape(len(products), -1, 16)
        parts = [_in_chain(slices[:, w::4].reshape(len(products), -1)) for w in range(4)]
        first, *others = (part.astype(np.float32) for part in parts)
        for other in others:
            first = first + other
        return first.astype(np.float64)
    steps = products.reshape(len(products), -1, 32)
    total = np.zeros(steps.shape[:2], np.float16)
    for at in range(32):
        total = (total + steps[:, :, at]).astype(np.float16)
    return np.asarray(total.astype(np.float64).sum(axis=1))


def _run(work: Work, contents: Contents, combination: Combination, way: str) -> Run:
    arrays, case = contents.of(combination), combination.case
    m, k = int(case["m"]), int(case["k"])
    a, b = (arrays[n].view(np.float16).astype(np.float64).reshape(m, 1, k) for n in "ab")
    sums = _added(way, (a * b.reshape(1, m, k)).reshape(m * m, k))
    c = (sums.reshape(m, m) + arrays["bias"].view(np.float32)).astype(np.float32)
    return Run({"c": c.view(np.uint8).reshape(-1)}, Damage(), 0.0, 0)


@pytest.mark.parametrize(
    ("way", "fits"), [("by one warp", True), ("by four warps", True), ("in halves", False)]
)
@pytest.mark.parametrize("depth", [128, DEPTH])
@pytest.mark.parametrize("family", ["mixed", "shifted", f"{DECLARED}, longer"])
def test_another_order_on_tensor_cores_is_right_where_sums_cancel(
    tmp_path: Path, family: str, depth: int, way: str, *, fits: bool
) -> None:
    """Its bias moves and its halves do not: of their sums nothing was told, and no order was right."""
    family, _, longer = family.partition(",")
    work = replace(_work(depth), rtol=1e-7, atol=1e-7)
    if longer:
        work = replace(work, cases=(CaseSpec({"m": 64.0, "k": depth / 2}),))
    contents = Contents(work)
    one = Combination({"m": 64.0, "k": float(depth)}, family, 1)
    asked = Original.halved(cast("Any", _original(work)), one)
    assert asked is not None
    run = _run(work, contents, one, "by one warp")
    others = [replace(one, family=f"{family}+{'j' * n}") for n in (1, 2)]
    moved: list[tuple[Combination, Run, Run | None]] = [
        (other, _run(work, contents, other, "by one warp"), None) for other in others
    ]
    halved = _run(work, contents, asked, "by one warp")
    gathered = Gathered(one, [run] * 4, None, moved, 0.1, halved=halved)
    described = Digest(work, tmp_path, contents, None).digest(gathered)
    answer = answering.read(tmp_path, work, described)["c"]
    assert compare(_run(work, contents, one, way).outputs["c"], answer).passed is fits


def _original(work: Work, *, refers: bool = False) -> SimpleNamespace:
    truth = SimpleNamespace(refers=lambda _: refers)
    return SimpleNamespace(work=work, _digest=SimpleNamespace(truth=truth))


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_halves_move_alone_where_nothing_tells_of_their_sums(kind: str) -> None:
    work = _work(kind=kind)
    one = Combination({"m": 64.0, "k": 1024.0}, "mixed", 1)
    asked = Original.halved(cast("Any", _original(work)), one)
    assert asked is not None
    before, after = (Contents(work).of(each) for each in (one, asked))
    assert np.mean(before["a"].view(np.uint16) != after["a"].view(np.uint16)) > 0.8
    assert np.array_equal(before["bias"], after["bias"])
    assert perturbation.share_beside(work) == {"half": 2.0**-13, "bfloat16": 2.0**-16}[kind]


def test_they_do_not_where_something_else_does() -> None:
    """A tolerance on what is declared, a reference, or all that moves."""
    one = Combination({"m": 64.0, "k": 1024.0}, "mixed", 1)
    work = _work()
    halved = Original.halved
    assert halved(cast("Any", _original(work)), replace(one, family=DECLARED)) is None
    assert halved(cast("Any", _original(work, refers=True)), one) is None
    assert halved(cast("Any", _original(work)), replace(one, family="mixed+j")) is None
    alone = replace(work, arguments=tuple(a for a in work.arguments if a.name != "bias"))
    assert halved(cast("Any", _original(alone)), one) is None
    floats = replace(work, arguments=tuple(a for a in work.arguments if a.name in {"bias", "c"}))
    assert halved(cast("Any", _original(floats)), one) is None


def test_sums_are_as_long_as_what_the_output_lacks() -> None:
    work = _work()
    *_, output = work.arguments
    for depth, times in ((64, 1.0), (512, 4.0), (4096, 32.0), (1 << 20, 64.0)):
        assert perturbation.chains(work, {"m": 99999.0, "k": float(depth)}, output) == times
    # Where no variable is missing, the sum may go over any of them.
    wide = replace(output, shape="m*k")
    assert perturbation.chains(work, {"m": 1024.0, "k": 64.0}, wide) == 8.0
