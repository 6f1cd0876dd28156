"""What the reordering must compute."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the elements in NHWC order."""
    shape = tuple(arguments[name] for name in ("batch", "channels", "height", "width"))
    return {"out": arguments["in"].reshape(shape).transpose(0, 2, 3, 1).ravel()}
