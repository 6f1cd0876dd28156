"""Rules and detectors by entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from itertools import count
from types import ModuleType

import pytest

from optimizer import plugins
from optimizer.errors import ConfigError


@pytest.fixture
def offers(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    module = ModuleType("someones_plugin")
    module.rule = lambda kernel, findings: ()  # type: ignore[attr-defined]
    module.number = 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "someones_plugin", module)
    offered: list[EntryPoint] = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: offered)
    return offered


def offer(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "optiml.rules")


def test_an_installed_plugin_is_found_by_name(offers: list[EntryPoint]) -> None:
    offers.append(offer("mine", "someones_plugin:rule"))
    assert list(plugins.rules()) == ["mine"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:rule", "ModuleNotFoundError"),
        ("someones_plugin:missing", "AttributeError"),
        ("someones_plugin:number", "int is not callable"),
    ],
)
def test_a_broken_plugin_is_named_and_left_out(
    offers: list[EntryPoint], value: str, why: str
) -> None:
    offers += [offer("broken", value), offer("fine", "someones_plugin:rule")]
    notes: list[str] = []
    assert list(plugins.rules(notes)) == ["fine"]
    assert len(notes) == 1
    assert "'broken'" in notes[0]
    assert why in notes[0]


def test_two_packages_with_one_name_are_an_error_that_names_both(offers: list[EntryPoint]) -> None:
    offers += [offer("mine", "someones_plugin:rule"), offer("mine", "another:rule")]
    with pytest.raises(ConfigError, match="another:rule and someones_plugin:rule"):
        plugins.rules()


def test_one_package_seen_twice_is_no_clash(offers: list[EntryPoint]) -> None:
    offers += [offer("mine", "someones_plugin:rule")] * 2
    assert list(plugins.rules()) == ["mine"]


def test_everything_built_in_loads() -> None:
    notes: list[str] = []
    assert plugins.rules(notes)
    assert plugins.detectors(notes)
    assert notes == []


def test_what_a_plugin_yielded_before_it_raised_is_kept() -> None:
    def half() -> Iterator[int]:
        yield 1
        raise LookupError("gone")

    guarded = plugins.Guarded[int]("half", half)
    assert list(guarded()) == [1]
    assert guarded.notes == ["half failed: LookupError: gone"]


def test_a_plugin_that_keeps_failing_is_not_asked_again() -> None:
    calls = count()

    def bad() -> Iterator[int]:
        next(calls)
        raise LookupError

    guarded = plugins.Guarded[int]("bad", bad)
    for _ in range(10):
        assert list(guarded()) == []
    assert next(calls) == plugins.FAILURES_TOLERATED
    assert "not asked again" in guarded.notes[-1]


def test_a_plugin_without_end_is_cut_off() -> None:
    assert len(list(plugins.Guarded[int]("endless", count)())) == plugins.MOST_VALUES
