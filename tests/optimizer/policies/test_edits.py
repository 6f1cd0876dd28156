"""What a model wants changed: applied exactly, or refused with words it can mend it by."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.dialogue import Answer, json_in
from optimizer.model import Launch
from optimizer.policies.edits import Block, Refused, Wish, applied, arithmetic, read

FILE = "int a;\nint b;\nint a2;\n\nvoid f()\n{\n    go();\n}\n"
PLAIN = """\
title: Go twice
Kind: **unroll**
predicted: 1.4x
rationale: once is not enough

<<<<<<< SEARCH
    go();
=======
    go();
    go();
>>>>>>> REPLACE
"""


def wish(*blocks: tuple[str, str]) -> Wish:
    return Wish("t", "", "", None, tuple(Block(*pair) for pair in blocks))


def reason(found: object) -> str:
    assert isinstance(found, Refused)
    return found.reason


def answered(**fields: object) -> Answer:
    whole = {
        "rationale": "r",
        "title": "t",
        "kind": "k",
        "predicted": 2,
        "blocks": [{"search": "a", "replace": "b"}],
        "launch": None,
    }
    return Answer(json.dumps(whole | fields))


def test_json_is_read_bare_fenced_and_with_words_around() -> None:
    text = answered().text
    for shown in (text, f"```json\n{text}\n```", f"Sure!\n{text}\nDone."):
        found = read(Answer(shown))
        assert isinstance(found, Wish)
        assert (found.title, found.kind, found.predicted) == ("t", "k", 2.0)
        assert found.blocks == (Block("a", "b"),)


def test_plain_text_blocks_are_read_where_a_server_knows_no_json() -> None:
    found = read(Answer(PLAIN))
    assert isinstance(found, Wish)
    assert (found.title, found.kind, found.predicted) == ("Go twice", "unroll", 1.4)
    assert applied(found, FILE) == FILE.replace("    go();\n", "    go();\n    go();\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no search/replace block"),
        ("I would use shared memory.", "no search/replace block"),
        ('{"blocks": "all"}', "must be a list"),
        ('{"blocks": [{"search": 1, "replace": "x"}]}', "both text"),
        ('{"blocks": [], "launch": null}', "no search/replace block"),
        ('{"blocks": [], "launch": {"grid": []}}', "one to three"),
        ('{"blocks": [{"search": "a"', "no search/replace block"),
        (PLAIN + "<<<<<<< SEARCH\nx\n", "has no end"),
        (PLAIN * 21, "at most 20"),
    ],
)
def test_an_answer_of_another_shape_is_refused(text: str, words: str) -> None:
    assert words in reason(read(Answer(text)))


def test_a_refusal_and_a_cut_answer_are_refused_as_such() -> None:
    assert "declined" in reason(read(Answer("", refusal="no")))
    assert "cut off" in reason(read(Answer('{"blocks": [{"sea', cut=True)))


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ("int c;", "no line `int c;`"),
        ("int a", "occurs 2 times"),
        ("   ", "searches for nothing"),
        ("1|int a;", "line numbers"),
        ("int a;\nint a2;", "not one after the other"),
        ("    goo();", "nearest line is `go();`"),
    ],
)
def test_text_that_is_not_there_once_is_refused_with_what_to_mend(search: str, words: str) -> None:
    assert words in reason(applied(wish((search, "x")), FILE))


def test_white_space_is_not_guessed_at() -> None:
    assert isinstance(applied(wish(("  go();\n}", "x")), FILE.replace("    go", "\tgo")), Refused)


def test_blocks_apply_in_order_each_to_what_the_one_before_left() -> None:
    found = applied(wish(("int b;", "int c;"), ("int c;", "int d;")), FILE)
    assert found == FILE.replace("int b;", "int d;")
    assert "block 2" in reason(applied(wish(("int b;", "int c;"), ("int b;", "x")), FILE))


def test_line_ends_of_the_file_are_kept() -> None:
    windows = FILE.replace("\n", "\r\n")
    found = applied(wish(("int b;\nint a2;", "int z;\nint y;")), windows)
    assert isinstance(found, str)
    assert found == windows.replace("int b;\r\nint a2;", "int z;\r\nint y;")


def test_an_edit_that_changes_nothing_is_refused() -> None:
    assert "changes nothing" in reason(applied(wish(("int b;", "int b;")), FILE))


def test_words_cannot_smuggle_control_signs_or_grow_without_bound() -> None:
    found = read(answered(title="a\x1b[31m\n" + "b" * 500, kind="<script>", predicted=1e300))
    assert isinstance(found, Wish)
    assert "\x1b" not in found.title
    assert len(found.title) <= 90
    assert found.kind == ""
    assert found.predicted == 100.0


@pytest.mark.parametrize("value", ["NaN", "-3", '"fast"', "true", "null", "[]"])
def test_a_prediction_that_is_none_counts_as_none(value: str) -> None:
    text = answered().text.replace('"predicted": 2', f'"predicted": {value}')
    found = read(Answer(text))
    assert isinstance(found, Wish)
    assert found.predicted is None or found.predicted > 0


def test_a_launch_is_read_as_expressions() -> None:
    found = read(answered(launch={"grid": ["n/4", 2], "block": ["256"], "shared": "0"}))
    assert isinstance(found, Wish)
    assert found.launch == Launch(("n/4", "2"), ("256",), "0")


@pytest.mark.parametrize(
    "bad",
    [
        "__import__('os')",
        "n.__class__",
        "m",
        "[n]",
        "n if n else 1",
        "'a'",
        "lambda: 0",
        "n; n",
        "",
    ],
)
def test_only_arithmetic_over_the_cases_variables_is_a_launch(bad: str) -> None:
    assert not arithmetic(bad, {"n"})
    assert arithmetic("max(1, (n + 255) // 256)", {"n"})


@given(st.text(max_size=400))
def test_whatever_is_answered_nothing_is_raised(text: str) -> None:
    found = read(Answer(text))
    if isinstance(found, Wish):
        applied(found, FILE)
    json_in(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=12,
    )
)
def test_whatever_json_is_answered_nothing_is_raised(value: object) -> None:
    for name in ("blocks", "launch", "title", "predicted"):
        read(Answer(json.dumps({"blocks": [], name: value})))


@given(st.lists(st.sampled_from(FILE.splitlines(keepends=True)), min_size=1, max_size=3))
def test_what_is_applied_differs_in_the_searched_text_alone(lines: list[str]) -> None:
    search = "".join(lines)
    found = applied(wish((search, "@@@")), FILE)
    if isinstance(found, str):
        assert found.replace("@@@", search) == FILE
    else:
        assert FILE.count(search) != 1 or not search.strip()
