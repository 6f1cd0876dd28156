"""There is something to read, or there is not, whatever number a descriptor has."""

from __future__ import annotations

import fcntl
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO

import pytest

from runners.waiting import readable


@contextmanager
def pipe(least: int) -> Iterator[tuple[FileIO, FileIO]]:
    """Give both ends of a pipe, the one that is read with a number of at least so much."""
    below, write = os.pipe()
    read = fcntl.fcntl(below, fcntl.F_DUPFD_CLOEXEC, least)
    os.close(below)
    with FileIO(read, "r") as first, FileIO(write, "w") as last:
        yield first, last


@pytest.fixture
def many() -> Iterator[None]:
    """Let this process have two thousand descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("this process may have no more than a thousand descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("least", [3, 1500])
def test_what_is_there_is_told_at_once_and_so_is_the_end(least: int) -> None:
    """`select.select` raises beyond 1023: a worker's answer was taken for nonsense."""
    with pipe(least) as (read, write):
        begun = time.monotonic()
        assert read.fileno() >= least
        assert not readable(read.fileno(), 0.0)
        assert not readable(read.fileno(), -1.0)
        assert not readable(read.fileno(), 0.05)
        assert time.monotonic() - begun >= 0.05
        write.write(b"x")
        assert readable(read.fileno(), 60.0)
        assert read.read(9) == b"x"
        write.close()
        assert readable(read.fileno(), 60.0)
        assert read.read(9) == b""
        assert time.monotonic() - begun < 30
