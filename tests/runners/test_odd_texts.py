"""What reads strangers' sources never raises, ends in time, and finds nothing in nonsense."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import crossing, indexing, narrow_counts, other_sign, shares
from runners.poisoned_shared import filled
from tests.redteam.table import load

WORDS = [*"(){}[]<>=+-*/%&|?:;,.!~^1", "<<<", ">>>", "->", "<<", "+=", "--", "::", "1.f", '"s"']
WORDS += ["f", "t", "x", "y", "g", "float", "int", "void", "for", "if", "return", "static", "short"]
WORDS += ["const", "auto", "template", "struct", "fmaxf", "fmaf", "__shfl_sync", "#define f t\n"]
SOURCES = sorted({one.source for one in load()})[::97]
HEAD = "void f(const float* x, float* y, float t) {"
PTX = """.version 9.0
.target sm_90
.address_size 64
.global .u32 seed;
.extern .shared .align 16 .b8 room[];
.shared .align 4 .b8 table[1024];
.visible .entry k(
.param .u64 k_param_0
)
{
.reg .b32 %r<3>;
.shared .align 8 .b8 own[64];

mov.u32 %r1, own;
mov.u32 %r2, table;
mov.u32 %r2, room;
ret;
}"""


def _asked(source: str) -> None:
    """Ask all there is to ask of a text, of a function `f` with arguments x, y and t."""
    assert set(other_sign.turned(source, "f", {"t": 2}, [0])) <= {"t"}
    assert {shares.smooth(source, "f", at) for at in range(4)} <= {True, False}
    assert not shares.linear(source, "f", 2) or shares.smooth(source, "f", 2)
    beyond, within = crossing.crossing(source, "f", {"t": 2})
    assert {*beyond, *within} <= {"t"}
    assert set(indexing.relative(source, "f", [0, 1])) <= {0, 1}
    assert indexing.times(source) >= 0
    least, most = narrow_counts.LEAST_PERIOD, narrow_counts.MOST_PERIOD
    assert all(least <= one <= most for one in narrow_counts.periods(source))


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    _asked(text)
    _asked(f"{HEAD} y[0] = t; {text} }}")


@given(st.lists(st.sampled_from(WORDS), max_size=80))
def test_no_order_of_tokens_is_too_odd(words: list[str]) -> None:
    _asked(f"{HEAD} {' '.join(words)} }}")


@given(st.sampled_from(SOURCES), st.data())
def test_no_cut_of_a_real_source_is_too_odd(source: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(source))
    first, last = sorted(data.draw(st.tuples(ends, ends)))
    _asked(source[:first] + source[last:])


HOSTILE = ["(" * 60000, "t+" * 40000, "a=b;" * 40000, "!" * 90000, "f(t," * 30000]
HOSTILE += ["a=b*a;" * 9000, "y[a+b]=a;" * 6000]
HOSTILE += ["?t:" * 40000, "{" * 90000, "static short a; ++a;" * 9000, "t<" * 50000, "x[" * 60000]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    _asked(f"{HEAD} {text}")
    assert time.process_time() - begun < 10


@given(st.lists(st.text(max_size=60), max_size=30))
def test_no_lines_are_too_odd_to_be_filled(lines: list[str]) -> None:
    assert len(filled(lines, "seed", 4)) == len(lines)


@given(st.permutations(PTX.splitlines()), st.sets(st.integers(0, 18)), st.booleans())
def test_no_damaged_module_is_too_odd_to_be_filled(
    mixed: list[str], left_out: set[int], shuffle: bool
) -> None:
    lines = mixed if shuffle else PTX.splitlines()
    kept = [line for number, line in enumerate(lines) if number not in left_out]
    assert len(filled(kept, "seed", 4)) == len(kept)


def test_the_whole_module_is_filled() -> None:
    """So that its damaged ones are more than nonsense."""
    made = "\n".join(itertools.chain(filled(PTX.splitlines(), "seed", 4)))
    assert made.count("st.shared") == 3
    assert made.count("barrier.sync 0") == 1
