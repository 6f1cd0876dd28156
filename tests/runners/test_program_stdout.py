"""Printed output is one more check, without the numbers that belong to the clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.program_stdout import difference, unlike


@pytest.mark.parametrize(
    ("originals", "candidate", "same"),
    [
        (["PASS"], "FAIL", False),
        (["Time: 12.3 ms", "Time: 12.4 ms"], "Time: 3.1 ms", True),
        (["Time: 0 ms", "Time: 0 ms"], "Time: 1 ms", True),
        (["bandwidth 310.2 GB/s"], "bandwidth 900 GB/s", True),
        (["count = 5"], "count = 6", False),
        (["checksum 1234.5678"], "checksum 1234.5679", True),
        (["checksum 1234.5678"], "checksum 1300.0", False),
        (["max error 1.2e-07"], "max error 3.4e-07", True),
        (["max error 1.2e-07"], "max error 0.5", False),
        (["at 0x7f00aa"], "at 0x7f00bb", True),
        (["a\nb"], "a", False),
        (["thread 1\nthread 2", "x\ny"], "thread 2\nthread 1", True),
        (["mean nan"], "mean nan", True),
        (["mean 1.5"], "mean nan", False),
        (["seed 5", "seed 7"], "seed 9", True),
        (["196 blocks of 256 threads"], "98 blocks of 512 threads", True),
        (["threadsPerBlock=256 sum=5.5"], "threadsPerBlock=512 sum=6.5", False),
        (["gridDim (8, 8, 1)"], "gridDim (4, 16, 1)", True),
        (["Max error: 0.0156"], "Max error: 0.0234", True),
        (["Max error: 0.0156"], "Max error: 0.5", False),
        (["Max error: 0.0156"], "Max error: nan", False),
        (["maxDiff = 2.5e-02"], "maxDiff = 0", True),
        (["5 errors"], "6 errors", False),
        (["0 errors"], "3 errors", False),
        (["kernel took 3.20 ms"], "kernel took 812.5 us", True),
        (["kernel took 3.20 ms, checksum ok"], "kernel took 812.5 us, checksum bad", False),
        (["rows  time (ms)\n4096  0.9"], "rows  time (ms)\n4096  0.3", True),
        (["rows  time (ms)\n4096  0.9"], "rows  time (ms)\n4097  0.9", False),
        (["method,n,Time,sum\nmine,8,0.02,5"], "method,n,Time,sum\nmine,8,0.01,5", True),
        (["method,n,Time,sum\nmine,8,0.02,5"], "method,n,Time,sum\nmine,8,0.02,6", False),
        (["runtime\n0.02\n8"], "runtime\n0.01\n8", True),
        (["runtime\n0.02\n8"], "runtime\n0.02\n9", False),
        (["timing\nsum 5"], "timing\nsum 6", False),
        (["Elapsed time\n0.5 ms\nsum 5"], "Elapsed time\n0.1 ms\nsum 6", False),
        (["time (ms)  GB/s\n5  90"], "time (ms)  GB/s\n1  450", True),
    ],
)
def test_output_differs_where_it_says_something_else(
    originals: list[str], candidate: str, same: bool
) -> None:
    assert (difference(originals, candidate) == "") is same


@pytest.mark.parametrize(
    ("one", "two", "lines"),
    [
        ("sum 5\nPASS", "sum 6\nPASS", frozenset()),
        ("sum 5\nPASS", "sum 5\nFAIL", frozenset({1})),
        ("took 1.2 ms", "took 800 us", frozenset()),
        ("at 0x7f00aa", "at 0x8f00ab", frozenset()),
        ("a\nb", "a", None),
        ("", "", frozenset()),
    ],
)
def test_lines_that_say_something_else_are_told(
    one: str, two: str, lines: frozenset[int] | None
) -> None:
    """Numbers and units of time aside."""
    assert unlike(one, two) == lines


@given(st.lists(st.text(max_size=40), min_size=1, max_size=3), st.text(max_size=40))
def test_any_text_is_compared_without_an_exception(originals: list[str], candidate: str) -> None:
    assert difference(originals, originals[0]) == "" or len(originals) > 1
    difference(originals, candidate)


@pytest.mark.parametrize(
    "piece", ["_", "a", "a_", " ", "\t", "1", "1.", "0x", "e", ",", "a ", "- "]
)
def test_long_lines_cost_no_more_than_their_length(piece: str) -> None:
    """A program may print megabytes without a line's end; it is a stranger's, too."""
    line = piece * (60_000 // len(piece))
    assert difference([f"time\n{line}x"], f"time\n{line}y") is not None
    unlike(f"{line}x", f"{line}y")
