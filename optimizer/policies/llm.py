"""Propose what a language model proposes, while the search goes on.

Each expansion asks several siblings at once, each on other advice. `propose` returns nothing and
begins to ask; answers are read, applied and held to the edit boundary beside the search and come in
by `arrived`, so that GPUs are not idle while a model thinks. A refused edit goes back once with
the reason, one that does not compile once with the compiler's words.

What is handed to the search and at which of its turns is written to the exchange log; with that
schedule and the recorded answers a run is repeated to the step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from optimizer import prompting, tried
from optimizer.advice import Advice, AdviceLedger, advices
from optimizer.dialogue import NOTHING_USED, Answer, Message, Schema, Speaker, Usage, json_in
from optimizer.errors import BudgetSpent, ModelError, NotRecorded, PromptTooLong, RunnerError
from optimizer.memory import bottleneck
from optimizer.model import Edit, Kernel, Launch, Proposal, Status, Step
from optimizer.policies import looking
from optimizer.policies.edits import SCHEMA, Refused, Wish, applied, arithmetic, read
from optimizer.prompting import Level, Scene, View
from optimizer.significance import speedup
from optimizer.spending import tokens_of
from optimizer.synthesis import fence

if TYPE_CHECKING:
    from optimizer.exchange import ExchangeLog
    from optimizer.interfaces import Model
    from optimizer.memory import SearchMemory
    from optimizer.model import Finding

# Siblings asked at once: a batch of the search.
WIDTH = 4
# Expansions of one candidate; each sibling of each is told something else.
ROUNDS = 3
# Questions not handed back at which no further candidate is asked about.
MOST_UNDER_WAY = 8
# Tokens of an answer; models that reason spend most of them before the first word is seen.
ANSWER_TOKENS = 8_192
# A model that failed, or answered nothing usable, so often in a row is not asked again.
FAILURES_TOLERATED = 3
FRUITLESS_TOLERATED = 10
BASE_PRIOR = 0.40
# A finding a model was told of raises its edit's prior by up to this, a full promise by that.
PROMISE_WEIGHT = 0.4
FULL_PROMISE = math.log(2.0)
# `wait` forever is told to the operating system as an hour.
LONGEST_WAIT = 3_600.0
_REPORTS = Schema(
    "reports",
    {
        "type": "object",
        "properties": {"reports": {"type": "array", "items": {"type": "string"}}},
        "required": ["reports"],
        "additionalProperties": False,
    },
)
MOST_REPORTS = 4


@dataclass(frozen=True, slots=True)
class Question:
    """What one sibling is asked. `name` says where: step, round and sibling.

    `window` is what it may see of CUTLASS, None where that is nothing.
    """

    name: str
    view: View
    advice: Advice
    level: Level = Level.FULL
    window: looking.Window | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question: an edit, or why there is none.

    `dialogue` is all that was said, for a repair. `failed` tells that the model did not answer,
    `level` how short the server wanted the prompt to be.
    """

    edit: Edit | None = None
    reason: str = ""
    dialogue: tuple[Message, ...] = ()
    failed: bool = False
    broke: bool = False
    level: Level = Level.FULL


@dataclass(slots=True)
class Open:
    """A question under way."""

    question: Question
    future: futures.Future[Outcome]
    repair: bool = False


@dataclass(frozen=True, slots=True)
class Habits:
    """How a model is asked. `answer_tokens` and `prompt_tokens` bound each question."""

    width: int = WIDTH
    rounds: int = ROUNDS
    prompt_tokens: int = prompting.PROMPT_TOKENS
    answer_tokens: int = ANSWER_TOKENS


DEFAULT_HABITS = Habits()
LIBRARY_NOTE = (
    "an edit of the model includes headers of CUTLASS: a build needs them, too, and sm_90a in the "
    "place of sm_90 where it uses WGMMA or TMA"
)


@dataclass(frozen=True, slots=True)
class Made:
    """What is kept of an edit handed to the search, until its verdict is known."""

    advice: Advice
    question: Question
    dialogue: tuple[Message, ...]
    repaired: bool


class LanguageModelPolicy:
    """Asks a model about candidates; fulfils `ProposalPolicy` and `LatePolicy`.

    `boundary` returns why a source may not be run (`boundary.violations`). With a `schedule`
    (`exchange.Recorded`) answers are handed over at the turns it names and at no other. `window`
    is what a model may see of CUTLASS where tensor cores count. `close` ends all that is under way.
    """

    def __init__(
        self,
        model: Model,
        scene: Scene,
        boundary: Callable[..., Sequence[str]],
        *,
        habits: Habits = DEFAULT_HABITS,
        memory: SearchMemory | None = None,
        log: ExchangeLog | None = None,
        schedule: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
        window: looking.Window | None = None,
    ) -> None:
        self._model, self._scene, self._boundary = model, scene, boundary
        self._habits, self._memory = habits, memory
        self._log, self._schedule, self._window = log, schedule, window
        self.ledger = AdviceLedger()
        self._notes = list(notes)
        self._steps: dict[int, Step] = {}
        self._waiting: dict[int, tuple[str, ...]] = {}
        self._wanted: dict[int, Step] = {}
        self._rounds: dict[int, int] = {}
        self._told: dict[int, set[str]] = {}
        self._open: list[Open] = []
        self._made: dict[str, Made] = {}
        self._level = Level.FULL
        self._turn = self._failures = self._fruitless = 0
        self._stopped = False
        self._pool = futures.ThreadPoolExecutor(MOST_UNDER_WAY, thread_name_prefix="model")

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what kept the model from being asked, or from answering."""
        return tuple(dict.fromkeys(self._notes))

    def close(self) -> None:
        """Give up what is under way and ask no more."""
        self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- what the search calls ---------------------------------------------------------------

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Begin to ask about a candidate; answers come by `arrived`."""
        del limit
        step = replace(step, findings=tuple(findings))
        self._steps[step.number] = step
        if self._rounds.get(step.number, 0) < self._habits.rounds:
            self._wanted[step.number] = step
            self._fill()
        return ()

    def waiting(self, number: int, titles: Sequence[str]) -> None:
        """Hear what will be tried on a candidate anyway, so that it is not proposed again."""
        self._waiting[number] = tuple(titles)

    def observe(self, step: Step) -> None:
        """Hear of a verdict: for the next prompts, and for what its advice was worth."""
        known = self._steps.get(step.number)
        self._steps[step.number] = replace(step, findings=known.findings) if known else step
        if step.edit is None or step.verdict.status is Status.NOT_RECORDED:
            return
        made = self._made.pop(step.edit.exchange, None)
        if made is None:
            return
        fails_to_compile = step.verdict.status is Status.DOES_NOT_COMPILE
        if fails_to_compile and not made.repaired and not self._stopped:
            self._repair(step, made)
            return
        self.ledger.note(made.advice.key, step.edit.predicted, self._gain(step))

    def arrived(self, wait: float) -> Sequence[tuple[int, Sequence[Proposal]]]:
        """Return what came in since the last turn, in the order it was asked."""
        self._turn += 1
        due = self._due() if self._schedule is not None else self._done(wait)
        found = [(one.question.view.step.number, self._handed(one)) for one in due]
        self._fill()
        return found

    # -- asking ------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Begin to ask about the best candidates that wait for it, a round each."""
        while self._wanted and not self._stopped and len(self._open) < MOST_UNDER_WAY:
            number = max(self._wanted, key=lambda n: (self._wanted[n].reward, -n))
            self._begin(self._wanted.pop(number))

    def _begin(self, step: Step) -> None:
        busy = {one.question.view.step.number for one in self._open if not one.repair}
        if step.number in busy:
            return
        count = self._rounds[step.number] = self._rounds.get(step.number, 0) + 1
        view = View(step, dict(self._steps), step.findings, self._waiting.get(step.number, ()))
        offered = self._window is not None and looking.fits(self._scene, step)
        for place, advice in enumerate(self._chosen(step, offered=offered), 1):
            window = self._window if offered and looking.about(advice) else None
            question = Question(f"{step.number}.{count}.{place}", view, advice, self._level, window)
            self._open.append(Open(question, self._pool.submit(self._ask, question)))

    def _chosen(self, step: Step, *, offered: bool) -> list[Advice]:
        """Return other advice for each sibling than this candidate's siblings had before."""
        told = self._told.setdefault(step.number, set())
        measured = step.verdict.measurement
        shares = measured.kernels if measured else {}
        where = bottleneck(step.findings)
        memory = self._memory

        def prefer(kind: str) -> float:
            return memory.factor(kind, where) if memory is not None else 1.0

        informed = self._scene.feedback is prompting.Feedback.TOOLS and not self._scene.reactive
        findings = step.findings if informed else ()
        fresh = (a for a in advices(findings, self.ledger, shares, prefer) if a.key not in told)
        library = looking.ADVICE
        fit = offered and library.key not in told
        first = [library] if fit and self.ledger.weight(library.key) >= looking.LEAST_WEIGHT else []
        chosen = [*first, *islice(fresh, self._habits.width - len(first))]
        told.update(advice.key for advice in chosen)
        return chosen

    def _repair(self, step: Step, made: Made) -> None:
        words = prompting.compiler_words(step.verdict.log)
        said = (*made.dialogue, Message(Speaker.USER, words))
        question = replace(made.question, name=f"{made.question.name}.compile")
        future = self._pool.submit(self._ask_again, question, said)
        self._open.append(Open(question, future, repair=True))

    # -- in threads of their own -------------------------------------------------------------

    def _ask(self, question: Question) -> Outcome:
        """Ask one question, the prompt made shorter as long as the server finds it too long."""
        level, length, reason, offered = question.level, math.inf, "", question.window
        asked_for = level  # by the server; what our own limit asks for holds for this prompt alone
        while True:
            window = question.window
            said, shown = prompting.prompt(
                self._scene,
                question.view,
                question.advice,
                level,
                self._habits.prompt_tokens,
                window.offer() if window is not None else "",
            )
            try:
                if tokens_of(said) < length:  # else there was nothing to leave out
                    length = tokens_of(said)
                    return replace(self._talk(question, said), level=asked_for)
            except (PromptTooLong, NotRecorded) as error:
                reason = error.message
            except BudgetSpent as error:
                return Outcome(reason=error.message, broke=True)
            except ModelError as error:
                return Outcome(reason=str(error), failed=True)
            if window is not None:  # first of all it goes without looking
                question, length = replace(question, window=None), math.inf
                continue
            if shown is Level.KERNELS_ALONE:
                return Outcome(reason=reason, failed=True)
            asked_for = level = Level(shown + 1)
            if self._schedule is not None and offered is not None:
                # How short the server wanted it is not recorded: look for each question there was.
                question, length = replace(question, window=offered), math.inf

    def _ask_again(self, question: Question, said: tuple[Message, ...]) -> Outcome:
        """Ask once more after the compiler's words; what is refused now is given up."""
        try:
            said, answer, used = self._heard(question, said)
            return self._edit(question, said, answer, used)
        except BudgetSpent as error:
            return Outcome(reason=error.message, broke=True)
        except (PromptTooLong, NotRecorded) as error:  # no fault of the server's
            return Outcome(reason=error.message)
        except ModelError as error:
            return Outcome(reason=str(error), failed=True)

    def _talk(self, question: Question, said: tuple[Message, ...]) -> Outcome:
        """Ask, and once more where the edit is refused."""
        used = NOTHING_USED
        if self._scene.reactive and question.view.findings:
            said, used = self._informed(question, said)
        said, answer, looked = self._heard(question, said)
        used += looked
        outcome = self._edit(question, said, answer, used)
        if outcome.edit is not None:
            return outcome
        words = Message(Speaker.USER, prompting.refusal_words(outcome.reason))
        said = (*outcome.dialogue, words)
        return self._edit(question, said, self._asked(said), used + answer.usage)

    def _heard(
        self, question: Question, said: tuple[Message, ...]
    ) -> tuple[tuple[Message, ...], Answer, Usage]:
        """Get an answer, after as many looks into the library as it wishes and may.

        Return what was said until then, and what the looks took, too.
        """
        used, window = NOTHING_USED, question.window
        library = window.library() if window is not None else None
        rounds = window.rounds if window is not None else 0
        for left in reversed(range(rounds)):
            answer = self._model.ask(said, looking.SCHEMA_LOOKING, self._habits.answer_tokens)
            wished = looking.wishes(answer)
            if library is None or not wished:
                return said, answer, used
            used += answer.usage
            said = (*said, *looking.turns(wished, library, last=not left))
            # What was recorded was asked to its end, whenever a thread comes to it now.
            if self._stopped and self._schedule is None:
                raise ModelError("cancelled")
        return said, self._asked(said), used

    def _informed(
        self, question: Question, said: tuple[Message, ...]
    ) -> tuple[tuple[Message, ...], Usage]:
        """Let the model name the reports it wants to read, and show it those."""
        system, task = said
        findings = question.view.findings
        offer = f"{task.text}\n\n{prompting.reports_offered(findings)}"
        first = (system, Message(Speaker.USER, offer))
        answer = self._model.ask(first, _REPORTS, 256)
        listed = (json_in(answer.text) or {}).get("reports")
        names = [n for n in listed if isinstance(n, str)] if isinstance(listed, list) else []
        chosen = [f for f in findings if f.detector in names[:MOST_REPORTS]]
        shown = prompting.findings_words(chosen) or "There is no report of such a name."
        shown += f"\n\nNow propose one edit. {question.advice.words}"
        reply = Message(Speaker.ASSISTANT, answer.text)
        return (*first, reply, Message(Speaker.USER, shown)), answer.usage

    def _asked(self, said: Sequence[Message]) -> Answer:
        return self._model.ask(said, SCHEMA, self._habits.answer_tokens)

    def _edit(
        self, question: Question, said: tuple[Message, ...], answer: Answer, used: Usage
    ) -> Outcome:
        """Make an edit of an answer, or say why there is none."""
        dialogue = (*said, Message(Speaker.ASSISTANT, answer.text or answer.refusal))
        wish = read(answer)
        made = wish if isinstance(wish, Refused) else self._apply(question.view, wish)
        if isinstance(made, Refused) or isinstance(wish, Refused):
            reason = made.reason if isinstance(made, Refused) else ""
            return Outcome(reason=reason, dialogue=dialogue)
        author = answer.author or self._model.name
        edit = Edit(
            title=wish.title or f"{question.advice.kind or 'edit'} by {author}",
            source=made.source,
            author=f"llm:{author}",
            rationale=wish.rationale,
            kind=wish.kind or question.advice.kind or "idea",
            predicted=wish.predicted,
            launch=made.launch if made.launch != question.view.step.kernel.launch else None,
            exchange=answer.digest,
            usage=used + answer.usage,
        )
        return Outcome(edit, dialogue=dialogue)

    def _apply(self, view: View, wish: Wish) -> Kernel | Refused:
        kernel = view.step.kernel
        source = applied(wish, kernel.source)
        if isinstance(source, Refused):
            return source
        launch = self._launch(kernel, wish.launch)
        if isinstance(launch, Refused):
            return launch
        if (source, launch) == (kernel.source, kernel.launch):
            return Refused("the edit changes nothing")
        made = Kernel(kernel.name, source, kernel.path, launch)
        before = tried.known(view.steps, made)
        if before:
            return Refused(f"this very candidate was tried before: {before}")
        original = self._steps[0].kernel.source if 0 in self._steps else kernel.source
        host = self._scene.workload.accept.edit_host
        outside = self._boundary(original, source, allow_host=host)
        if outside:
            return Refused("outside of what may be changed: " + "; ".join(outside[:3]))
        return made

    def _launch(self, kernel: Kernel, wished: Launch | None) -> Launch | Refused | None:
        if wished is None or wished == kernel.launch:
            return kernel.launch
        if kernel.launch is None or not kernel.launch.tunable:
            return Refused("the launch is not yours to change; leave `launch` null")
        names = {name for case in self._scene.workload.cases for name in case.values}
        for expression in (*wished.grid, *wished.block, wished.shared):
            if not arithmetic(expression, names):
                return Refused(f"`{expression[:80]}` is no arithmetic over {sorted(names)}")
        return replace(wished, tunable=True)

    # -- handing over ------------------------------------------------------------------------

    def _done(self, wait: float) -> list[Open]:
        """Return what is done, after up to `wait` seconds for the first of it."""
        pending = [one.future for one in self._open]
        if wait > 0 and pending and not any(future.done() for future in pending):
            most = min(wait, LONGEST_WAIT)
            futures.wait(pending, most, return_when=futures.FIRST_COMPLETED)
        return [one for one in self._open if one.future.done()]

    def _due(self) -> list[Open]:
        """Return what the recording says was handed over at this turn."""
        schedule = self._schedule or {}
        return [one for one in self._open if schedule.get(one.question.name) == self._turn]

    def _handed(self, one: Open) -> list[Proposal]:
        self._open.remove(one)
        name = one.question.name
        if self._log is not None:
            self._log.handed(name, len(self._steps), self._turn)
        try:
            outcome = one.future.result()
        except futures.CancelledError:
            return []
        except RunnerError:
            raise
        except Exception as error:  # noqa: BLE001 - no answer of any kind may end a search
            outcome = Outcome(reason=f"{type(error).__name__}: {error}", failed=True)
        self._count(outcome)
        key = one.question.advice.key
        if outcome.edit is None:
            if not (outcome.failed or outcome.broke):
                self.ledger.note(key, None, None)
            return []
        edit = outcome.edit
        before = one.question.view.step.kernel.source
        if fence.uses(edit.source) and not fence.uses(before):
            self._notes.append(LIBRARY_NOTE)
        if edit.exchange:
            self._made[edit.exchange] = Made(
                one.question.advice, one.question, outcome.dialogue, one.repair
            )
        return [Proposal(edit, self._prior(one.question.view.step, edit, key))]

    def _count(self, outcome: Outcome) -> None:
        """Stop asking when the money is gone, or when nothing comes of it."""
        if self._stopped:
            return
        if outcome.broke:
            self._stop(outcome.reason)
            return
        self._level = max(self._level, outcome.level) if self._schedule is None else Level.FULL
        self._failures = self._failures + 1 if outcome.failed else 0
        self._fruitless = 0 if outcome.edit is not None else self._fruitless + 1
        if outcome.failed:
            self._notes.append(f"the model did not answer: {outcome.reason}")
        if self._failures >= FAILURES_TOLERATED:
            self._stop(f"the model failed {self._failures} times in a row and is not asked again")
        elif self._fruitless >= FRUITLESS_TOLERATED:
            self._stop(
                f"{self._fruitless} answers in a row held no edit that could be applied; the "
                f"model is not asked again; the last: {outcome.reason}"
            )

    def _stop(self, why: str) -> None:
        self._stopped = True
        self._notes.append(why)

    def _prior(self, step: Step, edit: Edit, key: str) -> float:
        """Return how likely an edit is to pay: its promise by what promises were worth so far."""
        promise = math.log(max(edit.predicted or 1.0, 1.0)) * self.ledger.calibration
        prior = BASE_PRIOR + PROMISE_WEIGHT * min(1.0, promise / FULL_PROMISE)
        prior *= 0.5 + 0.5 * self.ledger.weight(key)
        if self._memory is not None:
            prior *= self._memory.factor(edit.kind, bottleneck(step.findings))
        return max(0.01, min(1.0, prior))

    def _gain(self, step: Step) -> float | None:
        """Return the log speedup of a candidate over the one it was made from."""
        parent = self._steps.get(step.parent or 0)
        if step.verdict.status is not Status.CORRECT or parent is None:
            return None
        now, before = speedup(step.verdict.measurement), speedup(parent.verdict.measurement)
        return math.log(now / before) if now and before else None
