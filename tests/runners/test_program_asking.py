"""Numbers that grow beside a size, and those that a candidate's text names, over host functions."""

from __future__ import annotations

import shutil
from pathlib import Path
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


def test_who_does_what_one_run_did_needs_no_second_run_of_the_original(fakes: Fakes) -> None:
    """Where host code may change, what is copied is compared, and of that nothing is unwritten."""
    right = Asked(fakes, "queue", "queue-fast", ROAD, host=True)
    assert (right.refused, right.notes) == (None, [])
    assert right.right == ["1000 7501", "2501 3000", "15999 47999", "691 3000"]
    tried = ["1000 7501", "2501 3000", "15999 3000", "15999 47999", "691 3000"]
    assert right.lines == {"queue": tried, "queue-fast": right.right}
    # Who differs is compared with what more runs of it tell.
    wrong = Asked(fakes, "queue", "queue-packed", ROAD, host=True)
    assert wrong.refused is not None
    assert wrong.lines["queue"].count("15999 47999") >= 3
    assert wrong.lines["queue-packed"].count("15999 47999") == 2


def test_what_an_earlier_request_saw_is_learned_from_with_the_later_ones_means(
    fakes: Fakes, tmp_path: Path
) -> None:
    """The folder of the earlier one is gone by then, and with it all that it could start."""
    kept: dict[str, Any] = {}
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first = Asked(
        fakes, "queue", "queue-fast", ROAD, host=True, kept=kept, scratch=tmp_path / "first"
    )
    assert len(first.right) == 4
    shutil.rmtree(tmp_path / "first")
    wrong = Asked(
        fakes, "queue", "queue-packed", ROAD, host=True, kept=kept, scratch=tmp_path / "second"
    )
    assert wrong.refused is not None
    # The first run of each line was the earlier request's.
    assert "1000 7501" not in wrong.lines["queue"]
    assert "15999 47999" in wrong.lines["queue"]


def test_what_varies_from_run_to_run_is_learned_at_the_first_line(fakes: Fakes) -> None:
    asked = Asked(fakes, "mixes", "mixes-turned", [["600"]], host=True)
    assert (asked.refused, asked.notes) == (None, [])
    first, *others = asked.right
    assert asked.lines["mixes-turned"] == [first, first, *others]
    assert all(asked.lines["mixes"].count(line) > 1 for line in asked.right)


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


def test_on_a_busy_host_the_start_of_a_process_is_waited_for_beside_the_rest() -> None:
    """Where a run of nothing takes seven seconds, who may take five more is asked all the same."""

    def most(*runs: tuple[float, float]) -> list[float]:
        asking: Any = object.__new__(program_elsewhere._Asking)
        asking.originals = [SimpleNamespace(seconds=one, gpu_us=us) for one, us in runs]
        return [round(asking._most(run), 3) for run in range(len(runs))]

    assert most((7.5, 1e6), (7.0, 200.0)) == [11.5, 11.5]
    assert most((0.5, 1600.0), (0.4, 200.0)) == [4.0, 3.6]
    assert most((60.0, 100.0)) == [15.0]
    assert most((4.2, 4e6)) == [5.2]


def test_the_start_of_a_process_is_no_time_of_the_originals_own() -> None:
    """On a busy host all runs are long."""

    def own(*runs: tuple[float, float]) -> list[float]:
        asking: Any = object.__new__(program_elsewhere._Asking)
        asking.originals = [SimpleNamespace(seconds=one, gpu_us=us) for one, us in runs]
        return [round(asking._own(run), 3) for run in range(len(runs))]

    assert own((2.75, 1600.0), (2.5, 200.0)) == [0.25, 0.0]
    assert own((2.75, 2e6), (2.5, 200.0)) == [2.0, 0.0]
    assert own((2.75, 1600.0)) == [2.75]
