"""Text that a compiler may read otherwise than we do: digraphs, joined lines, odd characters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from optimizer.tokens import Token, tokens

_DIGRAPH = re.compile(r"<%|%>|<:|:>|%:")
_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")
_CONTINUED = re.compile(r"(\S?)[ \t]*\\[ \t]*\r?\n\s*(\S?)")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_UNUSUAL = re.compile(r"\r(?!\n)|[^\r\n\t -~]")
_CONTROLLING = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co"})


def tricks(original: str, candidate: str) -> Iterator[str]:
    """Refuse text that compilers may read otherwise than we do."""
    # Blanks in the place of comments and strings bring no marks together: none before, none after.
    if _DIGRAPH.search(candidate) and (
        len(_DIGRAPH.findall(_code(candidate))) > len(_DIGRAPH.findall(_code(original)))
    ):
        yield "uses digraphs"
    if len(_TRIGRAPH.findall(candidate)) > len(_TRIGRAPH.findall(original)):
        yield "uses trigraphs"
    if _continued(candidate) - _continued(original):
        yield "continues lines with a backslash outside macros"
    if _odd(candidate) - _odd(original):
        yield "has control characters that the original lacks"
    if not candidate.isascii() and (
        set(_FOREIGN.findall(_code(candidate))) - set(_FOREIGN.findall(_code(original)))
    ):
        yield "has letters outside ASCII in code"
    if 'R"' in candidate:
        raw = [t.text for t in tokens(candidate) if t.kind == "directive" and 'R"' in t.text]
        if any(text not in original for text in raw):
            yield "has a raw string in a preprocessor line"


@lru_cache(maxsize=8)  # of the original, again and again
def _code(text: str) -> str:
    return "".join(" " if t.kind in ("comment", "string", "char") else t.text for t in tokens(text))


@lru_cache(maxsize=8)
def _continued(text: str) -> Counter[tuple[str, str]]:
    """Count what stands around each backslash that joins lines, macros aside."""
    if "\\" not in text:
        return Counter()
    found = tokens(text)
    return Counter(
        around
        for i, t in enumerate(found)
        if "\\" in t.text and (around := _joined(found, i, t)) is not None
    )


def _joined(found: Sequence[Token], i: int, t: Token) -> tuple[str, str] | None:
    """Return what stands around a token that joins lines, None for one that does not."""
    if t.kind not in ("space", "comment", "string", "char", "other"):
        return None
    if t.kind in ("string", "char") and "\\\n" not in t.text.replace("\r", ""):
        return None
    if t.kind == "comment" and (t.text.startswith("/*") or not _CONTINUED.search(t.text)):
        return None
    # Blanks around it, and whether there are any, make no difference.
    before = next((o.text for o in reversed(found[:i]) if o.kind != "space"), "")
    behind = next((o.text for o in found[i + 1 :] if o.kind != "space"), "")
    return (before if t.kind == "space" else t.text), behind


@lru_cache(maxsize=8)
def _odd(text: str) -> Counter[str]:
    """Count control, format and separator characters, lone carriage returns included."""
    return Counter(
        c for c in _UNUSUAL.findall(text) if c == "\r" or unicodedata.category(c) in _CONTROLLING
    )
