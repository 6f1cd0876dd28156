"""Settings come from one place, in one order, and a wrong one says what is right."""

import pytest

from bot.settings import Settings, load, minutes
from optimizer.errors import ConfigError


def test_a_flag_wins_over_the_environment_and_that_over_the_project() -> None:
    project = {"policy": "rules", "evaluations": 10, "minutes": 1.0}
    environment = {"OPTIML_EVALUATIONS": "20", "OPTIML_MINUTES": "2"}
    found = load({"minutes": 3.0, "seed": None}, project, environment)
    assert (found.policy, found.evaluations, found.minutes) == ("rules", 20, 3.0)
    assert found.seed == Settings().seed


def test_a_misspelt_variable_names_the_nearest_known_one() -> None:
    with pytest.raises(ConfigError, match="OPTIML_POLICY"):
        load(environment={"OPTIML_POLICIE": "rules"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("policy", "magic"),
        ("evaluations", "many"),
        ("evaluations", "0"),
        ("minutes", "-1"),
        ("window", "wide"),
        ("window", "-8"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_source(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match="the environment"):
        load(environment={f"OPTIML_{name.upper()}": value})


def test_a_window_is_a_number_or_worked_out() -> None:
    assert load(environment={"OPTIML_WINDOW": "8"}).window == 8
    assert load(environment={"OPTIML_WINDOW": "auto"}) == load(environment={})


def test_an_empty_variable_counts_as_not_set() -> None:
    assert load(environment={"OPTIML_POLICY": ""}) == load(environment={})


def test_a_duration_takes_a_unit_and_nothing_else() -> None:
    assert minutes("1.5h") == 90.0
    for text in ("", "soon", "-3m", "0s", "1d"):
        with pytest.raises(ConfigError):
            minutes(text)


def test_secrets_stay_out_of_the_printed_settings() -> None:
    found = load(environment={"OPENAI_API_KEY": "sk-secret", "GITHUB_TOKEN": "ghs_secret"})
    assert found.api_key == "sk-secret"
    assert "secret" not in repr(found)
