"""Shape expressions are arithmetic and nothing else, whatever text arrives."""

from __future__ import annotations

import builtins
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.expressions import ExpressionError, count, evaluate, names, total

HOSTILE = [
    "__import__('os').system('true')",
    "().__class__.__bases__",
    "open('x')",
    "n.__class__",
    "[n for n in (1,)]",
    "lambda: 1",
    "'a' * 9",
    "f'{n}'",
    "(n := 3)",
    "n if n else 1",
    "min(*[1, 2])",
    "max(n, key=abs)",
    "print(n)",
    "1 << 80",
    "True",
    "1j",
    "",
    "n n",
    "\0",
    "(" * 300 + ")" * 300,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_only_arithmetic_is_accepted(text: str) -> None:
    """Anything beyond numbers, variables, operators and the listed functions is refused."""
    with pytest.raises(ExpressionError):
        evaluate(text, {"n": 4})


@pytest.mark.parametrize(
    "text", ["9**9**9", "2**65", "(9**40)*(9**40)", "1e308*10", "1/0", "log2(0)"]
)
def test_large_or_undefined_values_are_refused_at_once(text: str) -> None:
    """A power tower neither hangs nor fills memory, and infinities are not sizes."""
    start = time.process_time()
    with pytest.raises(ExpressionError):
        evaluate(text, {})
    assert time.process_time() - start < 1.0


def test_whole_numbers_divide_as_in_c() -> None:
    """Case variables arrive as floats; a grid formula rounds down as in C."""
    assert evaluate("(n+255)/256", {"n": 1000.0}) == 4
    assert evaluate("n/4", {"n": 2.5}) == 0.625
    assert evaluate("ceil(n/2.0) + log2(8)", {"n": 5}) == 6


def test_names_are_the_variables_only() -> None:
    """Functions are not variables."""
    assert names("min(n, m) + ceil(k/2.0)") == {"n", "m", "k"}


@pytest.mark.parametrize("wrong", ["n - 9", "n * 0.5", "unknown", "n +"])
def test_a_total_is_the_sum_of_its_sizes_or_refused_as_they_are(wrong: str) -> None:
    texts, variables = ("n", "m * n", "(n + 3) / m", "2"), {"n": 3.0, "m": 4.0, "k": 9.0}
    each = [count(text, variables) for text in texts]
    assert total(texts, variables) == total(texts, dict(variables)) == sum(each) == 18
    assert total(texts, variables | {"n": 5.0}) == 29
    assert total((), {}) == 0
    with pytest.raises(ExpressionError) as one:
        count(wrong, variables)
    with pytest.raises(ExpressionError) as raised:
        total((*texts, wrong), variables)
    assert str(raised.value) == str(one.value)


def test_a_size_is_whole_and_not_negative() -> None:
    """Half an element and minus one element are refused."""
    assert count("n*2.0", {"n": 3}) == 6
    for text in ("n/2.0", "-n"):
        with pytest.raises(ExpressionError):
            count(text, {"n": 3})


@given(st.text(max_size=60))
def test_no_text_does_anything_but_give_a_number_or_be_refused(text: str) -> None:
    """Random text ends in a bounded number or an ExpressionError."""
    try:
        value = evaluate(text, {"n": 3, "m": 2.5})
    except ExpressionError:
        return
    assert math.isfinite(value)


_TOKENS = st.sampled_from(
    [
        "n",
        "m",
        "9",
        "1e300",
        "**",
        "*",
        "+",
        "-",
        "/",
        "//",
        "%",
        "(",
        ")",
        ",",
        "min",
        "log2",
        "eval",
        ".",
        "'",
        "_",
    ]
)


@given(st.lists(_TOKENS, max_size=14))
def test_no_arrangement_of_tokens_runs_code(tokens: list[str]) -> None:
    """Well-formed and ill-formed arithmetic alike never reaches a builtin."""
    called: list[object] = []
    original = builtins.__import__

    def spy(name: str, *rest: object, **more: object) -> object:
        called.append(name)
        return original(name, *rest, **more)  # type: ignore[arg-type]

    builtins.__import__ = spy  # type: ignore[assignment]
    try:
        evaluate("".join(tokens), {"n": 3, "m": 0})
    except ExpressionError:
        pass
    finally:
        builtins.__import__ = original
    assert not [name for name in called if name in {"os", "subprocess", "sys"}]


def test_names_that_python_keeps_for_itself_are_names() -> None:
    """`from`, `in` and `lambda` are arguments of kernels; as Python they are still no arithmetic."""
    sizes = {"from": 3.0, "to": 10.0, "in": 2.0, "lambda": 5.0}
    assert evaluate("(to-from+1)/2 + in*lambda", sizes) == 14
    assert names("min(from, is) + in") == {"from", "is", "in"}
    for text in ("1 if to else 2", "to and from", "not to", "lambda: 1", "to in from", "from.real"):
        with pytest.raises(ExpressionError):
            evaluate(text, sizes)
