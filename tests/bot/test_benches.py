"""The bench that settings ask for."""

from pathlib import Path

import pytest

from bot.benches import bench_of, clone_server, labels_of
from bot.github_session import GithubSession
from bot.local_bench import LocalBench
from bot.settings import Settings, load
from bot.workflow import WorkflowBench
from optimizer.errors import ConfigError


def test_settings_choose_the_bench(tmp_path: Path) -> None:
    with GithubSession(token="t") as session:
        assert isinstance(bench_of(Settings(), session), WorkflowBench)
        local = Settings(bench="local", gpu_folder=str(tmp_path))
        assert isinstance(bench_of(local, session), LocalBench)


def test_the_runners_labels_come_from_the_environment() -> None:
    found = load(environment={"OPTIML_GPU_LABELS": "self-hosted, a100"})
    assert labels_of(found.gpu_labels) == ("self-hosted", "a100")


@pytest.mark.parametrize("text", ["[", "[1]", '[""]', '[["a"]]'])
def test_labels_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        labels_of(text)


@pytest.mark.parametrize(
    ("api", "server"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://git.example.com/api/v3", "https://git.example.com"),
        ("https://api.octo.ghe.com", "https://octo.ghe.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_repositories_are_cloned_from_where_the_api_is(api: str, server: str) -> None:
    assert clone_server(api) == server
