"""Cutting text into tokens: nothing is lost, and starting from another text changes nothing."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from optimizer import tokens as cutting
from optimizer.tokens import tokens

PIECES = st.sampled_from(
    ['"', "'", 'R"x(', ')x"', "//", "/*", "*/", "\\\n", "\n", "#", "#define A 1\n", "<<<", ">", "=",
     "x", "0x1f", ".5e+", " ", "u8", "R", "(", ")", "{", "}", "int i = 0;", "é", "\r\n", "Lwide"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join)


@given(TEXTS)
def test_joined_tokens_give_the_text_back(text: str) -> None:
    """Every character belongs to exactly one token, in order."""
    found = tokens(text)
    assert "".join(t.text for t in found) == text
    assert all(a.end == b.start for a, b in pairwise(found))


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_tokens_spliced_from_another_text_are_those_of_the_text(
    head: str, old: str, new: str, tail: str
) -> None:
    """Whatever stands in the middle, common ends only save time."""
    before, text = head + old + tail, head + new + tail
    spliced = cutting._spliced(text, before, cutting._cut(before, 0))
    assert spliced == cutting._cut(text, 0)


@given(TEXTS)
def test_a_word_alone_tells_its_kind(text: str) -> None:
    """Cut without naming kinds, a text has the tokens that the pattern with names finds."""
    named = [(cutting._KIND[m.lastgroup], *m.span()) for m in cutting._NAMED.finditer(text)]
    assert [(t.kind, t.start, t.end) for t in cutting._cut(text, 0)] == named


def test_an_expression_is_read_as_c_reads_it() -> None:
    """Signs bind by rank, and equal ones from the left."""
    cases = {"10 - 4 - 3": 3, "2 + 3 * 4": 14, "1 << 2 + 1": 8, "7 & 3 == 3": 1, "9 / 2 * 2": 8,
             "1 || 0 && 0": 1, "6 ^ 2 | 1": 5, "-2 * -3 % 4": 2, "1 < 2 == 1": 1, "1 ? 2 : 3 + 4": 2}  # fmt: skip
    assert {text: cutting.evaluate(text) for text in cases} == cases
    assert cutting.evaluate("1 +") is None
