"""Advice for siblings: different for each, weighed by findings and by what came of it."""

from __future__ import annotations

from itertools import islice

from optimizer.advice import IDEAS, AdviceLedger, advices
from optimizer.model import Finding, Severity

BIG = Finding(
    "big", "m", severity=Severity.CRITICAL, subject="k", remedies=("a", "b"), expected=3.0
)
SMALL = Finding("small", "m", severity=Severity.WARNING, subject="k", remedies=("c",), expected=1.2)


def keys(
    *findings: Finding, ledger: AdviceLedger | None = None, share: float = 1.0, most: int = 99
) -> list[str]:
    found = advices(findings, ledger or AdviceLedger(), {"k": share})
    return [one.key for one in islice(found, most)]


def test_each_is_given_once_other_findings_before_second_remedies() -> None:
    found = keys(BIG, SMALL)
    assert len(found) == len(set(found)) == 3 + len(IDEAS)
    assert found[0] == "big/a"
    assert set(found[:3]) == {"big/a", "small/c", "big/b"}


def test_without_findings_general_ideas_are_given() -> None:
    assert keys() == [key for key, _ in IDEAS]


def test_a_finding_without_a_remedy_is_advice_too() -> None:
    assert keys(Finding("d", "m", expected=2.0))[0] == "d/"


def test_what_failed_here_comes_later() -> None:
    ledger = AdviceLedger()
    for _ in range(4):
        ledger.note("big/a", 2.0, None)
    assert keys(BIG, SMALL, ledger=ledger)[0] == "big/b"
    assert ledger.weight("big/a") == 0.2


def test_what_paid_here_keeps_its_weight() -> None:
    ledger = AdviceLedger()
    for _ in range(4):
        ledger.note("big/a", 2.0, 0.5)
    assert ledger.weight("big/a") == 1.0


def test_a_kernel_that_takes_no_time_is_not_worth_advice() -> None:
    assert keys(BIG, share=0.001)[0].startswith("idea/")


def test_calibration_follows_promises_kept() -> None:
    liar, honest = AdviceLedger(), AdviceLedger()
    for _ in range(10):
        liar.note("x", 3.0, 0.0)
        honest.note("x", 1.5, 0.405)
    assert liar.calibration < 0.1
    assert 0.8 < honest.calibration <= 1.0
    boaster = AdviceLedger()
    boaster.note("x", 1e9, 0.1)
    assert 0.0 <= boaster.calibration <= 1.0


def test_search_memory_moves_the_order() -> None:
    found = advices([BIG], AdviceLedger(), {"k": 1.0}, lambda kind: 2.0 if kind == "b" else 0.5)
    assert next(iter(found)).key == "big/b"
