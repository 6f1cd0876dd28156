"""What Planck's law gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

PLANCK_H, LIGHT_C, BOLTZMANN_K = 6.62607015e-34, 2.99792458e8, 1.380649e-23


def reference(arguments: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the radiance at a distance, in kW per nm."""
    wavelength = arguments["wavelength_nm"] * 1e-9
    x = PLANCK_H * LIGHT_C / (wavelength * BOLTZMANN_K * arguments["temperature"])
    b = 2.0 * PLANCK_H * LIGHT_C**2 / wavelength**5 / np.expm1(x)
    return {"radiance": arguments["emissivity"] * b / arguments["distance"] ** 2 / 1e12}
