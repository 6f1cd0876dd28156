"""Where GPU_TEST_KEEP names a folder, what the suite saw is kept there as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def keep(name: str, data: Any) -> None:
    """Write a file of the folder; nothing without one."""
    folder = os.environ.get("GPU_TEST_KEEP", "")  # noqa: TID251 - of the tests alone
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.json").write_text(json.dumps(data, indent=1))
