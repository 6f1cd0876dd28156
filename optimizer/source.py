"""CUDA text as functions, kernels, launches, loops and accesses; edits by span.

Cookbook for rules
------------------

A rule gets a `Kernel` (the file) and yields whole new texts::

    src = Source(kernel.source)              # cached by text; never raises
    for fn in src.kernels:                   # every __global__ function, as written
        if fn.broken:                        # not fully understood: leave it alone
            continue
        for loop in fn.loops:
            ...
            yield Edit("title", src.replace([(start, end, "new text")]), "rule:hoist", kind="hoist")

Texts and spans. A node is a `tree_sitter.Node` of a masked copy in which comments, directives and
CUDA attributes are blanks. `node.start_byte`/`end_byte` are *character* positions of
`src.text`. Take text with `src.of(node)` (as written) or `src.plain(node)` (no comments, single
blanks; for comparing). Never use `node.text`. `span(node)` gives `(start, end)`.

Editing. `src.replace([(start, end, new), ...])`; `src.insert_before(node, "code;")` and
`src.insert_after(node, "code;")` give such triples with the right indentation;
`src.statement_span(node)` is the span to delete with a statement; `src.fresh_name("acc")` is a
name not in the file; `src.indent(node)`. Everything else stays byte for byte; CRLF is kept. A
statement without braces (`if (x) y;`): see `src.in_block(node)` before you insert beside it.

Unknown is None. `fn.affine(node)`, `loop.trips`, `access.index`, `access.thread_stride()`,
`launch.block` are None (or `extent.value` is) when not understood: decline. Before you move code
check `fn.unknown_names` (maybe macros), `fn.unknown_calls`, `fn.conditional` (`#if` inside),
`fn.has_asm`, `fn.has_goto`.

Questions, answered::

    launches of a kernel?            src.launches_of(fn.name); src.only_launched(fn.name) tells
                                     that nothing else mentions it (no function pointer, no
                                     cudaFuncSetAttribute, no cudaLaunchKernel)
    block of a launch?               launch.block[0].value, launch.threads (None: unknown)
    where is its 256 written?        launch.block[0].literal (span), .defined (names on the way)
    parameter types?                 fn.parameter("x").element, .is_pointer, .const, .restrict
    what is i?                       fn.thread_ids -> ThreadId(variable, "x", "blockDim.x");
                                     fn.shifted_ids with `+ 1`, fn.flat_ids of a plane of blocks
    guard?                           fn.guards -> Guard.bounds [("i", "<", node_of_n)], .exits
    unit stride in threadIdx.x?      access.thread_stride("x") == 1
    stride in the loop?              access.loop_stride(loop) -> Polynomial; .constant == 1
    index of any expression?         fn.affine(node), .coefficient("k"), .terms, .symbols
    loop facts?                      loop.counted, .name, .start, .bound, .relation, .step, .trips
                                     .leaves_early, .depth, .parent (node of the loop around)
    loops around a node?             fn.loops_around(node) outermost first
    arrays touched?                  fn.accesses: .root .kind .space .index .loops .statement
    shared memory?                   fn.shared -> Variable(name, element, extents, ...)
    local arrays?                    fn.local_arrays
    variable of an identifier?       fn.variables.of(node); by name: fn.variable("acc", at=node)
    who uses it?                     variable.uses -> Use(node, role, place); roles are listed in
                                     `optimizer.variables`; variable.changes, .settled
    what may a node change?          fn.writes(node), fn.reads(node) (names); fn.is_pure(expr)
    same in each iteration?          fn.is_invariant(expr, loop)
    alias?                           fn.may_alias(variable, variable)
    break/return inside?             fn.leaves(node)
    same for the whole block?        fn.uniform(expr); fn.divergent(node)
    barriers, shuffles, atomics?     fn.barriers, fn.warp_calls, fn.atomics, fn.calls_of("powf")
    type of an expression?           fn.type_of(node) -> "float"; None if unsure
    a constant?                      src.constant("TILE") -> 16; src.constants; src.value("2*TILE")
    statement of a node?             fn.statement(node)
    device functions called?         src.function("helper")

Traps. `loop.counted` holds for `while (i < n) { ...; i += s; }`, too (`loop.kind` is "while"; then
the update is the last statement of the body). A polynomial names a changed variable with a mark
(`i'1`): equal marks are equal values within one iteration, others may differ. `access.index` of a
`cast` counts elements of the cast type. `fn.accesses` sees direct uses only: what a device function
does with a pointer it is passed shows as a `Use` with role `pass`. Of `#if` groups you see one
branch. Macros that look like loops (`FOR_EACH(i, n) { ... }`) leave their variable in
`fn.unknown_names`; the policy shows rules a text with such macros written out and thread numbers
written plainly, and takes back what an edit left alone (`optimizer.written_out`).

A finding's `subject` is a kernel name: `src.function(finding.subject)`.
"""

from __future__ import annotations

import os
import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from itertools import pairwise, repeat
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import cast

from tree_sitter import Node

from optimizer import declared, spans
from optimizer.definitions import declarations_of, signatures
from optimizer.directives import Macro
from optimizer.functions import Function
from optimizer.intrinsics import is_pure
from optimizer.launch_macros import LaunchMacro, launch_macros
from optimizer.launches import Constant, Launch, Launches, constants, mentions
from optimizer.passing import CHANGING, Passing
from optimizer.shared_facts import shared_facts
from optimizer.syntax import Span, Syntax, field, span, walk
from optimizer.tokens import Token, code_tokens, evaluate

_KEPT = 16  # about 1 MB each with everything made; four times as many spare a search nothing
_LINKS = 8  # typedefs of typedefs
HEADER_WORDS = "/* words of headers:"  # how a comment begins that stands for what headers define
_lock = Lock()
_sources: OrderedDict[str, Source] = OrderedDict()


class Source:
    """A CUDA file, parsed when first asked and remembered by its text. Immutable; never raises."""

    text: str
    syntax: Syntax

    def __new__(cls, text: str) -> Source:  # noqa: PYI034  one class, no subclasses
        """Return the source of a text, the same object for the same text while it is cached."""
        with _lock:
            found = _sources.get(text)
            if found is None:
                found = super().__new__(cls)
                found.text = text
                found.syntax = Syntax(text)
                _sources[text] = found
                if len(_sources) > _KEPT:
                    _sources.popitem(last=False)[1].syntax.forget()
            else:
                _sources.move_to_end(text)
            return found

    def __repr__(self) -> str:
        return f"<Source of {len(self.text)} characters>"

    # -- definitions -----------------------------------------------------------------------------

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Return every function definition in order, methods included."""
        found = signatures(self.syntax)
        return tuple(map(Function, repeat(self), found, shared_facts(self.syntax, found)))

    @cached_property
    def kernels(self) -> tuple[Function, ...]:
        """Return the `__global__` functions."""
        return tuple(f for f in self.functions if f.is_kernel)

    @property
    def device_functions(self) -> tuple[Function, ...]:
        """Return the functions that the device can call, `__host__ __device__` included."""
        return tuple(f for f in self.functions if "__device__" in f.qualifiers)

    @property
    def host_functions(self) -> tuple[Function, ...]:
        """Return the functions that only the host runs."""
        return tuple(
            f for f in self.functions if not f.is_kernel and "__device__" not in f.qualifiers
        )

    def function(self, name: str) -> Function | None:
        """Return the function of a name, a kernel before others; None when there is none.

        Template arguments and namespaces in the name are ignored.
        """
        plain = name.partition("<")[0].rpartition("::")[2].strip()
        found = self._functions_by_name.get(plain, [])
        return next((f for f in found if f.is_kernel), found[0] if found else None)

    @cached_property
    def _functions_by_name(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for f in self.functions:
            found.setdefault(f.name, []).append(f)
        return found

    @property
    def has_main(self) -> bool:
        """Return whether it is a whole program."""
        found = any(f.name == "main" and not f.namespace for f in self.functions)
        return found or _TRIES.search(self.syntax.masked.text) is not None

    # -- launches --------------------------------------------------------------------------------

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Return every `<<<...>>>` launch in order, those that macros write behind the others."""
        found: list[Launch] = []
        for f in self.functions:
            text = self.text[f.span[0] : f.span[1]]
            written = any(name in text for name in self.launch_macros)
            if not f.is_kernel and (written or _LAUNCH.search(text)):
                find = partial(self._launches_in, f)
                # What is called on the device may be passed the host's numbers.
                found.extend(find() if "__device__" in f.qualifiers else f.kept("launches", find))
        return tuple(found)

    def _launches_in(self, f: Function) -> tuple[Launch, ...]:
        return tuple(self._finder(f).find())

    @cached_property
    def launch_macros(self) -> dict[str, LaunchMacro]:
        """Return the macros that are launches, by name."""
        return launch_macros(self.macros_in_force)

    def _finder(self, f: Function) -> Launches:
        return Launches(
            self.syntax,
            self.constant_of,
            f.name,
            f.variables,
            f.body,
            self.always_passed,
            self._shape_functions,
            self.launch_macros,
        )

    @cached_property
    def _shape_functions(self) -> frozenset[str]:
        """Return the functions of the file that return a dim3."""
        return frozenset(f.name for f in self.functions if f.signature.returns == "dim3")

    def always_passed(self, function: str, parameter: str) -> int | None:
        """Return the number that every call of a function passes for a parameter, or None.

        None unless all calls are seen: in a whole program or for a static function, whose name
        occurs in nothing but its definition, declarations and calls.
        """
        key = (function, parameter)
        if key not in self._always:
            self._always[key] = None  # what asks for itself is not known
            self._always[key] = self._passed(function, parameter)
        return self._always[key]

    @cached_property
    def _always(self) -> dict[tuple[str, str], int | None]:
        return {}

    def _passed(self, function: str, parameter: str) -> int | None:
        found = self._functions_by_name.get(function, [])
        if len(found) != 1 or not (self.has_main or "static" in found[0].qualifiers):
            return None
        names = [p.name for p in found[0].parameters]
        if names.count(parameter) != 1 or found[0].namespace or found[0].templates:
            return None
        at = names.index(parameter)
        named = {found[0].signature.name_span}
        named |= {span(n) for n in declarations_of(self.syntax, function)}
        values: set[int | None] = set()
        for caller in self.functions:
            if function not in self.of(caller.body):
                continue
            finder = self._finder(caller)
            for call in caller.calls_of(function):
                callee = field(call.node, "function")
                if callee is None or len(call.arguments) != len(names) or caller is found[0]:
                    return None
                named.add(span(callee))
                given = call.arguments[at]
                values.add(finder.value(self.of(given), given))
        if len(values) != 1 or any(w not in named for w in mentions(self.syntax, function)):
            return None
        return values.pop()

    def launches_of(self, kernel: str) -> tuple[Launch, ...]:
        """Return the launches of a kernel by its plain name."""
        return tuple(lc for lc in self.launches if lc.kernel == kernel)

    def only_launched(self, kernel: str) -> bool:
        """Return whether a kernel's name occurs only where it is declared and launched.

        Then `launches_of` lists every use in this file.
        """
        shared = self.syntax.parsed.shared  # for all texts of a shape: no number has a say in it
        key = ("only launched", self.syntax.shape, kernel)
        if key not in shared:
            shared[key] = self._mentioned_nowhere_else(kernel)
        return shared[key] is True

    def _mentioned_nowhere_else(self, kernel: str) -> bool:
        named = {f.signature.name_span for f in self.functions if f.name == kernel}
        named |= {span(n) for n in declarations_of(self.syntax, kernel)}
        launched = [lc.span for lc in self.launches_of(kernel)]
        for f in self.functions:
            if any(name in self.text[f.span[0] : f.span[1]] for name in _ASKING):
                launched += [span(call.node) for call in f.calls_of(*_ASKING)]
        return all(
            at in named or any(a <= at[0] and at[1] <= b for a, b in launched)
            for at in mentions(self.syntax, kernel)
        )

    # -- constants and macros --------------------------------------------------------------------

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """Return the named numbers of the file: macros, const, constexpr, enumerators."""
        return tuple(constants(self.syntax))

    @cached_property
    def _by_name(self) -> dict[str, list[Constant]]:
        found: dict[str, list[Constant]] = {}
        for constant in self.constants:
            found.setdefault(constant.name, []).append(constant)
        return found

    def constant_of(self, name: str) -> Constant | None:
        """Return a constant by name; None when there is none or more than one."""
        found = self._by_name.get(name, [])
        return found[0] if len(found) == 1 else None

    def constant(self, name: str) -> int | None:
        """Return the number a constant of the file stands for, or None."""
        found = self.constant_of(name)
        return found.value if found is not None else None

    def value(self, expression: str) -> int | None:
        """Evaluate an integer expression over the constants of the file."""
        return evaluate(expression, self.constant)

    @property
    def macros(self) -> tuple[Macro, ...]:
        """Return every `#define`, those in branches that are off included (`active` False)."""
        return self.syntax.masked.macros

    @cached_property
    def _defined(self) -> frozenset[str]:
        names = {m.name for m in self.macros} | {f.name for f in self.functions}
        names |= {c.name for c in self.constants} | set(self.spaces) | set(self.aliases)
        return frozenset(names)

    def known(self, name: str) -> bool:
        """Return whether the file defines a name."""
        return name in self._defined

    def by_reference(self, name: str, index: int) -> bool:
        """Return whether a call may change the plain variable passed as argument `index`.

        False only when that is seen: CUDA's own functions, functions of the file that take it by
        value or const reference, macros without assignments.
        """
        return self.passing(name, index)

    @cached_property
    def passing(self) -> Passing:
        """Return what answers `by_reference`, without the file."""
        return Passing((f.signature for f in self.functions), self.macros)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Return the types that typedef, using and macros name: `index_t` to `int`."""
        return declared.aliases(self.syntax, self.macros_in_force.values())

    def resolved(self, kind: str) -> str:
        """Return the type behind typedefs and type macros of the file."""
        for _ in range(_LINKS):
            kind = self.aliases.get(kind, kind)
        return kind

    @cached_property
    def members(self) -> dict[str, dict[str, str]]:
        """Return the types of the members of each struct, by their names, with stars behind.

        Typedefs and type macros are resolved; arrays and bit fields are left out.
        """
        return declared.members(self.syntax, self.resolved)

    def returned(self, name: str) -> str | None:
        """Return the arithmetic type that a function of the file returns, else None.

        None also for templates and where functions of that name return different types.
        """
        kinds = {
            "" if f.templates else self.resolved(f.signature.returns)
            for f in self.functions
            if f.name == name
            and (named := field(f.node, "declarator")) is not None
            and named.type == "function_declarator"
        }
        kind = kinds.pop() if len(kinds) == 1 else ""
        return kind if kind in declared.TYPE_WORDS else None

    @cached_property
    def macros_in_force(self) -> dict[str, Macro]:
        """Return the active macros that are defined just once, by name."""
        counts = Counter(m.name for m in self.macros if m.active)
        return {m.name: m for m in self.macros if m.active and counts[m.name] == 1}

    def macro_bodies(self, fn: Function) -> tuple[str, ...]:
        """Return what the macros stand for that a function, or a function it calls, may use."""
        if not self.macros:
            return ()
        return fn.kept("macro bodies", lambda: self._macro_bodies(fn))

    def _macro_bodies(self, fn: Function) -> tuple[str, ...]:
        table: dict[str, list[str]] = {}
        for macro in self.macros:
            if macro.active:
                table.setdefault(macro.name, []).append(macro.body)
        pending: list[Sequence[Token]] = [self.syntax.code_in(fn.span)]
        seen: set[str] = set()
        found: list[str] = []
        while pending:
            words = {text: None for kind, _, _, text in pending.pop() if kind == "word"}
            for name in words:
                if name in seen or not (name in table or name in self._functions_by_name):
                    continue
                seen.add(name)
                found += table.get(name, ())
                pending += [code_tokens(body) for body in table.get(name, ())]
                for called in self._functions_by_name.get(name, ()):
                    pending.append(self.syntax.code_in(called.span))
        return tuple(found)

    def pure_call(self, name: str) -> bool:
        """Return whether a function or macro of the file only computes from its arguments."""
        plain = name.partition("<")[0].rpartition("::")[2]
        if plain in self._asked:
            return self._asked[plain]
        self._asked[plain] = False
        found = [f for f in self.functions if f.name == plain and not f.signature.namespace]
        found = found or [f for f in self.functions if f.name == plain]
        macro = self.macros_in_force.get(plain)
        if found:
            self._asked[plain] = all(f.pure for f in found)
        elif macro is not None:
            self._asked[plain] = self._pure_macro(macro)
        return self._asked[plain]

    @cached_property
    def _asked(self) -> dict[str, bool]:
        return {}

    def _pure_macro(self, macro: Macro) -> bool:
        words = code_tokens(macro.body)
        if {t.text for t in words} & (CHANGING - {"&"} | {"{", ";", "return", "asm"}):
            return False
        return all(
            is_pure(a.text) or self.pure_call(a.text) or a.text in (macro.parameters or ())
            for a, b in pairwise(words)
            if a.kind == "word" and b.text == "("
        )

    @cached_property
    def spaces(self) -> dict[str, str]:
        """Return the memory space of each module variable: constant, device or host."""
        return declared.spaces(self.syntax)

    # -- includes and trouble --------------------------------------------------------------------

    @property
    def includes(self) -> tuple[str, ...]:
        """Return the files included with quotes, in order."""
        found = (d.rest for d in self.syntax.masked.directives if d.word == "include" and d.active)
        return tuple(r[1 : r.index('"', 1)] for r in found if r.startswith('"') and '"' in r[1:])

    @property
    def angled_includes(self) -> tuple[str, ...]:
        """Return the files included with angle brackets, in order."""
        found = (d.rest for d in self.syntax.masked.directives if d.word == "include" and d.active)
        return tuple(r[1 : r.index(">")] for r in found if r.startswith("<") and ">" in r)

    def resolve_includes(
        self, path: str, root: Path, folders: Sequence[str] = ()
    ) -> dict[str, str]:
        """Return the texts of quoted includes, by path relative to `root`, transitively.

        `path` is this file's, relative to `root`, and so are `folders`, in which headers are looked
        for, too. Files outside of these, missing or unreadable ones are left out.
        """
        found: dict[str, str] = {}
        pending = [(PurePosixPath(path), self)]
        top = root.resolve()
        more = [(root / one).resolve() for one in folders]
        while pending and len(found) < _MANY:
            at, source = pending.pop()
            for name in source.includes:
                for base in (at.parent, PurePosixPath(), *map(PurePosixPath, folders)):
                    file = (root / base / name).resolve()
                    inside = any(file.is_relative_to(one) for one in (top, *more))
                    if not inside or not file.is_file():
                        continue
                    key = PurePosixPath(os.path.relpath(file, top)).as_posix()
                    if key not in found and file.stat().st_size < _BIG:
                        found[key] = file.read_text(encoding="utf-8", errors="replace")
                        pending.append((PurePosixPath(key), Source(found[key])))
                    break
        return found

    @property
    def errors(self) -> tuple[Span, ...]:
        """Return the spans the grammar did not understand."""
        root = self.syntax.root
        if not root.has_error:
            return ()
        return tuple(
            span(n)
            for n in walk(root, into=lambda n: n.has_error)
            if n.type == "ERROR" or n.is_missing
        )

    @property
    def inactive(self) -> tuple[Span, ...]:
        """Return the spans that `#if` turns off, as far as this file tells."""
        return self.syntax.masked.inactive

    # -- text and edits --------------------------------------------------------------------------

    def of(self, node: Node | None) -> str:
        """Return the text of a node as written."""
        return self.syntax.of(node)

    def plain(self, node: Node | None) -> str:
        """Return the text of a node without comments and with single blanks."""
        return self.syntax.plain(node)

    def line(self, at: Node | int) -> int:
        """Return the line of a node or position, from 1."""
        return self.syntax.line(at)

    def replace(self, edits: Iterable[spans.Replacement]) -> str:
        """Return the text with spans replaced; see `optimizer.spans.replace`."""
        return spans.replace(self.text, edits)

    def insert_before(self, at: Node | int, code: str) -> spans.Replacement:
        """Return the edit that puts lines of code in front of a statement, its `__shared__` too."""
        return spans.insert_before(self.text, at if isinstance(at, int) else self._begin(at), code)

    def _begin(self, node: Node) -> int:
        """Return where a statement begins, CUDA words in front of it included."""
        before = node.prev_sibling
        low = before.end_byte if before is not None else node.start_byte
        found = self.syntax.masked.attributes_in(low, node.start_byte)
        return next((a.start for a in found), node.start_byte)

    def insert_after(self, at: Node | int, code: str) -> spans.Replacement:
        """Return the edit that puts lines of code behind a statement."""
        return spans.insert_after(self.text, at if isinstance(at, int) else at.end_byte, code)

    def indent(self, at: Node | int) -> str:
        """Return the indentation of the line of a node."""
        return spans.indentation(self.text, at if isinstance(at, int) else at.start_byte)

    def statement_span(self, node: Node) -> Span:
        """Return what to delete with a statement: its whole lines when it has them alone."""
        low, high = span(node)
        pure = not self.text[spans.line_start(self.text, low) : low].strip()
        behind = self.text[high : spans.line_end(self.text, high)]
        if pure and not behind.strip():
            return spans.line_start(self.text, low), spans.line_end(self.text, high)
        return low, high

    def in_block(self, node: Node) -> bool:
        """Return whether a statement stands between braces, so that others may stand beside it."""
        parent = node.parent
        return parent is not None and parent.type in (
            "compound_statement", "translation_unit", "declaration_list",
        )  # fmt: skip

    @cached_property
    def words(self) -> frozenset[str]:
        """Return every word of the file, those in comments and macros included."""
        shared = self.syntax.parsed.shared  # for all texts of a shape: numbers are no words
        key = ("words", self.syntax.shape)
        if key not in shared:
            shared[key] = self._words()
        return cast("frozenset[str]", shared[key])

    @cached_property
    def code_words(self) -> frozenset[str]:
        """Return every word of the file but those that comments and strings alone have.

        What a comment says of headers (`HEADER_WORDS`) counts.
        """
        found: set[str] = set()
        for t in self.syntax.masked.tokens:
            if t.kind == "word":
                found.add(t.text)
            elif t.kind == "directive" or t.text.startswith(HEADER_WORDS):
                found.update(i.text for i in code_tokens(t.text[1:]) if i.kind == "word")
        return frozenset(found)

    def _words(self) -> frozenset[str]:
        found = {t.text for t in self.syntax.masked.tokens if t.kind == "word"}
        for t in self.syntax.masked.tokens:
            if t.kind in ("directive", "comment", "string"):
                found.update(i.text for i in code_tokens(t.text.lstrip('#/*"')) if i.kind == "word")
                found.update(i.text for i in code_tokens(t.text[1:]) if i.kind == "word")
        return frozenset(found)

    def fresh_name(self, base: str, *taken: str) -> str:
        """Return `base`, or `base2`, `base3` ...: a name that occurs nowhere in the file."""
        name, n = base, 1
        while name in self.words or name in taken:
            n += 1
            name = f"{base}{n}"
        return name


# Calls that only ask something of a kernel.
_ASKING = (
    "cudaOccupancyMaxPotentialBlockSize", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaFuncGetAttributes",
)  # fmt: skip
# A main() whose body is a try block, which is no function to the grammar.
_TRIES = re.compile(r"\bmain\s*\([^;{}()]*\)\s*try\b")
_LAUNCH = re.compile(r"<\s*<\s*<")
_MANY = 200
_BIG = 1 << 20
