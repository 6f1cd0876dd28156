"""What a text asks of its entry's arguments, however it is written."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import conditions as read
from runners.conditions import Condition
from runners.terms import MOST_MODULUS
from tests.redteam.table import load
from tests.runners.test_odd_texts import HEAD, HOSTILE, WORDS

ARGUMENTS = ("", "rows", "cols", "k")
SOURCES = sorted({one.source for one in load()})[::97]


def _read(body: str, before: str = "") -> tuple[Condition, ...]:
    text = f"{before}\n__global__ void f(float* x, int rows, int cols, int k) {{ {body} }}"
    return read.conditions(text, "f", ARGUMENTS)


def _holds(body: str, before: str, rows: int, cols: int, k: int = 1) -> list[bool | None]:
    values = {1: rows, 2: cols, 3: k}
    return [one.holds(values.get) for one in _read(body, before)]


FORMS: tuple[tuple[str, str], ...] = (
    ("if (rows > 8 * cols) x[0] = 1;", ""),
    ("if (!(rows <= 8 * cols)) x[0] = 1;", ""),
    ("if ((float)rows / cols > 8.f) x[0] = 1;", ""),
    ("if (rows / (float)cols > 8.0) x[0] = 1;", ""),
    ("bool tall = rows > cols * 8; if (tall) x[0] = 1;", ""),
    ("const int most = cols << 3; if (rows > most) x[0] = 1;", ""),
    ("const int a = cols * 2, b = a * 2, c = 2 * b; while (rows > c) x[0] = 1;", ""),
    ("x[0] = rows > 8 * cols ? 1 : 0;", ""),
    ("x[rows > 8 * cols] = 0;", ""),
    ("if (rows > TIMES * cols) x[0] = 1;", "#define TIMES 8"),
    ("if (rows > TIMES * cols) x[0] = 1;", "#define TIMES (2 * FOUR)\n#define FOUR 4"),
    ("if (rows > times * cols) x[0] = 1;", "constexpr int times = 2 << 2;"),
    ("if (rows > times * cols) x[0] = 1;", "enum { seven = 7, times };"),
    ("if (TALL) x[0] = 1;", "#define TALL (rows > 8 * cols)"),
    ("if (TALL(rows, cols)) x[0] = 1;", "#define TALL(r, c) ((r) > 8 * (c))"),
    ("if (tall(rows, cols)) x[0] = 1;", "__device__ bool tall(int r, int c) { return r > 8 * c; }"),
    ("g(x, cols, rows);", "void g(float* x, int c, int r) { if (r > 8 * c) x[0] = 1; }"),
    (
        "g(x, rows, cols); g(x, rows, cols);",
        "void g(float* x, int rows, int c) { if (rows > 8 * c) x[0] = 1; }",
    ),
    ("if (min(rows, 9 * cols) > 8 * cols) x[0] = 1;", ""),
    ("if (rows > 8ll * cols && x[0] > 0) x[1] = 1;", ""),
    ("auto g = [&] { return rows > 8 * cols; }; if (g()) x[0] = 1;", ""),
    ("if ((rows - 1) / (8 * cols)) x[0] = 1;", ""),
    ("switch ((rows - 1) / (8 * cols)) { case 1: x[0] = 1; }", ""),
)


@pytest.mark.parametrize(("body", "before"), FORMS, ids=[one[0] for one in FORMS])
def test_a_ratio_is_read_however_it_is_written(body: str, before: str) -> None:
    """From one more row on than eight times the columns something that it asks is another."""
    for cols in (10, 1000):
        below, at, above = (_holds(body, before, 8 * cols + more, cols) for more in (-8, 0, 1))
        assert below == at != above


def test_what_is_asked_only_behind_something_else_is_not_asked_before() -> None:
    body = "if (rows > 8 * cols && cols % 3 == 1) x[0] = 1;"
    both, ratio, rest = _read(body)
    assert [one.holds({1: 10, 2: 4}.get) for one in (both, ratio, rest)] == [False, False, None]
    assert [one.holds({1: 90, 2: 4}.get) for one in (both, ratio, rest)] == [True, True, True]
    assert rest.term.moduli == {3}
    _, _, behind = _read("if (rows > 8 * cols || cols % 3 == 1) x[0] = 1;")
    assert behind.holds({1: 90, 2: 4}.get) is None


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < rows; ++i) x[i] = 1;",
        "int i = threadIdx.x; if (i < rows) x[i] = 1;",
        "int i = 0; do { x[i] = 1; i += 4; } while (i < rows);",
        "for (int s = rows / 2; s > 0; s >>= 1) x[s] = 1;",
        "int left = rows; g(&left); if (left > cols) x[0] = 1;",
        "if (x[rows] > 0.f) x[0] = 1;",
        "if (5 > 3) x[0] = 1;",
        "for (; --rows > cols;) x[0] = 1;",
        "rows = min(rows, 7); if (rows > cols) x[0] = 1;",
    ],
)
def test_what_depends_on_more_than_arguments_is_not_known(body: str) -> None:
    assert _read(body) == ()


def test_one_that_is_written_the_other_way_round_is_the_same() -> None:
    pairs = (
        ("if (rows > 8 * cols) x[0] = 1;", "if (cols * 8 < rows) x[0] = 1;"),
        ("if (rows == cols + k) x[0] = 1;", "if (k + cols == rows) x[0] = 1;"),
    )
    for one, other in pairs:
        assert [each.key for each in _read(one)] == [each.key for each in _read(other)]


def test_the_launch_is_known_behind_the_arguments() -> None:
    (one,) = _read("if (gridDim.x * blockDim.x < cols) x[0] = 1;")
    assert one.uses == {2, 4, 7}
    assert one.holds({2: 65, 4: 2, 7: 32}.get) is True


def _asked(source: str) -> None:
    found = read.conditions(source, "f", ("x", "y", "t"))
    assert len(found) <= read.MOST
    for one in found:
        assert all(1 < number <= MOST_MODULUS for number in one.term.moduli)
        for value in (0, 1, 7, -3, 2.5, 1 << 40, None):
            values = dict.fromkeys(range(12), value)
            assert one.holds(values.get) in {True, False, None}
            for gap in one.gaps:
                gap(values.get)


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    _asked(text)
    _asked(f"{HEAD} if (t) {text} }}")


@given(st.lists(st.sampled_from([*WORDS, "if", "t", "%", "7", "==", "&&"]), max_size=80))
def test_no_order_of_tokens_is_too_odd(words: list[str]) -> None:
    _asked(f"{HEAD} {' '.join(words)} }}")


@given(st.sampled_from(SOURCES), st.data())
def test_no_cut_of_a_real_source_is_too_odd(source: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(source))
    first, last = sorted(data.draw(st.tuples(ends, ends)))
    _asked(source[:first] + source[last:])


GROWING = "int a0 = t;" + "".join(f"int a{n + 1} = a{n} * a{n};" for n in range(90))
MACROS = "#define M0(x) (x)\n" + "".join(f"#define M{n + 1}(x) M{n}(x * x)\n" for n in range(60))


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        GROWING + "if (a90 > 7) y[0] = 1;",
        "if (t > 5) y[0] = t;" * 9000,
        "if (" + "t % 7 == 3 && " * 9000 + "t) y[0] = t;",
        "if (" + "!" * 300 + "t) y[0] = t;",
        "if (t == 1 << 63 << 63) y[0] = t;" * 50,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    _asked(f"{HEAD} {text} }}")
    assert time.process_time() - begun < 10


def test_macros_of_macros_end() -> None:
    begun = time.process_time()
    _asked(f"{MACROS}#define A B\n#define B A\n{HEAD} if (M60(t) > 7 || A > t) y[0] = t; }}")
    assert time.process_time() - begun < 5
