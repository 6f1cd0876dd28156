"""Inline assembly that a candidate may add to device code: instructions that only compute or move.

Copies that run beside computation, matrix products, approximations and hints have no other name in
C++, or a newer one. What tells launches, time or places apart is not among them, nor are
directives, branches and calls. PTX ISA 9.0, chapter 9, "Instruction Set".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_INSTRUCTION = re.compile(
    r"(?:@!?%?\w+\s+)?(?:abs|add|addc|and|bfe|bfi|bfind|brev|clz|copysign|cos|cp\.async|cvt|cvta"
    r"|div|dp2a|dp4a|elect\.sync|ex2|fence|fma|fns|ldmatrix|lg2|lop3|mad|madc|max|mbarrier|min|mma"
    r"|mov|movmatrix|mul|neg|not|or|popc|prefetch|prefetchu|prmt|rcp|redux\.sync|rem|rsqrt|sad"
    r"|selp|set|setp|shf|shfl\.sync|shl|shr|sin|slct|sqrt|stmatrix|sub|subc|tanh|vote\.sync"
    r"|wgmma|wmma|xor"
    r"|(?:ld|st)\.(?:volatile\.|relaxed\.|acquire\.|release\.|weak\.)?(?:global|shared)"
    r"|(?:atom|red)\.(?:\w+\.)*(?:global|shared))(?:[.:]+\w+)*\s+[^{};@\"]*"
    r"|(?:@!?%?\w+\s+)?(?:cp\.async|wgmma|fence|mbarrier|bar(?:rier)?(?:\.cta)?\.(?:sync|arrive)"
    r"|bar\.warp\.sync|membar)(?:[.:]+\w+)*(?:\s+[^;@\"]*)?"
    r"|\.reg\s*\.\w+\s+[%\w<>,\s]+"
)
# Registers that the hardware sets: those of a thread's own place in its block, grid and warp.
_READ = re.compile(r"(?:n?tid|n?ctaid)\.[xyz]|laneid|lanemask_(?:eq|lt|le|gt|ge)")
_SPECIAL = re.compile(r"%%?([A-Za-z_]\w*(?:\.[xyz])?)")
# Those that tell time, place or launch: no register of an author's own is called so.
_SET = frozenset({
    "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi", "gridid",
    "smid", "nsmid", "warpid", "nwarpid", "current_graph_exec",
})  # fmt: skip
_LONGEST = 20_000
WORDS = frozenset({"asm", "__asm__", "__asm"})
_BRACED = re.compile(r"\{([^{};]*)\}")


def statements(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every asm statement among words, up to its last bracket.

    >>> list(statements('x ; asm ( "a" ) ; y'.split()))
    [('asm', '(', '"a"', ')')]
    """
    for at, word in enumerate(words):
        if word not in WORDS:
            continue
        depth, end = 0, at + 1
        while end < len(words):
            depth += (words[end] == "(") - (words[end] == ")")
            end += 1
            if depth == 0 and words[end - 1] == ")":
                break
        yield tuple(words[at:end])


def plain(words: Sequence[str]) -> bool:
    r"""Tell whether an asm statement holds nothing else, by its tokens up to the semicolon.

    >>> plain(['asm', 'volatile', '(', '"cp.async.wait_all;"', ')'])
    True
    >>> plain(['asm', '(', '"mov.u32 %0, %%clock;"', ':', '"=r"', '(', 'x', ')', ')'])
    False
    """
    rest = list(words[1:])
    while rest and rest[0] in ("volatile", "__volatile__"):
        rest = rest[1:]
    if rest[:1] != ["("]:
        return False
    parts: list[str] = []
    for word in rest[1:]:
        if not word.startswith('"'):
            break
        parts.append(word)
    if not parts or rest[1 + len(parts)] not in (":", ")", "::"):
        return False
    text = "".join(part[1:-1] for part in parts if part.endswith('"'))
    text = text.replace("\\n", "\n").replace("\\t", " ")
    odd = "\\" in text or "/*" in text or "//" in text
    if odd or len(text) > _LONGEST or not _balanced(text):
        return False
    named = (found[1] for found in _SPECIAL.finditer(text))
    # Only what is declared with its sign: `clock` is another name than `%clock`.
    local = {name for found in re.findall(r"\.reg\s*\.\w+\s+([^;]*)", text)
             for name in re.findall(r"%+(\w+)", found)} - _SET  # fmt: skip
    if any(not _READ.fullmatch(name) and name not in local for name in named):
        return False
    # Operands of several registers are in braces, and so is a scope of its own.
    flat = _BRACED.sub(" ", text)
    lines = [line.strip() for line in re.split(r"[;{}]", flat)]
    return all(not line or _INSTRUCTION.fullmatch(line) for line in lines)


def _balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return depth == 0
