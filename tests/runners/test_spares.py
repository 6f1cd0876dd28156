"""Memory that was given back is handed out again, and held within bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runners.spares import MOST_BYTES, SHARE, Spares


def test_a_block_is_taken_once_and_only_in_its_size() -> None:
    spares: Spares[str] = Spares(1 << 40)
    assert spares.put(512, "a")
    assert spares.put(512, "b")
    assert spares.take(256) is None
    assert {spares.take(512), spares.take(512)} == {"a", "b"}
    assert spares.take(512) is None
    assert spares.held == 0


def test_a_small_device_keeps_less() -> None:
    spares: Spares[str] = Spares(SHARE * 1000)
    assert spares.put(600, "a")
    assert not spares.put(600, "b")
    assert spares.put(400, "c")
    assert sorted(spares.clear()) == ["a", "c"]
    assert (spares.held, spares.clear()) == (0, [])
    assert not Spares[str](1 << 50).put(MOST_BYTES + 1, "a")


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "take", "clear"]), st.sampled_from([1, 7, 64, 900])),
        max_size=60,
    )
)
def test_nothing_is_lost_or_handed_out_twice(steps: list[tuple[str, int]]) -> None:
    spares: Spares[int] = Spares(SHARE * 2000)
    kept: dict[int, int] = {}
    for number, (step, size) in enumerate(steps):
        if step == "put" and spares.put(size, number):
            kept[number] = size
        elif step == "take" and (block := spares.take(size)) is not None:
            assert kept.pop(block) == size
        elif step == "clear":
            assert sorted(spares.clear()) == sorted(kept)
            kept.clear()
        assert spares.held == sum(kept.values()) <= 2000
