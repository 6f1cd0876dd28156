"""Functions that a compiler runs: a candidate may add them to compute tables for its device code.

`struct Row { float of[64]; }; constexpr Row row() { ... } __constant__ Row table = row();`

Host code could call such a function, and nvcc gives the initializer of a `__device__ const`
variable to the host's compiler as well, which would run it on loading where it found no constant.
So two things are asked. The function only computes: of its own locals, constants, plain types and
functions like it, without pointers, anything static, assembly or questions about who compiles it.
And no host text reaches it: its name is nowhere in the original, is none that headers look for,
and its parameters are numbers and the candidate's own plain types.

The same is asked of `__host__ __device__ inline int up(int a, int b)`, which no initializer may
call. It has to be inline or of this file alone, so that it is not taken for a library's function
by the same name. And members of a candidate's own class, which no host text has, may only compute
with what the class holds: they are called by their names alone, whatever these are; none begins,
ends or converts an object.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise

from tree_sitter import Node

from optimizer.directives import replacement
from optimizer.functions import Function
from optimizer.outline_words import made_of, numbers_first
from optimizer.source import Source
from optimizer.syntax import field, walk
from optimizer.tokens import Token, balanced, code_tokens

_EVALUATED = frozenset({"constexpr", "consteval"})
_HEAD = frozenset({
    *_EVALUATED, "static", "inline", "noexcept", "->", "__host__", "__device__",
    "__forceinline__", "__inline__",
})  # fmt: skip
_NUMBERS = frozenset({
    "int", "unsigned", "signed", "long", "short", "char", "bool", "float", "double", "size_t",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    "uint", "ushort", "uchar", "ulong",
})  # fmt: skip
_STATEMENTS = frozenset({
    "return", "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue",
    "const", "constexpr", "true", "false", "sizeof", "static_cast", "static_assert", "auto", "void",
    "std", "cuda",
})  # fmt: skip
# Numbers that the headers of the language define, as macros.
LIMITS = frozenset({
    "CHAR_BIT", "INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "LLONG_MIN", "ULLONG_MAX",
    "FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX", "DBL_MIN", "DBL_EPSILON", "INFINITY", "NAN",
    "M_PI", "M_E", "M_LN2", "M_LOG2E", "M_SQRT2",
})  # fmt: skip
_OPERATORS = frozenset({
    "[]", "()", "+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "+=", "-=", "*=", "/=",
    "~", "^", "|", "<<", ">>", "!",
})  # fmt: skip
_TAKING = _NUMBERS | {"if", "for", "while", "switch", "return", "sizeof", "static_assert"}
_QUALIFIED = frozenset({"min", "max"})  # of std, constexpr themselves
_SIGNS = frozenset({
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "<<", ">>", "!", "&&", "||", "<", ">", "<=", ">=",
    "==", "!=", "?", ":", "::", ".", ",", ";", "(", ")", "[", "]", "{", "}", "=", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--",
})  # fmt: skip
# In the tree of a function: what reaches memory by its address, and what is no statement.
_REFUSED = (
    "pointer_declarator", "abstract_pointer_declarator", "pointer_expression",
    "abstract_reference_declarator", "lambda_expression", "new_expression", "delete_expression",
    "goto_statement", "throw_statement", "gnu_asm_expression", "ERROR",
)  # fmt: skip
_MOST = 4000  # tokens of a function
_DEEP = 8  # macros in macros

# Names that headers look for by the types of arguments, and that CUDA's may stand for in macros.
LOOKED_FOR = frozenset({
    "main", "swap", "begin", "end", "cbegin", "cend", "rbegin", "rend", "crbegin", "crend", "size",
    "ssize", "empty", "data", "get", "hash", "hash_value", "iter_move", "iter_swap", "advance",
    "distance", "next", "prev", "abs", "min", "max", "move", "forward", "invoke", "to_string",
    "make_error_code", "make_error_condition", "strong_order", "weak_order", "partial_order",
    "tag_invoke", "format_as", "to_address", "exit", "abort", "assert", "operator",
})  # fmt: skip
_CUDAS = re.compile(
    r"(?:cu[A-Z_]|cuda|cublas|cudnn|cufft|curand|cusolver|cusparse|nv[A-Z_]|nccl|gnu_)"
)
# Namespaces of headers.
HEADERS_OWN = frozenset({
    "std", "cuda", "cub", "thrust", "nvcuda", "cooperative_groups", "nv", "nvtx3", "cute",
    "cutlass", "at", "c10", "torch", "boost",
})  # fmt: skip
# The language's own headers, the system's and the toolkit's, of which none hands what host code
# writes on to a function of an unreserved name that a program would have to define.
_KNOWN_HEADER = re.compile(
    r"<[a-z_]+>|[<\"]cu[a-z0-9_]*\.h[>\"]|[<\"]device_launch_parameters\.h[>\"]"
    r"|<(?:alloca|assert|bits/stdc\+\+|ctype|dlfcn|fcntl|immintrin|malloc|omp|x86intrin|errno|fenv|float|inttypes|limits|locale|math|setjmp|signal|stdarg|stdbool"
    r"|stddef|stdint|stdio|stdlib|string|time|wchar|unistd|pthread|sys/\w+|getopt"
    r"|mma|cooperative_groups|math_constants|math_functions|driver_types|vector_(?:types|functions))\.h>"
    r"|<(?:thrust|cub|cuda|cooperative_groups)/[\w/]+(?:\.cuh|\.h)?>"
)
_CUDAS_TEMPLATES = frozenset({"texture", "surface"})
# A header of the author's may be called like these.
_OTHERS = re.compile(
    r'"(?!(?:cuda|cuda_runtime|cuda_runtime_api|cuda_fp16|cuda_bf16|cublas_v2|cufft|curand'
    r'|curand_kernel|cusparse|cusolverDn|device_launch_parameters)\.h").*'
)


def numbers_only(words: Sequence[str]) -> bool:
    """Tell whether `using u64 = unsigned long long;` is another name for a number."""
    return set(words[2:-1] if words[0] == "using" else words[1:-2]) <= _NUMBERS | {"=", "std", "::"}


def evaluated(source: Source, f: Function) -> bool:
    """Tell whether the head of a function says that a compiler may run it."""
    return not f.is_kernel and not _EVALUATED.isdisjoint(_head(source, f))


def for_both(source: Source, f: Function) -> bool:
    """Tell whether a function may be called by device and host, or run by a compiler."""
    both = {"__host__", "__device__"} <= f.qualifiers and not f.is_kernel
    return both or evaluated(source, f)


def class_around(source: Source, f: Function) -> str:
    """Return the name of the class that a function stands in; nothing where there is none."""
    around = _class_of(f)
    name = around.child_by_field_name("name") if around is not None else None
    return source.of(name) if name is not None else ""


def _class_of(f: Function) -> Node | None:
    at = f.node.parent
    while at is not None and at.type in ("template_declaration", "field_declaration_list"):
        at = at.parent
    return at if at is not None and at.type in ("struct_specifier", "class_specifier") else None


def computing_members(
    source: Source, found: Sequence[Function], plain: Collection[str], own: Collection[str],
    constants: Collection[str],
) -> list[Function]:  # fmt: skip
    """Return those of some members of classes that only compute with what their class holds."""
    kept = [f for f in found if f.name != class_around(source, f)]
    while True:
        lost = [f for f in kept if not _member_computes(source, f, kept, plain, own, constants)]
        if not lost:
            return kept
        kept = [f for f in kept if f not in lost]


def _member_computes(
    source: Source, f: Function, kept: Sequence[Function], plain: Collection[str],
    own: Collection[str], constants: Collection[str],
) -> bool:  # fmt: skip
    around = _class_of(f)
    body = around.child_by_field_name("body") if around is not None else None
    if around is None or body is None:
        return False
    head = around.parent
    parameters: set[str] = set()
    if head is not None and head.type == "template_declaration":
        words = [t.text for t in source.syntax.code_in((head.start_byte, around.start_byte))]
        parameters = {a for a, b in pairwise(words) if b in (",", ">", "=") and a.isidentifier()}
    fields = {
        source.of(name)
        for node in body.children
        if node.type == "field_declaration"
        for declared in node.children_by_field_name("declarator")
        if not any(True for _ in walk(declared, "function_declarator", "pointer_declarator"))
        for name in walk(declared, "field_identifier")
    }
    calls = {g.name for g in kept if _class_of(g) == around}
    types = {*parameters, class_around(source, f)}
    judge = _Judge(source, f, {*plain, *types}, {*constants, *fields}, calls, member=True)
    return judge.computes({*own, *types})


def computing(
    source: Source, found: Sequence[Function], plain: Collection[str], own: Collection[str],
    constants: Collection[str],
) -> list[Function]:  # fmt: skip
    """Return those of some functions that only compute, with what they call among them.

    `plain` are the plain types of the file, `own` those of them that are no type of the host's,
    and `constants` names that nothing can be written to.
    """
    # A name that something else has as well could be the other's.
    alone = [f for f in found if all(o in found for o in source.functions if o.name == f.name)]
    while True:
        calls = {f.name for f in alone}
        lost = {
            f.name for f in alone if not _Judge(source, f, plain, constants, calls).computes(own)
        }
        if not lost:
            return alone
        alone = [f for f in alone if f.name not in lost]


def met(name: str, spaces: Sequence[str], before: Source, after: Source) -> str:
    """Return how host text could meet a new function of this name; nothing where it cannot."""
    words = before.code_words
    if name in words:
        return "a name of the original's"
    if name.startswith("_") or "__" in name or name in LOOKED_FOR or _CUDAS.match(name):
        return "a name that headers use"
    if any("##" in m.body for m in before.macros) and made_of(name, parts_of(before)):
        return "a name that macros could put together"
    if not HEADERS_OWN.isdisjoint(spaces) or any(s.startswith("_") for s in spaces):
        return "in a namespace of headers"
    if any(s not in words for s in spaces):
        return ""  # one of its own, in which nothing of the host's is looked for
    if header := unknown_header(before, after):
        return f"which macros of {header} could mean outside a namespace of its own"
    return ""


def met_template(name: str, spaces: Sequence[str], before: Source, after: Source) -> str:
    """Return how a template of this name could be somebody else's; nothing where it cannot.

    What is said of a header's template for some arguments, or declared of it once more, is noticed
    by all of the header. So every header has to be known, and this to be no name and no namespace
    of theirs: without a namespace they have no template by a name that a program may have.
    """
    if how := met(name, spaces, before, after):
        return how
    if name in _CUDAS_TEMPLATES:
        return "a name that headers use"
    header = unknown_header(before, after)
    return f"which {header} could have as well" if header else ""


def unknown_header(*sources: Source) -> str:
    """Return a header that is neither the system's nor the toolkit's; nothing where all are."""
    for d in (d for source in sources for d in source.syntax.masked.directives):
        header = "".join(t.text for t in code_tokens(d.rest)) if "include" in d.word else ""
        if header and (not _KNOWN_HEADER.fullmatch(header) or _OTHERS.fullmatch(header)):
            return header
    return ""


@lru_cache(maxsize=8)  # of the original, again and again
def parts_of(source: Source) -> frozenset[str]:
    """Return the words and numbers that macros could put a name together from."""
    texts = (source.syntax.code, *(replacement(m.body) for m in source.macros))
    return frozenset(t.text for text in texts for t in text if t.kind in ("word", "number"))


@lru_cache(maxsize=8)
def _classes(source: Source) -> frozenset[str]:
    """Return the names of all structs and classes."""
    named = (
        field(n, "name") for n in walk(source.syntax.root, "struct_specifier", "class_specifier")
    )
    return frozenset(source.of(name) for name in named if name is not None)


def _head(source: Source, f: Function) -> list[str]:
    return [t.text for t in source.syntax.code_in((f.span[0], f.body.start_byte))]


class _Judge:
    """One function with the names that it may use."""

    def __init__(
        self, source: Source, f: Function, plain: Collection[str], constants: Collection[str],
        calls: Collection[str], *, member: bool = False,
    ) -> None:  # fmt: skip
        self.member = member
        self.source, self.f, self.plain, self.calls = source, f, plain, calls
        self.inside = {v.name for v in f.variables.all} | {p.name for p in f.parameters}
        self.outside = {*plain, *constants, *calls, *LIMITS, *(t.name for t in f.templates)}
        self.macros = {m.name: m for m in source.macros}

    def computes(self, own: Collection[str]) -> bool:
        """Tell whether it does nothing but compute a value."""
        f = self.f
        masked = self.source.syntax.masked
        if f.broken or any(f.span[0] <= d.start < f.span[1] for d in masked.directives):
            return False
        head = self.source.syntax.code_in((f.span[0], f.body.start_byte))
        body = self.source.syntax.code_in((f.body.start_byte, f.span[1]))
        if len(head) + len(body) > _MOST or any(True for _ in walk(f.node, *_REFUSED)):
            return False
        # By scope: a word may be a local's in one block and something else's behind it.
        free = {u.name for u in f.variables.free}
        if not free <= self.outside | _STATEMENTS | _NUMBERS | _QUALIFIED | self.macros.keys():
            return False
        # A local may be called like a type: of none that the host may use.
        if not self.inside.isdisjoint(_classes(self.source).difference(self.plain)):
            return False
        named = walk(f.node, "type_identifier", "namespace_identifier")
        types = {*self.plain, *_NUMBERS, "std", "cuda", "array", *(t.name for t in f.templates)}
        if not {self.source.of(n) for n in named} <= types:
            return False
        return self._heads(head) and self._takes(own) and self._plain(body)

    def _heads(self, head: Sequence[Token]) -> bool:
        """Look at what stands before the body, as `template <int N> constexpr Row<N> row(int)`."""
        words = [t.text for t in head]
        start = numbers_first(words)
        if self.member and "operator" in words:
            return self._operator(head, words, start)
        if words[:1] == ["template"] and not start:
            return False
        named = next((i for i in range(start, len(words)) if words[i + 1 : i + 2] == ["("]), None)
        if named is None or words[named] != self.f.name:
            return False
        rest = [t for t in head[start:] if t.text not in _HEAD]
        # Nothing of a class or a namespace is defined from outside, nothing begins by default.
        if words[named - 1] == "::" or "=" in words[start:]:
            return False
        return self.macros.keys().isdisjoint(_HEAD) and self._plain(rest)

    def _operator(self, head: Sequence[Token], words: Sequence[str], start: int) -> bool:
        """Look at the head of a member that is an operator, which converts to nothing."""
        at = words.index("operator")
        opened = next((i for i in range(at + 2, len(words)) if words[i] == "("), at)
        if "".join(words[at + 1 : opened]) not in _OPERATORS or words[at - 1] == "::":
            return False
        if (words[0] == "template" and not start) or "=" in words[opened:]:
            return False
        parts = (head[start:at], head[opened:])
        plain = ([t for t in part if t.text not in _HEAD] for part in parts)
        return self.macros.keys().isdisjoint(_HEAD) and all(map(self._plain, plain))

    def _takes(self, own: Collection[str]) -> bool:
        """Look at the parameters: numbers, and types that no host text has."""
        templates = {t.name for t in self.f.templates}
        for p in self.f.parameters:
            words = {w for w in re.findall(r"\w+", p.type) if not w.isdigit()} - {"const", "std"}
            theirs = not words.isdisjoint(own) and words <= {*own, *templates}
            number = bool(words) and words <= _NUMBERS and not p.reference
            if p.type == "void":
                continue
            if p.depth or not (theirs or number) or not words.isdisjoint(self.macros):
                return False
        return True

    def _plain(self, tokens: Sequence[Token], depth: int = 0) -> bool:
        """Tell whether tokens are statements over names that are known."""
        before = ""
        for at, token in enumerate(tokens):
            word = token.text
            behind = tokens[at + 1].text if at + 1 < len(tokens) else ""
            if token.kind == "word":
                if not self._known(word, before, behind, depth):
                    return False
            elif token.kind == "mark":
                if word not in _SIGNS or not self._paired(word, before):
                    return False
            elif token.kind not in ("number", "char") or "_" in word:  # of a literal operator
                return False
            before = word
        return True

    def _known(self, word: str, before: str, behind: str, depth: int) -> bool:
        """Tell whether a word is one of ours, or a member; only functions like it are called."""
        macro = self.macros.get(word)
        if macro is not None:
            numbers = macro.parameters is None and depth < _DEEP and behind != "("
            named = all(m.parameters is None for m in self.source.macros if m.name == word)
            bodies = [replacement(m.body) for m in self.source.macros if m.name == word]
            return numbers and named and all(
                balanced([t.text for t in body]) and self._plain(body, depth + 1) for body in bodies
            )  # fmt: skip
        if behind == "(":
            qualified = word in _QUALIFIED and before == "::"
            constant = word == "constexpr" and before == "if"
            return word in self.calls or word in _TAKING or qualified or constant
        if word.startswith("_"):
            return False
        member = before == "." and word.isidentifier()
        known = word in _STATEMENTS or word in _NUMBERS or word in self.inside
        return member or known or word in self.outside or (word == "array" and before == "::")

    def _paired(self, sign: str, before: str) -> bool:
        """Tell whether a sign takes no address, reaches through none and begins no lambda."""
        operand = before[:1].isalnum() or before[:1] == "_" or before in (")", "]")
        if sign == "*":
            return operand and before not in _STATEMENTS | _NUMBERS | {*self.plain}
        if sign in ("&", "&&"):
            return (operand or before == ">") and before != "return"
        if sign == "[":
            return before != ")" and operand and before not in _STATEMENTS
        return True
