"""A source as tokens, its brackets, definitions and constants."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.text import CLOSES, LONGEST, PADDING, Text, ValuedText, plain_name

SOURCE = r"""
#define TILE 0x20  // cells
#define SKIP(v) if (v != v) \
    return
/* void gone() { */ // void gone() { \
   void gone() {
const char* text = R"a(void gone() { )" )a" "void gone() {";
enum class Way { NEAR, FAR = 'n', FURTHER };
template <int N> __global__ void f(const float* __restrict__ x, std::pair<int, int> two, int) {
    if (x[0] == 1.5e-3f) { while (two--> 0) {} }
    f<32><<<1, dim3(2, 3)>>>(x, two, TILE);
}
"""


def test_comments_literals_and_directives_define_nothing() -> None:
    """And statements are no functions."""
    text = Text(SOURCE)
    assert [one.name for one in text.definitions()] == ["f"]
    assert "gone" not in text.tokens
    assert '""' in text.tokens
    assert "define" not in text.tokens
    assert text.macros == []
    assert text.tokens[text.count :] == [""] * PADDING


def test_a_definition_has_its_parameters_and_its_body() -> None:
    """One without a name counts, and the comma of a template's arguments does not."""
    text = Text(SOURCE)
    (one,) = text.definitions()
    assert text.parameters(one) == ("x", "two", "")
    assert [text.tokens[at] for at in (one.opened, one.closed, one.begin, one.end)] == [*"(){}"]
    assert one.end == text.count - 1


def test_a_macro_stands_behind_all_others_where_it_is_asked_for() -> None:
    """Up to the end of its last line."""
    text = Text(SOURCE, macros=True)
    bodies = {name: text.tokens[begin:end] for name, begin, end in text.macros}
    assert bodies["TILE"] == ["0x20"]
    assert bodies["SKIP"] == ["(", "v", ")", "if", "(", "v", "!=", "v", ")", "return"]
    assert [one.name for one in text.definitions()] == ["f"]
    assert text.macros[-1][2] == text.count


def test_what_a_macro_makes_a_literal_is_one_and_all_behind_it_is_read() -> None:
    """`#x` is no directive there; what goes on behind a directive belongs to nothing."""
    source = """#define CHECK(call, at) do { if (call) { printf("%s", #call); \\
        exit(at##1); } } while (0)
#if WIDE && \\
    DEEP
int a;
"""
    text = Text(source, macros=True)
    ((name, begin, end),) = text.macros
    body = " ".join(text.tokens[begin:end])
    assert name == "CHECK"
    assert body.endswith('printf ( "%s" , "" ) ; exit ( at 1 ) ; } } while ( 0 )')
    assert text.tokens[: begin - 1] == ["int", "a", ";"]


def test_names_stand_for_whole_numbers() -> None:
    """Of macros, enumerators and constants; one that is computed is not known."""
    text = ValuedText(SOURCE + "constexpr int more = (int)TILE, none = TILE + 1;")
    assert text.constants == {"TILE": 32, "NEAR": 0, "FAR": 110, "FURTHER": 111, "more": 32}
    assert text.number("FAR") == 110
    assert text.number("12ull") == 12
    assert text.number("gone") is None


def test_a_function_is_known_by_its_own_name() -> None:
    """As the text defines it."""
    assert [plain_name(one) for one in ("f", "a::b::f", "f<a::b>", " f ", "")] == [*"ffff", ""]


@given(st.text(st.sampled_from("(){}[]<>,;#\\\n\"'/* aR=0x-.é"), max_size=60), st.booleans())
def test_no_text_breaks_it(source: str, macros: bool) -> None:
    """What is no pair is closed at the end."""
    text = Text(source, macros=macros)
    assert all(text.opened[end] == begin for begin, end in text.closed.items())
    for begin, end in text.closed.items():
        assert CLOSES[text.tokens[begin]] == text.tokens[end]
        assert text.close(begin) == end
        text.parts(begin, angles=True)
    assert all(one.end <= text.count for one in text.definitions())
    ValuedText(source)


@pytest.mark.parametrize(
    "piece",
    ["/*", '"\\', "'\\", 'R"a(', "(", "{", "f(", "f(){", "f()const ", "f(a,", "enum{", "enum a{b,",
     "#\\\n", "\\\n#", "# ", "#define f(\n", "const a=", "const a=((", "//\\\n", "0x1'", "::"],
)  # fmt: skip
def test_its_time_is_bounded(piece: str) -> None:
    """Whatever is repeated as often as a text may have it."""
    source = piece * (LONGEST // len(piece))
    begun = time.process_time()
    for text in (Text(source, macros=True), ValuedText(source)):
        assert len([text.parameters(one) for one in text.definitions()]) <= LONGEST
    assert time.process_time() - begun < 5
