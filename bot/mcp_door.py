"""What `optiml mcp` needs before it can serve: a project, settings, and the SDK of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot import projects, settings
from optimizer.errors import ConfigError
from runners.workload import read_project


def open_door(path: Path, flags: Mapping[str, object], replay: Path | None, command: str) -> None:
    """Serve until the client leaves. Raise `ConfigError` when there is nothing to work on."""
    try:
        from bot import mcp_desk, mcp_server
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the Model Context Protocol's SDK is missing ({error.name})",
            "pip install 'optiml-bot[mcp]'",
        ) from error
    if replay is not None and not replay.is_file():
        raise ConfigError(f"there is no recording {replay}", "leave --replay out on a GPU machine")
    if path.is_dir():
        file = path / projects.FILE
        if not file.is_file():
            raise ConfigError(
                f"{path.resolve()} has no {projects.FILE}",
                "`optiml init` writes one; or name a .cu file with main()",
            )
        found = read_project(file)
        root, kernels, given = found.root, found.kernels(), found.config.given()
    else:
        declared = projects.of_file(path)
        root, kernels, given = (
            projects.root_of(path.resolve()), declared.kernels, dict(declared.settings)
        )  # fmt: skip
    chosen = settings.load(flags, given)
    mcp_server.serve(mcp_desk.Place(root, kernels, chosen, replay, command))
