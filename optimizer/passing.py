"""Which arguments of a call the call may change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from optimizer.definitions import Signature
from optimizer.directives import Macro
from optimizer.intrinsics import by_value
from optimizer.tokens import code_tokens

CHANGING = frozenset({
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "&", "##",
})  # fmt: skip


class Passing:
    """Tells it by the functions and macros of a file; holds nothing else of the file."""

    def __init__(self, functions: Iterable[Signature], macros: Sequence[Macro]) -> None:
        self._functions: dict[str, list[Signature]] = {}
        for signature in functions:
            self._functions.setdefault(signature.name, []).append(signature)
        self._macros = macros

    def __call__(self, name: str, index: int) -> bool:
        """Return whether a call may change the plain variable passed as argument `index`.

        False only when that is seen: CUDA's own functions, functions of the file that take it by
        value or const reference, macros without assignments.
        """
        plain = name.partition("<")[0].rpartition("::")[2]
        found = self._functions.get(plain)
        if found:
            for f in found:
                if index >= len(f.parameters):
                    return True
                p = f.parameters[index]
                if p.reference and not p.const:
                    return True
            return False
        macro = next((m for m in self._macros if m.name == plain and m.active), None)
        if macro is not None:
            words = {t.text for t in code_tokens(macro.body)}
            return bool(words & CHANGING) or "{" in words
        return not by_value(name.partition("<")[0])
