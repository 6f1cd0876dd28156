"""Inline assembly that a candidate may add to device code: it computes, moves, waits, synchronises.

Copies that run beside computation, barriers that count bytes, matrix products, approximations and
hints have no other name in C++, or a newer one. What tells launches, time or places apart is not
among them, nor is what ends, calls, sleeps, or lets a launch begin before the one before it ends.
A statement stays within itself: its names are registers and labels that it declares, in the scope
of its own braces, and its operands stand alone, so that nothing is spelt by putting parts together.
PTX ISA 9.0, chapter 9, "Instruction Set", and 4.4, "Identifiers"; Inline PTX Assembly in CUDA, 1.2,
"Constraints", of which "C" puts text in and is not taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

WORDS = frozenset({"asm", "__asm__", "__asm"})
_LONGEST = 20_000
_MOST_REGISTERS = 512  # of one `r<N>`

_ANY = r"(?:(?:\.|::)\w+)*"
_TYPE = r"(?:[busf](?:8|16|32|64)|b128|b?f16x2|bf16)"
_MEMORY = (
    rf"(?:\.(?:volatile|relaxed|acquire|release|weak|cta|cluster|gpu|sys|global"
    rf"|shared(?:::cta|::cluster)?|nc|c[agsv]|lu|w[bt]|L[12]::\w+|v[248]|{_TYPE}))+"
)
_OPCODE = re.compile(
    r"(?:abs|add|addc|and|bfe|bfi|bfind|bmsk|brev|clz|cnot|copysign|cos|cvt|cvta|div|dp2a|dp4a|ex2"
    r"|fma|fns|getctarank|isspacep|lg2|lop3|mad|mad24|madc|mapa|max|min|mov|mul|mul24|neg|not|or"
    r"|popc|prmt|rcp|rem|rsqrt|sad|selp|set|setp|shf|shl|shr|sin|slct|sqrt|sub|subc|szext|tanh"
    r"|testp|xor|v(?:add|sub|absdiff|min|max|set)[24]?|vshl|vshr|vmad"
    # Among the threads of a warp.
    r"|activemask|elect\.sync|match\.(?:any|all)\.sync|redux\.sync|shfl\.sync"
    r"|vote\.(?:(?:all|any|uni|ballot)\.)?sync|ldmatrix|stmatrix|movmatrix|mma|wgmma|wmma"
    # Memory, and copies that others do meanwhile.
    r"|atom|red|st\.async|cp\.async|cp\.reduce\.async\.bulk|prefetchu?"
    # Waiting for each other.
    r"|fence|membar|mbarrier|bar\.(?:sync|arrive|red|warp\.sync)"
    r"|barrier(?:\.cta)?\.(?:sync|arrive|red)|barrier\.cluster\.(?:arrive|wait)"
    rf"|setmaxnreg\.(?:inc|dec)\.sync){_ANY}"
    rf"|(?:ld|st){_MEMORY}"
)
_BRANCH = re.compile(r"bra(?:\.uni)?")
# What C++ can ask for, too: a thread's own place in its block, grid, warp and cluster.
_READ = re.compile(
    r"%(?:(?:n?tid|n?ctaid|n?clusterid|cluster_n?ctaid)\.[xyz]|laneid|lanemask_(?:eq|lt|le|gt|ge)"
    r"|cluster_n?ctarank|is_explicit_cluster)|WARP_SZ"
)
# No register of an author's own is called like one that the hardware sets.
_SET = re.compile(
    r"%(?:n?tid|n?ctaid|n?warpid|laneid|lanemask\w*|n?smid|gridid|is_explicit\w*|n?clusterid"
    r"|cluster_\w*|clock\w*|pm\d\w*|envreg\d*|globaltimer\w*|\w+_smem\w*|current_graph\w*)",
    re.IGNORECASE,
)
# Names of the compiler's own labels, and of what is put into PTX before a run (`runners.shaking`).
_TAKEN = re.compile(r"%?(?:\$L_|WARP_SZ$|_$|(?i:.*optiml))")
_REGISTER_TYPE = re.compile(
    r"\.(?:pred|[bus](?:8|16|32|64)|b128|f(?:16|32|64)|f16x2|bf16|bf16x2|tf32)"
)
_NAME = r"%%?(?=[A-Za-z_])[A-Za-z_]\w*(?:\.[xyz])?|[A-Za-z_$][\w$]*(?:%=[\w$]*)*"
_TOKEN = re.compile(
    rf"""\s*+(?:
    (?P<operand>%\d+)(?![\w$%.])
    |(?P<dotted>[A-Za-z]\w*(?:(?:\.|::)\w+)+)(?![\w$%.:])
    |(?P<name>{_NAME})(?![\w$%.])
    |(?P<number>0[xX][0-9A-Fa-f]+U?|0[fF][0-9A-Fa-f]{{8}}|0[dD][0-9A-Fa-f]{{16}}|0[bB][01]+U?
       |\d+\.\d*(?:[eE][+-]?\d+)?|\d+U?)(?![\w$%.])
    |(?P<directive>\.[a-z]\w*)(?![\w$%:])
    |(?P<mark>[,;:\[\]{{}}+|!@<>-])
    )""",
    re.VERBOSE | re.ASCII,
)
_COMPONENT = re.compile(r"(\w+)\.[xyzwrgba]")
_CONSTRAINTS = (
    re.compile(r'"[=+]&?[hrlqfd]"'),
    re.compile(r'"(?:&?[hrlqfd]|n)"'),
    re.compile(r'"(?:memory|cc)"'),
)
_PAIRED = {")": "(", "]": "[", "}": "{"}
_INPUTS, _CLOBBERS = 1, 2


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
    if rest[:1] != ["("] or rest[-1:] != [")"]:
        return False
    rest = rest[1:-1]
    count = next((i for i, word in enumerate(rest) if not word.startswith('"')), len(rest))
    parts = rest[:count]
    if not parts or any(len(part) < 2 or not part.endswith('"') for part in parts):
        return False
    text = "".join(part[1:-1] for part in parts).replace("\\n", "\n").replace("\\t", " ")
    if len(text) > _LONGEST or not _operands(rest[count:]):
        return False
    found = _tokens(text)
    return found is not None and _Block(found).closed()


def _operands(words: Sequence[str]) -> bool:
    """Tell whether operands are values alone: each behind a constraint that puts no text in."""
    section, at = -1, 0
    while at < len(words):
        word = words[at]
        if word in (":", "::"):
            section += len(word)
            at += 1
            if at == len(words) or words[at] in (":", "::"):
                continue
        elif word == "," and section >= 0:
            at += 1
        else:
            return False
        if not 0 <= section <= _CLOBBERS or at == len(words):
            return False
        if not _CONSTRAINTS[section].fullmatch(words[at]):
            return False
        at += 1
        if section <= _INPUTS:
            end = _behind_bracket(words, at)
            if end is None:
                return False
            at = end
    return section <= _CLOBBERS


def _behind_bracket(words: Sequence[str], at: int) -> int | None:
    """Return the place behind the round brackets that open here and what they hold."""
    if words[at : at + 1] != ["("]:
        return None
    opened: list[str] = []
    for i in range(at, len(words)):
        if words[i] in ("(", "[", "{"):
            opened.append(words[i])
        elif words[i] in _PAIRED:
            if opened.pop() != _PAIRED[words[i]]:
                return None
            if not opened:
                return i + 1
    return None


def _tokens(text: str) -> list[tuple[str, str]] | None:
    """Cut assembly into kinds and texts; None where something is no part of it.

    `%%` and `%` in front of a name are one sign. What stands against an operand, and comments,
    quotes and backslashes are no parts of it.
    """
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at, end)
        if match is None or match.lastgroup is None:
            return None
        word = match[match.lastgroup]
        found.append((match.lastgroup, word[1:] if word.startswith("%%") else word))
        at = match.end()
    return found


def _free(name: str) -> bool:
    """Tell whether a name may be an author's own."""
    return not ("." in name or _TAKEN.match(name) or _SET.fullmatch(name))


@dataclass(slots=True)
class _Scope:
    """What is between two braces, or the whole text."""

    outer: _Scope | None = None
    registers: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)

    def chain(self) -> Iterator[_Scope]:
        """Yield this scope and those around it."""
        at: _Scope | None = self
        while at is not None:
            yield at
            at = at.outer


class _Block:
    """The statements of one asm text, their scopes, and the branches between them."""

    def __init__(self, words: list[tuple[str, str]]) -> None:
        self.words = words
        self.scope = _Scope()
        self.branches: list[tuple[_Scope, str]] = []
        self.registers: set[str] = set()  # of all scopes
        self.labels: set[str] = set()

    def closed(self) -> bool:
        """Tell whether all that is done is known and stays within the text."""
        at = 0
        while at < len(self.words):
            kind, word = self.words[at]
            if word == "{":
                self.scope = _Scope(self.scope)
            elif word == "}":
                if self.scope.outer is None:
                    return False
                self.scope = self.scope.outer
            elif kind == "name" and self.words[at + 1 : at + 2] == [("mark", ":")]:
                if not self._label(word):
                    return False
                at += 1
            elif word != ";":
                end = next((i for i in range(at, len(self.words)) if self.words[i][1] == ";"), None)
                if end is None or not self._statement(self.words[at:end]):
                    return False
                at = end
            at += 1
        if self.scope.outer is not None or not self.registers.isdisjoint(self.labels):
            return False
        return all(
            any(name in scope.labels for scope in inner.chain()) for inner, name in self.branches
        )

    def _label(self, name: str) -> bool:
        """Note a label. Outside of braces it would be the whole function's."""
        if self.scope.outer is None or name in self.scope.labels or not _free(name):
            return False
        if name.startswith("%"):
            return False
        self.scope.labels.add(name)
        self.labels.add(name)
        return True

    def _statement(self, words: list[tuple[str, str]]) -> bool:
        if words[0] == ("directive", ".reg"):
            return self._registers(words[1:])
        if words[0][1] == "@":
            negated = words[1:2] == [("mark", "!")]
            guard = words[1 + negated : 2 + negated]
            if not guard or guard[0][0] != "name" or not self._known(guard[0][1]):
                return False
            words = words[2 + negated :]
        if not words or words[0][0] not in ("dotted", "name"):
            return False
        opcode, operands = words[0][1], words[1:]
        if _BRANCH.fullmatch(opcode):
            if [kind for kind, _ in operands] != ["name"]:
                return False
            self.branches.append((self.scope, operands[0][1]))
            return True
        return _OPCODE.fullmatch(opcode) is not None and self._values(operands)

    def _values(self, words: list[tuple[str, str]]) -> bool:
        """Tell whether operands are numbers, operands of the statement and known registers."""
        opened: list[str] = []
        for kind, word in words:
            if kind == "mark":
                if word in ("[", "{"):
                    opened.append(word)
                elif word in _PAIRED:
                    if not opened or opened.pop() != _PAIRED[word]:
                        return False
                elif word not in (",", "+", "-", "|", "!"):
                    return False
            elif kind == "name":
                if word != "_" and not self._known(word):
                    return False
            elif kind == "dotted":
                part = _COMPONENT.fullmatch(word)
                if part is None or not self._known(part[1]):
                    return False
            elif kind not in ("number", "operand"):
                return False
        return not opened

    def _known(self, name: str) -> bool:
        """Tell whether a name is a register of this text, declared before, or one to be read."""
        declared = any(name in scope.registers for scope in self.scope.chain())
        return declared or _READ.fullmatch(name) is not None

    def _registers(self, words: list[tuple[str, str]]) -> bool:
        """Note the registers of a declaration: `.pred p, q` or `.b32 r<4>`."""
        if words[:1] in ([("directive", ".v2")], [("directive", ".v4")]):
            words = words[1:]
        if not words or words[0][0] != "directive" or not _REGISTER_TYPE.fullmatch(words[0][1]):
            return False
        at = 1
        while True:
            if [kind for kind, _ in words[at : at + 1]] != ["name"]:
                return False
            name = words[at][1]
            at += 1
            names = [name]
            if words[at : at + 1] == [("mark", "<")]:
                kind, count = (*words[at + 1 : at + 2], ("", ""))[0]
                whole = kind == "number" and count.isdigit() and int(count) <= _MOST_REGISTERS
                if not whole or words[at + 2 : at + 3] != [("mark", ">")] or "%=" in name:
                    return False
                names = [f"{name}{i}" for i in range(int(count))]
                at += 3
            if not all(map(_free, names)) or not self.scope.registers.isdisjoint(names):
                return False
            self.scope.registers.update(names)
            self.registers.update(names)
            if at == len(words):
                return True
            if words[at] != ("mark", ","):
                return False
            at += 1
