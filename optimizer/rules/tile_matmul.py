"""Multiply matrices by tiles: operands through shared memory, a block of results in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.geometry import Change, block_extents, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.matmul_product import BYTES, WIDEST, Block, Product, product_of
from optimizer.rules.matmul_text import PAD, Tile, body_of
from optimizer.rules.unflatten import unflattened
from optimizer.rules.untile import untiled
from optimizer.source import Source

_NAME = "tile-matmul"
# Results a thread keeps (rows, columns) and elements of the common dimension a tile holds. Eight by
# eight gives four multiplications an element read from shared memory, but too few blocks for
# matrices of a thousand rows; the depth keeps both tiles under 48 KB for doubles.
_SHAPES = (Tile(8, 8, 8), Tile(4, 4, 16), Tile(8, 4, 8), Tile(2, 2, 32))
_SHARED = 48 << 10


def tile_matmul(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Rewrite a kernel in which each thread computes one element of a matrix product.

    Each block loads tiles of both operands once into shared memory and each thread computes a
    small square of results, so that a loaded element is used many times. Legal for a sum of
    products in which one factor does not depend on the row and the other not on the column, with
    both tested against their extents or covered by the grid exactly, or for one number that is
    taken apart into both. Sums keep their order.
    """
    del findings
    original = Source(kernel.source)
    for at, kernel_fn in enumerate(original.kernels):
        source, fn = original, kernel_fn
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional:
            continue
        if fn.shared and fn.barriers:
            plain = untiled(original, fn)
            if plain is None:
                continue
            source = Source(plain)
            fn = source.kernels[at]
        if fn.shared or fn.barriers or fn.broken:
            continue
        if kernel.launch is None and (rows := unflattened(source, fn)) is not None:
            source = Source(rows)
            fn = source.kernels[at]
        block = block_extents(kernel, source, fn)
        product = product_of(kernel, source, fn, block) if block is not None else None
        if product is None or block is None or block[2] != 1 or min(block[:2]) < 4:
            continue
        for tile in _SHAPES:
            edit = _edit(kernel, source, product, block, tile)
            if edit is not None:
                yield edit


def _edit(
    kernel: Kernel, source: Source, product: Product, block: Block, tile: Tile
) -> Edit | None:
    fn = product.fn
    across = {"x": block[0], "y": block[1]}
    threads = (across[product.fast.axis], across[product.slow.axis])
    rows, columns = threads[1] * tile.rows, threads[0] * tile.columns
    bytes_ = tile.depth * (
        (rows + PAD) * BYTES.get(product.left.element, WIDEST)
        + columns * BYTES.get(product.right.element, WIDEST)
    )
    results = tile.rows * tile.columns
    if bytes_ * tile.buffers(threads) > _SHARED or block[0] * block[1] * results > 65536 // 2:
        return None
    each = {product.slow.axis: tile.rows, product.fast.axis: tile.columns}
    geometry = regrid(kernel, source, fn, {axis: _fewer(n) for axis, n in each.items()})
    body = body_of(source, product, across, tile)
    if geometry is None or body is None:
        return None
    low, high = fn.body.start_byte + 1, fn.body.end_byte - 1
    edits = [(low, high, body), *geometry.edits]
    if any(low < at[1] and at[0] < high for at in geometry.edits):
        return None
    return Edit(
        f"tile `{fn.name}`: {rows}×{columns} results a block, {tile.rows}×{tile.columns} a thread",
        source.replace(sorted(edits)),
        f"rule:{_NAME}",
        f"The loop in line {product.loop.line} loads two elements from memory for each"
        f" multiplication; tiles in shared memory are loaded once for {tile.rows} rows and"
        f" {tile.columns} columns.",
        _NAME,
        {64: 6.0, 32: 5.0, 16: 4.0}.get(results, 2.5),
        geometry.launch,
    )


def _fewer(factor: int) -> Change:
    def change(text: str) -> str:
        return f"({text} + {factor - 1}) / {factor}"

    return change
