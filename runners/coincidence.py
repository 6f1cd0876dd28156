"""What was written equals the poison before it now and then: one of 2³² elements of four bytes.

Where the order of elements is free, what still holds its poison is taken for what was not written.
Of a million elements one is, in every few thousand launches; and all launches are looked at that
are timed. A right candidate has then written one element fewer than its original, it seems.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Storage

# More of them do not come together by chance.
MOST = 4

Rows = npt.NDArray[np.uint8]
Marks = npt.NDArray[np.bool_]


def written(rows: Rows, poison: Rows, wanted: Rows) -> Marks:
    """Return which of `rows`, shape (n, size) bytes, were written over `poison`, of the same shape.

    An element that equals its poison counts where few are missing of what was `wanted`, shape
    (m, size), all of it was found but them, and this is one of them: of n random words of four
    bytes one is the missing one in n of 2³² cases.

    >>> rows = np.array([[7, 0], [9, 9], [5, 1]], np.uint8)
    >>> poison = np.array([[3, 3], [9, 9], [5, 1]], np.uint8)
    >>> written(rows, poison, np.array([[5, 1], [7, 0]], np.uint8)).tolist()
    [True, False, True]
    """
    found: Marks = ~(rows == poison).all(axis=1)
    missing = len(wanted) - int(found.sum())
    if not 0 < missing <= MOST:
        return found
    lacking = _without(_words(wanted), _words(rows[found]))
    if len(lacking) != missing:
        return found
    marked, words = found.copy(), _words(rows)
    for word in lacking:
        places = np.flatnonzero(~marked & (words == word))
        if not len(places):
            return found
        marked[places[0]] = True
    return marked


def _words(rows: Rows) -> npt.NDArray[np.generic]:
    """Return rows as one value each, which can be sorted."""
    size = rows.shape[1]
    kind = np.dtype(f"<u{size}") if size in (1, 2, 4, 8) else np.dtype((np.void, size))
    return np.ascontiguousarray(rows).view(kind).reshape(-1)


def _without(
    wanted: npt.NDArray[np.generic], found: npt.NDArray[np.generic]
) -> npt.NDArray[np.generic]:
    """Return what of a multiset is not in another one, at most a few more than `MOST`.

    >>> _without(np.array([4, 1, 4, 2]), np.array([4, 2, 2])).tolist()
    [1, 4]
    """
    values, counts = np.unique(wanted, return_counts=True)
    theirs, many = np.unique(found, return_counts=True)
    at = np.minimum(np.searchsorted(theirs, values), max(0, len(theirs) - 1))
    there = theirs[at] == values if len(theirs) else np.zeros(len(values), np.bool_)
    left = counts - np.where(there, many[at] if len(theirs) else 0, 0)
    some = np.flatnonzero(left > 0)[: MOST + 1]
    return np.repeat(values[some], np.minimum(left[some], MOST + 1))


def cleared(both: tuple[Storage, Storage], poison: Storage, size: int) -> None:
    """Set to zero, in place, what neither of two outputs of the same contents has written.

    All three hold as many bytes. What one of them wrote is what the other one is held against.
    """
    before = poison.reshape(-1, size)
    mine, theirs = (one.reshape(-1, size) for one in both)
    marks = [~(rows == before).all(axis=1) for rows in (mine, theirs)]
    few, more = sorted((0, 1), key=lambda n: int(marks[n].sum()))
    rows = (mine, theirs)
    marks[few] = written(rows[few], before, rows[more][marks[more]])
    for one, marked in zip(rows, marks, strict=True):
        one[~marked] = 0
