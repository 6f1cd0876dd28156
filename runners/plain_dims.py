"""Host code whose grids are written as calls, and whose lambdas are functions.

`dim3 grid(a, b), block{32};`, `cfg.gridDim = {a, b}`, `cudaLaunchConfig_t how = {.gridDim = {a}}`
and `auto parts = [=](int n) { ... };` are no expressions that `runners.trees` reads. Each has words
in which it is one: `grid = dim3(a, b)`, `auto parts(int n) { ... }`. It is a guess about strangers'
text: it never raises, and what it does not know it leaves as it is.
"""

from __future__ import annotations

from runners.cuda_types import TypeNameError, parse
from runners.text import NAME, Text

# What holds three ways of a grid or block, what is made of three, and what describes a launch.
DIM = "dim3"
DIMS = frozenset({DIM, "uint3", "int3"})
MADE = frozenset({*DIMS, "make_uint3", "make_int3", "make_dim3"})
CONFIG = "cudaLaunchConfig_t"
CONFIGS = frozenset({CONFIG, "cudaKernelNodeParams", "cudaLaunchParams"})
_MEMBERS = frozenset({"gridDim", "blockDim"})
# Tokens between a lambda's parameters and its body, and of a type whose size is asked for; lambdas.
_MOST_BETWEEN, _MOST_TYPE, _MOST_LAMBDAS = 8, 4, 64


def plain(source: str) -> str:
    """Return a text with grids as calls, lambdas as functions and sizes of types as numbers.

    >>> plain("dim3 block(32, 8), grid{n}; how.gridDim = {1, n}; go<<<{n, 2}, sizeof(int)>>>();")
    'dim3 block = dim3 ( 32 , 8 ) , grid = dim3 ( n ) ; how . gridDim = dim3 ( 1 , n ) ; \
go <<< dim3 ( n , 2 ) , 4 >>> ( ) ;'
    >>> plain("auto parts = [&](int n) -> int { return n / 4; };")
    'auto parts ( int n ) { return n / 4 ; } ;'
    """
    text = _Plain(source)
    return "\n".join([*text.directives, text.written()])


class _Plain(Text):
    """A text, and what stands in the place of some of its tokens."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._instead: dict[int, str] = {}
        # Braces that are brackets of a call now, and what is open around each token.
        self._made: set[int] = set()
        self._launching, self._lambdas = False, 0
        open_: list[int] = []
        for at, word in enumerate(self.tokens[: self.count]):
            self._token(at, word, open_[-1] if open_ else -1)
            if at in self.closed:
                open_.append(at)
            elif at in self.opened and open_:
                open_.pop()

    def written(self) -> str:
        """Return the tokens as they are now."""
        words = (self._instead.get(at, self.tokens[at]) for at in range(self.count))
        return " ".join(word for word in words if word)

    def _token(self, at: int, word: str, around: int) -> None:
        before, behind = self.tokens[at - 1] if at else "", self.tokens[at + 1]
        self._launching = word == "<<<" or (self._launching and word not in {">>>", ";"})
        if word in DIMS and before not in {".", "->"}:
            self._declared(at + 1, inside=around >= 0 and self.tokens[around] == "(")
        elif word in CONFIGS and NAME.fullmatch(behind):
            begin = at + 2 + (self.tokens[at + 2] == "=")
            if self.tokens[begin] == "{":
                self._instead[at + 2] = "="
                self._call(begin, ("" if begin > at + 2 else "= ") + CONFIG)
        elif word in _MEMBERS and behind == "=" and self.tokens[at + 2] == "{":
            self._call(at + 2, DIM)
        elif word == "{" and at not in self._made:
            listed = self._launching or around in self._made or self.tokens[around] == "("
            begins = before == "{" and around in self._made
            if before == "<<<" or begins or (before in {"(", ","} and listed):
                self._call(at, DIM)
        elif word == "." and around in self._made and before in {"{", ","}:
            self._instead[at] = ""
        elif word == "=" and behind == "[" and NAME.fullmatch(before):
            self._lambda(at)
        elif word == "sizeof" and behind == "(":
            self._size(at)

    def _call(self, opened: int, name: str) -> None:
        """Write a brace as the bracket of a call."""
        close = self.close(opened)
        if close < self.count:
            self._instead[opened] = f"{name} ("
            self._instead[close] = ")"
            self._made.add(opened)

    def _declared(self, at: int, *, inside: bool) -> None:
        """Write what is declared from a token on, one by one, as assigned."""
        if self.tokens[at] == "{":
            self._call(at, "")
            return
        while NAME.fullmatch(self.tokens[at]) and at < self.count:
            begin, word = at + 1, self.tokens[at + 1]
            if word in {"(", "{"}:
                end = self.close(begin) + 1
                if self.tokens[min(end, self.count)] not in {";", ","}:
                    return
                self._call(begin, f"= {DIM}")
            elif word == "=" and self.tokens[begin + 1] == "{":
                self._call(begin + 1, DIM)
                end = self.close(begin + 1) + 1
            elif word == "=":
                end = self._behind(begin + 1)
            elif word in {";", ","} and not inside:
                self._instead[at] = f"{self.tokens[at]} = {DIM} ( )"
                end = begin
            else:
                return
            if inside or self.tokens[min(end, self.count)] != ",":
                return
            at = end + 1

    def _behind(self, at: int) -> int:
        """Return where an initialiser ends."""
        while at < self.count and self.tokens[at] not in {",", ";", ")", "}"}:
            at = self.closed.get(at, at) + 1
        return at

    def _lambda(self, at: int) -> None:
        """Write a lambda that has a name as a function."""
        shut = self.close(at + 1)
        given = self.tokens[min(shut + 1, self.count)] == "("
        close = self.close(shut + 1) if given else shut
        begin = close + 1
        while begin - close < _MOST_BETWEEN and self.tokens[min(begin, self.count)] not in "{;":
            begin += 1
        if begin >= self.count or self.tokens[begin] != "{":
            return
        self._lambdas += 1
        if self._lambdas > _MOST_LAMBDAS:
            return
        for place in (*range(at, shut + 1), *range(close + 1, begin)):
            self._instead[place] = ""
        if not given:
            self._instead[shut] = "( )"

    def _size(self, at: int) -> None:
        """Write the size of a type as a number."""
        close = self.close(at + 1)
        inside = self.tokens[at + 2 : close]
        if not 0 < len(inside) <= _MOST_TYPE or close >= self.count:
            return
        words = [word for word in inside if word != "const"]
        try:
            size = 8 if words[-1:] == ["*"] else parse(" ".join(words)).size
        except TypeNameError:
            return
        self._instead |= dict.fromkeys(range(at, close + 1), "") | {at: str(size)}
