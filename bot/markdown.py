"""Text of strangers inside Markdown: shown as it is, never obeyed.

Kernel names, compiler messages and rationales come from pull requests and language models.
GitHub would turn parts of them into mentions, cross-references, links and HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BACKTICKS = re.compile(r"`+")
_JOINT = "\u200b"  # zero width space: breaks what GitHub would link, and is not seen


def plain(text: str) -> str:
    r"""Drop control and text-direction characters, which can make code read as other code.

    >>> plain("a\u202eb\x00")
    'ab'
    """
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def prose(text: str) -> str:
    r"""Escape a phrase for running text: no mention, no link, no markup, one line.

    >>> prose("*bold* <b>")
    '\\*bold\\* \\<b\\>'
    """
    broken = re.sub(r"([@#])(?=\S)", rf"\1{_JOINT}", " ".join(plain(text).split()))
    broken = re.sub(r"(?i)\b(gh)-(?=\d)", rf"\1{_JOINT}-", broken)
    broken = re.sub(r"(?i)(www|https?|ftp|mailto)(?=[.:])", rf"\1{_JOINT}", broken)
    escaped = _SPECIAL.sub(r"\\\1", broken)
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", escaped)  # no list item, no underline


def code(text: str) -> str:
    """Show a phrase as inline code whatever backticks it holds.

    >>> code("a`b")
    '`` a`b ``'
    """
    inner = " ".join(plain(text).split())
    if not inner:
        return ""
    fence = "`" * (_longest_run(inner) + 1)
    if inner[0] == "`" or inner[-1] == "`" or len(fence) > 1:
        inner = f" {inner} "
    return f"{fence}{inner}{fence}"


def fenced(body: str, language: str = "") -> str:
    r"""Show lines as a code block whose fence is longer than any run of backticks inside.

    >>> fenced("x", "diff")
    '```diff\nx\n```'
    """
    fence = "`" * max(3, _longest_run(body) + 1)
    return (
        f"{fence}{language}\n{body}{'' if body.endswith(chr(10)) or not body else chr(10)}{fence}"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Lay escaped cells out as a table; the columns in `right` are aligned right."""
    rule = ["---:" if column in right else "---" for column in range(len(head))]
    lines = [head, rule, *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def details(summary: str, body: str, *, is_open: bool = False) -> str:
    """Fold a body away under a summary, which must be escaped HTML."""
    tag = "<details open>" if is_open else "<details>"
    return f"{tag}\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def length(text: str) -> int:
    r"""Count characters as GitHub's limit does at worst: in UTF-16 units.

    >>> length("a\U0001f44d")
    3
    """
    return len(text.encode("utf-16-le")) // 2


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _cell(text: str) -> str:
    # A pipe ends a cell even inside inline code, unless it has a backslash before it.
    return re.sub(r"(?<!\\)\|", r"\\|", text)
