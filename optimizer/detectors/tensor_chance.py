"""Inner products on the ordinary pipes where tensor cores could do them."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain
from optimizer.functions import Function
from optimizer.model import Finding, Kernel, Severity
from optimizer.syntax import field, operator, stripped, walk

# Operations for each byte of DRAM traffic from which the product has reuse to feed tensor cores; a
# dot product or matrix-vector product has under 1, a product of two 1024² matrices over 200.
REUSE = 8.0
_TENSOR = ("HMMA", "HGMMA", "IMMA", "IGMMA", "DMMA", "QGMMA", "BMMA")


@detector("tensor-chance", Bound.COMPUTE, Bound.MEMORY, Bound.LATENCY)
def tensor_chance(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find multiply-accumulate loops over two arrays without tensor instructions."""
    fused = seen.count("FFMA", "HFMA2", "DFMA")
    if not fused or seen.count(*_TENSOR):
        return
    function = seen.function(kernel)
    if function is None or not has_inner_product(function):
        return
    flops = 2 * (seen.of(counters.FP32_FMA) + seen.of(counters.FP64_FMA))
    flops += 4 * seen.of(counters.FP16_FMA)
    if seen.profiled and flops < REUSE * seen.dram_bytes:
        return
    half = seen.count("HFMA2") > seen.count("FFMA")
    kind = "half" if half else "single" if seen.count("FFMA") else "double"
    expected = gain(0.8 if half else 0.5)
    yield Finding(
        "",
        f"an inner product in {kind} precision uses no tensor cores",
        line=seen.line(kernel),
        severity=Severity.WARNING,
        counters={counters.FP32_FMA: seen.of(counters.FP32_FMA)} if seen.profiled else {},
        advice="tile it with register blocking; then mma/WGMMA on half or bf16 operands, or TF32 "
        "for float where the tolerance allows 10 bits of mantissa",
        remedies=("tile-matmul", "coarsen", "unroll"),
        expected=expected,
        confidence=(0.6 if half else 0.35) * (1.0 if seen.profiled else 0.5),
    )


def has_inner_product(function: Function) -> bool:
    """Return whether a loop adds products of elements of two arrays (or twice of one).

    `acc += a[…] * b[…]`, `acc = acc + a[…] * b[…]`, `acc = fmaf(a[…], b[…], acc)`; elements may
    have come through locals that were read from arrays in the same loop.
    """
    return any(_multiplies(function, loop.body) for loop in function.loops)


def _multiplies(function: Function, body: Node) -> bool:
    elements = _loaded_names(function, body)
    for node in walk(body, "assignment_expression"):
        target, value = stripped(field(node, "left")), stripped(field(node, "right"))
        if target is None or value is None:
            continue
        if operator(node) == "+=":
            sums = [value]
        elif operator(node) == "=" and value.type == "binary_expression" and operator(value) == "+":
            sides = [stripped(field(value, "left")), stripped(field(value, "right"))]
            name = function.file.syntax.plain(target)
            plain = [function.file.syntax.plain(side) for side in sides]
            sums = [
                s for s, text in zip(sides, plain, strict=True) if s is not None and text != name
            ]
            if len(sums) != 1:
                continue
        else:
            continue
        if any(_is_product(function, s, elements) for s in sums):
            return True
    return any(
        len(call.arguments) == 3
        and all(_is_element(function, a, elements) for a in call.arguments[:2])
        for call in function.calls_of("fmaf", "fma", "__fmaf_rn", "__hfma", "__hfma2", within=body)
    )


def _is_product(function: Function, node: Node, elements: frozenset[str]) -> bool:
    if node.type != "binary_expression" or operator(node) != "*":
        return False
    left, right = stripped(field(node, "left")), stripped(field(node, "right"))
    if left is None or right is None:
        return False
    if function.file.syntax.plain(left) == function.file.syntax.plain(right):
        return False  # a square: a norm, a variance, a distance
    return all(_is_element(function, side, elements) for side in (left, right))


def _is_element(function: Function, node: Node, elements: frozenset[str]) -> bool:
    subscripts = list(walk(node, "subscript_expression"))
    if subscripts:
        # An element chosen by another array (sparse, gather) has no place in a dense tile.
        indices = (field(s, "indices") or field(s, "index") for s in subscripts)
        return not any(i is not None and any(walk(i, "subscript_expression")) for i in indices)
    return node.type == "identifier" and function.file.syntax.of(node) in elements


def _loaded_names(function: Function, body: Node) -> frozenset[str]:
    """Return locals that are set from an array element in a loop's body."""
    found = set()
    for node in walk(body, "init_declarator"):
        name, value = field(node, "declarator"), field(node, "value")
        if name is None or value is None or name.type != "identifier":
            continue
        if any(True for _ in walk(value, "subscript_expression")):
            found.add(function.file.syntax.of(name))
    return frozenset(found)
