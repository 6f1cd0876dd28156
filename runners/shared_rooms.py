"""How much shared memory a kernel's blocks have that host code launches without asking for more.

That is 48 KiB, its own arrays among them, until `cudaFuncSetAttribute` says otherwise of that
kernel: a launch that asks for more fails, and nobody hears of it who does not look. It reads what
`runners.plain_dims` has written, and is a guess about strangers' text: it never raises. Where a
text may ask for more by means that are not followed (a pointer to a kernel, a name that a macro
makes), no such end is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runners import trees
from runners.conditions import Reader
from runners.cuda_types import TypeNameError, parse
from runners.flow import Program
from runners.text import CLOSES, NAME

# What a block has unless more is asked for, in bytes (CUDA C++ Programming Guide, 16.7.3).
UNASKED_BYTES = 48 << 10
# Tokens of a declaration, and of what a template is given.
_MOST_TOKENS = 64
_ASKS = re.compile(r"\w*(?:Func|Kernel)SetAttribute\w*", re.ASCII)
# Attributes by which no launch gets more.
_OTHERS = frozenset(
    f"{before}{one}"
    for before in ("", "cudaFuncAttribute::")
    for one in (
        "cudaFuncAttributePreferredSharedMemoryCarveout",
        "cudaFuncAttributeNonPortableClusterSizeAllowed",
        "cudaFuncAttributeClusterSchedulingPolicyPreference",
    )
)
# Launches by a call, and which of its arguments is the kernel.
_CALLS = {"cudaLaunchKernel": 0, "cudaLaunchCooperativeKernel": 0}


class Rooms:
    """The shared bytes that launches of one program may ask for."""

    def __init__(self, program: Program, reader: Reader) -> None:
        self._program, self._text, self._reader = program, program.text, reader
        self._kernels = frozenset(self._globals())
        # Kernels for which more is asked, and whether that may be any other one.
        self._more: set[str] = set()
        self._any = any("SetAttribute" in one for one in self._text.directives)
        self._own: dict[str, int] = {}
        for at, word in enumerate(self._text.tokens[: self._text.count]):
            if _ASKS.search(word):
                self._asked(at)
        # Its own headers may ask, and are not seen.
        self.sure = not any(re.match(r'#\s*include\s*"', one) for one in self._text.directives)

    def most(self, at: int) -> int | None:
        """Return the dynamic bytes that the launch at a token may have; None: as many as there are.

        That is `<<<`, or the name of a function that launches.
        """
        kernel = self._launched(at)
        if self._any or (kernel in self._more) or (not kernel and self._more):
            return None
        if kernel not in self._own:
            self._own[kernel] = min(sum(self._arrays(kernel)), UNASKED_BYTES)
        return UNASKED_BYTES - self._own[kernel]

    def _globals(self) -> Iterator[str]:
        """Yield the names of kernels."""
        tokens = self._text.tokens
        for at in range(self._text.count):
            if tokens[at] != "__global__":
                continue
            place, end = at + 1, at + _MOST_TOKENS
            while place < end and tokens[place] not in {";", "{", "}", ""}:
                if tokens[place] == "(" and tokens[place - 1] != "__launch_bounds__":
                    yield tokens[place - 1]
                    break
                place = self._text.close(place) + 1 if tokens[place] in CLOSES else place + 1

    def _asked(self, at: int) -> None:
        """Note which kernel is given more room, where that is told by its name."""
        parts = self._text.parts(at + 1) if self._text.tokens[at + 1] == "(" else []
        if len(parts) > 1 and "".join(parts[1]) in _OTHERS:
            return
        named = self._kernels.intersection(parts[0]) if len(parts) > 1 else set()
        self._more |= named
        self._any = self._any or not named

    def _launched(self, at: int) -> str:
        """Return the kernel that is launched at a token; nothing where its name is none."""
        tokens = self._text.tokens
        if tokens[at] in _CALLS:
            parts = self._text.parts(at + 1)
            named = self._kernels.intersection(parts[_CALLS[tokens[at]]]) if parts else set()
            return next(iter(named)) if len(named) == 1 else ""
        if tokens[at] != "<<<":
            return ""
        place, depth = at - 1, 0
        while place > max(0, at - _MOST_TOKENS):
            word = tokens[place]
            depth += (word == ">") + 2 * (word == ">>") - (word == "<")
            if depth <= 0 and word != "<":
                break
            place -= 1
        alone = tokens[place - 1] not in {".", "->"}
        return tokens[place] if alone and tokens[place] in self._kernels else ""

    def _arrays(self, kernel: str) -> Iterator[int]:
        """Yield the bytes of a kernel's own shared arrays, where these are known."""
        tokens = self._text.tokens
        places = self._program.by_name.get(kernel, ())
        # Of several it is not known which one is launched.
        for number in places if len(places) == 1 else ():
            one = self._program.functions[number].one
            for at in range(one.begin, one.end):
                if tokens[at] == "__shared__" and tokens[at - 1] != "extern":
                    yield from self._declared(number, at + 1)

    def _declared(self, number: int, at: int) -> Iterator[int]:
        """Yield the bytes of each array of a declaration."""
        tokens, first = self._text.tokens, at
        while NAME.fullmatch(tokens[at]) and at < first + _MOST_TOKENS:
            at += 1
        words = [one for one in tokens[first : at - 1] if one not in {"volatile", "const"}]
        try:
            size = parse(" ".join(words)).size
        except TypeNameError:
            return
        while at < first + _MOST_TOKENS:
            count: float = 1
            while tokens[at] == "[":
                node = trees.read(tokens[at + 1 : self._text.close(at)])
                every = [None] if node is None else self._reader.ways(number, node)
                value = None if len(every) > 1 or every[0] is None else every[0].of(lambda _: None)
                count *= value if value is not None and value > 0 else 0
                at = self._text.close(at) + 1
            yield int(min(size * count, UNASKED_BYTES))
            if tokens[at] != "," or not NAME.fullmatch(tokens[at + 1]):
                return
            at += 2
