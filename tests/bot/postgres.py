"""A Postgres server for a test, in a folder, spoken to over a socket there."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def _found(name: str) -> str | None:
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or (str(places[0]) if places else None)


def _account() -> list[str]:
    """Return a prefix that runs a program as somebody else than root, which Postgres refuses."""
    if os.geteuid() != 0:
        return []
    runuser = shutil.which("runuser")
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            pwd.getpwnam(name)
            if runuser is not None:
                return [runuser, "-u", name, "--"]
    pytest.skip("Postgres does not run as root, and nobody else is there")


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Yield the URL of an empty database; skip where there is no Postgres."""
    initdb, ctl = _found("initdb"), _found("pg_ctl")
    if initdb is None or ctl is None:
        pytest.skip("Postgres is not installed")
    as_other = _account()
    with tempfile.TemporaryDirectory(prefix="optiml-pg-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        data = folder / "data"

        def do(*command: str) -> None:
            done = subprocess.run(
                [*as_other, *command], capture_output=True, timeout=120, cwd="/", check=False
            )
            if done.returncode:
                pytest.skip(f"Postgres does not start here: {done.stderr.decode()[-300:]}")

        do(initdb, "-D", str(data), "-U", "optiml", "--auth=trust", "-N")
        options = f"-k {folder} -h '' -c fsync=off"
        do(ctl, "-D", str(data), "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://optiml@/postgres?host={folder}"
        finally:
            subprocess.run(
                [*as_other, ctl, "-D", str(data), "-m", "immediate", "stop"],
                capture_output=True,
                timeout=60,
                cwd="/",
                check=False,
            )
