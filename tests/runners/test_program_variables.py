"""Which variables the words of a command line are read into, and what they are multiplied by."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import program_modes
from runners.program_products import products
from runners.program_variables import variables
from runners.text import LONGEST
from tests.redteam import table

CASES = Path(table.HERE) / "cases"
MAIN = "int main(int argc, char** argv) {{ {} }}"


def _base(name: str) -> str:
    return (CASES / name / "base.cu").read_text()


@pytest.mark.parametrize(
    ("body", "words", "names"),
    [
        ("int n = atoi(argv[1]);", ("9",), ["n"]),
        ("int n = argc > 1 ? atoi(argv[1]) : 5, k = argc > 2 ? atoi(argv[2]) : 7;", ("9", "3"), ["k"]),
        ("size_t k; k = std::max(1ul, std::stoul(argv[1], nullptr, 10));", ("9",), ["k"]),
        ('int k = 3; sscanf(argv[1], "%d", &k);', ("9",), ["k"]),
        ('while (i < argc) if (!strcmp(argv[i], "--k")) k = atoi(argv[++i]);', ("--k", "3"), ["k"]),
        ('if (arg.rfind("--k=", 0) == 0) { k = std::stoi(arg.substr(4)); }', ("--k=3",), ["k"]),
        ('if (!strcmp(argv[i], "--k")) go(); if (!strcmp(argv[i], "--m")) m = 1;', ("--k", "3"), []),
        ("printf(argv[1]); int n = 3;", ("9",), []),
        ("n = 3; argv[1];", ("9",), []),
    ],
)  # fmt: skip
def test_variables_are_found(body: str, words: tuple[str, ...], names: list[str]) -> None:
    assert sorted(variables(MAIN.format(body), words, len(words) - 1)) == names


def test_programs_as_people_write_them() -> None:
    words = ("96", "64", "40000", "500", "11")
    found = [sorted(variables(_base("mazewalk"), words, at)) for at in range(5)]
    assert found == [["width"], ["height"], ["walkers"], ["steps"], ["seed"]]
    assert program_modes.told(_base("wedlock"), ("97", "0", "8"), 1) == (0, 1, 2, 3)
    assert program_modes.end(_base("wedlock"), ("1500", "0", "5"), 0, 1500, 24000) == 4096
    assert program_modes.told(_base("josephus"), ("7003", "3"), 0) == (0, 1)


@pytest.mark.parametrize(
    ("body", "narrow"),
    [
        ("f(n * m);", True),
        ("int all = 4 * n * m;", True),
        ("for (int i = 0; i < n; ++i) at[i * m] = 0;", True),
        ("int all = n; f(all * m);", True),
        ("g(n, m);", True),
        ("run<<<1, 128>>>(n, m);", True),
        ("f((size_t)n * m);", False),
        ("f((unsigned long long)n * m + 1);", False),
        ("size_t all = n; f(all * m);", False),
        ("f(n * sizeof(int) * m);", False),
        ("f(static_cast<double>(n) + m);", False),
        ("unsigned h = n * 2654435761u;", False),
        ("int* n_ = &n; f(n % 7 * m);", False),
    ],
)
def test_products_of_32_bits_are_found(body: str, narrow: bool) -> None:
    """Those that pass 2^31 are left to the original."""
    text = MAIN.format(f"int n = atoi(argv[1]), m = atoi(argv[2]); {body}")
    text += "void g(int a, int b) { f(a * b); } __global__ void run(int k, int l) { f(k * l); }"
    found = products(text, ("100", "100"))
    assert found.defined({0: 1 << 16, 1: 1 << 15}, {0: 100, 1: 100}) is not narrow
    assert found.defined({0: 1000, 1: 1000}, {0: 100, 1: 100})
    # What passes them as declared is as it is.
    assert found.defined({0: 1 << 20, 1: 1 << 20}, {0: 1 << 17, 1: 1 << 17})


def test_of_a_word_that_nothing_is_known_of_no_product_may_be_large() -> None:
    found = products(MAIN.format("parse(argc, argv);"), ("9", "9"))
    assert found.defined({0: 1 << 15, 1: 1 << 15}, {0: 9, 1: 9})
    assert not found.defined({0: 1 << 16, 1: 1 << 16}, {0: 9, 1: 9})
    # A seed is as it was.
    assert found.defined({0: 1 << 16, 1: 1 << 16}, {0: 9, 1: 1 << 16})


def test_the_text_of_a_program_that_multiplies_in_64_bits_says_so() -> None:
    words, declared = ("96", "64", "40000", "500", "11"), (96, 64, 40000, 500, 11)
    for name, defined in (("walk", True), ("other", False)):
        text = _base("mazewalk")
        if name == "other":
            text = text.replace("(unsigned long long)i * steps", "i * steps")
        far = dict(enumerate([*(16 * one for one in declared[:4]), 11]))
        assert products(text, words).defined(far, dict(enumerate(declared))) is defined


_PIECES = st.sampled_from(
    ["int main(int c, char** v) {", "v[1]", "atoi(", "n", "=", ";", ",", "(", ")", "*", "<", "}",
     "size_t", "int", "f(", "<<<", ">>>", "if (", "argv", "==", '"fast"', "strcmp(", "[", "]", "%",
     "&", "sscanf(", "2u", "7", '"--n"', "->", ".", "#define n", "\n"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=80))
def test_no_text_is_too_strange(pieces: list[str]) -> None:
    text = "int main(int c, char** v) { int n = atoi(v[1]); " + " ".join(pieces)
    words = ("3", "fast", "--n", "5")
    for at in range(4):
        variables(text, words, at)
        program_modes.told(text, words, at)
        program_modes.compared(text, words, at)
        assert program_modes.end(text, words, at, 3, 48) in {None, *range(4, 48)}
    products(text, words).defined({0: 1 << 20, 3: 9}, {0: 3, 3: 5})


@pytest.mark.parametrize("piece", ["n = (", "f(n * ", "void g(int n) { g(", "n * n < n, ", "a[n"])
def test_a_long_text_takes_little_time(piece: str) -> None:
    long = LONGEST // 8
    text = ("int main(int c, char** v) { int n = atoi(v[1]); " + piece * long)[:long]
    begun = time.process_time()
    products(text, ("3",)).defined({0: 9}, {0: 3})
    program_modes.told(text, ("3",), 0)
    program_modes.compared(text, ("fast",), 0)
    assert time.process_time() - begun < 8
    assert not variables(text + " " * LONGEST, ("3",), 0)
