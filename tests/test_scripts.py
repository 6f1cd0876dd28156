"""What the shell scripts promise about the environments that they make."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _folder_of(python: Path) -> Path:
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())


def test_an_offline_environment_sees_the_packages_of_the_environment_it_is_made_with(
    tmp_path: Path,
) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    for folder in (outer, inner):
        venv.create(folder, system_site_packages=folder == inner, symlinks=True)
    (_folder_of(outer / "bin/python") / "only_there.py").write_text("WHERE = 'outer'\n")
    for place, what in ((outer, "outer"), (inner, "inner")):
        (_folder_of(place / "bin/python") / "in_both.py").write_text(f"WHERE = {what!r}\n")
    line = f"source scripts/venv.sh; add_packages_of {inner} {outer}/bin/python"
    subprocess.run(["bash", "-c", line], cwd=ROOT, check=True)
    code = "import only_there, in_both; print(only_there.WHERE, in_both.WHERE)"
    # Workers run isolated: what a variable says they do not see.
    asked = [str(inner / "bin/python"), "-I", "-c", code]
    printed = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert printed.stdout == "outer inner\n", printed.stderr


def test_nothing_is_added_for_a_python_that_is_no_environments(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    venv.create(inner, system_site_packages=True, symlinks=True)
    base = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    line = f"source scripts/venv.sh; add_packages_of {inner} {base}"
    subprocess.run(["bash", "-c", line], cwd=ROOT, check=True)
    assert not list(_folder_of(inner / "bin/python").glob("*.pth"))
