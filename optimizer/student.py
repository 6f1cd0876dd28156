"""Student's t, from scipy, which takes as long to import as the rest of the command line."""

from __future__ import annotations


def quantile(freedom: float, probability: float) -> float:
    """Return what a value of Student's t with that many degrees of freedom stays below.

    >>> round(quantile(9, 0.995), 3)
    3.25
    """
    from scipy import special

    return float(special.stdtrit(freedom, probability))


def warm() -> None:
    """Import what `quantile` needs: for a thread beside something that waits."""
    quantile(1, 0.5)
