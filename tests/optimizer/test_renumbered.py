"""Numbers put in the place of others: what is computed must be what reading the new text gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.renumbered import Renumbered
from optimizer.source import Source
from optimizer.syntax import Span, span, walk
from optimizer.tokens import integer

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*/*.cu"))
HOST = """
#define BLOCK 128
#define ROWS (BLOCK / 4)
const int PAD = 2;
__global__ void k(float *a) {
    __shared__ float tile[ROWS][PAD + 1];
    __shared__ double plain[64];
    tile[threadIdx.x % ROWS][0] = plain[0] = a[threadIdx.x];
}
void go(float *a, int n) {
    int side = 8;
    dim3 block(BLOCK / side, side);
    dim3 later;
    later.x = 32;
    k<<<n / BLOCK, block>>>(a);
    k<<<n, later>>>(a);
    { int side = 3; k<<<n, side * 5>>>(a); }
    k<<<n, n>>>(a);
}
"""
SIZES = {"float": 4, "double": 8}


def literals(source: Source) -> list[Span]:
    """Return the integer literals of a source outside directives, and those of its macros."""
    found = {span(n) for n in walk(source.syntax.root, "number_literal")}
    found |= {c.value_span for c in source.constants}
    return sorted(s for s in found if source.text[s[0] : s[1]].isdigit())


def agrees(source: Source, places: dict[Span, int]) -> bool:
    """Compare with the new text read from scratch; False where the class is not sure."""
    now = Renumbered(source, places)
    if not now.sure:
        return False
    after = Source(source.replace([(a, b, str(n)) for (a, b), n in places.items()]))
    assert now.threads() == tuple(launch.threads for launch in after.launches)
    once = {c.name: after.constant(c.name) for c in after.constants if after.constant_of(c.name)}
    assert now.constants == once
    same = Renumbered(after, {})
    for f, g in zip(source.kernels, after.kernels, strict=True):
        assert now.shared_bytes(f, SIZES) == same.shared_bytes(g, SIZES)
    return True


def test_sizes_follow_through_locals_macros_and_scopes() -> None:
    """Threads and shared bytes follow macros of macros, settled locals and inner scopes."""
    source = Source(HOST)
    (block,) = [c.value_span for c in source.constants if c.name == "BLOCK"]
    now = Renumbered(source, {block: 256})
    assert now.sure
    assert now.threads() == (256, 32, 15, None)
    assert now.shared_bytes(source.kernels[0], SIZES) == 64 * 3 * 4 + 64 * 8


@pytest.mark.parametrize("new", [1, 7, 4096])
def test_every_number_by_itself_agrees_with_the_text_read_anew(new: int) -> None:
    """Whatever single number changes, all values equal those of the changed text."""
    source = Source(HOST)
    assert all(agrees(source, {at: new}) for at in literals(source))
    everything = {at: new + i for i, at in enumerate(literals(source))}
    assert agrees(source, everything)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
def test_numbers_of_the_examples_agree_with_the_text_read_anew(file: Path) -> None:
    """In every example each integer may be doubled."""
    source = Source(file.read_text())
    for at in literals(source)[:25]:
        agrees(source, {at: 2 * (integer(source.text[at[0] : at[1]]) or 1)})


def test_a_number_that_a_condition_may_ask_for_is_left_to_the_reader() -> None:
    """With `#if` in the file, or beside something that is no plain number, it is not sure."""
    asked = Source("#define N 4\n#if N > 2\nint a;\n#endif\n")
    assert not Renumbered(asked, {asked.constants[0].value_span: 8}).sure
    plain = Source("#define N 4u\n")
    assert not Renumbered(plain, {(10, 11): 8}).sure
