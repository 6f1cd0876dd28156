"""Small git repositories for tests: a base that declares a kernel, a branch that changes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bot.orders import Order
from tests.bot import synthetic

PROJECT = """\
version: 1
budget: {minutes: 5, evaluations: 6}
kernels:
  - name: transpose
    file: transpose.cu
    kernel: transpose
    launch: {grid: ["(n+31)/32", "(n+31)/32"], block: [32, 32], shared: 0}
    args:
      - {name: in, type: "const float*", shape: "n*n", init: normal}
      - {name: out, type: "float*", shape: "n*n", role: output}
      - {name: n, type: int, value: "n"}
    cases:
      - {n: 4096, weight: 2}
"""
_IDENTITY = (
    "-c",
    "user.name=T",
    "-c",
    "user.email=t@example.invalid",
    "-c",
    "commit.gpgsign=false",
)


def git(root: Path, *arguments: str) -> str:
    found = subprocess.run(
        ["git", *_IDENTITY, *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


def commit(root: Path, message: str, **files: str) -> str:
    """Write files (`a__b` is a/b, `_dot_` a dot) and commit them; return the commit."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
    return git(root, "rev-parse", "HEAD")


def changed(root: Path) -> Order:
    """Make a repository whose branch changes a kernel; return the order to review it."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    base = commit(root, "base", _dot_optiml_dot_yml=PROJECT, transpose_dot_cu=synthetic.NAIVE)
    git(root, "checkout", "-q", "-b", "feature")
    slower = synthetic.NAIVE.replace("// Trans", "// SLOW Trans")
    head = commit(root, "change", transpose_dot_cu=slower)
    return Order(repository="owner/project", number=7, base=base, head=head)
