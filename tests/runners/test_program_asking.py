"""Numbers that grow beside a size, and those that a candidate's text names, over host functions."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import Any

import pytest

from runners import limit, program_elsewhere, sanitizer
from tests.runners.program_fakes import Fakes, made
from tests.runners.test_program_elsewhere import READ, WHOLE, Asked

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

ROAD = [["1000", "3000"]]
SUMS = "int main() { int s = 0; for (int i = 0; i < n; ++i) s += x[i]; }"
NAMES = "constexpr int THREADS = 4096; int main() { return 0; }"


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("asking"))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "command", lambda: None)


def test_what_a_size_hangs_on_grows_with_it(fakes: Fakes) -> None:
    """The original takes no more cars than cells."""
    right = Asked(fakes, "queue", "queue-fast", ROAD)
    assert (right.refused, right.notes) == (None, [])
    assert right.right == ["1000 7501", "2501 3000", "15999 47999", "691 3000"]
    wrong = Asked(fakes, "queue", "queue-packed", ROAD)
    assert wrong.refused is not None
    assert wrong.refused.log.startswith("./saxpy 15999 47999: ")
    # That the cells alone make no difference is looked up for that.
    assert wrong.lines["queue-packed"][-1] == "1000 47999"


def test_what_they_make_wrong_by_themselves_is_a_limit(fakes: Fakes) -> None:
    asked = Asked(fakes, "queue", "queue-oneseed", ROAD)
    assert asked.refused is not None  # it is wrong with any number but seven, and with 3000
    asked = Asked(fakes, "queue", "queue-farther", ROAD)
    assert asked.refused is None
    assert asked.notes
    assert all(limit.apart([note])[0] for note in asked.notes)


def test_what_a_sum_of_the_original_may_not_hold_is_a_limit(fakes: Fakes) -> None:
    asked = Asked(fakes, "queue", "queue-packed", ROAD, source=SUMS)
    assert asked.refused is None
    assert any("with 15999 47999 it is not" in limit.apart([note])[0][0] for note in asked.notes)


def test_a_product_that_the_original_may_not_hold_is_not_asked(fakes: Fakes) -> None:
    source = READ.format("int* all = new int[16 * n * m];")
    asked = Asked(fakes, "queue", "queue-packed", ROAD, source=source)
    assert asked.refused is None
    assert "15999 47999" not in asked.lines["queue"]


def test_a_size_that_is_no_larger_alone_is_tried_with_what_it_hangs_on(fakes: Fakes) -> None:
    right = Asked(fakes, "queue", "queue-fast", [["1000", "1000"]])
    assert (right.refused, right.notes) == (None, [])
    assert right.right == ["1000 2501", "2501 2999", "15999 15999", "691 1000"]
    wrong = Asked(fakes, "queue", "queue-twelve", [["1000", "1000"]])
    assert wrong.refused is not None
    assert wrong.refused.log.startswith("./saxpy 15999 15999: ")


def test_what_the_text_of_a_candidate_names_is_passed_first(fakes: Fakes) -> None:
    wrong = Asked(fakes, "ok", "twelve", [["1000"]], kernel=NAMES)
    assert wrong.refused is not None
    assert wrong.refused.log.startswith("./saxpy 5121: ")
    right = Asked(fakes, "ok", "fast", [["1000"]], kernel=NAMES)
    assert (right.refused, right.notes) == (None, [])
    assert right.right == ["2501", "5121", "15999", "691"]
    # Where the original names it, too, or where two and a half times are beyond, nothing more.
    for kernel, source in ((NAMES, NAMES), (NAMES.replace("4096", "2048"), WHOLE)):
        asked = Asked(fakes, "ok", "fast", [["1000"]], kernel=kernel, source=source)
        assert asked.right == ["2501", "15999", "691"]


def test_words_in_a_candidates_text_have_all_sizes_asked_together_first(fakes: Fakes) -> None:
    kernel = "unsigned f(unsigned long long g) { return g >> 32; }"
    asked = Asked(fakes, "ok-twin", "fast-twin", [["1000", "300"]], kernel=kernel)
    assert asked.refused is None
    alone = ["2501 300", "1000 751", "15999 4799", "15999 300", "1000 4799", "691 199"]
    assert asked.right == alone


def test_the_start_of_a_process_is_no_time_of_the_originals_own() -> None:
    """On a busy host all runs are long."""

    def own(*runs: tuple[float, float]) -> list[float]:
        asking: Any = object.__new__(program_elsewhere._Asking)
        asking.originals = [SimpleNamespace(seconds=one, gpu_us=us) for one, us in runs]
        return [round(asking._own(run), 3) for run in range(len(runs))]

    assert own((2.75, 1600.0), (2.5, 200.0)) == [0.25, 0.0]
    assert own((2.75, 2e6), (2.5, 200.0)) == [2.0, 0.0]
    assert own((2.75, 1600.0)) == [2.75]
