"""Comments in code that rules write, for the reviewer who asks why it is there.

They change no machine code, but they change the text that a recording knows a candidate by: where
`WRITTEN` is changed, examples are recorded anew.
"""

from __future__ import annotations

from collections.abc import Iterator

WRITTEN = False


def remark(text: str, *, depth: int = 0) -> Iterator[str]:
    """Yield a comment as a line of code, `depth` steps (`>`) inwards; nothing unless `WRITTEN`."""
    if WRITTEN:
        yield f"{'>' * depth}// {text}"
