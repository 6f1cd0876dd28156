"""A function of a file with everything rules ask about it, made when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from tree_sitter import Node

from optimizer import effects, threads
from optimizer.accesses import Access, accesses, changed_names
from optimizer.affine import BUILTINS, Expander
from optimizer.definitions import Parameter, Signature, TemplateParameter
from optimizer.directives import Macro
from optimizer.expression_types import ExpressionTypes
from optimizer.intrinsics import ATOMICS, BARRIERS, WARP, is_pure
from optimizer.loops import Loop, loops
from optimizer.polynomials import Polynomial
from optimizer.shared_facts import shared_variables
from optimizer.surroundings import File
from optimizer.syntax import (
    Span,
    contains,
    field,
    operator,
    statement,
)
from optimizer.threads import Guard, ThreadId
from optimizer.tokens import code_tokens, integer
from optimizer.variables import Variable, Variables

__all__ = ["Call", "Function", "Guard", "ThreadId"]
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Call:
    """A call: the function's name with template arguments cut off, its argument nodes."""

    name: str
    node: Node
    arguments: tuple[Node, ...]
    line: int


class Function:
    """A function definition. See the cookbook in `optimizer.source`.

    What is made when first asked for is kept in `facts`, which functions of other texts may share
    (`optimizer.shared_facts`).
    """

    __slots__ = ("__dict__", "__weakref__", "body", "file", "name", "node", "signature", "span")

    def __init__(
        self, file: File, signature: Signature, facts: dict[str, object] | None = None
    ) -> None:
        if facts is not None:
            self.__dict__ = facts
        self.file = file
        self.signature = signature
        self.name = signature.name
        self.node = signature.node
        self.body = signature.body
        self.span = signature.span

    def __repr__(self) -> str:
        return f"<Function {self.name}>"

    def kept(self, name: str, make: Callable[[], Kept]) -> Kept:
        """Return what is made once for this function, wherever its facts are shared.

        It may depend on the file as far as facts do (`optimizer.shared_facts`): in device code not
        on numbers of launch bounds, `#pragma unroll` and host functions, nor on such text.
        """
        key = f"kept: {name}"
        if key not in self.__dict__:
            self.__dict__[key] = make()
        return cast("Kept", self.__dict__[key])

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters in order."""
        return self.signature.parameters

    @property
    def templates(self) -> tuple[TemplateParameter, ...]:
        """Return the template parameters in order."""
        return self.signature.templates

    @property
    def qualifiers(self) -> frozenset[str]:
        """Return `__global__`, `__device__`, `static`, `extern "C"` ... as written."""
        return self.signature.qualifiers

    @property
    def is_kernel(self) -> bool:
        """Return whether it is `__global__`."""
        return self.signature.is_kernel

    @property
    def launch_bounds(self) -> tuple[str, ...] | None:
        """Return the arguments of `__launch_bounds__` as text, or None."""
        return self.signature.bounds

    @property
    def namespace(self) -> tuple[str, ...]:
        """Return the names of the namespaces and classes around it."""
        return self.signature.namespace

    @property
    def line(self) -> int:
        """Return its line."""
        return self.file.syntax.line(self.signature.name_span[0])

    def parameter(self, name: str) -> Parameter | None:
        """Return a parameter by name."""
        return next((p for p in self.parameters if p.name == name), None)

    @cached_property
    def pure(self) -> bool:
        """Return whether a call only computes a value from its arguments and constants.

        No memory but its own locals is written, nothing is written through parameters, no module
        variable but constants is read, and it calls only such functions.
        """
        if self.is_kernel or self.broken or self.conditional or self.has_asm or self.unknown_names:
            return False
        if any(p.reference and not p.const for p in self.parameters):
            return False
        if self.barriers or self.warp_calls or self.atomics or self.unknown_calls or self.shared:
            return False
        if any("static" in v.type.split() for v in self.variables.all):
            return False
        for use in (*self.variables.free, *(u for v in self.variables.all for u in v.uses)):
            variable = use.variable
            if variable is None:
                space = self.file.spaces.get(use.name, "constant")
                numbers = self.file.constant(use.name) is not None
                if use.writes or (space != "constant" and not numbers):
                    return False
            elif use.role == "load" and variable.is_pointer:  # noqa: SIM114  two reasons
                return False
            elif use.writes and use.role not in ("write", "update") and not variable.is_array:
                return False
        return True

    # -- is it safe to look at? ------------------------------------------------------------------

    @cached_property
    def broken(self) -> bool:
        """Return whether the grammar did not understand a part of the body; rules then decline."""
        return self.body.has_error or self.variables.misread

    @cached_property
    def conditional(self) -> bool:
        """Return whether `#if` groups cut into it, so that we see one variant of several."""
        low, high = self.span
        return any(
            low <= d.start < high and d.word.startswith(("if", "el"))
            for d in self.file.syntax.masked.directives
        )

    @cached_property
    def unknown_names(self) -> frozenset[str]:
        """Return names in the body that neither the file nor CUDA is known to define.

        They may be macros of a header that hide anything: a return, a barrier, a write.
        """
        return frozenset(self.unknown_in(self.body))

    def unknown_in(self, node: Node) -> set[str]:
        """Return the unknown names used in a node."""
        found: set[str] = set()
        for use in self.variables.within(node):
            if use.variable is not None or use.name in BUILTINS or use.name in _KNOWN:
                continue
            macro = self.file.macros_in_force.get(use.name)
            if macro is not None and not self._open(macro):
                found.add(use.name)
                continue
            if self.file.known(use.name) or any(t.name == use.name for t in self.templates):
                continue
            parent = use.node.parent
            called = parent is not None and parent.type == "call_expression"
            if called and (is_pure(use.name) or use.name.startswith("__") or _cuda(use.name)):
                continue
            if parent is not None and parent.type in ("qualified_identifier", "template_function"):
                continue
            found.add(use.name)
        return found

    def _open(self, macro: Macro) -> bool:
        """Return whether a macro is an expression over its parameters and names of the file.

        Others may hide statements or uses of locals, which we do not see at the call. Numbers
        passed to the kernel that never change do no harm.
        """
        words = code_tokens(macro.body)
        if any(t.text in ("{", "}", ";", "=", "return", "asm", "#", "##") for t in words):
            return False
        inside = {t.text for t in words if t.kind == "word"} - set(macro.parameters or ())
        used = [v for v in self.variables.all if v.name in inside]
        return all(v.space == "parameter" and v.is_scalar and v.settled for v in used)

    # -- variables -------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> Variables:
        """Return all variables and their uses."""
        return shared_variables(
            self.file.syntax, self.signature, self.file.passing, self.file.aliases
        )

    def variable(self, name: str, at: Node | None = None) -> Variable | None:
        """Return the variable a name means at a node (or anywhere when it is the only one)."""
        return self.variables.named(name, at)

    @cached_property
    def shared(self) -> tuple[Variable, ...]:
        """Return the `__shared__` variables; a dynamic one has extents `("",)`."""
        return tuple(v for v in self.variables.all if v.space == "shared")

    @cached_property
    def local_arrays(self) -> tuple[Variable, ...]:
        """Return the arrays in registers or local memory."""
        return tuple(v for v in self.variables.all if v.space == "local" and v.is_array)

    # -- structure -------------------------------------------------------------------------------

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Return every loop, outer before inner."""
        return tuple(loops(self.file.syntax, self.variables, self.expander, self.body))

    def loops_around(self, node: Node) -> tuple[Loop, ...]:
        """Return the loops whose body holds a node, outermost first."""
        return tuple(lp for lp in self.loops if contains(lp.body, node))

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """Return every array element that is read or written, in order."""
        return tuple(
            accesses(
                self.file.syntax,
                self.variables,
                self.expander,
                self.loops,
                self.file.spaces,
                self.file.members,
            )
        )

    def accesses_in(self, node: Node) -> tuple[Access, ...]:
        """Return the accesses within a node."""
        return tuple(a for a in self.accesses if contains(node, a.node))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Return every call, in order."""
        found: list[Call] = []
        syntax = self.file.syntax
        for node in self.variables.nodes("call_expression"):
            name = syntax.plain(field(node, "function")).partition("<")[0]
            listed = field(node, "arguments")
            inner = tuple(
                c
                for c in (listed.named_children if listed is not None else ())
                if c.type != "comment"
            )
            found.append(Call(name, node, inner, syntax.line(node)))
        return tuple(found)

    def calls_of(self, *names: str, within: Node | None = None) -> tuple[Call, ...]:
        """Return the calls of some functions."""
        return tuple(
            c
            for c in self.calls
            if c.name in names and (within is None or contains(within, c.node))
        )

    @cached_property
    def barriers(self) -> tuple[Call, ...]:
        """Return `__syncthreads()` and its kin, cooperative-group `sync()` included."""
        return tuple(
            c
            for c in self.calls
            if c.name in BARRIERS
            or c.name.endswith((".sync", "->sync", "::sync", ".wait", ".arrive_and_wait"))
        )

    @cached_property
    def warp_calls(self) -> tuple[Call, ...]:
        """Return shuffles, votes, `__syncwarp` and the like."""
        return tuple(c for c in self.calls if WARP.match(c.name))

    @cached_property
    def atomics(self) -> tuple[Call, ...]:
        """Return calls of atomic functions."""
        return tuple(c for c in self.calls if c.name in ATOMICS)

    @cached_property
    def unknown_calls(self) -> tuple[Call, ...]:
        """Return calls of functions of which nothing is known; they may do anything.

        Not CUDA's own, casts to template types, or functions and macros of the file that only
        compute from their arguments.
        """
        known = ATOMICS | BARRIERS | {t.name for t in self.templates}
        return tuple(
            c
            for c in self.calls
            if c.name not in known
            and not is_pure(c.name)
            and not self.file.pure_call(c.name)
            and not WARP.match(c.name)
            and not _cuda(c.name)
            and not c.name.startswith(("__ld", "__st", "static_cast", "reinterpret_cast"))
        )

    @cached_property
    def divisions(self) -> tuple[Node, ...]:
        """Return binary `/`, `%` and the assignments `/=`, `%=`."""
        return tuple(
            n
            for n in self.variables.nodes("binary_expression", "assignment_expression")
            if operator(n) in ("/", "%", "/=", "%=")
        )

    @cached_property
    def double_literals(self) -> tuple[Node, ...]:
        """Return floating literals without `f`: double precision unless converted."""
        return tuple(n for n in self.variables.nodes("number_literal") if self._is_double(n))

    def _is_double(self, node: Node) -> bool:
        text = self.file.syntax.of(node).lower()
        if text.startswith("0x") or text[-1:] in ("f", "l"):
            return False
        return integer(text) is None and ("." in text or "e" in text)

    @property
    def has_asm(self) -> bool:
        """Return whether it holds inline assembly."""
        return bool(self.variables.nodes("gnu_asm_expression"))

    @property
    def has_goto(self) -> bool:
        """Return whether it holds goto or labels."""
        return self.variables.jumps

    # -- threads ---------------------------------------------------------------------------------

    @cached_property
    def thread_ids(self) -> tuple[ThreadId, ...]:
        """Return the locals that equal blockIdx.A * block + threadIdx.A."""
        return tuple(t for t in self.shifted_ids if not t.shift.terms)

    @cached_property
    def flat_ids(self) -> tuple[ThreadId, ...]:
        """Return locals that number threads of a plane of blocks in one row, `axis` is x.

        `(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x`.
        """
        return threads.flat_ids(self)

    @cached_property
    def shifted_ids(self) -> tuple[ThreadId, ...]:
        """Return the same, and those to which all threads add the same: `... + threadIdx.x + 1`."""
        return threads.shifted_ids(self)

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        """Return tests at the top level of the body that stop threads outside an extent."""
        return tuple(threads.guards(self))

    # -- values ----------------------------------------------------------------------------------

    @cached_property
    def expander(self) -> Expander:
        """Return what turns expressions of the body into polynomials."""
        return Expander(
            self.file.syntax,
            self.variables,
            self.file.constant,
            self.file.aliases,
            self.file.macros_in_force,
        )

    def affine(self, node: Node | None, fold: bool = False) -> Polynomial | None:
        """Return an integer expression as a polynomial, or None.

        With `fold`, `#define` and constexpr numbers of the file are put in.
        """
        return self.expander.expand(node, fold)

    def type_of(self, node: Node | None) -> str | None:
        """Return the type of an expression in simple cases, without const; else None.

        >>> # `float` for `a[i]` of `const float* a`, `int` for `i + 1`, `double` for `1.0`
        """
        return ExpressionTypes(self.file, self.variables).of(node)

    # -- effects ---------------------------------------------------------------------------------

    def reads(self, node: Node) -> frozenset[str]:
        """Return names of variables whose value, or an element of which, a node may use."""
        return effects.reads(self, node)

    def writes(self, node: Node) -> frozenset[str]:
        """Return names of variables that a node may change, or an element of which it may."""
        return effects.writes(self, node)

    def is_pure(self, node: Node) -> bool:
        """Return whether evaluating an expression changes nothing and calls only CUDA math."""
        return effects.is_pure(self, node)

    def is_invariant(self, node: Node, loop: Loop | Node) -> bool:
        """Return whether an expression has the same value in every iteration of a loop.

        It must be pure, use no variable the loop changes, and read no array that the loop may
        write, also through another pointer.
        """
        return effects.is_invariant(self, node, loop)

    def may_alias(self, one: Variable, other: Variable) -> bool:
        """Return whether two arrays or pointers may share memory.

        Arrays are apart from everything else; a `__restrict__` parameter is apart from other
        parameters; pointers to different arithmetic types are apart by the language's rules
        (not char). A local pointer may point anywhere its sources do.
        """
        return effects.may_alias(self, one, other)

    def leaves(self, node: Node) -> bool:
        """Return whether a node holds return, goto, or a break/continue of a loop around it."""
        if node not in self._leaving:
            self._leaving[node] = effects.leaves(node)
        return self._leaving[node]

    @cached_property
    def _leaving(self) -> dict[Node, bool]:
        return {}

    def uniform(self, node: Node) -> bool:
        """Return whether an expression is seen to be equal for all threads of a block.

        Constants, value parameters, blockIdx, blockDim, gridDim and settled locals made of them.
        """
        return effects.uniform(self, node)

    def divergent(self, node: Node) -> bool:
        """Return whether a node stands under a test or loop not seen to be uniform in a block."""
        return effects.divergent(self, node)

    def changed_names(self, loop: Loop) -> frozenset[str]:
        """Return the plain names assigned in a loop."""
        return changed_names(loop)

    def statement(self, node: Node) -> Node | None:
        """Return the statement a node belongs to."""
        return statement(node)

    def text_span(self) -> Span:
        """Return the span of the body between its braces."""
        return (self.body.start_byte + 1, self.body.end_byte - 1)


_KNOWN = frozenset({
    "warpSize", "NULL", "nullptr", "true", "false", "INFINITY", "NAN", "FLT_MAX", "FLT_MIN",
    "INT_MAX", "INT_MIN", "DBL_MAX", "FLT_EPSILON", "M_PI", "UINT_MAX", "CUDART_INF_F", "std",
    "DBL_MIN", "DBL_EPSILON", "LLONG_MAX", "CHAR_BIT", "this", "HUGE_VALF", "HUGE_VAL",
    "static_cast", "reinterpret_cast", "const_cast", "M_PI_2", "M_SQRT2", "M_E", "CUDART_PI_F",
})  # fmt: skip


def _cuda(name: str) -> bool:
    return name in ("printf", "assert", "min", "max", "abs") or name.startswith(
        ("make_", "tex1D", "tex2D", "tex3D", "sincos", "atomic", "std::", "__")
    )
