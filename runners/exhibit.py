"""The comparison that decided, cut to a few elements: evidence small enough to keep.

A verdict on numbers can be looked at again anywhere, without a GPU: what came out, what was wanted,
and how far apart they were allowed to be.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from runners.compare import Answer, Budget, compare, dense
from runners.cuda_types import Storage, parse, to_float, values
from runners.expectation import as_json

WIDTH, WHOLE = 128, 4096
_WORDS = {
    "float": "float*", "double": "double*", "half": "__half*", "bfloat16": "__nv_bfloat16*",
    "int32": "int*", "uint32": "unsigned*", "int64": "long long*", "uint8": "unsigned char*",
}  # fmt: skip

Json = dict[str, Any]


def cut(got: Storage, answer: Answer) -> Json | None:
    """Return the elements around the one that is furthest off; None where none stand alone."""
    only = answer.type.scalar
    if only is None or only.name not in _WORDS or answer.untouched is not None:
        return None
    size, lanes = answer.type.size, answer.type.fields[0].lanes
    count = len(answer.want) // size
    if answer.unordered and count > WHOLE:
        return None
    start, end = 0, count
    if not answer.unordered:
        at = _worst(got, answer) // lanes
        start = max(0, min(at - WIDTH // 2, count - WIDTH))
        end = min(count, start + WIDTH)
    budget = answer.budgets[0]
    return {
        "name": answer.name,
        "type": _WORDS[only.name],
        "got": base64.b64encode(got[start * size : end * size].tobytes()).decode(),
        "want": base64.b64encode(answer.want[start * size : end * size].tobytes()).decode(),
        "budget": None if budget is None else as_json(budget),
        "unordered": answer.unordered,
        "lenient": answer.lenient,
        "spreads": answer.spreads,
        **_odd(answer, start * lanes, end * lanes),
    }


def _odd(answer: Answer, start: int, end: int) -> Json:
    marks = None if answer.odd is None else np.flatnonzero(answer.odd[start:end]).tolist()
    return {"odd": marks} if marks else {}


def _worst(got: Storage, answer: Answer) -> int:
    field, budget = answer.type.fields[0], answer.budgets[0]
    mine, goal = values(got, answer.type, field), values(answer.want, answer.type, field)
    if budget is None or field.scalar.kind != "f":
        return int(np.argmax(mine != goal))
    one, other = to_float(mine, field.scalar), to_float(goal, field.scalar)
    with np.errstate(all="ignore"):
        gap = np.abs(one - other)
        gap[(one == other) | (np.isnan(one) & np.isnan(other))] = 0.0
        gap[np.isnan(gap)] = np.inf
        if answer.lenient and not answer.spreads:
            gap[~np.isfinite(other)] = 0.0
        if answer.odd is not None:
            gap[answer.odd & ~np.isfinite(one)] = 0.0
        return int(np.argmax(gap / np.maximum(budget.bound(other), 1e-300)))


def passes(exhibit: Json) -> bool:
    """Judge an exhibit again."""
    budget = exhibit["budget"]
    got, want = (np.frombuffer(base64.b64decode(exhibit[k]), np.uint8) for k in ("got", "want"))
    kind = parse(str(exhibit["type"]))
    odd = np.zeros(len(want) // kind.size, bool) if exhibit.get("odd") else None
    if odd is not None:
        odd[exhibit["odd"]] = True
    answer = Answer(
        str(exhibit["name"]),
        kind,
        want,
        (None if budget is None else Budget(**{**budget, "noise": dense(budget["noise"])}),),
        None,
        bool(exhibit["unordered"]),
        bool(exhibit["lenient"]),
        bool(exhibit["spreads"]),
        odd,
    )
    return compare(got, answer).passed
