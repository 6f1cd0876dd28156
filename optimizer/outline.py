"""A CUDA file split into what an optimizer may touch and what has to stay: its outline.

The outline is the token sequence left when these are taken out or put as a mark:

* `__global__` functions keep their head (without const, `__restrict__`, launch bounds) and lose
  their body; `__device__` functions and `__constant__`/`__device__`/`__shared__` variables,
  macros and numeric constants vanish and are listed by name;
* of a candidate's, types that hold nothing but data and are not the original's vanish, listed by
  name (`optimizer.plain_types`);
* a launch keeps its stream and arguments; grid, block and shared size become one mark, and the
  callee is known by its parameter types only;
* locals of host functions that only launch geometry uses vanish.

Everything is checked on tokens before it is taken out; what is not certain stays in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from itertools import pairwise

from tree_sitter import Node

from optimizer.affine import INTEGERS
from optimizer.chevrons import apart, brackets, joined
from optimizer.functions import Function
from optimizer.launch_macros import LaunchMacro
from optimizer.masking import ATTRIBUTES, closing, pairs
from optimizer.plain_types import plain_types
from optimizer.source import Source
from optimizer.syntax import Span, contains, field, operator, span, walk
from optimizer.tokens import Token, code_tokens
from optimizer.toolkit import shortenings
from optimizer.variables import Variable

_SCOPE_HEADS = frozenset({"namespace", "extern", "class", "struct", "union", "inline"})
_LOOSE_HEAD = frozenset({
    "__launch_bounds__", "__maxnreg__", "__forceinline__", "__noinline__", "__inline__",
    "__restrict__", "__restrict", "restrict", "__grid_constant__",
})  # fmt: skip
_ARITHMETIC = INTEGERS | {"float", "double", "bool", "half"}
_SIGNS = frozenset({
    "+", "-", "*", "/", "%", "(", ")", ",", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "!",
    "?", ":", "::", ".", "&", "|", "^", "~", "<<", ">>", "[", "]", "{", "}", "->",
})  # fmt: skip
_CALLS = frozenset({
    "dim3", "min", "max", "sizeof", "ceil", "ceilf", "floor", "int", "unsigned", "float", "double",
    "size_t", "uint3", "long", "static_cast", "int64_t", "uint32_t", "log2", "sqrt",
})  # fmt: skip
_NEVER = frozenset({
    "new", "delete", "throw", "asm", "__asm__", "__asm", "operator", "goto", "return", "typeid",
    "co_await", "decltype", "auto", "mutable", "__builtin_trap", "static", "extern",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """Something taken out: its tokens, and the line where it stands."""

    name: str
    tokens: tuple[str, ...]
    line: int


@dataclass(slots=True)
class Outline:
    """What is left of a file (`tokens`, and where each begins), and what was taken out."""

    tokens: list[str] = dataclass_field(default_factory=list)
    starts: list[int] = dataclass_field(default_factory=list)
    device: list[Piece] = dataclass_field(default_factory=list)
    kernels: dict[tuple[str, str], Piece] = dataclass_field(default_factory=dict)
    variables: list[Piece] = dataclass_field(default_factory=list)
    constants: list[Piece] = dataclass_field(default_factory=list)
    macros: list[Piece] = dataclass_field(default_factory=list)
    types: list[Piece] = dataclass_field(default_factory=list)
    directives: list[Piece] = dataclass_field(default_factory=list)
    geometry: list[Piece] = dataclass_field(default_factory=list)
    inactive: list[str] = dataclass_field(default_factory=list)
    launched: set[str] = dataclass_field(default_factory=set)
    locals: set[tuple[str, str]] = dataclass_field(default_factory=set)


def outline(source: Source, original: Outline | None = None) -> Outline:
    """Return the outline of a file; for a candidate's, that of the original is wanted.

    Kernels that the original lacks are taken out whole.
    """
    return _Outliner(source, original).run()


def types_of(function: Function) -> str:
    """Return a kernel's parameter types without const, to compare kernels by."""
    return " , ".join(
        " ".join(w for w in p.type.split() if w != "const") for p in function.parameters
    )


class _Outliner:
    def __init__(self, source: Source, original: Outline | None) -> None:
        self.source = source
        self.text = source.text
        self.original = original
        self.dead = source.syntax.masked.inactive
        code = [t for t in source.syntax.code if t.kind != "directive"]
        self.code = joined(code, brackets(code)) if apart(self.text) else code
        self.live = self._live() if self.dead else self.code
        self.pairs = pairs(self.live)
        self.index = {t.start: i for i, t in enumerate(self.live)}
        self.marks: list[tuple[int, int, tuple[str, ...]]] = []
        self.found = Outline()
        self.by_value: tuple[Span, ...] = ()

    def _live(self) -> list[Token]:
        """Return the tokens that no `#if` turns off."""
        dead = iter(self.dead)
        low, high = next(dead, (len(self.text) + 1,) * 2)
        found: list[Token] = []
        for t in self.code:
            while t.start >= high:
                low, high = next(dead, (len(self.text) + 1,) * 2)
            if not low <= t.start < high:
                found.append(t)
        return found

    def run(self) -> Outline:
        self._functions()
        self._prototypes()
        self._variables()
        self._constants()
        self._types()
        self._shortenings()
        self._launches()
        self._directives()
        self._emit()
        if self.original is not None:
            self._close_namespaces()
        return self.found

    def _close_namespaces(self) -> None:
        """Leave out namespaces of a candidate's that hold nothing but what was taken out."""
        words, starts = self.found.tokens, self.found.starts
        original = self.original
        theirs = {"std", *(original.tokens if original is not None else ())} - {"{"}
        at = 0
        while at < len(words):
            length = 3 if words[at + 1 : at + 2] == ["{"] else 4
            behind = words[at + length - 2 : at + length] == ["{", "}"]
            if words[at] == "namespace" and behind and not theirs & set(words[at + 1 : at + 2]):
                del words[at : at + length], starts[at : at + length]
            else:
                at += 1

    def _piece(self, name: str, where: Span) -> Piece:
        texts = tuple(t.text for t in self.source.syntax.code_in(where))
        return Piece(name, texts, self.source.line(where[0]))

    def _take(self, where: Span, *put: str) -> None:
        self.marks.append((where[0], where[1], put))

    # -- device code -----------------------------------------------------------------------------

    def sound(self, where: Span, body: Span) -> bool:
        """Return whether tokens agree that this is one definition at namespace or class level."""
        first = self.index.get(where[0])
        brace = self.index.get(body[0])
        if first is None or brace is None or self.live[brace].text != "{":
            return False
        close = self.pairs.get(brace)
        if close is None or self.live[close].end != body[1]:
            return False
        if first > 0 and self.live[first - 1].text not in (";", "}", "{", ":", ")"):
            return False
        return self._at_scope(first)

    def _at_scope(self, at: int) -> bool:
        """Return whether every bracket open before a token opens a namespace, class or linkage."""
        opener = self._openers[at]
        while opener >= 0:
            if self.live[opener].text != "{" or not self._scope_head(opener):
                return False
            opener = self._openers[opener]
        return True

    @cached_property
    def _openers(self) -> list[int]:
        """Return for each token the index of the innermost bracket open before it, or -1."""
        found: list[int] = []
        stack = [-1]
        for i, t in enumerate(self.live):
            text = t.text
            if text in _CLOSING and len(stack) > 1:
                stack.pop()
            found.append(stack[-1])
            if text in _OPENING:
                stack.append(i)
        return found

    def _scope_head(self, brace: int) -> bool:
        i = brace - 1
        while i >= 0 and self.live[i].text not in (";", "}", "{"):
            i -= 1
        head = [t.text for t in self.live[i + 1 : brace]]
        if "(" in head and head[:1] != ["template"] and not set(head) & ATTRIBUTES:
            return False
        while head[:1] == ["template"]:
            head = head[1:]
            head = head[head.index(">") + 1 :] if ">" in head else []
        return bool(head) and head[0] in _SCOPE_HEADS and ")" not in head[-1:]

    def _functions(self) -> None:
        for f in self.source.functions:
            if "__device__" not in f.qualifiers and not f.is_kernel:
                continue
            if "__host__" in f.qualifiers or "virtual" in f.qualifiers:
                continue
            if not self.sound(f.span, span(f.body)):
                continue
            if f.is_kernel:
                self._kernel(f)
            else:
                self.found.device.append(self._piece(f.name, f.span))
                self._take(f.span)

    def _kernel(self, f: Function) -> None:
        key = (f.name, types_of(f))
        self.found.kernels[key] = self._piece(f.name, f.span)
        if self.original is not None and key not in self.original.kernels:
            self._take(f.span)
            return
        named = frozenset(p.name for p in f.parameters)
        head = " ".join(self._head((f.span[0], f.body.start_byte), named))
        self._take(f.span, f"HEAD({head})")

    def _head(self, where: Span, named: frozenset[str] = frozenset()) -> list[str]:
        """Return the tokens of a kernel's head without what may change in it, such as `named`."""
        found = code_tokens(self.text[where[0] : where[1]])
        kept: list[str] = []
        i = 0
        depth = 0
        seen_global = False
        while i < len(found):
            text = found[i].text
            seen_global = seen_global or text == "__global__"
            if text in _LOOSE_HEAD:
                close = closing(found, i + 1) if text in _BRACED and i + 1 < len(found) else None
                i = (close if close is not None else i) + 1
                continue
            depth += (text == "(") - (text == ")")
            behind = found[i + 1].text if i + 1 < len(found) else ""
            if depth == 1 and text in named and behind in (",", ")"):
                i += 1  # a parameter's own name
                continue
            if not (text == "const" and depth > 0) and not self._stands_for_restrict(text):
                kept.append(text)
            i += 1
        return kept

    def _stands_for_restrict(self, word: str) -> bool:
        return any(
            m.name == word and m.parameters is None and m.body in _LOOSE_HEAD
            for m in self.source.macros
        )

    def _prototypes(self) -> None:
        masked = self.source.syntax.masked
        for node in self._file_level("declaration"):
            where = self._whole(node)
            words = {a.name for a in masked.attributes_in(*where)}
            declared = any(
                n.type == "function_declarator"
                for d in node.children_by_field_name("declarator")
                for n in walk(d)
            )
            if not declared or "__host__" in words or node.has_error:
                continue
            if "__global__" in words:
                self._take(where, f"HEAD({' '.join(self._head(where))})")
            elif "__device__" in words:
                self._take(where)

    def _file_level(self, *types: str) -> list[Node]:
        stop = ("function_definition", "compound_statement", "lambda_expression")
        return list(walk(self.source.syntax.root, *types, into=lambda n: n.type not in stop))

    def _whole(self, node: Node) -> Span:
        """Return the span of a declaration with blanked words and `template` in front of it."""
        at = self.index.get(node.start_byte)
        start = node.start_byte
        parent = node.parent
        if parent is not None and parent.type in ("template_declaration", "linkage_specification"):
            start = parent.start_byte
            at = self.index.get(start)
        if at is None:
            return span(node)
        while at > 0 and self._blanked(self.live[at - 1]):
            at -= 1
        return (self.live[at].start, node.end_byte)

    def _blanked(self, token: Token) -> bool:
        return not self.source.syntax.masked.text[token.start : token.end].strip()

    # -- variables and constants -----------------------------------------------------------------

    def _variables(self) -> None:
        masked = self.source.syntax.masked
        for node in self._file_level("declaration"):
            where = self._whole(node)
            words = {a.name for a in masked.attributes_in(*where)}
            if not words & {"__constant__", "__device__", "__shared__"} or node.has_error:
                continue
            if words & {"__managed__", "__host__", "__global__"}:
                continue
            names = self._declared_names(node)
            at = self.index.get(where[0])
            if not names or at is None or not self._at_scope(at):
                continue
            piece = self._piece(names[0], where)
            if self._calls(piece.tokens, strict="__constant__" not in words):
                continue
            self.found.variables.extend(Piece(n, piece.tokens, piece.line) for n in names)
            self._take(where)

    def _calls(self, words: Sequence[str], strict: bool) -> bool:
        """Return whether an initializer could run code: it calls something or is a lambda."""
        tail = list(words)[list(words).index("=") + 1 :] if "=" in words else []
        for i, word in enumerate(tail):
            if word == "[" and (i == 0 or tail[i - 1] in ("{", "(", ",", "=")):
                return True
            if word == "(" and i and tail[i - 1].isidentifier() and tail[i - 1] not in (
                *_CALLS, "make_float4", "make_float2", "make_float3",
            ):  # fmt: skip
                return strict or tail[i - 1] not in self.source.words
        return bool(set(tail) & _NEVER)

    def _declared_names(self, node: Node) -> list[str]:
        names: list[str] = []
        for d in node.children_by_field_name("declarator"):
            if any(n.type in ("function_declarator", "lambda_expression") for n in walk(d)):
                return []
            name = next((n for n in walk(d, "identifier", "field_identifier")), None)
            if name is None:
                return []
            names.append(self.source.of(name))
        return names

    def _constants(self) -> None:
        for node in self._file_level("declaration", "field_declaration"):
            where = self._whole(node)
            if any(a <= where[0] < b for a, b, _ in self.marks) or node.has_error:
                continue
            piece = self._piece("", where)
            head = piece.tokens[: piece.tokens.index("=")] if "=" in piece.tokens else ()
            if not {"const", "constexpr"} & set(head) or {"*", "&", "extern"} & set(head):
                continue
            if self.source.plain(field(node, "type")) not in _ARITHMETIC:
                continue
            names = self._declared_names(node)
            if not names or not arithmetic(piece.tokens, _CALLS | {"=", "static"}):
                continue
            self.found.constants.extend(Piece(n, piece.tokens, piece.line) for n in names)
            self._take(where)

    def _types(self) -> None:
        """Take out the plain types that the original's outline does not have."""
        if self.original is None or not any(w in self.text for w in _TYPED):
            return
        numbers = {m.name for m in self.source.macros if m.parameters is None and m.body.isdigit()}
        macros = {m.name for m in self.source.macros} - numbers
        known = set(self.original.tokens)
        directives = self.source.syntax.masked.directives
        # What is included behind a type might meet it.
        reach = max((d.start for d in directives if d.word == "include"), default=-1)
        # Without their functions for the device, which nothing on the host can call.
        data = [t for t in self.live if not self._taken(t.start)] if self.marks else self.live
        for name, first, last in plain_types(data, macros):
            where = (data[first].start, data[last].end)
            if (
                name not in known
                and where[0] > reach
                and not self._taken(where[0])
                and self._at_scope(self.index[where[0]])
            ):
                self.found.types.append(self._piece(name, where))
                self._take(where)

    def _shortenings(self) -> None:
        """Take out what a candidate adds only to write names of the toolkit shorter."""
        if self.original is None or "namespace" not in self.text:
            return
        words = [t.text for t in self.live]
        known = set(self.original.tokens)
        theirs = " ".join(self.original.tokens)
        for first, end in shortenings(words, known):
            where = (self.live[first].start, self.live[end - 1].end)
            if " ".join(words[first:end]) not in theirs and self._at_scope(first):
                self._take(where)

    # -- launches --------------------------------------------------------------------------------

    def _launches(self) -> None:
        kernels: dict[str, list[str]] = {}
        for name, types in self.found.kernels:
            kernels.setdefault(name, []).append(types)
        spans: list[Span] = []
        marks = [i for i, token in enumerate(self.live) if token.text == "<<<"]
        for i in marks:
            if not self._taken(self.live[i].start):
                spans.extend(self._launch(i, kernels))
        for i, token in enumerate(self.live):
            macro = self.source.launch_macros.get(token.text)
            if macro is not None and not self._taken(token.start):
                spans.extend(self._launch_by(i, macro))
        spans.extend(self._shared_sizes(kernels))
        self._locals(spans)

    def _shared_sizes(self, kernels: Collection[str]) -> list[Span]:
        """Take out statements that let a kernel have more shared memory; return the sizes in them.

        They belong to the size that its launch asks for.
        """
        spans: list[Span] = []
        for i, token in enumerate(self.live):
            close = self.pairs.get(i + 1)
            if token.text != "cudaFuncSetAttribute" or close is None or i == 0:
                continue
            behind = self.live[close + 1].text if close + 1 < len(self.live) else ""
            parts = self._parts(i + 1, close)
            if self.live[i - 1].text not in _ENDING or behind != ";" or len(parts) != 3:
                continue
            name, which, size = (self._piece("launch", part) for part in parts)
            known = len(name.tokens) == 1 and name.tokens[0] in kernels
            if not known or which.tokens != (_MOST_SHARED,) or self._taken(token.start):
                continue
            if not arithmetic(size.tokens, _CALLS) or not self._computes(size.tokens):
                continue
            self.found.geometry.append(size)
            self._take((token.start, self.live[close + 1].end))
            spans.append(parts[2])
        self.by_value = tuple(spans)
        return spans

    def _taken(self, at: int) -> bool:
        return any(a <= at < b for a, b, _ in self.marks)

    def _launch(self, i: int, kernels: dict[str, list[str]]) -> list[Span]:
        end = self._chevrons(i)
        if end is None:
            return []
        parts = self._parts(i, end)
        if not 2 <= len(parts) <= 4:
            return []
        geometry = (parts[0][0], parts[min(2, len(parts) - 1)][1])
        pieces = [self._piece("launch", part) for part in parts[:3]]
        if all(self._computes(p.tokens) for p in pieces):
            self.found.geometry.extend(pieces)
            self._take(geometry, "GEOMETRY")
        callee = self._callee(i)
        name = self.live[callee[1]].text if callee is not None else ""
        if callee is not None and name in kernels:
            self.found.launched.add(name)
            self._take(
                (self.live[callee[0]].start, self.live[i - 1].end),
                "KERNEL(" + " | ".join(sorted(kernels[name])) + ")",
            )
            parts.insert(0, (self.live[callee[0]].start, self.live[i - 1].end))
            return parts[:4]
        return parts[:3]

    def _launch_by(self, i: int, macro: LaunchMacro) -> list[Span]:
        """Take out the geometry of a launch that a macro writes; return where it stands."""
        close = self.pairs.get(i + 1)
        if i + 2 >= len(self.live) or self.live[i + 1].text != "(" or close is None:
            return []
        inside = {t.text for t in self.live[i + 2 : close]}
        parts = self._parts(i + 1, close)
        if inside & {"{", "[", "<<<"} or not macro.fits(len(parts)):
            return []  # the preprocessor splits at commas in brackets, too
        places = [parts[at] for at in macro.geometry[:3] if at is not None]
        pieces = [self._piece("launch", place) for place in places]
        if not all(self._computes(p.tokens) for p in pieces):
            return []
        self.found.geometry.extend(pieces)
        for place in places:
            self._take(place, "GEOMETRY")
        return places

    def _computes(self, words: Sequence[str], own: Collection[str] = ()) -> bool:
        """Return whether words call only what computes a value, and `own`, declared by them."""
        return all(n in _CALLS or n in own or self.source.pure_call(n) for n in called(words))

    def _chevrons(self, i: int) -> int | None:
        depth = 0
        for k in range(i + 1, len(self.live)):
            text = self.live[k].text
            if text in ("(", "[", "{"):
                depth += 1
            elif text in (")", "]", "}"):
                depth -= 1
                if depth < 0:
                    return None
            elif text in (";", "<<<") and depth == 0:
                return None
            elif text == ">>>" and depth == 0:
                return k
        return None

    def _parts(self, i: int, end: int) -> list[Span]:
        parts: list[Span] = []
        depth = 0
        first = i + 1
        for k in range(i + 1, end + 1):
            text = self.live[k].text
            if (text == "," and depth == 0) or k == end:
                if k == first:
                    return []
                parts.append((self.live[first].start, self.live[k - 1].end))
                first = k + 1
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        return parts

    def _callee(self, i: int) -> tuple[int, int] | None:
        """Return the token range start and the name's index of `ns::name<args>` before `<<<`."""
        at = i - 1
        if at >= 0 and self.live[at].text in (">", ">>"):
            depth = 0
            while at >= 0:
                text = self.live[at].text
                depth += {">": 1, ">>": 2}.get(text, 0) - {"<": 1, "<<": 2}.get(text, 0)
                if text in (";", "{", "}", "="):
                    return None
                if depth == 0:
                    break
                at -= 1
            inside = [t.text for t in self.live[at + 1 : i - 1]]
            if not arithmetic(inside, _CALLS):
                return None
            at -= 1
        if at < 0 or self.live[at].kind != "word":
            return None
        name = at
        while at >= 2 and self.live[at - 1].text == "::" and self.live[at - 2].kind == "word":
            at -= 2
        return at, name

    # -- locals that only launches use -----------------------------------------------------------

    def _locals(self, spans: list[Span]) -> None:
        hidden: set[str] = set()
        for m in self.source.macros:  # a parameter is no name of the caller's
            hidden |= {t.text for t in code_tokens(m.body)} - set(m.parameters or ())
        for a, b in self.dead:
            hidden.update(t.text for t in code_tokens(self.text[a:b]) if t.kind == "word")
        for f in self.source.functions:
            if "__device__" in f.qualifiers or f.is_kernel:
                continue
            inside = [s for s in spans if contains(f.body, s)]
            if not inside or f.broken or not self.sound(f.span, span(f.body)):
                continue
            self._geometry_locals(f, inside, hidden)

    def _geometry_locals(self, f: Function, spans: list[Span], hidden: set[str]) -> None:
        chosen = {v for v in f.variables.all if self._may_be_geometry(v) and v.name not in hidden}
        while True:
            places = [*spans, *(span(v.init) for v in chosen if v.init is not None)]
            places += [self._assigned(u.place) for v in chosen for u in v.uses
                       if u.role in ("update", "write")]  # fmt: skip
            bad = {v for v in chosen if not self._only_in(f, v, places)}
            if not bad:
                break
            chosen -= bad
        taken: set[int] = set()
        for v in chosen:
            self.found.locals.add((f.name, v.name))
            if v.declaration.id in taken:
                continue
            together = [w for w in f.variables.all if w.declaration == v.declaration]
            if all(w in chosen for w in together):
                taken.add(v.declaration.id)
                self.found.geometry.append(self._piece("local", span(v.declaration)))
                self._take(span(v.declaration))
            elif v.init is not None:
                self.found.geometry.append(self._piece("local", span(v.init)))
                self._take(span(v.init), "GEOMETRY")
        for v in chosen:
            for u in v.uses:
                if u.role in ("update", "write"):
                    where = self._assigned(u.place)
                    self.found.geometry.append(self._piece("local", where))
                    self._take(where, "GEOMETRY")

    def _may_be_geometry(self, v: Variable) -> bool:
        parent = v.declaration.parent
        if v.space != "local" or not v.is_scalar or v.declaration.type != "declaration":
            return False
        if parent is None or parent.type != "compound_statement":
            return False
        if v.element not in INTEGERS and v.element != "dim3":
            return False
        if {"static", "extern", "register"} & set(v.type.split()):
            return False
        words = [t.text for t in code_tokens(self.source.of(v.declaration))]
        behind = words[words.index(v.name) + 1 :] if v.name in words else None
        if behind is None or not self._computes(behind, declared(words)):
            return False
        return arithmetic(words, _CALLS | {"=", "auto"}, loose=True)

    def _assigned(self, place: Node) -> Span:
        """Return the span of `v.x = value;`; an empty one when it is anything else."""
        at = place.parent
        if at is None or at.type != "assignment_expression" or operator(at) != "=":
            return (0, 0)
        outer = at.parent
        if outer is None or outer.type != "expression_statement":
            return (0, 0)
        words = [t.text for t in code_tokens(self.source.of(field(at, "right")))]
        fits = arithmetic(words, _CALLS, loose=True) and self._computes(words)
        return span(outer) if fits else (0, 0)

    def _only_in(self, f: Function, v: Variable, places: list[Span]) -> bool:
        if not v.uses:
            return self.original is not None and (f.name, v.name) in self.original.locals
        return all(
            (u.role in ("read", "update", "write") or self._by_value(u.node))
            and any(contains(p, u.node) for p in places)
            for u in v.uses
        )

    def _by_value(self, node: Node) -> bool:
        """Tell whether a function is known to take this as a number, not as a variable."""
        return any(contains(place, node) for place in self.by_value)

    # -- directives and output -------------------------------------------------------------------

    def _directives(self) -> None:
        for d in self.source.syntax.masked.directives:
            if d.word != "define":
                texts = (d.word, *(t.text for t in code_tokens(d.rest)))
                self.found.directives.append(Piece(d.word, texts, self.source.line(d.start)))
        for m in self.source.macros:
            parameters = ("(", *m.parameters, ")") if m.parameters is not None else ()
            texts = (*parameters, "=", *(t.text for t in code_tokens(m.body)))
            self.found.macros.append(Piece(m.name, texts, self.source.line(m.start)))

    def _emit(self) -> None:
        marks = sorted(self.marks, key=lambda m: (m[0], -m[1]))
        out = self.found
        words, starts = out.tokens, out.starts
        dead = {t.start for t in self.code} - self.index.keys() if self.dead else frozenset()
        i, reach = 0, 0
        following = marks[0][0] if marks else len(self.text) + 1
        for _, start, _, text in self.code:
            while following <= start:
                if following >= reach:
                    words.extend(marks[i][2])
                    starts.extend([following] * len(marks[i][2]))
                    reach = marks[i][1]
                i += 1
                following = marks[i][0] if i < len(marks) else len(self.text) + 1
            if start in dead:
                out.inactive.append(text)
            elif start >= reach:
                words.append(text)
                starts.append(start)


_TYPED = ("struct", "using", "typedef")
_MOST_SHARED = "cudaFuncAttributeMaxDynamicSharedMemorySize"
_ENDING = frozenset({";", "{", "}"})
_OPENING = frozenset("{([")
_CLOSING = frozenset("})]")
_BRACED = frozenset({"__launch_bounds__", "__maxnreg__"})


def arithmetic(words: Sequence[str], calls: frozenset[str], loose: bool = False) -> bool:
    """Return whether tokens are an expression that can only compute.

    Numbers, names, operators, and calls of `calls` (which may also hold signs that are allowed).
    With `loose` any plain call is let through, to be compared with the original's later.
    """
    before = ""
    own = declared(words)
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        if word[0].isalpha() or word[0] == "_" or word[0] == "$":
            if word in _NEVER and word not in calls:
                return False
            known = word in calls or before == "dim3" or (before == "," and word in own)
            if following == "(" and not known and not loose:
                return False
        elif not (word[0].isdigit() or (word[0] == "." and word[1:2].isdigit())):
            if word not in _SIGNS and word not in calls and word != ";":
                return False
            if word == "[" and not (before[:1].isalpha() or before[:1] == "_" or before == "]"):
                return False
            if word == "{" and not (before[:1].isalpha() or before in ("=", ">")):
                return False
        before = word
    return True


def called(words: Sequence[str]) -> Counter[str]:
    """Count the names in front of an opening parenthesis."""
    return Counter(a for a, b in pairwise(words) if b == "(" and a.isidentifier())


def declared(words: Sequence[str]) -> frozenset[str]:
    """Return the names that `dim3 a(1), b(2);` declares, with their arguments in brackets.

    >>> sorted(declared("dim3 a ( f ( 1 ) , 2 ) , b ( 2 ) ;".split()))
    ['a', 'b']
    """
    found: set[str] = set()
    depth = 0
    if "dim3" not in words[:2]:
        return frozenset()
    for one, two in pairwise(words):
        depth += (one in _OPENING) - (one in _CLOSING)
        if depth == 0 and one in ("dim3", ",") and two.isidentifier():
            found.add(two)
    return frozenset(found)
