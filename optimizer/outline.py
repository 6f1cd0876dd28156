"""A CUDA file split into what an optimizer may touch and what has to stay: its outline.

The outline is the token sequence left when these are taken out or put as a mark:

* `__global__` functions keep their head (without const, `__restrict__`, launch bounds and cluster
  sizes) and lose their body; `__device__` functions, `__constant__`/`__device__`/`__shared__`
  variables, macros and numeric constants vanish and are listed by name;
* of a candidate's, types that hold nothing but data and are not the original's vanish, listed by
  name (`optimizer.plain_types`), with bases and specialised templates of its own; so do functions
  that a compiler runs to compute constants (`optimizer.compile_time`);
* a launch keeps its stream and arguments; grid, block and shared size become one mark, and the
  callee is known by its parameter types only;
* locals of host functions that only launch geometry uses vanish.

Everything is checked on tokens before it is taken out; what is not certain stays in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from optimizer.affine import INTEGERS
from optimizer.compile_time import (
    HEADERS_OWN,
    class_around,
    computing,
    computing_members,
    evaluated,
    for_both,
    numbers_only,
)
from optimizer.directives import replacement
from optimizer.functions import Function
from optimizer.hidden_calls import hidden_call
from optimizer.masking import closing
from optimizer.outline_launches import take_launches
from optimizer.outline_text import Marked, Outline, Piece
from optimizer.outline_words import (
    CALLS,
    NEVER,
    arithmetic,
    called,
    numbers_first,
    takes_address,
    template_calls,
)
from optimizer.plain_types import PlainType, plain_types
from optimizer.source import Source
from optimizer.syntax import Span, field, span, walk
from optimizer.tokens import Token, code_tokens
from optimizer.toolkit import OPENED_WITH_CARE, shortenings

__all__ = ["Outline", "Piece", "arithmetic", "called", "outline", "types_of"]

_LOOSE_HEAD = frozenset({
    "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__forceinline__", "__noinline__",
    "__inline__", "__restrict__", "__restrict", "restrict", "__grid_constant__",
})  # fmt: skip
_ARITHMETIC = INTEGERS | {"float", "double", "bool", "half"}
_TYPED = ("struct", "class", "using", "typedef", "union", "enum", "static_assert")
_BOTH = ("const", "__host__")  # words of functions that are not for a device alone
_INTERNAL = frozenset({"static", "inline", "__inline__", "__forceinline__"})
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


class _Outliner(Marked):
    _runs: frozenset[str] = frozenset()  # functions that a compiler runs, by name
    _own: frozenset[str] = frozenset()  # plain types that the original lacks

    def run(self) -> Outline:
        self._functions()
        self._prototypes()
        self._members()
        self._computing()
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
        """Leave out namespaces of a candidate's that hold nothing but what was taken out.

        A name that is a macro, or may be one of a header's, could open anybody's.
        """
        words, starts = self.found.tokens, self.found.starts
        if "namespace" not in words:
            return
        original = self.original
        theirs = {*HEADERS_OWN, *(original.tokens if original is not None else ())} - {"{"}
        theirs |= {m.name for m in self.source.macros}
        at = 0
        while at < len(words):
            length = 3 if words[at + 1 : at + 2] == ["{"] else 4
            behind = words[at + length - 2 : at + length] == ["{", "}"]
            name = words[at + 1] if behind else ""
            own = name not in theirs and not name.startswith("_") and not name.isupper()
            if words[at] == "namespace" and behind and own:
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
            where = self._with_friend(f.span)
            if not self.sound(where, span(f.body)):
                continue
            self.found.bodies.append(span(f.body))
            if f.is_kernel:
                self._kernel(f)
            else:
                self.found.device.append(self.piece(f.name, where))
                self.take(where)

    def _with_friend(self, where: Span) -> Span:
        """Return a function's span with the word that makes it a friend of the class around it."""
        at = self.index.get(where[0], 0)
        friend = at > 0 and self.live[at - 1].text == "friend"
        return (self.live[at - 1].start, where[1]) if friend else where

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
        del found[: numbers_first([t.text for t in found])]
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
            declarators = node.children_by_field_name("declarator")
            declared = any(n.type == "function_declarator" for d in declarators for n in walk(d))
            if not declared or "__host__" in words or node.has_error:
                continue
            if "__global__" in words:
                self.take(where, f"HEAD({' '.join(self._head(where))})")
            elif "__device__" in words and [d.type != "init_declarator" for d in declarators] == [
                True
            ]:
                self.found.declared.append(self.piece(self._called(declarators[0]), where))
                self.take(where)

    def _called(self, declarator: Node) -> str:
        """Return the name of the function that is declared."""
        found = next(iter(walk(declarator, "function_declarator")), declarator)
        named = field(found, "declarator")
        words = [t.text for t in self.source.syntax.code_in(span(named or found))]
        if "operator" in words:
            return "".join(words[words.index("operator") :])
        plain = words[: words.index("<")] if "<" in words[1:] else words
        return next((word for word in reversed(plain) if word.isidentifier()), "")

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

    def _members(self) -> None:
        """Take out what only computes of a candidate's own classes, for device and host alike."""
        if self.original is None or not any(word in self.text for word in _BOTH):
            return
        known = set(self.original.tokens)
        found = [
            f
            for f in self.source.functions
            if for_both(self.source, f)
            and class_around(self.source, f) not in {"", *known}
            and not self.taken(f.span[0])
            and self.sound(f.span, span(f.body))
        ]
        if not found:
            return
        plain, own, fixed = self._plain_names()
        for f in computing_members(self.source, found, plain, own, fixed):
            self.found.members.append(self.piece(f.name, f.span))
            self.take(f.span)

    def _plain_names(self) -> tuple[set[str], set[str], set[str]]:
        """Return plain types, those of them that are nobody else's, and what is never written."""
        plain, own = set[str](), set[str]()
        fixed = {c.name for c in self.source.constants} | set(self._fixed())
        for one, where in self._plain_types():
            if one.declared or one.special:
                continue  # it may be of a header's
            names, words = one.names, self.piece("", where).tokens
            opened = words.index("{") if "{" in words else len(words)
            named = {"using", "typedef"} & set(words[:opened])  # of a type of the host's, it may be
            types = {name for name in names if name in words[:opened]}
            fixed.update(set(names) - types)  # what an enumeration counts
            plain |= types
            own |= types if not named or numbers_only(words) else set()
        return plain, own, fixed

    def _computing(self) -> None:
        """Take out the functions of a candidate's that only compute, for a compiler or a device."""
        if self.original is None or not any(word in self.text for word in _BOTH):
            return
        found = [f for f in self.source.functions if evaluated(self.source, f)]
        both = [
            f
            for f in self.source.functions
            if for_both(self.source, f) and self._internal(f) and f not in found
        ]
        if not found and not both:
            return
        known = set(self.original.tokens)
        plain, own, fixed = self._plain_names()
        self._own = frozenset(own - known)
        reach = self._last_include()
        run = computing(self.source, found, plain, self._own, fixed)
        # Those that a compiler runs call none that it could not: a program would have to.
        more = computing(self.source, [*found, *both], plain, self._own, fixed) if both else []
        for f in [*run, *(f for f in more if f not in run)]:
            at = self.index.get(f.span[0])
            spaces = self.spaces(at) if at is not None else None
            taken = self.taken(f.span[0])  # a device function
            if at is None or spaces is None or f.name in known or f.span[0] < reach:
                continue
            if not taken and (
                not self.sound(f.span, span(f.body))
                or (at and self.live[at - 1].text not in (";", "}", "{"))
            ):
                continue
            if f in run:
                self._runs |= {f.name}
            if not taken:
                self.found.computing.append((self.piece(f.name, f.span), spaces))
                self.take(f.span)

    def _internal(self, f: Function) -> bool:
        """Tell whether a function is of this file alone, or in a program only where one calls it.

        One that is seen everywhere would be taken for that of a library by the same name.
        """
        head = {t.text for t in self.source.syntax.code_in((f.span[0], f.body.start_byte))}
        at = self.index.get(f.span[0])
        scope = self.scope(at) if at is not None else None
        return not head.isdisjoint(_INTERNAL) or (scope is not None and "" in scope)

    def _fixed(self) -> Iterator[str]:
        """Yield names of the file that nothing can be written to."""
        for node in self._file_level("declaration"):
            words = [t.text for t in self.source.syntax.code_in(self._whole(node))]
            head = words[: words.index("=")] if "=" in words else words
            if {"const", "constexpr"} & set(head) and not {"*", "&", "volatile"} & set(head):
                yield from self._declared_names(node)

    def _last_include(self) -> int:
        """Return where the last header comes in, which might meet what stands before it."""
        directives = self.source.syntax.masked.directives
        return max((d.start for d in directives if d.word == "include"), default=-1)

    def _plain_types(self) -> Iterator[tuple[PlainType, Span]]:
        """Yield the plain types with their spans."""
        numbers = {m.name for m in self.source.macros if m.parameters is None and m.body.isdigit()}
        macros = {m.name for m in self.source.macros} - numbers
        # Without their functions for the device, which nothing on the host can call.
        data = [t for t in self.live if not self.taken(t.start)] if self.marks else self.live
        for one in plain_types(data, macros):
            yield one, (data[one.first].start, data[one.last].end)

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
            self.found.variables.extend(replace(piece, name=n) for n in names)
            self.take(where)

    def _calls(self, words: Sequence[str], strict: bool) -> bool:
        """Return whether an initializer could run code: it calls something or is a lambda."""
        at = min((list(words).index(w) for w in ("=", "{") if w in words), default=len(words))
        tail = list(words)[at + (words[at : at + 1] == ("=",)) :]
        if hidden_call(tail, self.types):
            return True
        for i, word in enumerate(tail):
            if word == "[" and (i == 0 or tail[i - 1] in ("{", "(", ",", "=")):
                return True
            if word == "(" and i and tail[i - 1].isidentifier() and tail[i - 1] not in (
                *CALLS, *self._runs, "make_float4", "make_float2", "make_float3",
            ):  # fmt: skip
                return strict or tail[i - 1] not in self.source.words
        if strict and not set(template_calls(tail)) <= self._runs | {"static_cast"}:
            return True
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
            if node.type == "field_declaration" and "static" not in head:
                continue  # a part of every object, which host code may have
            kind, runs = self.source.plain(field(node, "type")), frozenset[str]()
            if "constexpr" in head:  # so that no program runs them on loading
                runs = self._runs
            if kind not in _ARITHMETIC and not (runs and kind.partition("<")[0] in self._own):
                continue
            names = self._declared_names(node)
            known = CALLS | runs | {"=", "static"}
            if not names or not arithmetic(piece.tokens, known, types=self.types):
                continue
            if not set(template_calls(piece.tokens)) <= runs | {"static_cast"}:
                continue
            if takes_address(piece.tokens):
                continue
            self.found.constants.extend(replace(piece, name=n) for n in names)
            self.take(where)

    def _types(self) -> None:
        """Take out the plain types that the original's outline does not have."""
        if self.original is None or not any(w in self.text for w in _TYPED):
            return
        known = set(self.original.tokens)
        theirs = " ".join(self.original.tokens) if "static_assert" in self.text else ""
        reach = self._last_include()
        # The candidate's own classes by the namespaces around them: a name that is used in the same
        # ones is found there first, so that it is nobody else's.
        defined, declared = set[tuple[str, ...]](), set[tuple[str, ...]]()
        for one, where in list(self._plain_types()):
            if not one.names and " ".join(self.piece("", where).tokens) in theirs:
                continue
            at = self.index[where[0]]
            if known & set(one.names) or where[0] <= reach or self.taken(where[0]):
                continue
            if not self.at_scope(at):
                continue
            scope = self.scope(at)
            mine = [] if scope is None else [(*scope, "", name) for name in one.names]
            if one.base and (scope is None or (*scope, "", one.base) not in defined):
                continue
            if one.special and (not mine or not {*mine} <= defined | declared):
                continue
            self.found.types.extend(self.piece(name, where) for name in one.names)
            if one.special or (one.declared and one.template):
                piece = self.piece(one.names[0], where)
                self.found.special.append((piece, tuple(s for s in scope or () if s)))
            if not one.special and not one.alias:
                (declared if one.declared else defined).update(mine)
            self.take(where)

    def _shortenings(self) -> None:
        """Take out what a candidate adds only to write names of the toolkit shorter."""
        if self.original is None or "namespace" not in self.text:
            return
        words = [t.text for t in self.live]
        pieces = (*self.original.macros, *self.original.geometry)
        known = {*HEADERS_OWN, *self.original.tokens}.union(*(p.tokens for p in pieces))
        theirs = " ".join(self.original.tokens)
        macros = {m.name for m in self.source.macros}
        for first, end in shortenings(words, known):
            if not macros.isdisjoint(words[first:end]):
                continue  # which may stand for another namespace
            where = (self.live[first].start, self.live[end - 1].end)
            if " ".join(words[first:end]) in theirs or not self.at_scope(first):
                continue
            name = "".join(words[first + 2 : end - 1])
            if words[first] == "using" and name in OPENED_WITH_CARE:
                if where[0] < self._last_include():
                    continue
                self.found.opened.append(self.piece(name, where))
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
