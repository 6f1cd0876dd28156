"""Comments in code that rules write, for the reviewer who asks why it is there.

They change no machine code, but they change the text that a recording knows a candidate by: where
they are changed, examples are recorded anew.
"""

from __future__ import annotations


def remark(text: str, *, depth: int = 0) -> tuple[str]:
    """Return a comment as a line of code, `depth` steps (`>`) inwards."""
    return (f"{'>' * depth}// {text}",)
