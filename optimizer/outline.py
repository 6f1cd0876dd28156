"""A CUDA file split into what an optimizer may touch and what has to stay: its outline.

The outline is the token sequence left when these are taken out or put as a mark:

* `__global__` functions keep their head (without const, `__restrict__`, launch bounds and cluster
  sizes) and lose their body; `__device__` functions, `__constant__`/`__device__`/`__shared__`
  variables, macros and numeric constants vanish and are listed by name;
* of a candidate's, types that hold nothing but data and are not the original's vanish, listed by
  name (`optimizer.plain_types`);
* a launch keeps its stream and arguments; grid, block and shared size become one mark, and the
  callee is known by its parameter types only;
* locals of host functions that only launch geometry uses vanish.

Everything is checked on tokens before it is taken out; what is not certain stays in.
"""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from optimizer.affine import INTEGERS
from optimizer.directives import replacement
from optimizer.functions import Function
from optimizer.masking import closing
from optimizer.outline_launches import take_launches
from optimizer.outline_text import Marked, Outline, Piece
from optimizer.outline_words import CALLS, NEVER, arithmetic, called
from optimizer.plain_types import plain_types
from optimizer.source import Source
from optimizer.syntax import Span, field, span, walk
from optimizer.tokens import Token, code_tokens
from optimizer.toolkit import shortenings

__all__ = ["Outline", "Piece", "arithmetic", "called", "outline", "types_of"]

_LOOSE_HEAD = frozenset({
    "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__forceinline__", "__noinline__",
    "__inline__", "__restrict__", "__restrict", "restrict", "__grid_constant__",
})  # fmt: skip
_ARITHMETIC = INTEGERS | {"float", "double", "bool", "half"}
_TYPED = ("struct", "using", "typedef", "union", "enum", "static_assert")
_BRACED = frozenset({"__launch_bounds__", "__maxnreg__", "__cluster_dims__"})


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


def _numbers_first(words: list[str]) -> int:
    """Return the length of `template <int ROWS, bool ODD = true>`; 0 where a type is among them."""
    if words[:2] != ["template", "<"] or ">" not in words:
        return 0
    close = words.index(">")
    found: list[list[str]] = [[]]
    for word in words[2:close]:
        if word == ",":
            found.append([])
        else:
            found[-1].append(word)
    for one in found:
        if len(one) < 2 or one[0] == "=":
            return 0
        *kind, name = one[: one.index("=")] if "=" in one else one
        default = one[one.index("=") + 1 :] if "=" in one else ["0"]
        plain = kind and set(kind) <= INTEGERS | {"bool"} and name.isidentifier()
        if not plain or len(default) != 1 or not default[0].isalnum():
            return 0
    return close + 1


class _Outliner(Marked):
    def run(self) -> Outline:
        self._functions()
        self._prototypes()
        self._variables()
        self._constants()
        self._types()
        self._shortenings()
        take_launches(self)
        self._directives()
        self.emit()
        if self.original is not None:
            self._close_namespaces()
        return self.found

    def _close_namespaces(self) -> None:
        """Leave out namespaces of a candidate's that hold nothing but what was taken out."""
        words, starts = self.found.tokens, self.found.starts
        if "namespace" not in words:
            return
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

    # -- device code -----------------------------------------------------------------------------

    def _functions(self) -> None:
        for f in self.source.functions:
            if "__device__" not in f.qualifiers and not f.is_kernel:
                continue
            if "__host__" in f.qualifiers or "virtual" in f.qualifiers:
                continue
            if not self.sound(f.span, span(f.body)):
                continue
            self.found.bodies.append(span(f.body))
            if f.is_kernel:
                self._kernel(f)
            else:
                self.found.device.append(self.piece(f.name, f.span))
                self.take(f.span)

    def _kernel(self, f: Function) -> None:
        key = (f.name, types_of(f))
        self.found.kernels[key] = self.piece(f.name, f.span)
        if self.original is not None and key not in self.original.kernels:
            self.take(f.span)
            return
        named = frozenset(p.name for p in f.parameters)
        head = " ".join(self._head((f.span[0], f.body.start_byte), named))
        self.take(f.span, f"HEAD({head})")

    def _head(self, where: Span, named: frozenset[str] = frozenset()) -> list[str]:
        """Return the tokens of a kernel's head without what may change in it, such as `named`."""
        found = code_tokens(self.text[where[0] : where[1]])
        del found[: _numbers_first([t.text for t in found])]
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
                self.take(where, f"HEAD({' '.join(self._head(where))})")
            elif "__device__" in words:
                self.take(where)

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
            if not names or at is None or not self.at_scope(at):
                continue
            piece = self.piece(names[0], where)
            if self._calls(piece.tokens, strict="__constant__" not in words):
                continue
            self.found.variables.extend(Piece(n, piece.tokens, piece.line) for n in names)
            self.take(where)

    def _calls(self, words: Sequence[str], strict: bool) -> bool:
        """Return whether an initializer could run code: it calls something or is a lambda."""
        tail = list(words)[list(words).index("=") + 1 :] if "=" in words else []
        for i, word in enumerate(tail):
            if word == "[" and (i == 0 or tail[i - 1] in ("{", "(", ",", "=")):
                return True
            if word == "(" and i and tail[i - 1].isidentifier() and tail[i - 1] not in (
                *CALLS, "make_float4", "make_float2", "make_float3",
            ):  # fmt: skip
                return strict or tail[i - 1] not in self.source.words
        return bool(set(tail) & NEVER)

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
            piece = self.piece("", where)
            head = piece.tokens[: piece.tokens.index("=")] if "=" in piece.tokens else ()
            if not {"const", "constexpr"} & set(head) or {"*", "&", "extern"} & set(head):
                continue
            if self.source.plain(field(node, "type")) not in _ARITHMETIC:
                continue
            names = self._declared_names(node)
            if not names or not arithmetic(piece.tokens, CALLS | {"=", "static"}):
                continue
            self.found.constants.extend(Piece(n, piece.tokens, piece.line) for n in names)
            self.take(where)

    def _types(self) -> None:
        """Take out the plain types that the original's outline does not have."""
        if self.original is None or not any(w in self.text for w in _TYPED):
            return
        numbers = {m.name for m in self.source.macros if m.parameters is None and m.body.isdigit()}
        macros = {m.name for m in self.source.macros} - numbers
        known = set(self.original.tokens)
        theirs = " ".join(self.original.tokens) if "static_assert" in self.text else ""
        directives = self.source.syntax.masked.directives
        # What is included behind a type might meet it.
        reach = max((d.start for d in directives if d.word == "include"), default=-1)
        # Without their functions for the device, which nothing on the host can call.
        data = [t for t in self.live if not self.taken(t.start)] if self.marks else self.live
        for names, first, last in plain_types(data, macros):
            where = (data[first].start, data[last].end)
            if not names and " ".join(t.text for t in data[first : last + 1]) in theirs:
                continue
            if (
                not known & set(names)
                and where[0] > reach
                and not self.taken(where[0])
                and self.at_scope(self.index[where[0]])
            ):
                self.found.types.extend(self.piece(name, where) for name in names)
                self.take(where)

    def _shortenings(self) -> None:
        """Take out what a candidate adds only to write names of the toolkit shorter."""
        if self.original is None or "namespace" not in self.text:
            return
        words = [t.text for t in self.live]
        known = set(self.original.tokens)
        theirs = " ".join(self.original.tokens)
        for first, end in shortenings(words, known):
            where = (self.live[first].start, self.live[end - 1].end)
            if " ".join(words[first:end]) not in theirs and self.at_scope(first):
                self.take(where)

    # -- directives and output -------------------------------------------------------------------

    def _directives(self) -> None:
        for d in self.source.syntax.masked.directives:
            if d.word != "define":
                texts = (d.word, *(t.text for t in code_tokens(d.rest)))
                self.found.directives.append(Piece(d.word, texts, self.source.line(d.start)))
        for m in self.source.macros:
            parameters = ("(", *m.parameters, ")") if m.parameters is not None else ()
            texts = (*parameters, "=", *(t.text for t in replacement(m.body)))
            self.found.macros.append(Piece(m.name, texts, self.source.line(m.start)))
