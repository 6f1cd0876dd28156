"""Orders travel as JSON and hold only what can be ordered."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import orders
from bot.interfaces import Change
from bot.orders import BenchState, Order, asks_for, held_to
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Kind, Workload
from tests.bot.ordered import BASE, HEAD, ORDER, reviewed

names = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=300
)
valid = st.builds(
    Order,
    repository=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}/[a-z]{1,20}", fullmatch=True),
    number=st.none() | st.integers(1, 10**9),
    base=st.just(BASE),
    head=st.just(HEAD),
    kernels=st.lists(names, max_size=5).map(tuple),
    minutes=st.floats(0.1, 1440),
    evaluations=st.integers(1, 4000),
    min_speedup=st.none() | st.floats(1, 1000),
    objective=st.sampled_from(["time", "energy", "time-then-energy"]),
    policy=st.sampled_from(["rules", "llm", "mixed"]),
    seed=st.integers(0, 2**63 - 1),
)


@given(valid)
def test_an_order_comes_back_from_json_as_it_was(order: Order) -> None:
    assert orders.from_json(orders.to_json(order)) == order


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "x"},
        {"nonce": "Z" * 32},
        {"repository": "nobody"},
        {"repository": "owner/.."},
        {"repository": "../project"},
        {"repository": "owner/a/b"},
        {"number": 0},
        {"head": "main"},
        {"base": "--upload-pack=x"},
        {"kernels": ("",)},
        {"kernels": ("a\nb",)},
        {"kernels": ("a",) * 65},
        {"minutes": 0.0},
        {"minutes": float("nan")},
        {"minutes": float("inf")},
        {"evaluations": 0},
        {"min_speedup": 0.5},
        {"min_speedup": float("nan")},
        {"objective": "fun"},
        {"policy": "chance"},
        {"seed": -1},
    ],
    ids=str,
)
def test_what_cannot_be_ordered_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        dataclasses.replace(ORDER, **wrong)


@pytest.mark.parametrize(
    ("key", "value"),
    [("extra", 1), ("number", "7"), ("evaluations", 8.5), ("kernels", "all"), ("head", None)],
)
def test_an_order_in_json_with_a_wrong_or_unknown_field_names_it(key: str, value: object) -> None:
    data = json.loads(orders.to_json(ORDER)) | {key: value}
    with pytest.raises(ConfigError, match=key):
        orders.from_json(json.dumps(data))


@given(st.text() | st.binary())
def test_any_text_is_an_order_or_a_config_error(text: str | bytes) -> None:
    with pytest.raises(ConfigError):
        orders.from_json(text)


def test_two_orders_never_share_id_or_nonce() -> None:
    made = [Order(repository="o/p", number=1, base=BASE, head=HEAD) for _ in range(2)]
    assert made[0].id != made[1].id
    assert made[0].nonce != made[1].nonce


@pytest.mark.parametrize(
    ("asked", "is_meant"),
    [
        ((), True),
        (("softmax",), True),
        (("src/gpu/softmax.cu",), True),
        (("src/gpu/",), True),
        (("src",), True),
        (("soft",), False),
        (("gpu",), False),
        (("other", "softmax"), True),
        (("row_softmax<4>",), True),
        (("rows",), True),
    ],
)
def test_a_kernel_is_asked_for_by_name_path_or_folder(
    asked: tuple[str, ...], is_meant: bool
) -> None:
    change = Change(
        Kernel("softmax", "", "src/gpu/softmax.cu"), Workload("rows", Kind.KERNEL, "row_softmax<4>")
    )
    assert asks_for(asked, change) is is_meant


def test_a_winner_below_the_speedup_asked_for_is_not_one() -> None:
    high = dataclasses.replace(ORDER, min_speedup=50.0)
    found = held_to(high, reviewed()).trajectory
    assert found is not None
    assert found.winner is None
    assert "below the 50×" in found.notes[-1]
    low = dataclasses.replace(ORDER, min_speedup=1.5)
    assert held_to(low, reviewed()) == reviewed()


def test_states_in_which_nothing_more_happens_are_over() -> None:
    assert [state for state in BenchState if not state.over] == [
        BenchState.QUEUED,
        BenchState.RUNNING,
    ]
