"""Ways of a program that its text names and nobody declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners import program_modes
from runners.program_modes import Declared
from tests.redteam import table

CASES = Path(table.HERE) / "cases"
NOWHERE = Path("nowhere")
MAIN = "int main(int argc, char** argv) {{ int n = atoi(argv[1]), k = atoi(argv[2]); {} }}"


def _lines(declared: Declared, rank: int = 0) -> list[str]:
    return [" ".join(one.line.arguments) for one in program_modes.ways(declared, rank)]


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        ("if (k < 0 || k > 2) return 2;", ["2", "3"]),
        ("if (k == 5) f();", ["2", "3", "4", "5"]),
        ("switch (k) { case 0: a(); break; case 3: b(); break; default: c(); }", ["2", "3", "4"]),
        ("if (k != 12) f();", ["12", "13"]),
        ("if (k) f();", []),
        ("if (k > 1000) return 2;", []),
        ("for (int i = 0; i < k; ++i) f();", []),
        ("run<<<1, 1>>>(n, k);", ["2", "3", "4"]),
    ],
)
def test_a_small_number_is_tried_at_all_that_are_named(body: str, ways: list[str]) -> None:
    """Also by what it is passed to, and what stands between them."""
    text = MAIN.format(body) + "__global__ void run(int n, int how) { if (how > 3) f(); else g(); }"
    declared = Declared(text, [("500", "0"), ("20", "1")], [1, 0], NOWHERE)
    assert _lines(declared) == [f"20 {way}" for way in ways]
    assert _lines(declared, 1) == [f"500 {way}" for way in ways]
    assert not _lines(declared, 2)


def test_a_number_that_is_large_or_a_seed_is_no_way() -> None:
    text = MAIN.format("if (k > 2 || n > 2) return 2;")
    assert not _lines(Declared(text, [("500", "9")], [0], NOWHERE))
    option = (
        'int main(int c, char** v) { if (!strcmp(v[i], "%s")) k = atoi(v[++i]); if (k > 2) f(); }'
    )
    assert _lines(Declared(option % "--k", [("--k", "1")], [0], NOWHERE)) == [
        f"--k {way}" for way in (0, 2, 3)
    ]
    assert not _lines(Declared(option % "--seed", [("--seed", "1")], [0], NOWHERE))


def test_a_size_is_made_no_larger_by_it() -> None:
    """That is asked of sizes anyway: what is left is fewer of them."""
    text = MAIN.format("if (k < 1 || k > 12) return 2;")
    runs = [("500", "5"), ("20", "3")]
    assert _lines(Declared(text, runs, [1, 0], NOWHERE)) == [f"20 {way}" for way in (0, 1, 12, 13)]
    sized = Declared(text, runs, [1, 0], NOWHERE, frozenset({0, 1}))
    assert _lines(sized) == ["20 0", "20 1"]


@pytest.mark.parametrize(
    "body",
    [
        'if (!strcmp(argv[1], "fast")) f(); else if (strcmp("exact", argv[1]) == 0) g();',
        'std::string how = argv[1]; if (how == "fast") f(); else if ("exact" == how) g();',
        'const char* how = argv[1]; if (strncmp(how, "fast", 4) == 0 || !strcmp(how, "exact")) f();',
        'if (std::string(argv[1]) == "fast") f(); if (std::string(argv[1]) == "exact") g();',
    ],
)
def test_words_are_tried_that_a_word_is_compared_with(body: str, tmp_path: Path) -> None:
    text = f'int main(int argc, char** argv) {{ {body} if (other == "none") h(); }}'
    assert _lines(Declared(text, [("fast",)], [0], tmp_path)) == ["exact"]
    assert _lines(Declared(text, [("fast",), ("exact",)], [0, 1], tmp_path)) == []
    # A word that is none of these may be anything, as a file's name is.
    assert not _lines(Declared(text, [("input",)], [0], tmp_path))
    (tmp_path / "fast").touch()
    assert not _lines(Declared(text, [("fast",)], [0], tmp_path))


def test_the_third_way_of_a_program_as_people_write_it() -> None:
    text = (CASES / "wedlock" / "base.cu").read_text()
    runs = [("1500", "0", "5"), ("300", "1", "2"), ("97", "0", "8")]
    declared = Declared(text, runs, [2, 1, 0], NOWHERE)
    assert _lines(declared) == ["97 2 8", "97 3 8"]
    assert _lines(declared, 1) == ["300 2 2", "300 3 2"]
