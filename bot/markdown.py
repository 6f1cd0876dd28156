"""Text of strangers inside Markdown: shown as it is, never obeyed.

Kernel names, compiler messages and rationales come from pull requests and language models.
GitHub would turn parts of them into mentions, cross-references, links and HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
# Nobody sees them, and they change what is seen: direction marks, spaces of no width, characters
# that only join, separate or annotate, and the tag characters that spell ASCII out of sight.
UNSEEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{UNSEEN}]")
_HIDDEN = re.compile(rf"\r(?!\n|\Z)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{UNSEEN}]")
_BACKTICKS = re.compile(r"`+")
_JOINT = "\u200b"  # zero width space: breaks what GitHub would link, and is not seen


def plain(text: str) -> str:
    r"""Drop control characters and unseen ones, which can make code read as other code.

    >>> plain("a\u202eb\x00\u200bc")
    'abc'
    """
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def visible(text: str) -> str:
    r"""Show control characters and unseen ones by their numbers, for text that is to be read.

    >>> visible("a\u202eb\n\tc\r\n")
    'a‹U+202E›b\n\tc\r\n'
    """
    return _HIDDEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", text)


def shown(value: object) -> object:
    """Return what a template of ours writes for a value: texts `visible`, markup as it is."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return visible(str(value)) if is_text else value


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


def phrase(text: str) -> str:
    r"""Escape a phrase as `prose` does, with what stands between backticks as inline code.

    >>> phrase("unroll `k` by *2*")
    'unroll `k` by \\*2\\*'
    """
    parts = re.split(r"(`[^`]+`)", " ".join(plain(text).split()))
    return "".join(_piece(part, is_code=at % 2 == 1) for at, part in enumerate(parts))


def _piece(part: str, *, is_code: bool) -> str:
    if is_code and part.strip("` "):
        return code(part.strip("`"))
    before, after = " " * part.startswith(" "), " " * (part.endswith(" ") and len(part) > 1)
    return f"{before}{prose(part)}{after}"


def code(text: str) -> str:
    """Show a phrase as inline code whatever backticks it holds.

    >>> code("a`b")
    '`` a`b ``'
    """
    # In a table a pipe ends a cell unless it has a backslash before it, which is not one of ours.
    inner = " ".join(plain(text).split()).replace("\\|", f"\\{_JOINT}|")
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
