"""When a model may look into CUTLASS before it writes an edit, and how far.

Where tensor cores could work, or do, and the user has CUTLASS: an answer may then ask to search or
read that source tree instead of holding an edit. There are no tools at the server: wishes and what
is found are text, so any server will do, and recordings and kept answers hold them like all else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optimizer.advice import Advice
from optimizer.bottleneck import classify
from optimizer.bound import Bound
from optimizer.dialogue import Answer, Message, Schema, Speaker, json_in
from optimizer.policies.edits import SCHEMA
from optimizer.prompting import Feedback, Scene
from optimizer.synthesis import answers
from optimizer.synthesis.cutlass import Library, Tree
from optimizer.synthesis.fence import uses

if TYPE_CHECKING:
    from optimizer.model import Step
    from optimizer.synthesis.answers import Look

DETECTOR = "tensor-chance"
# Looks of one question: rounds of asking, wishes in all, and what is shown of the tree. The bytes
# are under 6,000 tokens as we count, beside the 8,000 of the prompt.
ROUNDS = 3
CALLS = 8
BYTES = 14 << 10
# Advice of which this little is left is not given again: three edits that failed, none that paid.
LEAST_WEIGHT = 0.3
ADVICE = Advice(
    "tensor-cores/cute",
    "Let tensor cores do the inner product, written with CuTe, in a precision the tolerance "
    "bears. Where CuTe is used already, mend what keeps its tensor cores waiting.",
    "tensor-cores",
)
_PLAIN = re.compile(
    r"^\W{0,4}(search|read):[ \t]*([^\s`]{1,300})(?:[ \t]+(\d{1,6}))?[ \t`]*$", re.MULTILINE
)
_LAST = "There are no more looks: answer with the edit now."


def _looking() -> Schema:
    properties: dict[str, Any] = {**SCHEMA.body["properties"], "look": answers.LOOKS_SHAPE}
    body = {**SCHEMA.body, "properties": properties, "required": list(properties)}
    return Schema("edit_looking", body)


SCHEMA_LOOKING = _looking()


@dataclass(frozen=True, slots=True)
class Window:
    """What a model may see of a tree for one question."""

    tree: Tree
    rounds: int = ROUNDS

    def offer(self) -> str:
        """Say what may be asked, for the prompt."""
        return (
            f"Headers of CUTLASS {self.tree.version} are here. Beside what the rules allow, this "
            "edit may add lines `#include <...>` of headers below cute/ and cutlass/, among the "
            "includes of the file; `using namespace cute;` only inside functions. You may look "
            "into that source tree before you write. Then the answer is, instead of an edit,\n"
            '{"look": [{"search": "a name", "read": null, "line": null}, {"search": null, '
            '"read": "include/cute/tensor.hpp", "line": 1}]}\n'
            "with other fields empty, or lines `search: NAME` and `read: FILE LINE`; at most "
            f"{self.rounds} times and {CALLS} looks. What is found comes behind a bar, as data."
        )

    def library(self) -> Library:
        """Return search and read for one question; none shares its bounds with another's."""
        return Library(self.tree, CALLS, BYTES)


def fits(scene: Scene, step: Step) -> bool:
    """Tell whether tensor cores are what counts for a candidate, or it is written with CuTe."""
    if scene.feedback is not Feedback.TOOLS:
        return False
    if any(finding.detector == DETECTOR for finding in step.findings):
        return True
    found = classify(step.verdict, scene.peaks)
    return (found.tensor and found.kind is not Bound.MEMORY) or uses(step.kernel.source)


def about(advice: Advice) -> bool:
    """Tell whether a sibling's advice is about tensor cores."""
    finding = advice.finding
    return advice.key == ADVICE.key or (finding is not None and finding.detector == DETECTOR)


def wishes(answer: Answer) -> tuple[Look, ...]:
    """Return what an answer wants to see; nothing where it holds an edit."""
    found = json_in(answer.text) if "{" in answer.text else None
    if found is not None:
        return () if found.get("blocks") else answers.looks(found.get("look"))
    if "<<<<" in answer.text:
        return ()
    plain = [
        {name.lower(): word, "line": int(line or 1)}
        for name, word, line in _PLAIN.findall(answer.text[:4_000])
    ]
    return answers.looks(plain)


def turns(asked: Sequence[Look], library: Library, *, last: bool) -> tuple[Message, Message]:
    """Return what a model asked for, in few words whatever it wrote, and what there is of it."""
    wanted = [_as_json(one) for one in asked]
    shown = library.look(asked)
    return (
        Message(Speaker.ASSISTANT, json.dumps({"look": wanted})),
        Message(Speaker.USER, f"{shown}\n{_LAST}" if last else shown),
    )


def _as_json(one: Look) -> Mapping[str, object]:
    line = one.line if one.read else None
    return {"search": one.search or None, "read": one.read or None, "line": line}
