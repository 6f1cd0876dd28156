"""What is worked out of a text once and what is looked at no further than asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from optimizer import landscape, plugins, syntax, written_out
from optimizer import source as sources
from optimizer.boundary import violations
from optimizer.budget import Budget, SearchSettings
from optimizer.diagnosis import Diagnosis
from optimizer.masking import Masked, mask
from optimizer.model import CaseTimes, Effort, Kernel, Measurement, Status, Verdict, Workload
from optimizer.policies.rules import RulePolicy
from optimizer.search import search
from optimizer.shapes import Shapes
from optimizer.source import Source
from optimizer.syntax import Syntax, span, walk
from optimizer.tokens import Token
from optimizer.tools import Tools
from optimizer.tuning import tune
from tests.optimizer.cuda_texts import NAMES, broken, read


class Told:
    """Gives every candidate a speedup that depends on its digest alone."""

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        return [self.verdict(kernel.digest) for kernel in kernels]

    def verdict(self, digest: str) -> Verdict:
        ratio = 0.8 + int(digest[:4], 16) / 2**16
        times = CaseTimes("n=1", (100.0 / ratio,) * 4, (100.0,) * 4)
        return Verdict(Status.CORRECT, Measurement((times,), "a GPU"), machine_code=digest)


def test_each_shape_of_a_search_is_masked_and_each_text_written_out_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However late a candidate is edited, and however many were looked at in between."""
    masked: Counter[str] = Counter()
    written: Counter[str] = Counter()

    def masking(text: str) -> Masked:
        masked[text] += 1
        return mask(text)

    class Counted(written_out._Written):
        def __init__(self, text: str, macros: dict[str, object]) -> None:
            assert not macros
            written[text] += 1
            super().__init__(text, {})

    monkeypatch.setattr(syntax, "_shapes", Shapes(masking, syntax._MOST_MASKS))
    monkeypatch.setattr(written_out, "_Written", Counted)
    monkeypatch.setattr(sources, "_KEPT", 2)
    text = read("saxpy_checked") + "// of this search alone\n"
    tools = Tools(
        RulePolicy(plugins.rules()),
        Told(),
        detectors=(Diagnosis({}),),
        tune=tune,
        boundary=violations,
    )
    plain = SearchSettings(finalists=0, confirmations=0, shorten=False, profile=False)
    found = search(Kernel("saxpy", text), landscape.workload(), tools, Budget(40), settings=plain)
    shapes = [Syntax(one).shape for one in masked]
    assert {Syntax(step.kernel.source).shape for step in found.steps} <= set(shapes)
    assert len(set(shapes)) == len(shapes) < len(found.steps)
    assert written
    assert max(masked.values()) == max(written.values()) == 1


def test_masks_of_two_thousand_candidates_are_kept() -> None:
    """The last ones of a long search cost what the first did; what is older yet goes first."""
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        return text

    kept = syntax._Lately(make, syntax._MOST_MASKS)
    texts = [f"{n:4000d}" for n in range(2001)]
    for text in (*texts[:2000], *texts[:2000]):
        assert kept(text) is text
    assert made == texts[:2000]
    kept(texts[2000])
    kept(texts[1])
    kept(texts[0])
    assert made[2000:] == [texts[2000], texts[0]]


def pieces(text: str) -> list[tuple[Sequence[Token], Sequence[Token]]]:
    """Return the tokens of some spans, cut alone and taken from those of the whole file."""
    alone, whole = Syntax(text), Syntax(text)
    _ = whole.code
    spans = {f.span for f in Source(text).functions} | {span(n) for n in walk(alone.root)}
    return [(alone.code_in(at), whole.code_in(at)) for at in sorted(spans)[::7]]


@pytest.mark.parametrize("name", NAMES[:6])
def test_a_function_is_cut_without_the_file_around_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tokens are those that the whole file has there."""
    assert all(list(one) == list(other) for one, other in pieces(read(name)))
    function = Source(read(name)).functions[0]

    def refused(_: str) -> tuple[Token, ...]:
        raise AssertionError("the whole file was cut")

    monkeypatch.setattr(syntax, "meaningful", refused)
    assert Syntax(read(name)).code_in(function.span)


@settings(max_examples=30, deadline=None)
@given(broken())
def test_pieces_of_mutilated_programs_are_cut_as_the_whole_is(text: str) -> None:
    """Whatever stands around, a span's tokens do not depend on what was asked before."""
    assert all(list(one) == list(other) for one, other in pieces(text))
