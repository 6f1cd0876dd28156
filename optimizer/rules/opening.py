"""Take the braces of a block away, with a step of indentation."""

from __future__ import annotations

from tree_sitter import Node

from optimizer.functions import Function

# What stands for the braces in a text that is being edited; no source holds these characters.
OPEN, CLOSE = "\x01", "\x02"


def names_apart(fn: Function, body: Node) -> bool:
    """Return whether the names a block declares mean nothing else in the function."""
    own = {v.name for v in fn.variables.all if v.declaration.parent == body}
    return not any(v.name in own and v.declaration.parent != body for v in fn.variables.all)


def without_marks(text: str) -> str:
    r"""Take away the marked blocks' braces; those that do not have their lines alone stay.

    >>> without_marks("f() {\n  \x01\n    a;\n  \x02\n}")
    'f() {\n  a;\n}'
    """
    while OPEN in text:
        low, high = text.index(OPEN), text.index(CLOSE)
        start = text.rfind("\n", 0, low) + 1
        margin = text[start:low]
        lines = text[low + 1 : high].split("\n")
        inner = [ln for ln in lines[1:] if ln.strip()]
        if margin.strip() or lines[0].strip() or not inner:
            text = f"{text[:low]}{{{text[low + 1 : high]}}}{text[high + 1 :]}"
            continue
        step = min(len(ln) - len(ln.lstrip()) for ln in inner) - len(margin)
        moved = [ln[max(step, 0) :] if ln.startswith(margin) else ln for ln in lines[1:]]
        body = "\n".join(moved).rstrip(" \t\r\n").removeprefix(margin)
        text = f"{text[:low]}{body}{text[high + 1 :]}"
    return text
