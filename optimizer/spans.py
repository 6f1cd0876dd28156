"""Edits by span: everything outside the spans stays as it is, character for character."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.syntax import Span

Replacement = tuple[int, int, str]


def replace(text: str, edits: Iterable[Replacement]) -> str:
    r"""Return the text with spans replaced. Edits are given as (start, end, new), in any order.

    Several insertions at one place keep the order in which they are given. New text is written
    with the line ends of the file. Raises ValueError when spans overlap or lie outside.

    >>> replace("int x = 1;", [(8, 9, "2"), (0, 0, "const ")])
    'const int x = 2;'
    """
    crlf = _crlf(text)
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda e: (e[0], e[1])):
        if not at <= start <= end <= len(text):
            raise ValueError(f"edit {start}..{end} overlaps another or lies outside the text")
        parts.append(text[at:start])
        parts.append(new.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else new)
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _crlf(text: str) -> bool:
    first = text.find("\n")
    return first > 0 and text[first - 1] == "\r"


def line_start(text: str, at: int) -> int:
    """Return where the line of a position begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return where the line of a position ends, its line break included."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def indentation(text: str, at: int) -> str:
    r"""Return the blanks in front of the line of a position.

    >>> indentation("{\n    x = 1;\n}", 6)
    '    '
    """
    start = line_start(text, at)
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]


def alone(text: str, span: Span) -> bool:
    """Return whether a span has its lines for itself, but for blanks and a comment behind."""
    before = text[line_start(text, span[0]) : span[0]]
    after = text[span[1] : line_end(text, span[1])].strip()
    return not before.strip() and (not after or after.startswith("//"))


def insert_before(text: str, at: int, code: str) -> Replacement:
    r"""Return the edit that puts lines of code in front of the statement at `at`.

    The lines get the indentation of the statement; when it does not begin its line the code goes
    right in front of it on the same line, directives between lines of their own.

    >>> replace("{\n  y();\n}", [insert_before("{\n  y();\n}", 4, "x();")])
    '{\n  x();\n  y();\n}'
    >>> replace("{ y(); }", [insert_before("{ y(); }", 2, "#pragma unroll")])
    '{ \n#pragma unroll\ny(); }'
    """
    lead = indentation(text, at)
    if text[line_start(text, at) : at].strip():
        if "#" in code:
            return (at, at, f"\n{code}\n{lead}")
        return (at, at, " ".join(code.splitlines()) + " ")
    return (at, at, "".join(f"{line}\n{lead}" for line in code.splitlines()))


def insert_after(text: str, at: int, code: str) -> Replacement:
    """Return the edit that puts lines of code behind the statement that ends at `at`."""
    lead = indentation(text, at)
    return (at, at, "".join(f"\n{lead}{line}" for line in code.splitlines()))
