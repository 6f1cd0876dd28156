"""Two changes of one text, put together or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.merging import merge, merge_launches
from optimizer.model import Launch

TEXTS = st.lists(st.sampled_from(["a\n", "b c\n", "f(a, b);\n", "\n", "x"]), max_size=8).map(
    "".join
)


@given(TEXTS, TEXTS)
def test_a_change_on_one_side_alone_is_taken(base: str, changed: str) -> None:
    assert merge(base, changed, base) == changed
    assert merge(base, base, changed) == changed
    assert merge(base, changed, changed) == changed


@given(TEXTS, TEXTS, TEXTS)
def test_who_comes_first_makes_no_difference(base: str, ours: str, theirs: str) -> None:
    assert merge(base, ours, theirs) == merge(base, theirs, ours)


def test_changes_of_different_words_in_one_line_go_together() -> None:
    base = "__global__ void f(const float* a, float* b) {\n"
    ours = "__global__ void f(const float* __restrict__ a, float* b) {\n"
    theirs = "__global__ void __launch_bounds__(256) f(const float* a, float* b) {\n"
    both = "__global__ void __launch_bounds__(256) f(const float* __restrict__ a, float* b) {\n"
    assert merge(base, ours, theirs) == both


def test_a_line_is_taken_out_before_one_that_is_put_in() -> None:
    base = "for\n#pragma unroll 4\nx\n"
    assert merge(base, "for\nx\n", "for\n#pragma unroll 4\ny\nx\n") == "for\ny\nx\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("x = 2;\n", "x = 3;\n"), ("", "x = 3;\n"), ("x = 1;\ny\n", "x = 1;\nz\n")],
)
def test_changes_of_the_same_words_are_refused(ours: str, theirs: str) -> None:
    assert merge("x = 1;\n", ours, theirs) is None


def test_launches_merge_by_field() -> None:
    base = Launch(("n/256",), ("256",))
    block, shared = Launch(("n/128",), ("128",)), Launch(("n/256",), ("256",), "64")
    assert merge_launches(base, block, shared) == Launch(("n/128",), ("128",), "64")
    assert merge_launches(base, base, block) == block
    assert merge_launches(None, None, None) is None
    with pytest.raises(ValueError, match="grid"):
        merge_launches(base, block, Launch(("n/64",), ("256",)))
