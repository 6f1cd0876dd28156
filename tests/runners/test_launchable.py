"""Launches of kernels: what was bound stays right, whatever is bound behind it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from runners import spec
from runners.gpu import LaunchError
from runners.launchable import KernelLaunchable
from runners.spec import Launch
from tests.runners.host_gpu import HostGpu, artifact
from tests.runners.test_beyond import ROWS, _job, host

# Bytes of shared memory for one, of which a launch of 48 KiB needs no permission.
WIDTHS = (1000, 4000, 3500, 10)


@host
@pytest.mark.parametrize("order", [*itertools.permutations(WIDTHS)])
def test_a_launch_may_still_be_made_when_one_with_less_shared_memory_was_bound(
    order: tuple[int, ...],
) -> None:
    """A kernel is allowed what was asked for last: 33 times the declared, then nine times it."""
    gpu, work = HostGpu(), spec.parse(_job(ROWS)).work
    launch = Launch(("(rows+63)/64",), ("64",), "16*width")
    kernel = KernelLaunchable(gpu, artifact(ROWS), work, launch)
    bound = []
    for width in order:
        values = np.ones(width, np.float32)
        x, y = gpu.allocate(values.nbytes), gpu.allocate(values.nbytes)
        gpu.upload(x, values)
        bound.append((kernel.bind({"rows": 1, "width": width}, {"x": x, "y": y}), y, width))
    for call, y, width in bound:
        call()
        assert (gpu.download(y, 4 * width).view(np.float32) == 4.0).all()
    with pytest.raises(LaunchError, match="70400 bytes of shared memory; the most is 65536"):
        kernel.bind({"rows": 1, "width": 4400}, {"x": 0, "y": 0})
