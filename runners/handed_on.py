"""Which device variables one kernel of a program leaves for another, or its host code looks at.

A variable that a candidate has and its original has not is put back before each launch of a run
that is only timed, so that no launch lives on an earlier one's work. But where one kernel fills it
and another one reads it, or host code copies it, that would take away what the program is made of.
This reads the candidate's text by names: it never raises and takes a bounded time. A name that is
found where it is not used keeps a variable as it is left, as it is in the runs that are compared.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from runners.text import LONGEST, Text

MOST_FUNCTIONS, MOST_NAMES = 200, 64
_DEVICE, _KERNEL = "__device__", "__global__"
_BEFORE = frozenset({";", "}", "{"})
_FAR = 40  # tokens before a function's name


def handed_on(source: str, symbols: Collection[str]) -> frozenset[str]:
    """Return the symbols of device variables that are named in two kernels, or in host code.

    >>> text = "__device__ int a, b; __global__ void f() { a = 1; b = 2; }"
    >>> sorted(handed_on(text + "__global__ void g(int* x) { *x = a; }", ["a", "b"]))
    ['a']
    >>> sorted(handed_on(text + "int main() { cudaMemcpyFromSymbol(&h, b, 4); }", ["a", "b"]))
    ['b']
    """
    if len(source) > LONGEST or not symbols:
        return frozenset()
    users = _users(source)
    found = set()
    for symbol in list(symbols)[:MOST_NAMES]:
        kernels: set[str] = set()
        for name, (own, hosted) in users.items():
            if symbol == name or f"{len(name)}{name}" in symbol:
                kernels |= own
                found |= {symbol} if hosted else set()
        found |= {symbol} if len(kernels) > 1 else set()
    return frozenset(found)


@lru_cache(maxsize=16)
def _users(source: str) -> dict[str, tuple[frozenset[str], bool]]:
    """Return by name of what functions hold the kernels that reach it, and if host code does."""
    text = Text(source, macros=True)
    words: dict[str, set[str]] = {}
    kernels: set[str] = set()
    hosts: set[str] = set()
    for one in list(text.definitions())[:MOST_FUNCTIONS]:
        head: list[str] = []
        for at in range(one.opened - 2, max(-1, one.opened - _FAR), -1):
            if text.tokens[at] in _BEFORE:
                break
            head.append(text.tokens[at])
        words.setdefault(one.name, set()).update(text.tokens[one.begin : one.end])
        if _KERNEL in head:
            kernels.add(one.name)
        elif _DEVICE not in head:
            hosts.add(one.name)
    found: dict[str, tuple[frozenset[str], bool]] = {}
    for function in (*kernels, *hosts):
        for name in _reached(function, words, kernels if function in hosts else set()):
            own, hosted = found.get(name, (frozenset(), False))
            mine = {function} if function in kernels else set()
            found[name] = (own | mine, hosted or function in hosts)
    return found


def _reached(function: str, words: dict[str, set[str]], without: Collection[str]) -> set[str]:
    """Return the words of a function and of all that it calls, but for some."""
    waiting, known, found = [function], {function, *without}, set[str]()
    while waiting:
        mine = words.get(waiting.pop(), set())
        found |= mine
        more = {name for name in mine if name in words} - known
        known |= more
        waiting += sorted(more)
    return found
