"""The bench that settings ask for: a workflow on GPU runners, or the GPU of this host."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

from bot import settings as environment
from bot.github_session import GithubSession
from bot.local_bench import LocalBench, LocalPlace
from bot.orders import Bench
from bot.settings import Settings
from bot.workflow import WorkflowBench, Workplace
from optimizer.errors import ConfigError

_SHARED = ("nvcc", "ncu", "sandbox")  # settings of ours that reviews on this host need, too


def bench_of(settings: Settings, session: GithubSession) -> Bench:
    """Return who carries orders out. Raise `ConfigError` for labels that are none."""
    if settings.bench == "local":
        return LocalBench(
            LocalPlace(
                Path(settings.gpu_folder)
                if settings.gpu_folder
                else settings.cache_folder / "jobs",
                clone_server(settings.github_url),
                settings.device,
                {
                    f"OPTIML_{name.upper()}": str(getattr(settings, name))
                    for name in _SHARED
                    if getattr(settings, name) not in {"", "auto"}
                },
            ),
            environment.surroundings(),
            session.token_for,
        )
    place = Workplace(
        settings.gpu_workflow,
        labels=labels_of(settings.gpu_labels),
        run_details=session.capabilities.run_details,
    )
    return WorkflowBench(session, place)


def labels_of(text: str) -> tuple[str, ...]:
    """Read runner labels, as JSON or with commas between them; none leaves it to the workflow.

    >>> labels_of("self-hosted, gpu"), labels_of('["a100"]'), labels_of("")
    (('self-hosted', 'gpu'), ('a100',), ())
    """
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError as error:
            raise ConfigError("the labels are not JSON", 'write ["self-hosted", "gpu"]') from error
    else:
        found = [one.strip() for one in text.split(",") if one.strip()]
    if not all(isinstance(one, str) and one for one in found):
        raise ConfigError("the labels are no list of texts", 'write ["self-hosted", "gpu"]')
    return tuple(found)


def clone_server(api: str) -> str:
    """Return where repositories are cloned from, by the API's address.

    >>> clone_server("https://api.github.com"), clone_server("https://git.example.com/api/v3")
    ('https://github.com', 'https://git.example.com')
    """
    parts = urlsplit(api)
    host = "github.com" if parts.netloc == "api.github.com" else parts.netloc
    if host.startswith("api.") and host.endswith(".ghe.com"):
        host = host.removeprefix("api.")  # GitHub Enterprise Cloud with data residency
    return f"{parts.scheme}://{host}"
