"""Macros that are launches: `#define RUN(k, grid, block, ...) k<<<grid, block>>>(__VA_ARGS__)`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.chevrons import brackets, joined
from optimizer.directives import Macro
from optimizer.tokens import Token, code_tokens

_GEOMETRY = range(2, 5)  # grid, block, shared bytes, stream
_PRINTED = re.compile(r"#[ \t]*(\w+)")
_VARIADIC = ("...", "__VA_ARGS__")


@dataclass(frozen=True, slots=True)
class LaunchMacro:
    """Which arguments of a macro are kernel and geometry.

    `kernel` is the index of the argument, or the kernel's name. `geometry` are the indices of grid,
    block, shared bytes and stream; None for one that the macro gives itself. `named` counts the
    arguments in front of those of `...`; `passed` are the indices of what the kernel is passed.
    """

    kernel: int | str
    geometry: tuple[int | None, ...]
    named: int
    variadic: bool
    passed: tuple[int, ...]

    def fits(self, count: int) -> bool:
        """Return whether a call may have so many arguments."""
        return count >= self.named if self.variadic else count == self.named


def launch_macros(macros: Mapping[str, Macro]) -> dict[str, LaunchMacro]:
    """Return the macros that are one launch each, whose grid and block are arguments.

    >>> from optimizer.source import Source
    >>> text = "#define RUN(k, n, g, ...) k<<<g, (n)>>>(__VA_ARGS__)"
    >>> launch_macros(Source(text).macros_in_force)
    {'RUN': LaunchMacro(kernel=0, geometry=(2, 1), named=3, variadic=True, passed=())}
    """
    found = {name: _read(macro) for name, macro in macros.items() if "<" in macro.body}
    return {name: one for name, one in found.items() if one is not None}


def _read(macro: Macro) -> LaunchMacro | None:
    if macro.parameters is None or "##" in macro.body or not macro.active:
        return None
    # What is printed of an argument (`#kernel`) is none of a launch, if it is not a number of it.
    printed = set(_PRINTED.findall(macro.body))
    cut = code_tokens(_PRINTED.sub('""', macro.body))
    code = joined(cut, brackets(cut))
    words = [t.text for t in code]
    if words.count("<<<") != 1 or words.count(">>>") != 1:
        return None
    low, high = words.index("<<<"), words.index(">>>")
    variadic = macro.parameters[-1:] == ("...",)
    names = macro.parameters[:-1] if variadic else macro.parameters
    parts = _split(code[low + 1 : high])
    if not low or low > high or len(parts) not in _GEOMETRY or len(set(names)) != len(names):
        return None
    geometry: list[int | None] = []
    for part in parts:
        given = [w for w in part if w not in ("(", ")")]
        own = len(given) == 1 and given[0] in names and words.count(given[0]) == 1
        own = own and given[0] not in printed
        if not own and set(part) & {*names, *_VARIADIC}:
            return None
        geometry.append(names.index(given[0]) if own else None)
    kernel = words[low - 1]
    if geometry[0] is None or geometry[1] is None or not kernel.isidentifier():
        return None
    if kernel in names and words.count(kernel) != 1:
        return None
    passed = tuple(i for i, n in enumerate(names) if n in words[high + 1 :])
    whole = names.index(kernel) if kernel in names else kernel
    return LaunchMacro(whole, tuple(geometry), len(names), variadic, passed)


def _split(code: Sequence[Token]) -> list[list[str]]:
    """Return the words between commas that no bracket holds."""
    found: list[list[str]] = [[]]
    depth = 0
    for token in code:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text == "," and not depth:
            found.append([])
        else:
            found[-1].append(token.text)
    return found
