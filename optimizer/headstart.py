"""What is begun while the unedited kernel is judged, so that the first candidates need not wait.

Nothing that the search decides depends on it: what was begun for nothing is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optimizer.interfaces import Expectant, Foresighted
from optimizer.model import Kernel, Status, Step, Verdict, Workload

if TYPE_CHECKING:
    from optimizer.budget import SearchSettings
    from optimizer.tools import Tools

# So many times a batch are compiled, or half more than a window: without findings, some of the
# first ones are guessed wrong.
GUESSED_BATCHES = 2


def begin(
    kernel: Kernel, workload: Workload, tools: Tools, settings: SearchSettings
) -> tuple[Kernel, ...]:
    """Have the likeliest first candidates compiled; return them."""
    evaluator = tools.evaluator
    if not isinstance(evaluator, Expectant) or not evaluator.expect([kernel], workload):
        return ()
    likely = guessed(kernel, tools, settings)
    if likely:
        evaluator.expect(likely, workload)
    return likely


def guessed(kernel: Kernel, tools: Tools, settings: SearchSettings) -> tuple[Kernel, ...]:
    """Return what would be tried first if nothing were known of a kernel, likeliest first."""
    if not isinstance(tools.policy, Foresighted):
        return ()
    step = Step(0, None, None, kernel, Verdict(Status.CORRECT))
    found: dict[str, Kernel] = {}
    for proposal in tools.policy.foresee(step, (), settings.limit):
        made = proposal.edit.apply(kernel)
        found.setdefault(made.digest, made)
    found.pop(kernel.digest, None)
    most = max(GUESSED_BATCHES * settings.batch, settings.window * 3 // 2)
    return tuple(found.values())[:most]
