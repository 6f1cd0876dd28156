"""What a text takes apart: remainders and whole parts of its arguments, however they are written."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import divided
from runners.conditions import GEOMETRY
from runners.divided import Gate
from runners.odd_parts import progression
from runners.spec import Launch
from tests.redteam.table import load
from tests.runners.test_odd_texts import HEAD, HOSTILE, WORDS

ARGUMENTS = ("", "rows", "cols", "k")
SOURCES = sorted({one.source for one in load()})[::97]


def _read(body: str, before: str = "") -> tuple[Gate, ...]:
    text = f"{before}\n__global__ void f(float* x, int rows, int cols, int k) {{ {body} }}"
    return divided.gated(text, "f", ARGUMENTS)


def _parts(gates: tuple[Gate, ...], *, asked: bool | None = None) -> set[tuple[str, object]]:
    """Return what is taken apart, and by what; of conditions alone where they are asked for."""
    chosen = [one for one in gates if asked is None or asked == (one.condition is not None)]
    known: dict[int, int | float | None] = {len(ARGUMENTS) + GEOMETRY.index(("blockDim", "x")): 128}
    return {(one.name, one.by(known.get)) for gate in chosen for one in gate.divisions}


ASKED: tuple[tuple[str, str], ...] = (
    ("if (rows % 256 == 0) x[0] = 1;", ""),
    ("if (rows % 256u) return;", ""),
    ("if (rows % (T * 4) == 0) x[0] = 1;", "constexpr int T = 64;"),
    ("if (rows % (T << 2) == 0) x[0] = 1;", "#define T 64"),
    ("if (rows % T == 0) x[0] = 1;", "enum { one = 255, T };"),
    ("if (rows % C::T == 0) x[0] = 1;", "struct C { static constexpr int T = 256; };"),
    ("if (rows % (8 * warpSize) == 0) x[0] = 1;", ""),
    ("if (rows % (1024 / sizeof(float)) == 0) x[0] = 1;", ""),
    ("if (!(rows & 255)) x[0] = 1;", ""),
    ("if ((rows & (T - 1)) == 0) x[0] = 1;", "#define T 256"),
    ("if ((rows & ~255) == rows) x[0] = 1;", ""),
    ("if (rows / 256 * 256 == rows) x[0] = 1;", ""),
    ("if (rows >> 8 << 8 == rows) x[0] = 1;", ""),
    ("const int m = rows, rest = m % 256; if (rest == 0) x[0] = 1;", ""),
    ("bool whole = rows % 256 == 0; if (whole) x[0] = 1;", ""),
    ("x[0] = rows % 256 ? 1 : 2;", ""),
    ("switch (rows % 256) { case 0: x[0] = 1; }", ""),
    ("if (WHOLE(rows)) x[0] = 1;", "#define WHOLE(n) ((n) % 256 == 0)"),
    (
        "if (whole<256>(rows)) x[0] = 1;",
        "template <int T> bool whole(int n) { return n % T == 0; }",
    ),
    (
        "if (whole(rows)) x[0] = 1;",
        "template <int T = 256> bool whole(int n) { return n % T == 0; }",
    ),
    (
        "g<float, 64, 4><<<1, 2>>>(x, rows); g<float, 32><<<1, 2>>>(x, rows);",
        "template <typename S, int T, int U = 8> void g(S* y, int n) { if (n % (T * U)) y[0] = 1; }",
    ),
    ("auto whole = [=](int n) { return n % 256 == 0; }; if (whole(rows)) x[0] = 1;", ""),
    ("P p{x, rows}; g(p);", "void g(P p) { if (p.rows % 256 == 0) p.x[0] = 1; }"),
    ("if (threadIdx.x < 9 && rows % 256 == 0) x[0] = 1;", ""),
)


@pytest.mark.parametrize(("body", "before"), ASKED, ids=[f"{one[0]} {one[1]}" for one in ASKED])
def test_a_condition_of_what_is_whole_is_read_however_it_is_written(body: str, before: str) -> None:
    assert ("1:", 256) in _parts(_read(body, before), asked=True)


ALONE: tuple[tuple[str, str], ...] = (
    ("for (int i = 0; i < rows / 256; ++i) x[i] = 1;", ""),
    ("int most = rows / T * T; while (i < most) ++i;", "const int T = 256;"),
    ("dim3 grid(rows / 256, 2);", ""),
    ("dim3 grid{rows / 256};", ""),
    ("const int parts{rows / 256};", ""),
    ("g(rows >> 8);", ""),
    ("x[rows & 255] = 1;", ""),
)


@pytest.mark.parametrize(("body", "before"), ALONE, ids=[one[0] for one in ALONE])
def test_what_is_taken_apart_is_read_where_nothing_is_asked(body: str, before: str) -> None:
    assert ("1:", 256) in _parts(_read(body, before), asked=False)


def test_several_are_read_together() -> None:
    both = _read("if (rows % 64 == 0 && cols % 32 == 0) x[0] = 1;")[0]
    assert [(one.name, one.by(lambda _: None)) for one in both.divisions] == [
        ("1:", 64),
        ("2:", 32),
    ]
    assert {("1:", 64), ("2:", 64)} <= _parts(_read("if ((rows | cols) % 64 == 0) x[0] = 1;"))
    assert ("(1:*2:)", 1024) in _parts(_read("if (rows * cols % 1024 == 0) x[0] = 1;"))
    assert ("1:", 128) in _parts(_read("if (rows % blockDim.x == 0) x[0] = 1;"))
    assert both.uses == {1, 2}


@pytest.mark.parametrize(
    "body",
    [
        "int i = threadIdx.x; x[i / 4] = i % 256;",
        "for (int i = 0; i < rows; ++i) x[i % 256] = i / 4;",
        "x[0] = 256 % rows; // rows % 256",
        "x[0] = y % 256;",
    ],
)
def test_what_is_no_argument_is_taken_apart_for_itself(body: str) -> None:
    assert _read(body) == ()


def test_a_launch_is_read_as_its_text() -> None:
    found = divided.launched(Launch(("m//128", "(n+255)/256"), ("64",)), ("n", "m"))
    assert _parts(found) == {("1:", 128), ("(0:+255)", 256)}
    for grid in ("n +", "}", "n ** 2", "1/0", "9" * 200, '"', "n % nobody", "\\\n#define n"):
        assert divided.launched(Launch((grid,), ("256",)), ("n", "m")) == ()


def test_multiples_are_found_of_what_is_made_of_a_size() -> None:
    every: list[tuple[Callable[[int], int], int]] = [
        (lambda n: n, 256),
        (lambda n: 6 * n + 4, 16),
        (lambda n: n + 3, 100),
        (lambda n: (n + 127) // 128, 2),
        (lambda n: n // 4 * 3, 12),
    ]
    for number, by in every:
        begin, step = progression(number, by)
        assert all(number(begin + step * turn) % by == 0 for turn in range(1, 20))
    assert progression(lambda _: None, 8) == (0, 8)
    assert progression(lambda n: 8 * n, 8) == (0, 1)
    assert progression(lambda n: 2 * n + 1, 8) == (0, 4)


def _asked(source: str) -> None:
    found = divided.gated(source, "f", ("x", "y", "t"))
    assert len(found) <= 2 * divided.MOST
    for gate in found:
        assert gate.divisions
        for one in gate.divisions:
            for value in (0, 1, 7, None):
                values = dict.fromkeys(range(9), value).get
                assert isinstance(one.left(values), int | float | None)
                assert isinstance(one.by(values), int | float | None)


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    _asked(text)
    _asked(f"{HEAD} if (t % 64) {text} }}")
    _asked(f"{HEAD} if (t % {text}")


ODD = [
    "if",
    "t",
    "%",
    "64",
    "==",
    "&&",
    "/",
    "&",
    ">>",
    "|",
    "template <",
    ">",
    "int T",
    "sizeof (",
]


@given(st.lists(st.sampled_from([*WORDS, *ODD]), max_size=80))
def test_no_order_of_tokens_is_too_odd(words: list[str]) -> None:
    _asked(f"{HEAD} {' '.join(words)} }}")
    _asked(" ".join(words))


@given(st.sampled_from(SOURCES), st.data())
def test_no_cut_of_a_real_source_is_too_odd(source: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(source))
    first, last = sorted(data.draw(st.tuples(ends, ends)))
    _asked(source[:first] + source[last:])


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        "if (t % 7 == 3) y[0] = t;" * 3000,
        "if (" + "t % 7 == 3 && " * 5000 + "t) y[0] = t;",
        "t" + " / 2" * 20000,
        "f<" * 20000 + "t % 3",
        "template <int T> " * 9000 + "f<3>(t % T);" * 900,
        "x = [] ( ) " * 6000 + "t % 3",
        "y[sizeof(" * 9000 + "t % 3",
        "t % " + "(" * 20000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    _asked(f"{HEAD} {text} }}")
    assert time.process_time() - begun < 5
