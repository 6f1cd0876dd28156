"""Money for a model: counted before a call, never overdrawn, priced from a table."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.dialogue import Answer, Message, Schema, Speaker, Usage
from optimizer.errors import BudgetSpent, ConfigError, ModelError
from optimizer.spending import (
    FREE,
    Limits,
    MeteredModel,
    Price,
    PriceTable,
    Purse,
    tokens_in,
    tokens_of,
)

SAID = (Message(Speaker.USER, "one two three"),)


class Talker:
    """Answers the same, with the usage it is given, or raises."""

    name = "talker"

    def __init__(self, usage: Usage | None = None) -> None:
        self.usage, self.calls = usage, 0

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        self.calls += 1
        if self.usage is None:
            raise ModelError("no answer")
        return Answer("words", usage=self.usage)


def test_a_call_costs_what_its_tokens_cost_cached_ones_less() -> None:
    purse = Purse(price=Price(10.0, 100.0, 1.0))
    usage = Usage(sent=1000, cached=400, received=10, calls=1)
    answer = MeteredModel(Talker(usage), purse).ask(SAID)
    expected = (600 * 10 + 400 * 1 + 10 * 100) / 1e6
    assert answer.usage.usd == pytest.approx(expected)
    assert purse.usd == pytest.approx(expected)


@pytest.mark.parametrize(
    "limits", [Limits(usd=0.001), Limits(tokens=4000.0), Limits(calls=0.0)], ids=str
)
def test_a_call_that_could_break_the_budget_is_not_made(limits: Limits) -> None:
    talker = Talker(Usage(sent=1, received=1, calls=1))
    purse = Purse(limits, Price(1.0, 1.0))
    with pytest.raises(BudgetSpent):
        MeteredModel(talker, purse).ask(SAID, limit=4096)
    assert talker.calls == 0
    assert purse.refused


def test_siblings_asked_together_cannot_overdraw() -> None:
    purse = Purse(Limits(calls=3.0))
    held = [0, 0]
    gate = threading.Barrier(8)

    def one() -> None:
        gate.wait()
        try:
            purse.reserve(10, 10)
            held[0] += 1
        except BudgetSpent:
            held[1] += 1

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held == [3, 5]


def test_what_a_call_did_not_take_is_free_for_the_next() -> None:
    talker = Talker(Usage(sent=5, received=5, calls=1))
    model = MeteredModel(talker, Purse(Limits(tokens=5000.0)))
    for _ in range(5):
        model.ask(SAID, limit=4096)
    assert talker.calls == 5


def test_a_call_that_fails_counts_as_a_call_and_frees_its_money() -> None:
    purse = Purse(Limits(usd=1.0), Price(1.0, 200.0))
    for _ in range(3):
        with pytest.raises(ModelError, match="no answer"):
            MeteredModel(Talker(), purse).ask(SAID)
    assert (purse.spent.calls, purse.usd) == (3, 0.0)


def test_usage_a_server_does_not_tell_is_counted_by_us() -> None:
    answer = MeteredModel(Talker(Usage(calls=1)), Purse()).ask(SAID)
    assert answer.usage.sent == tokens_of(SAID)
    assert answer.usage.received == tokens_in("words")


def test_the_longest_name_that_fits_has_the_price() -> None:
    table = PriceTable.load()
    mini, whole = table.of("gpt-5-mini-2026-01-01"), table.of("openai/gpt-5")
    assert mini is not None
    assert whole is not None
    assert mini.sent < whole.sent
    assert table.of("somebodys-own-model") is None
    assert all(table.dearest.sent >= price.sent for price in table.prices.values())


def test_the_users_table_goes_over_ours(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('"gpt-5" = {sent = 0.5, received = 0.5}\n"mine" = {sent = 0, received = 0}\n')
    table = PriceTable.load(own)
    assert table.of("gpt-5") == Price(0.5, 0.5)
    assert table.of("mine") == Price(0.0, 0.0)
    assert table.of("gpt-4.1-mini") is not None


@pytest.mark.parametrize(
    "text",
    [
        "gpt = 3",
        '"m" = {sent = 1}',
        '"m" = {sent = -1, received = 1}',
        "[",
        '"m" = {sent = true, received = 1}',
    ],
)
def test_a_table_that_is_none_is_told_of(tmp_path: Path, text: str) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(text)
    with pytest.raises(ConfigError, match="prices"):
        PriceTable.load(own)
    with pytest.raises(ConfigError):
        PriceTable.load(tmp_path / "none.toml")


def test_code_is_counted_high() -> None:
    line = "    float sum = a[row * n + k] * b[k * n + col];  // accumulate\n"
    # Taken apart by hand as byte-pair tokenizers do it, blanks with the word behind: 23.
    assert 24 <= tokens_in(line) <= 40


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_longer_text_never_has_fewer_tokens_than_its_parts_less_one(a: str, b: str) -> None:
    assert tokens_in(a + b) >= max(tokens_in(a), tokens_in(b)) - 1
    assert tokens_in(a + "\n" + b) >= tokens_in(a) + tokens_in(b) - 1


def test_nothing_is_paid_to_a_server_of_ones_own() -> None:
    assert FREE.of(Usage(sent=10**9, received=10**9)) == 0.0
