"""A comment as a terminal can show it, which folds nothing and draws no diagram."""

from __future__ import annotations

import html
import re

from bot import comment

_FENCE = re.compile(r"(`{3,})(\w*)")
_TAGS = frozenset({"<details>", "<details open>", "</details>"})


def unfolded(markdown: str) -> str:
    """Leave out the marker, the diagram and HTML tags; what was folded gets a line above it."""
    kept: list[str] = []
    fence, is_diagram = "", False
    for line in markdown.replace(comment.MARKER, "").split("\n"):
        found = _FENCE.match(line)
        if fence:
            if not is_diagram:
                kept.append(line)
            if line == fence:
                fence, is_diagram = "", False
        elif found is not None:
            fence, is_diagram = found[1], found[2] == "mermaid"
            kept.append("*(drawn on GitHub and in the report)*" if is_diagram else line)
        elif line.startswith("<summary>"):
            summary = line.removeprefix("<summary>").removesuffix("</summary>")
            kept.append(f"**{html.unescape(summary)}**\n")
        elif line not in _TAGS:
            kept.append(re.sub(r"</?sub>", "", line))
    return "\n".join(kept)
