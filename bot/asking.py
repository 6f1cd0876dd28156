"""All that asks a language model for one kernel, put together from settings.

A model is asked only when one is named (`OPTIML_MODEL`) and it is said where it is or with which
key: source code is sent to nobody because a key happens to lie in the environment.
"""

from __future__ import annotations

import datetime as dt
import importlib.metadata
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.settings import Settings
from optimizer.dialogue import NOTHING_USED, Usage
from optimizer.errors import ConfigError
from optimizer.exchange import (
    AnswerStore,
    ExchangeHeader,
    ExchangeLog,
    KeptModel,
    LoggedModel,
    Recorded,
    RecordedModel,
)
from optimizer.judge import Judge, rule_judge
from optimizer.model import Environment, Workload
from optimizer.model_judge import ModelJudge
from optimizer.policies.llm import Habits, LanguageModelPolicy
from optimizer.policies.looking import Window
from optimizer.prompting import Feedback, Scene
from optimizer.spending import FREE, Limits, MeteredModel, PriceTable, Purse
from optimizer.synthesis.fence import fence

if TYPE_CHECKING:
    from optimizer.interfaces import Model
    from optimizer.memory import SearchMemory
    from optimizer.synthesis.cutlass import Tree

EXCHANGES = "exchanges.jsonl"
NO_MODEL = "set OPTIML_MODEL, and OPENAI_API_KEY or OPENAI_BASE_URL for where it is"


@dataclass(frozen=True, slots=True)
class Asking:
    """A policy that asks a model, who pays, and how it ends."""

    policy: LanguageModelPolicy
    judge: Judge
    model: Model
    purse: Purse
    close: Callable[[], None]


def is_set(settings: Settings) -> bool:
    """Tell whether there is a model to ask, or a recording of one."""
    return bool(settings.answers or (settings.model and (settings.api_key or settings.api_url)))


def check(settings: Settings) -> None:
    """Raise `ConfigError` where a model is asked for and there is none, or no price table."""
    if settings.policy == "llm" and not is_set(settings):
        raise ConfigError("the policy `llm` needs a language model", NO_MODEL)
    if settings.judge == "model" and (settings.policy == "rules" or not is_set(settings)):
        raise ConfigError(
            "the judge `model` needs a language model and the policy `llm` or `mixed`", NO_MODEL
        )
    if settings.policy != "rules" and is_set(settings):
        prices_of(settings)


def recorded(settings: Settings) -> Recorded | None:
    """Return the recording that answers in a model's place. Raise `ConfigError` for none."""
    if settings.policy == "rules" or not settings.answers:
        return None
    return Recorded.load(Path(settings.answers))


def described(settings: Settings, answers: Recorded | None) -> tuple[str, str]:
    """Return who is asked, and the recording that answers; both empty where nobody is."""
    if settings.policy == "rules" or not is_set(settings):
        return "", ""
    if answers is not None:
        return answers.header.model, answers.header.words
    from bot.model_client import Endpoint

    return f"{settings.model} at {Endpoint(settings.model, settings.api_url).host}", ""


def prices_of(settings: Settings) -> PriceTable:
    """Return the prices, the user's over ours. Raise `ConfigError` for a table that is none."""
    return PriceTable.load(Path(settings.prices) if settings.prices else None)


@dataclass(frozen=True, slots=True)
class Voice:
    """A model, who pays for it, the log of what is said, and how it ends."""

    model: Model
    purse: Purse
    log: ExchangeLog | None
    notes: list[str]
    close: Callable[[], None]


def voice(
    settings: Settings,
    *,
    answers: Recorded | None = None,
    file: Path | None = None,
    spent: Usage = NOTHING_USED,
    library: str = "",
) -> Voice:
    """Return the model of the settings, metered; what is said is written to `file`.

    With `answers` nobody is asked. `spent` is what was taken out of the purse already, `library`
    the version of CUTLASS that may be looked into. Raise `ConfigError` for an address that is none.
    """
    stack, notes = ExitStack(), list[str]()
    purse = Purse(
        Limits(
            settings.usd - spent.usd, settings.tokens - spent.tokens, settings.calls - spent.calls
        )
    )
    if answers is not None:
        model: Model = RecordedModel(answers, purse.book)
        header = answers.header
    else:
        model, header = _asked(settings, purse, stack, notes)
        header = replace(header, library=library)
    log = stack.enter_context(ExchangeLog(file, header)) if file else None
    return Voice(LoggedModel(model, log), purse, log, notes, stack.close)


def asking(
    settings: Settings,
    workload: Workload,
    environment: Environment,
    *,
    answers: Recorded | None = None,
    memory: SearchMemory | None = None,
    folder: Path | None = None,
    spent: Usage = NOTHING_USED,
    tree: Tree | None = None,
) -> Asking:
    """Return what asks a model about one kernel; exchanges are written to `folder`.

    With `answers` nobody is asked. `spent` is what an earlier part of the same search took, `tree`
    the CUTLASS that may be looked into and included. Raise `ConfigError` for an address that is
    none.
    """
    said = voice(
        settings,
        answers=answers,
        file=folder / EXCHANGES if folder else None,
        spent=spent,
        library=tree.version or "unknown" if tree is not None else "",
    )
    window = _window(tree, answers, said.notes)
    scene = Scene(
        workload,
        environment.gpu,
        environment.facts,
        environment.peaks,
        Feedback(settings.feedback),
        reactive=settings.reports == "reactive",
    )
    policy = LanguageModelPolicy(
        said.model,
        scene,
        fence(tree),
        habits=Habits(prompt_tokens=settings.prompt_tokens, answer_tokens=settings.answer_tokens),
        memory=memory,
        log=said.log,
        schedule=answers.schedule if answers is not None else None,
        notes=said.notes,
        window=window,
    )
    stack = ExitStack()
    stack.callback(said.close)
    stack.callback(policy.close)
    judge: Judge = rule_judge
    if settings.judge != "rule":
        late = ModelJudge(said.model, said.log, answers.schedule if answers is not None else None)
        stack.callback(late.close)
        judge = late
    return Asking(policy, judge, said.model, said.purse, stack.close)


def _window(tree: Tree | None, answers: Recorded | None, notes: list[str]) -> Window | None:
    """Return what may be seen of CUTLASS: in a recording's place, what could be seen then."""
    if answers is None:
        return Window(tree) if tree is not None else None
    then = answers.header.library
    if tree is not None and then == (tree.version or "unknown"):
        return Window(tree)
    if then:
        notes.append(
            f"the recorded answers come from a search with CUTLASS {then}, which is not here: "
            "questions about it have no answer"
        )
    return None


def _asked(
    settings: Settings, purse: Purse, stack: ExitStack, notes: list[str]
) -> tuple[Model, ExchangeHeader]:
    from bot.model_client import Endpoint, ServerModel

    endpoint = Endpoint(settings.model, settings.api_url, settings.api_key, settings.model_seconds)
    price = FREE if endpoint.is_local else prices_of(settings).of(settings.model)
    if price is None:
        price = prices_of(settings).dearest
        notes.append(
            f"no price is known for {settings.model}: counted as the dearest model known "
            "(a line in the table of OPTIML_PRICES mends that)"
        )
    purse.price = price
    server = stack.enter_context(ServerModel(endpoint))
    model: Model = MeteredModel(server, purse)
    if settings.model_cache == "on":
        store = AnswerStore(settings.cache_folder / "answers")
        model = KeptModel(model, store, endpoint.host, purse.book)
    header = ExchangeHeader(
        settings.model,
        endpoint.host,
        dt.datetime.now(dt.UTC).date().isoformat(),
        importlib.metadata.version("optiml-bot"),
    )
    return model, header
