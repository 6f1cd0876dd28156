"""What is begun while the unedited kernel is judged, so that the first candidates need not wait.

Nothing that the search decides depends on it: what was begun for nothing is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optimizer.interfaces import Expectant, Foresighted
from optimizer.model import Effort, Kernel, Kind, Status, Step, Verdict, Workload

if TYPE_CHECKING:
    from optimizer.budget import SearchSettings
    from optimizer.tools import Tools

# So many times a batch are compiled, or half more than a window: without findings, some of the
# first ones are guessed wrong.
GUESSED_BATCHES = 2


def begin(
    kernel: Kernel, workload: Workload, tools: Tools, settings: SearchSettings
) -> tuple[Kernel, ...]:
    """Have counters read and the likeliest first candidates compiled; return these candidates.

    Counters of whole programs come after the first batch (`Expansion`), and are not begun here.
    """
    evaluator = tools.evaluator
    if not isinstance(evaluator, Expectant):
        return ()
    counts = tools.profile and settings.profile and settings.profiles > 0
    early = counts and workload.kind is not Kind.PROGRAM
    effort = Effort.PROFILE if early else Effort.SCREEN
    if not evaluator.expect([kernel], workload, effort):
        return ()
    likely = guessed(kernel, tools, settings)
    if likely:
        evaluator.expect(likely, workload, Effort.SCREEN)
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
