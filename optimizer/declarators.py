"""Members that point to arrays, and references: `float (*rows)[32];`, `int& most;`.

They are data like a pointer: nothing is called, and no address is taken, as `&` would do among a
template's arguments. Functions, members of another class by their scope, and references that are
bound where they are declared are none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

_QUALIFIERS = frozenset({"const", "__restrict__"})


def pointer_to_array(text: Sequence[str], at: int) -> int:
    """Return how many words `(*rows)` takes here, behind a type and before `[`; 0 of others.

    The last but one of them is the name.

    >>> pointer_to_array("float ( * rows ) [ 32 ]".split(), 1)
    4
    >>> pointer_to_array("float ( * made ) ( int )".split(), 1)
    0
    """
    taking = [*text[at + 1 : at + 2]] in (["*"], ["&"])
    if text[at] != "(" or not taking or not _behind_type(text, at):
        return 0
    name = at + 2
    while text[name : name + 1] and text[name] in _QUALIFIERS:
        name += 1
    named = text[name : name + 1] and text[name].isidentifier()
    return name + 2 - at if named and [*text[name + 1 : name + 3]] == [")", "["] else 0


def reference(text: Sequence[str], at: int) -> int:
    """Return how many words the sign of `int& most` takes here; 0 of anything else.

    >>> reference("int & most".split(), 1), reference("int & most ( int )".split(), 1)
    (1, 0)
    """
    if text[at] != "&" or not _behind_type(text, at):
        return 0
    name = at + 1 + ([*text[at + 1 : at + 2]] == ["__restrict__"])
    named = text[name : name + 1] and text[name].isidentifier()
    ends = not text[name + 1 : name + 2] or text[name + 1] == ","
    return 1 if named and ends else 0


def _behind_type(text: Sequence[str], at: int) -> bool:
    """Tell whether a type ends here, outside of all arguments of templates."""
    before = text[at - 1] if at else ""
    depth = brackets = 0
    for word in text[:at]:
        brackets += (word == "[") - (word == "]")
        depth += {"<": 1, ">": -1, ">>": -2}.get(word, 0) if not brackets else 0
    return depth == brackets == 0 and (before.isidentifier() or before in {">", ">>", "*"})
